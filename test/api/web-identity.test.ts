import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  CreateOpenIDConnectProviderCommand,
  CreateRoleCommand,
  DeleteOpenIDConnectProviderCommand,
  DeleteRoleCommand,
  DeleteRolePolicyCommand,
  PutRolePolicyCommand,
  UpdateAssumeRolePolicyCommand,
  type IAMClient,
} from '@aws-sdk/client-iam';
import { ListBucketsCommand, PutObjectCommand, S3Client } from '@aws-sdk/client-s3';
import {
  AssumeRoleCommand,
  AssumeRoleWithWebIdentityCommand,
  GetCallerIdentityCommand,
  STSClient,
} from '@aws-sdk/client-sts';
import {
  exportJWK,
  generateKeyPair,
  SignJWT,
  UnsecuredJWT,
  type CryptoKey,
  type GenerateKeyPairResult,
  type JWTPayload,
  type JWK,
} from 'jose';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { issueCertificate } from '../support/clients/certificates.ts';
import { s3Error } from '../support/clients/expect-error.ts';
import { allowing, iamClient, outcome } from '../support/clients/iam.ts';
import { WebhookReceiver } from '../support/clients/webhook-receiver.ts';
import { alice, bob, startService, type Service } from '../support/programs/server.ts';
import { administer } from '../support/storage/administration.ts';

/** A service that trusts the test's authority, and an identity provider, of whose private keys the test has one. */
describe('AssumeRoleWithWebIdentity', () => {
  const kid = 'key-1';
  let folder: string;
  let service: Service;
  let idp: WebhookReceiver;
  let issuer: string;
  let iam: IAMClient;
  let sts: STSClient;
  let account: string;
  let role: string;
  let keys: GenerateKeyPairResult;
  let published: JWK[];
  let providerArn: string;
  const roleOf = (name: string): string => `arn:aws:iam::${account}:role/${name}`;
  const seconds = (): number => Math.floor(Date.now() / 1000);
  const claims = (): JWTPayload => ({
    iss: issuer,
    aud: 'shop',
    sub: 'repo:shop/web:ref:refs/heads/main',
    iat: seconds(),
    exp: seconds() + 300,
  });
  const signed = (payload: JWTPayload, header: object = {}, key: CryptoKey | Uint8Array = keys.privateKey) =>
    new SignJWT(payload).setProtectedHeader({ alg: 'RS256', kid, ...header }).sign(key);
  const assume = (WebIdentityToken: string, RoleArn = role, more: object = {}) =>
    sts.send(new AssumeRoleWithWebIdentityCommand({ RoleArn, RoleSessionName: 'job', WebIdentityToken, ...more }));
  /** Makes a key of a role. */
  const newKey = async (RoleArn: string) => {
    const { Credentials } = await assume(await signed(claims()), RoleArn);
    return {
      accessKeyId: Credentials!.AccessKeyId!,
      secretAccessKey: Credentials!.SecretAccessKey!,
      sessionToken: Credentials!.SessionToken!,
    };
  };
  const lists = async (credentials: Awaited<ReturnType<typeof newKey>>): Promise<string> => {
    const where = { endpoint: service.url, region: 'us-east-1', forcePathStyle: true, maxAttempts: 1 };
    const client = new S3Client({ ...where, credentials });
    const found = await outcome(client.send(new ListBucketsCommand({})));
    client.destroy();
    return found;
  };
  const newRole = async (RoleName: string, Condition: object, provider = providerArn) => {
    const statement = { Effect: 'Allow', Principal: { Federated: provider }, Action: 'sts:AssumeRoleWithWebIdentity' };
    const AssumeRolePolicyDocument = JSON.stringify({
      Version: '2012-10-17',
      Statement: [{ ...statement, Condition }],
    });
    await iam.send(new CreateRoleCommand({ RoleName, AssumeRolePolicyDocument }));
    const PolicyDocument = allowing('s3:ListAllMyBuckets');
    await iam.send(new PutRolePolicyCommand({ RoleName, PolicyName: 'p', PolicyDocument }));
    return roleOf(RoleName);
  };

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'stillage-oidc-'));
    const certificates = await issueCertificate(folder, ['127.0.0.1']);
    idp = await WebhookReceiver.start(certificates);
    issuer = `https://127.0.0.1:${idp.port}`;
    keys = await generateKeyPair('RS256', { extractable: true });
    published = [{ ...(await exportJWK(keys.publicKey)), kid, use: 'sig', alg: 'RS256' }];
    idp.answer = (response, { path }) => {
      const about = { issuer, jwks_uri: `${issuer}/keys` };
      if (path?.startsWith('/inner/'))
        response.end(JSON.stringify({ issuer: `${issuer}/inner`, jwks_uri: 'https://10.1.2.3/keys' }));
      else if (path?.startsWith('/moved/')) response.writeHead(302, { location: `${issuer}/keys` }).end();
      else response.end(JSON.stringify(path === '/keys' ? { keys: published } : about));
    };
    service = await startService({
      args: ['--alarm-webhook-allow', `127.0.0.1:${idp.port}`],
      env: { NODE_EXTRA_CA_CERTS: certificates.authority },
    });
    iam = iamClient(service.url, alice);
    const signer = new STSClient({ endpoint: service.url, region: 'us-east-1', credentials: { ...alice } });
    account = (await signer.send(new GetCallerIdentityCommand({}))).Account!;
    signer.destroy();
    // Without a key.
    sts = new STSClient({ endpoint: service.url, region: 'us-east-1', maxAttempts: 1 });
    const provider = new CreateOpenIDConnectProviderCommand({ Url: issuer, ClientIDList: ['shop', 'other'] });
    providerArn = (await iam.send(provider)).OpenIDConnectProviderArn!;
    const host = issuer.slice('https://'.length);
    role = await newRole('ci', {
      StringEquals: { [`${host}:aud`]: 'shop' },
      StringLike: { [`${host}:sub`]: 'repo:shop/*' },
    });
  });
  afterAll(async () => {
    iam.destroy();
    sts.destroy();
    await service.stop();
    await idp.stop();
    await rm(folder, { recursive: true });
  });

  it('makes a key of the role for whom its token speaks of', async () => {
    const made = await assume(await signed(claims()));
    expect(made).toMatchObject({
      SubjectFromWebIdentityToken: claims().sub,
      Audience: 'shop',
      Provider: issuer,
      AssumedRoleUser: { Arn: `arn:aws:sts::${account}:assumed-role/ci/job` },
    });
    const { AccessKeyId, SecretAccessKey, SessionToken } = made.Credentials!;
    const credentials = {
      accessKeyId: AccessKeyId!,
      secretAccessKey: SecretAccessKey!,
      sessionToken: SessionToken!,
    };
    const s3 = new S3Client({ endpoint: service.url, region: 'us-east-1', credentials, forcePathStyle: true });
    expect(await outcome(s3.send(new ListBucketsCommand({})))).toBe('allowed');
    expect(await outcome(s3.send(new PutObjectCommand({ Bucket: 'bucket', Key: 'key', Body: '' })))).not.toBe(
      'allowed',
    );
    s3.destroy();
    await expect(assume(await signed(claims()), role, { DurationSeconds: 7200 })).rejects.toEqual(
      s3Error('ValidationError', 400),
    );
  });

  it('refuses what the trust policy does not say', async () => {
    const denied = s3Error('AccessDenied', 403);
    await expect(assume(await signed({ ...claims(), sub: 'repo:other/web' }))).rejects.toEqual(denied);
    await expect(assume(await signed({ ...claims(), aud: 'other' }))).rejects.toEqual(denied);
    await expect(assume(await signed(claims()), roleOf('nobody'))).rejects.toEqual(denied);
    // A role that everybody may assume who has a key, and one that trusts another provider.
    const open = JSON.stringify({
      Version: '2012-10-17',
      Statement: [{ Effect: 'Allow', Principal: '*', Action: ['sts:AssumeRole', 'sts:AssumeRoleWithWebIdentity'] }],
    });
    await iam.send(new CreateRoleCommand({ RoleName: 'open', AssumeRolePolicyDocument: open }));
    await expect(assume(await signed(claims()), roleOf('open'))).rejects.toEqual(denied);
    const elsewhere = await newRole('elsewhere', {}, `arn:aws:iam::${account}:oidc-provider/gitlab.example.com`);
    await expect(assume(await signed(claims()), elsewhere)).rejects.toEqual(denied);
  });

  it('refuses tokens that are forged, mixed, or not for us', async () => {
    const other = await generateKeyPair('RS256', { extractable: true });
    const secret = new TextEncoder().encode(JSON.stringify(published[0]));
    const [head, , signature] = (await signed(claims())).split('.');
    const [, body] = (await signed({ ...claims(), sub: 'repo:shop/other' })).split('.');
    const { exp: _, ...endless } = claims();
    const { aud: __, ...forNobody } = claims();
    const own = await exportJWK(other.publicKey);
    const tokens: Readonly<Record<string, string>> = {
      'no token': 'abcd',
      'no signature': new UnsecuredJWT(claims()).encode(),
      'another signature': `${head}.${body}.${signature}`,
      'signature cut off': `${head}.${body}.`,
      'another key': await signed(claims(), {}, other.privateKey),
      'a key that it brings along': await signed(claims(), { jwk: own }, other.privateKey),
      'a key elsewhere': await signed(claims(), { jku: `${issuer}/other`, kid: 'x' }, other.privateKey),
      'the public key as a secret': await new SignJWT(claims()).setProtectedHeader({ alg: 'HS256', kid }).sign(secret),
      'another provider': await signed({ ...claims(), iss: 'https://accounts.example.com' }),
      'a provider with a slash more': await signed({ ...claims(), iss: `${issuer}/` }),
      'another audience': await signed({ ...claims(), aud: 'strangers' }),
      'another audience besides': await signed({ ...claims(), aud: ['shop', 'strangers'] }),
      'a party for whom it is not': await signed({ ...claims(), azp: 'strangers' }),
      'not yet': await signed({ ...claims(), nbf: seconds() + 600 }),
      'issued later': await signed({ ...claims(), iat: seconds() + 600 }),
      'without an end': await signed(endless),
      'for nobody': await signed(forNobody),
      'of nobody': await signed({ ...claims(), sub: '' }),
    };
    for (const [what, token] of Object.entries(tokens)) {
      await expect(assume(token), what).rejects.toEqual(s3Error('InvalidIdentityTokenException', 400));
    }
    await expect(assume(await signed({ ...claims(), iat: seconds() - 900, exp: seconds() - 300 }))).rejects.toEqual(
      s3Error('ExpiredTokenException', 400),
    );
    // A minute more or less is the difference between clocks.
    expect(await outcome(assume(await signed({ ...claims(), exp: seconds() - 5 })))).toBe('allowed');
    expect(idp.calls.map(({ path }) => path)).not.toContain('/other');
  });

  it('tells whoever has no token of which roles and accounts there are', async () => {
    const forged = new UnsecuredJWT(claims()).encode();
    const unsigned = `${(await signed(claims())).split('.').slice(0, 2).join('.')}.AAAA`;
    const stranger = await signed({ ...claims(), iss: 'https://accounts.example.com' });
    const answerTo = async (RoleArn: string, token: string) => {
      const error = await assume(token, RoleArn).catch((thrown: Error) => thrown);
      const { name, message } = error as Error;
      return { name, message };
    };
    for (const token of [forged, unsigned, stranger]) {
      const known = await answerTo(role, token);
      expect(known.name).toBe('InvalidIdentityTokenException');
      expect(await answerTo(roleOf('nobody'), token)).toEqual(known);
    }
    const known = await answerTo(role, stranger);
    for (const elsewhere of ['arn:aws:iam::000000000000:role/ci', 'arn:aws:iam::x:role/ci', `${role}/..`])
      expect(await answerTo(elsewhere, stranger), elsewhere).toEqual(known);
  });

  it('ends with its role, and is no way to another', async () => {
    const passing = await newRole('passing', {});
    const key = await newKey(passing);
    expect(await lists(key)).toBe('allowed');
    // The token of one key with another, or changed anywhere, is none.
    const second = await newKey(passing);
    expect(await lists({ ...key, sessionToken: second.sessionToken })).toBe('InvalidToken');
    expect(await lists({ ...key, accessKeyId: second.accessKeyId })).toBe('InvalidToken');
    expect(await lists({ ...key, secretAccessKey: second.secretAccessKey })).toBe('SignatureDoesNotMatch');
    const at = Math.floor(key.sessionToken.length / 2);
    const other = key.sessionToken[at] === 'A' ? 'B' : 'A';
    const changed = key.sessionToken.slice(0, at) + other + key.sessionToken.slice(at + 1);
    expect(await lists({ ...key, sessionToken: changed })).toBe('InvalidToken');
    // The token of the provider is none of the service.
    expect(await lists({ ...key, sessionToken: await signed(claims()) })).toBe('InvalidToken');
    // It reaches no role that trusts the account, unless its policies say so.
    const trusting = JSON.stringify({
      Version: '2012-10-17',
      Statement: [{ Effect: 'Allow', Principal: { AWS: `arn:aws:iam::${account}:root` }, Action: 'sts:AssumeRole' }],
    });
    await iam.send(new CreateRoleCommand({ RoleName: 'admin', AssumeRolePolicyDocument: trusting }));
    const chained = new STSClient({ endpoint: service.url, region: 'us-east-1', credentials: key, maxAttempts: 1 });
    const assumeAdmin = new AssumeRoleCommand({ RoleArn: roleOf('admin'), RoleSessionName: 'job' });
    expect(await outcome(chained.send(assumeAdmin))).toBe('AccessDenied');
    chained.destroy();
    await iam.send(new DeleteRolePolicyCommand({ RoleName: 'passing', PolicyName: 'p' }));
    expect(await lists(key)).toBe('AccessDenied');
    await iam.send(new DeleteRoleCommand({ RoleName: 'passing' }));
    expect(await lists(key)).toBe('InvalidToken');
    // A role that gets its name is another.
    await newRole('passing', {});
    expect(await lists(key)).toBe('InvalidToken');
    expect(await lists(await newKey(passing))).toBe('allowed');
  });

  it('ends while the project or its customer is suspended', async () => {
    const suspended = await newRole('suspended', {});
    const key = await newKey(suspended);
    expect(await lists(key)).toBe('allowed');
    for (const whom of [
      ['project', 'main@example.test'],
      ['customer', 'example.test'],
    ] as const) {
      await administer(service.data, whom[0], 'suspend', whom[1]);
      await expect.poll(() => lists(key)).toBe('UserSuspended');
      // One that is made meanwhile is worth no more.
      expect(await lists(await newKey(suspended))).toBe('UserSuspended');
      await administer(service.data, whom[0], 'resume', whom[1]);
      await expect.poll(() => lists(key)).toBe('allowed');
    }
  });

  it('stays when the trust policy of its role changes, as in AWS', async () => {
    const RoleName = 'trusting';
    const trusted = await newRole(RoleName, {});
    const key = await newKey(trusted);
    const Statement = [{ Effect: 'Deny', Principal: '*', Action: 'sts:AssumeRoleWithWebIdentity' }];
    const PolicyDocument = JSON.stringify({ Version: '2012-10-17', Statement });
    await iam.send(new UpdateAssumeRolePolicyCommand({ RoleName, PolicyDocument }));
    await expect(assume(await signed(claims()), trusted)).rejects.toEqual(s3Error('AccessDenied', 403));
    expect(await lists(key)).toBe('allowed');
    // This is how the sessions so far are revoked.
    await iam.send(
      new PutRolePolicyCommand({ RoleName, PolicyName: 'revoked', PolicyDocument: revoking(Date.now() + 1000) }),
    );
    expect(await lists(key)).toBe('AccessDenied');
  });

  it('takes no token for the role of another project', async () => {
    const other = iamClient(service.url, bob);
    const signer = new STSClient({ endpoint: service.url, region: 'us-east-1', credentials: { ...bob } });
    const { Account } = await signer.send(new GetCallerIdentityCommand({}));
    const Statement = [
      { Effect: 'Allow', Principal: { Federated: providerArn }, Action: 'sts:AssumeRoleWithWebIdentity' },
    ];
    const AssumeRolePolicyDocument = JSON.stringify({ Version: '2012-10-17', Statement });
    await other.send(new CreateRoleCommand({ RoleName: 'deputy', AssumeRolePolicyDocument }));
    // It has no such provider, though its role names one of ours.
    await expect(assume(await signed(claims()), `arn:aws:iam::${Account}:role/deputy`)).rejects.toEqual(
      s3Error('InvalidIdentityTokenException', 400),
    );
    other.destroy();
    signer.destroy();
  });

  it('asks no host that webhooks may not reach, nor where it sends us', async () => {
    const before = idp.calls.length;
    for (const Url of [
      'https://10.1.2.3',
      'https://169.254.169.254',
      service.url.replace('http:', 'https:'),
      `${issuer}/moved`,
      `${issuer}/inner`,
    ]) {
      await iam.send(new CreateOpenIDConnectProviderCommand({ Url, ClientIDList: ['shop'] }));
      await expect(assume(await signed({ ...claims(), iss: Url })), Url).rejects.toEqual(
        s3Error('IDPCommunicationErrorException', 400),
      );
    }
    expect(idp.calls.slice(before).map(({ path }) => path)).toEqual(
      ['/moved', '/inner'].map((path) => `${path}/.well-known/openid-configuration`),
    );
  });

  it('makes no key once the provider is removed, and leaves those that there are, as in AWS', async () => {
    const key = await newKey(role);
    await iam.send(new DeleteOpenIDConnectProviderCommand({ OpenIDConnectProviderArn: providerArn }));
    await expect(assume(await signed(claims()))).rejects.toEqual(s3Error('InvalidIdentityTokenException', 400));
    expect(await lists(key)).toBe('allowed');
  });
});

/** Returns a policy that denies everything to sessions that are older. */
function revoking(before: number): string {
  const Condition = { DateLessThan: { 'aws:TokenIssueTime': new Date(before).toISOString() } };
  return JSON.stringify({
    Version: '2012-10-17',
    Statement: [{ Effect: 'Deny', Action: '*', Resource: '*', Condition }],
  });
}
