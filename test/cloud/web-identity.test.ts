import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  CreateOpenIDConnectProviderCommand,
  CreateRoleCommand,
  DeleteRoleCommand,
  DeleteRolePolicyCommand,
  PutRolePolicyCommand,
  type IAMClient,
} from '@aws-sdk/client-iam';
import { ListBucketsCommand } from '@aws-sdk/client-s3';
import { AssumeRoleWithWebIdentityCommand, GetCallerIdentityCommand, STSClient } from '@aws-sdk/client-sts';
import { exportJWK, generateKeyPair, SignJWT, UnsecuredJWT, type GenerateKeyPairResult } from 'jose';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { issueCertificate } from '../support/clients/certificates.ts';
import { sdk } from '../support/clients/clients.ts';
import { s3Error } from '../support/clients/expect-error.ts';
import { allowing, iamClient, outcome } from '../support/clients/iam.ts';
import type { Key } from '../support/clients/signer.ts';
import { WebhookReceiver } from '../support/clients/webhook-receiver.ts';
import { noEngine } from '../support/cloud/moto.ts';
import { alice } from '../support/programs/server.ts';
import { administer } from '../support/storage/administration.ts';
import { CloudAccount } from './cloud-account.ts';
import type { DeploymentUnderTest } from './deployment-under-test.ts';

/** Of an identity provider, whose address stands for a server of this test. */
const [host, publicAddress] = ['id.example.com', '93.184.215.14'];
const [inside, privateAddress] = ['inside.example.com', '10.1.2.3'];
const issuer = `https://${host}`;
const kid = 'one';
const served = ['Iam', 'ListBuckets', 'Sts'];
let folder: string;
let account: CloudAccount | undefined;
let deployment: DeploymentUnderTest | undefined;
let idp: WebhookReceiver;
let iam: IAMClient;
let sts: STSClient;
let keys: GenerateKeyPairResult;
let accountNumber: string;

const signed = (more: object = {}): Promise<string> => {
  const iat = Math.floor(Date.now() / 1000);
  const claims = { iss: issuer, aud: 'shop', sub: 'job', iat, exp: iat + 300, ...more };
  return new SignJWT(claims).setProtectedHeader({ alg: 'ES256', kid }).sign(keys.privateKey);
};
const assume = (WebIdentityToken: string, RoleName = 'ci') =>
  sts.send(
    new AssumeRoleWithWebIdentityCommand({
      ...{ RoleArn: `arn:aws:iam::${accountNumber}:role/${RoleName}`, RoleSessionName: 'job', WebIdentityToken },
    }),
  );
const lists = async (credentials: Key & { readonly sessionToken: string }): Promise<string> => {
  const client = sdk(deployment!, credentials, { credentials: { ...credentials }, maxAttempts: 1 });
  const found = await outcome(client.send(new ListBucketsCommand({})));
  client.destroy();
  return found;
};

beforeAll(async () => {
  account = await CloudAccount.open({ served, inBackground: ['Administer'] });
  if (account === undefined) {
    console.warn(`SKIPPED, web identities in the cloud: ${noEngine}`);
    return;
  }
  folder = await mkdtemp(join(tmpdir(), 'stillage-oidc-'));
  const certificates = await issueCertificate(folder, [host, inside, '127.0.0.1']);
  idp = await WebhookReceiver.start(certificates);
  keys = await generateKeyPair('ES256', { extractable: true });
  const published = [{ ...(await exportJWK(keys.publicKey)), kid, alg: 'ES256' }];
  idp.answer = (response, { path }) =>
    response.end(JSON.stringify(path === '/keys' ? { keys: published } : { issuer, jwks_uri: `${issuer}/keys` }));
  deployment = await account.deploy(
    { byteLane: 'functions' },
    {
      internet: {
        authority: certificates.authority,
        names: { [host]: publicAddress, [inside]: privateAddress },
        ports: { [publicAddress]: idp.port, [privateAddress]: idp.port },
      },
    },
  );
  iam = iamClient(deployment.url, alice);
  const where = { endpoint: deployment.url, region: 'us-east-1', maxAttempts: 1 };
  const signer = new STSClient({ ...where, credentials: { ...alice } });
  accountNumber = (await signer.send(new GetCallerIdentityCommand({}))).Account!;
  signer.destroy();
  // Without a key.
  sts = new STSClient(where);
  await iam.send(new CreateOpenIDConnectProviderCommand({ Url: issuer, ClientIDList: ['shop'] }));
  const statement = {
    Effect: 'Allow',
    Principal: { Federated: `arn:aws:iam::${accountNumber}:oidc-provider/${host}` },
    Action: 'sts:AssumeRoleWithWebIdentity',
    Condition: { StringEquals: { [`${host}:sub`]: 'job' } },
  };
  const AssumeRolePolicyDocument = JSON.stringify({ Version: '2012-10-17', Statement: [statement] });
  await iam.send(new CreateRoleCommand({ RoleName: 'ci', AssumeRolePolicyDocument }));
  const PolicyDocument = allowing('s3:ListAllMyBuckets');
  await iam.send(new PutRolePolicyCommand({ RoleName: 'ci', PolicyName: 'p', PolicyDocument }));
});
beforeEach((context) => {
  if (deployment === undefined) context.skip(noEngine);
});
afterAll(async () => {
  if (deployment === undefined) return;
  iam.destroy();
  sts.destroy();
  await account!.close();
  await idp.stop();
  await rm(folder, { recursive: true });
});

describe('AssumeRoleWithWebIdentity in the cloud', () => {
  it('takes no other token', async () => {
    const invalid = s3Error('InvalidIdentityTokenException', 400);
    const none = new UnsecuredJWT({ iss: issuer, aud: 'shop', sub: 'job' }).encode();
    const [head, , signature] = (await signed()).split('.');
    const [, body] = (await signed({ sub: 'another' })).split('.');
    for (const token of [none, `${head}.${body}.${signature}`, await signed({ aud: 'strangers' })])
      await expect(assume(token)).rejects.toEqual(invalid);
    await expect(assume(await signed({ iss: 'https://accounts.example.com' }))).rejects.toEqual(invalid);
    await expect(assume(await signed({ sub: 'another' }))).rejects.toEqual(s3Error('AccessDenied', 403));
  });

  it('makes a key for a token, whose provider it asks once, and which ends with project and role', async () => {
    const { Credentials: made, ...about } = await assume(await signed());
    const Arn = `arn:aws:sts::${accountNumber}:assumed-role/ci/job`;
    expect(about).toMatchObject({ AssumedRoleUser: { Arn }, Provider: issuer, Audience: 'shop' });
    const key = {
      accessKeyId: made!.AccessKeyId!,
      secretAccessKey: made!.SecretAccessKey!,
      sessionToken: made!.SessionToken!,
    };
    expect(await lists(key)).toBe('allowed');
    await assume(await signed());
    expect(idp.calls.map(({ path }) => path)).toEqual(['/.well-known/openid-configuration', '/keys']);

    const project = 'main@example.test';
    await administer(deployment!.place, 'project', 'suspend', project);
    await expect.poll(() => lists(key)).toBe('UserSuspended');
    await administer(deployment!.place, 'project', 'resume', project);
    await expect.poll(() => lists(key)).toBe('allowed');
    await iam.send(new DeleteRolePolicyCommand({ RoleName: 'ci', PolicyName: 'p' }));
    await expect.poll(() => lists(key)).toBe('AccessDenied');
    await iam.send(new DeleteRoleCommand({ RoleName: 'ci' }));
    await expect.poll(() => lists(key)).toBe('InvalidToken');
    await expect(assume(await signed())).rejects.toEqual(s3Error('AccessDenied', 403));
  });

  it('asks no address that is not public, whatever its name', async () => {
    const before = idp.calls.length;
    for (const Url of [`https://${inside}`, 'https://169.254.169.254', `https://127.0.0.1:${idp.port}`]) {
      await iam.send(new CreateOpenIDConnectProviderCommand({ Url, ClientIDList: ['shop'] }));
      await expect(assume(await signed({ iss: Url })), Url).rejects.toEqual(
        s3Error('IDPCommunicationErrorException', 400),
      );
    }
    expect(idp.calls).toHaveLength(before);
  });
});
