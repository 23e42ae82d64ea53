import {
  AttachUserPolicyCommand,
  CreateAccessKeyCommand,
  CreateUserCommand,
  DeleteAccessKeyCommand,
  UpdateAccessKeyCommand,
} from '@aws-sdk/client-iam';
import { GetObjectCommand, ListBucketsCommand, PutBucketPolicyCommand, PutObjectCommand } from '@aws-sdk/client-s3';
import {
  GetCallerIdentityCommand,
  GetFederationTokenCommand,
  GetSessionTokenCommand,
  STSClient,
  type Credentials,
} from '@aws-sdk/client-sts';
import { describe, expect, it } from 'vitest';
import { administer, makeKey } from '../support/storage/administration.ts';
import { isAdministered, serviceUnderTest } from '../support/programs/service-under-test.ts';
import { allowing, iamClient, outcome, settles } from '../support/clients/iam.ts';
import { s3Error } from '../support/clients/expect-error.ts';
import type { Key } from '../support/clients/signer.ts';

const service = serviceUnderTest();

interface Temporary extends Key {
  readonly sessionToken: string;
}

function sts(credentials: Key | Temporary = service.alice, region = 'us-east-1'): STSClient {
  // The SDK writes into the object that it gets.
  return new STSClient({ endpoint: service.url, region, credentials: { ...credentials } });
}

async function sessionOf(key: Key, DurationSeconds?: number): Promise<Temporary & { readonly expires: Date }> {
  const { Credentials } = await sts(key).send(new GetSessionTokenCommand({ DurationSeconds }));
  return { ...keyOf(Credentials), expires: Credentials!.Expiration! };
}

function keyOf(made: Credentials | undefined): Temporary {
  return {
    accessKeyId: made!.AccessKeyId!,
    secretAccessKey: made!.SecretAccessKey!,
    sessionToken: made!.SessionToken!,
  };
}

/** Returns the name of the error of a list of buckets, or `allowed`. */
async function list(credentials: Temporary): Promise<string> {
  const client = service.sdk(credentials, { credentials: { ...credentials }, maxAttempts: 1 });
  const found = await outcome(client.send(new ListBucketsCommand({})));
  client.destroy();
  return found;
}

describe('GetCallerIdentity', () => {
  it('says who signed', async () => {
    const { $metadata, ...identity } = await sts().send(new GetCallerIdentityCommand({}));
    expect(identity).toEqual({
      Account: expect.stringMatching(/^[1-9]\d{11}$/) as string,
      Arn: `arn:aws:iam::${identity.Account}:root`,
      UserId: identity.Account,
    });
    expect($metadata.requestId).toMatch(/./);
  });

  it('takes the region of the service, and of all the world', async () => {
    for (const region of ['us-east-1', 'eu-central-1']) {
      await expect(sts(service.bob, region).send(new GetCallerIdentityCommand({}))).resolves.toMatchObject({
        Arn: expect.stringMatching(/^arn:aws:iam::\d{12}:root$/) as string,
      });
    }
  });

  it('refuses a key that does not exist, and a signature that is not right', async () => {
    const unknown = { ...service.alice, accessKeyId: 'AKIAUNKNOWNUNKNOWN00' };
    await expect(sts(unknown).send(new GetCallerIdentityCommand({}))).rejects.toEqual(
      s3Error('InvalidClientTokenId', 403),
    );
    const guessed = { ...service.alice, secretAccessKey: 'guessed' };
    await expect(sts(guessed).send(new GetCallerIdentityCommand({}))).rejects.toEqual(
      s3Error('SignatureDoesNotMatch', 403),
    );
  });
});

describe('GetSessionToken', () => {
  it('makes a key that may what its user may, for as long as asked', async () => {
    const before = Date.now();
    const { expires, ...temporary } = await sessionOf(service.alice, 900);
    expect(temporary.accessKeyId).toMatch(/^ASIA[A-Z2-7]{16}$/);
    expect(temporary.sessionToken.length).toBeLessThan(4096);
    expect(expires.getTime() - before).toBeGreaterThan(899_000);
    expect(expires.getTime() - before).toBeLessThan(960_000);
    const Bucket = await service.bucket();
    const client = service.sdk(temporary, { credentials: { ...temporary } });
    await client.send(new PutObjectCommand({ Bucket, Key: 'key', Body: 'content' }));
    const { Buckets } = await client.send(new ListBucketsCommand({}));
    expect(Buckets?.map(({ Name }) => Name)).toContain(Bucket);
    const { Account, Arn } = await sts(temporary).send(new GetCallerIdentityCommand({}));
    expect(Arn).toBe(`arn:aws:iam::${Account}:root`);
    client.destroy();
  });

  it('lasts twelve hours unless asked otherwise, at least a quarter of an hour and at most 36 hours', async () => {
    const { expires } = await sessionOf(service.alice);
    expect(Math.round((expires.getTime() - Date.now()) / 3_600_000)).toBe(12);
    for (const seconds of [899, 129_601]) {
      await expect(sessionOf(service.alice, seconds)).rejects.toEqual(s3Error('ValidationError', 400));
    }
  });

  it('makes no further key with a temporary one', async () => {
    const temporary = await sessionOf(service.alice);
    await expect(sts(temporary).send(new GetSessionTokenCommand({}))).rejects.toEqual(s3Error('AccessDenied', 403));
  });

  it.runIf(isAdministered)('ends with the key, the user and the project that it is of', async () => {
    const customer = service.freeName('customer');
    const user = `shop:ci@${customer}`;
    const key = await makeKey(service.place, user);
    const temporary = await sessionOf(key);
    expect(await list(temporary)).toBe('allowed');
    for (const whom of [
      ['user', user],
      ['project', `shop@${customer}`],
    ] as const) {
      await administer(service.place, whom[0], 'suspend', whom[1]);
      await expect.poll(() => list(temporary)).toBe('UserSuspended');
      await administer(service.place, whom[0], 'resume', whom[1]);
      await expect.poll(() => list(temporary)).toBe('allowed');
    }
    await administer(service.place, 'key', 'remove', key.accessKeyId);
    await expect.poll(() => list(temporary)).toBe('InvalidToken');
  });

  it.runIf(isAdministered)(
    'ends at once with the key that IAM deactivates or deletes, as a federated one does',
    async () => {
      const root = await makeKey(service.place, `shop:owner@${service.freeName('customer')}`);
      const iam = iamClient(service.url, root);
      const UserName = 'ci';
      await iam.send(new CreateUserCommand({ UserName }));
      const PolicyArn = 'arn:aws:iam::aws:policy/FullAccess';
      await iam.send(new AttachUserPolicyCommand({ UserName, PolicyArn }));
      const newKey = async (): Promise<Key> => {
        const { AccessKey } = await iam.send(new CreateAccessKeyCommand({ UserName }));
        return { accessKeyId: AccessKey!.AccessKeyId!, secretAccessKey: AccessKey!.SecretAccessKey! };
      };
      const sessionsOf = async (key: Key): Promise<readonly Temporary[]> => {
        const guest = new GetFederationTokenCommand({ Name: 'guest', Policy: allowing('s3:*') });
        return [await sessionOf(key), keyOf((await sts(key).send(guest)).Credentials)];
      };
      const [key, other] = [await newKey(), await newKey()];
      const sessions = await sessionsOf(key);
      const others = await sessionsOf(other);
      const expectAll = async (expected: string): Promise<void> => {
        for (const one of sessions) await settles(() => list(one)).toBe(expected);
        // Each ends with its own key, not with another of the same user.
        for (const one of others) expect(await list(one)).toBe('allowed');
      };
      await expectAll('allowed');
      const named = { UserName, AccessKeyId: key.accessKeyId };
      await iam.send(new UpdateAccessKeyCommand({ ...named, Status: 'Inactive' }));
      await expectAll('InvalidToken');
      await iam.send(new UpdateAccessKeyCommand({ ...named, Status: 'Active' }));
      await expectAll('allowed');
      await iam.send(new DeleteAccessKeyCommand(named));
      await expectAll('InvalidToken');
      iam.destroy();
    },
  );
});

describe('GetFederationToken', () => {
  const policyOf = (bucket: string, ...actions: string[]): string =>
    JSON.stringify({
      Version: '2012-10-17',
      Statement: [{ Effect: 'Allow', Action: actions, Resource: [`arn:aws:s3:::${bucket}/a/*`] }],
    });
  const federated = async (Policy?: string, by: Key | Temporary = service.alice) => {
    const made = await sts(by).send(new GetFederationTokenCommand({ Name: 'guest', Policy }));
    return { ...made, key: keyOf(made.Credentials) };
  };

  it('makes a key that may what its policy and the user may', async () => {
    const Bucket = await service.bucket();
    const other = await service.bucket();
    const { key, FederatedUser, PackedPolicySize } = await federated(policyOf(Bucket, 's3:PutObject', 's3:GetObject'));
    const { Account: id } = await sts().send(new GetCallerIdentityCommand({}));
    expect(FederatedUser).toEqual({
      FederatedUserId: `${id}:guest`,
      Arn: `arn:aws:sts::${id}:federated-user/guest`,
    });
    expect(PackedPolicySize).toBeGreaterThan(0);
    const { Arn, UserId } = await sts(key).send(new GetCallerIdentityCommand({}));
    expect({ Arn, UserId }).toEqual({ Arn: FederatedUser!.Arn, UserId: FederatedUser!.FederatedUserId });

    const client = service.sdk(key, { credentials: { ...key } });
    const put = (bucket: string, Key: string) =>
      outcome(client.send(new PutObjectCommand({ Bucket: bucket, Key, Body: 'content' })));
    expect(await put(Bucket, 'a/key')).toBe('allowed');
    expect(await put(Bucket, 'b/key')).toBe('AccessDenied');
    expect(await put(other, 'a/key')).toBe('AccessDenied');
    expect(await outcome(client.send(new GetObjectCommand({ Bucket, Key: 'a/key' })))).toBe('allowed');
    expect(await outcome(client.send(new ListBucketsCommand({})))).toBe('AccessDenied');
    // Nor does the policy of a bucket that names the user, or everybody, give it more.
    const statement = { Effect: 'Allow', Principal: '*', Action: 's3:*', Resource: [`arn:aws:s3:::${Bucket}/*`] };
    const Policy = JSON.stringify({ Version: '2012-10-17', Statement: [statement] });
    await service.client.send(new PutBucketPolicyCommand({ Bucket, Policy }));
    expect(await put(Bucket, 'b/key')).toBe('AccessDenied');
    expect(await outcome(client.send(new PutBucketPolicyCommand({ Bucket, Policy })))).toBe('AccessDenied');
    client.destroy();
  });

  it('makes a key that may nothing without a policy, nor what the policy denies', async () => {
    const Bucket = await service.bucket();
    const deny = { Effect: 'Deny', Action: 's3:PutObject', Resource: '*' };
    const all = { Effect: 'Allow', Action: '*', Resource: '*' };
    for (const policy of [undefined, JSON.stringify({ Version: '2012-10-17', Statement: [all, deny] })]) {
      const { key } = await federated(policy);
      const client = service.sdk(key, { credentials: { ...key } });
      expect(await outcome(client.send(new PutObjectCommand({ Bucket, Key: 'a', Body: '' })))).toBe('AccessDenied');
      client.destroy();
    }
  });

  it('makes none with a temporary key, even if its policy allows all', async () => {
    const all = JSON.stringify({ Version: '2012-10-17', Statement: [{ Effect: 'Allow', Action: '*', Resource: '*' }] });
    const { key } = await federated(all);
    await expect(federated(all, key)).rejects.toEqual(s3Error('AccessDenied', 403));
    await expect(federated(all, await sessionOf(service.alice))).rejects.toEqual(s3Error('AccessDenied', 403));
    await expect(sts(key).send(new GetSessionTokenCommand({}))).rejects.toEqual(s3Error('AccessDenied', 403));
  });

  it('refuses what it does not understand', async () => {
    const token = (more: object) => sts().send(new GetFederationTokenCommand({ Name: 'guest', ...more }));
    const malformed = s3Error('MalformedPolicyDocumentException', 400);
    await expect(token({ Policy: '{}' })).rejects.toEqual(malformed);
    await expect(token({ Policy: 'x' })).rejects.toEqual(malformed);
    const invalid = s3Error('ValidationError', 400);
    await expect(token({ Name: 'x' })).rejects.toEqual(invalid);
    await expect(token({ Name: 'a/b' })).rejects.toEqual(invalid);
    await expect(token({ Policy: policyOf('b'.repeat(2048)) })).rejects.toEqual(invalid);
    const PolicyArns = [{ arn: 'arn:aws:iam::aws:policy/Nothing' }];
    await expect(token({ PolicyArns })).rejects.toEqual(invalid);
    await expect(token({ Tags: [{ Key: 'a', Value: 'b' }] })).rejects.toEqual(invalid);
    // Who asks for a second factor is not to believe that there was one.
    const mfa = { SerialNumber: 'arn:aws:iam::123456789012:mfa/user', TokenCode: '123456' };
    await expect(sts().send(new GetSessionTokenCommand(mfa))).rejects.toEqual(invalid);
  });

  it('makes a key that may what managed policies allow', async () => {
    const Bucket = await service.bucket();
    const arn = 'arn:aws:iam::aws:policy/AmazonS3ReadOnlyAccess';
    const made = await sts().send(new GetFederationTokenCommand({ Name: 'guest', PolicyArns: [{ arn }] }));
    const key = keyOf(made.Credentials);
    const client = service.sdk(key, { credentials: { ...key } });
    expect(await outcome(client.send(new PutObjectCommand({ Bucket, Key: 'a', Body: '' })))).toBe('AccessDenied');
    expect(await outcome(client.send(new ListBucketsCommand({})))).toBe('allowed');
    client.destroy();
  });
});
