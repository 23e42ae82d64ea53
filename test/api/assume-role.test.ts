import {
  AttachRolePolicyCommand,
  CreateAccessKeyCommand,
  CreateRoleCommand,
  CreateUserCommand,
  DeleteRoleCommand,
  GetRoleCommand,
  DeleteUserCommand,
  DeleteAccessKeyCommand,
  DetachRolePolicyCommand,
  GetUserCommand,
  ListUsersCommand,
  PutRolePermissionsBoundaryCommand,
  PutRolePolicyCommand,
  PutUserPermissionsBoundaryCommand,
  PutUserPolicyCommand,
  UpdateAssumeRolePolicyCommand,
  type IAMClient,
} from '@aws-sdk/client-iam';
import {
  CreateBucketCommand,
  GetObjectCommand,
  ListBucketsCommand,
  PutBucketPolicyCommand,
  PutObjectCommand,
} from '@aws-sdk/client-s3';
import {
  AssumeRoleCommand,
  GetCallerIdentityCommand,
  GetFederationTokenCommand,
  GetSessionTokenCommand,
  STSClient,
  type AssumeRoleCommandInput,
  type Credentials,
} from '@aws-sdk/client-sts';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { bucketName } from '../support/clients/clients.ts';
import { allowing, iamClient, outcome, settles, trusting } from '../support/clients/iam.ts';
import { s3Error } from '../support/clients/expect-error.ts';
import type { Key } from '../support/clients/signer.ts';
import { administer, makeKey, type MadeKey } from '../support/storage/administration.ts';
import { isAdministered, serviceUnderTest } from '../support/programs/service-under-test.ts';

const service = serviceUnderTest();

interface Temporary extends Key {
  readonly sessionToken?: string;
}

/** A project, with its root. */
interface Project {
  readonly name: string;
  readonly root: MadeKey;
  readonly iam: IAMClient;
  readonly account: string;
}

describe.runIf(isAdministered)('AssumeRole', () => {
  const clients: { destroy(): void }[] = [];
  let own: Project;
  let other: Project;
  let Bucket: string;
  let names = 0;
  const aName = (): string => `assumed-${(names += 1)}`;
  const denied = s3Error('AccessDenied', 403);
  const invalid = s3Error('ValidationError', 400);

  function sts(credentials: Temporary): STSClient {
    const client = new STSClient({
      endpoint: service.url,
      region: 'us-east-1',
      credentials: { ...credentials },
      maxAttempts: 1,
    });
    clients.push(client);
    return client;
  }
  const as = (key: Temporary): IAMClient => {
    const client = iamClient(service.url, key, key.sessionToken);
    clients.push(client);
    return client;
  };
  const newProject = async (): Promise<Project> => {
    const name = `shop@${bucketName()}`;
    const root = await makeKey(service.place, name.replace('@', ':owner@'));
    const { Account } = await sts(root).send(new GetCallerIdentityCommand({}));
    return { name, root, iam: as(root), account: Account! };
  };
  const newUser = async ({ iam }: Project, policy?: string): Promise<Key & { readonly UserName: string }> => {
    const UserName = aName();
    await iam.send(new CreateUserCommand({ UserName }));
    if (policy !== undefined)
      await iam.send(new PutUserPolicyCommand({ UserName, PolicyName: 'p', PolicyDocument: policy }));
    const { AccessKey } = await iam.send(new CreateAccessKeyCommand({ UserName }));
    return { UserName, accessKeyId: AccessKey!.AccessKeyId!, secretAccessKey: AccessKey!.SecretAccessKey! };
  };
  const newRole = async (
    { iam }: Project,
    AssumeRolePolicyDocument: string,
    policy = allowing('s3:GetObject'),
    more: object = {},
  ): Promise<{ readonly RoleName: string; readonly RoleArn: string; readonly RoleId: string }> => {
    const RoleName = aName();
    const { Role } = await iam.send(new CreateRoleCommand({ RoleName, AssumeRolePolicyDocument, ...more }));
    await iam.send(new PutRolePolicyCommand({ RoleName, PolicyName: 'p', PolicyDocument: policy }));
    return { RoleName, RoleArn: Role!.Arn!, RoleId: Role!.RoleId! };
  };
  const accountOf = ({ account }: Project) => ({ AWS: `arn:aws:iam::${account}:root` });
  const userOf = ({ account }: Project, { UserName }: { UserName: string }) => ({
    AWS: `arn:aws:iam::${account}:user/${UserName}`,
  });
  const assume = (by: Temporary, RoleArn: string, more: Partial<AssumeRoleCommandInput> = {}) =>
    sts(by).send(new AssumeRoleCommand({ RoleArn, RoleSessionName: 'ci', ...more }));
  const keyOf = (made: Credentials | undefined): Required<Temporary> => ({
    accessKeyId: made!.AccessKeyId!,
    secretAccessKey: made!.SecretAccessKey!,
    sessionToken: made!.SessionToken!,
  });
  const assumed = async (by: Temporary, RoleArn: string, more: Partial<AssumeRoleCommandInput> = {}) =>
    keyOf((await assume(by, RoleArn, more)).Credentials);
  const s3 = (key: Temporary) => {
    const client = service.sdk(key, { credentials: { ...key } });
    clients.push(client);
    return client;
  };
  const reads = (key: Temporary, Key = 'there') => outcome(s3(key).send(new GetObjectCommand({ Bucket, Key })));
  const writes = (key: Temporary, Key = 'there') =>
    outcome(s3(key).send(new PutObjectCommand({ Bucket, Key, Body: 'content' })));

  beforeAll(async () => {
    [own, other] = [await newProject(), await newProject()];
    Bucket = bucketName();
    await s3(own.root).send(new CreateBucketCommand({ Bucket }));
    await s3(own.root).send(new PutObjectCommand({ Bucket, Key: 'there', Body: 'content' }));
  });
  afterAll(() => {
    for (const client of clients) client.destroy();
  });

  it('makes a key that may what the role may, under its own name', async () => {
    const user = await newUser(own, allowing('sts:AssumeRole'));
    const role = await newRole(own, trusting(accountOf(own)), undefined, { Path: '/team/' });
    const before = Date.now();
    const { Credentials, AssumedRoleUser, PackedPolicySize } = await assume(user, role.RoleArn);
    const Arn = `arn:aws:sts::${own.account}:assumed-role/${role.RoleName}/ci`;
    expect(AssumedRoleUser).toEqual({ AssumedRoleId: `${role.RoleId}:ci`, Arn });
    expect(PackedPolicySize).toBeUndefined();
    expect(Credentials!.AccessKeyId).toMatch(/^ASIA[A-Z2-7]{16}$/);
    expect(Math.round((Credentials!.Expiration!.getTime() - before) / 60_000)).toBe(60);
    const key = keyOf(Credentials);
    const { $metadata: _, ...identity } = await sts(key).send(new GetCallerIdentityCommand({}));
    expect(identity).toEqual({ Account: own.account, Arn, UserId: `${role.RoleId}:ci` });
    expect(await reads(user)).toBe('AccessDenied');
    expect(await reads(key)).toBe('allowed');
    expect(await writes(key)).toBe('AccessDenied');
    // The token goes with its own key alone.
    const { Credentials: second } = await assume(user, role.RoleArn);
    expect(await reads({ ...key, sessionToken: second!.SessionToken! })).toBe('InvalidToken');
    expect(await reads({ ...user, sessionToken: key.sessionToken })).toBe('InvalidToken');
  });

  it('is a use of the role', async () => {
    const role = await newRole(own, trusting(accountOf(own)), allowing('s3:ListBucket'));
    const { RoleName } = role;
    const lastUse = async () => (await own.iam.send(new GetRoleCommand({ RoleName }))).Role!.RoleLastUsed;
    expect(await lastUse()).toEqual({});
    await reads(await assumed(own.root, role.RoleArn));
    await expect.poll(lastUse).toEqual({ LastUsedDate: expect.any(Date) as Date, Region: 'us-east-1' });
  });

  it('follows what is attached to the role', async () => {
    const role = await newRole(own, trusting(accountOf(own)), allowing('s3:ListBucket'));
    const key = await assumed(own.root, role.RoleArn);
    await settles(() => reads(key)).toBe('AccessDenied');
    const attached = { RoleName: role.RoleName, PolicyArn: 'arn:aws:iam::aws:policy/FullAccess' };
    await own.iam.send(new AttachRolePolicyCommand(attached));
    await settles(() => writes(key)).toBe('allowed');
    const PermissionsBoundary = 'arn:aws:iam::aws:policy/AmazonS3ReadOnlyAccess';
    await own.iam.send(new PutRolePermissionsBoundaryCommand({ RoleName: role.RoleName, PermissionsBoundary }));
    await settles(() => reads(key)).toBe('allowed');
    await settles(() => writes(key)).toBe('AccessDenied');
    // A bucket's policy that names the role does not step over its boundary, nor over its session's policies.
    const narrow = await assumed(own.root, role.RoleArn, { Policy: allowing('s3:ListBucket') });
    const Policy = JSON.stringify({
      Version: '2012-10-17',
      Statement: [
        {
          Effect: 'Allow',
          Principal: { AWS: role.RoleArn },
          Action: ['s3:PutObject', 's3:GetObject'],
          Resource: `arn:aws:s3:::${Bucket}/*`,
        },
      ],
    });
    await s3(own.root).send(new PutBucketPolicyCommand({ Bucket, Policy }));
    await own.iam.send(new DetachRolePolicyCommand(attached));
    await settles(() => writes(key)).toBe('AccessDenied');
    await settles(() => reads(key)).toBe('allowed');
    await settles(() => reads(narrow)).toBe('AccessDenied');
  });

  it('needs the trust of the role and, unless it names the user, a policy of the user', async () => {
    const [none, may, barred, bounded] = [
      await newUser(own),
      await newUser(own, allowing('sts:AssumeRole')),
      await newUser(
        own,
        JSON.stringify({
          Version: '2012-10-17',
          Statement: [{ Effect: 'Deny', Action: 'sts:*', Resource: '*' }],
        }),
      ),
      await newUser(own, allowing('sts:AssumeRole')),
    ];
    await own.iam.send(
      new PutUserPermissionsBoundaryCommand({
        UserName: bounded.UserName,
        PermissionsBoundary: 'arn:aws:iam::aws:policy/AmazonS3FullAccess',
      }),
    );
    const tried = (by: Temporary, { RoleArn }: { RoleArn: string }) => outcome(assume(by, RoleArn));
    const byAccount = await newRole(own, trusting(accountOf(own)));
    const byName = await newRole(own, trusting({ AWS: [none, barred, bounded].map((one) => userOf(own, one).AWS) }));
    const ofOthers = await newRole(own, trusting(accountOf(other)));
    const byAll = await newRole(own, trusting('*'));
    const noOne = await newRole(own, trusting({ Service: 'ec2.amazonaws.com' }));
    const outcomes: string[][] = [];
    for (const user of [none, may, barred, bounded, own.root, await newUser(other, allowing('*'))]) {
      const row: string[] = [];
      for (const role of [byAccount, byName, ofOthers, byAll, noOne]) row.push(await tried(user, role));
      outcomes.push(row);
    }
    const [yes, no] = ['allowed', 'AccessDenied'];
    expect(outcomes).toEqual([
      [no, yes, no, no, no],
      [yes, no, no, yes, no],
      [no, no, no, no, no],
      [no, no, no, no, no],
      [yes, no, no, yes, no],
      // Of another project, with a policy that allows everything.
      [no, no, yes, yes, no],
    ]);
    // Of another project, by name but without a policy.
    const stranger = await newUser(other);
    const named = await newRole(own, trusting(userOf(other, stranger)));
    expect(await tried(stranger, named)).toBe(no);
    await other.iam.send(
      new PutUserPolicyCommand({
        UserName: stranger.UserName,
        PolicyName: 'p',
        PolicyDocument: allowing('sts:AssumeRole', named.RoleArn),
      }),
    );
    await settles(() => tried(stranger, named)).toBe(yes);
    // Nobody learns which roles there are.
    const nobody = `arn:aws:iam::${own.account}:role/nobody`;
    const errors = await Promise.all(
      [nobody, noOne.RoleArn, noOne.RoleArn.replace('role/', 'role/x/'), 'arn:aws:iam::000000000000:role/x'].map(
        (arn) => assume(may, arn).catch((error: Error) => error.message.replace(arn, 'it')),
      ),
    );
    expect(new Set(errors)).toEqual(
      new Set([expect.stringMatching(/not authorized to perform: sts:AssumeRole on resource: it$/)]),
    );
  });

  it('opens a bucket of another project to the role alone, and asks for the external id', async () => {
    const vendor = await newUser(other, allowing('sts:AssumeRole'));
    const Condition = { StringEquals: { 'sts:ExternalId': 'customer-1', 'sts:RoleSessionName': 'ci' } };
    const role = await newRole(own, trusting(accountOf(other), { Condition }));
    // The confused deputy: another customer of the vendor names this role, but not its external id.
    await expect(assume(vendor, role.RoleArn)).rejects.toEqual(denied);
    await expect(assume(vendor, role.RoleArn, { ExternalId: 'customer-2' })).rejects.toEqual(denied);
    const ExternalId = 'customer-1';
    await expect(assume(vendor, role.RoleArn, { ExternalId, RoleSessionName: 'other' })).rejects.toEqual(denied);
    const key = await assumed(vendor, role.RoleArn, { ExternalId });
    expect(await reads(vendor)).toBe('AccessDenied');
    expect(await reads(key)).toBe('allowed');
    const { Account } = await sts(key).send(new GetCallerIdentityCommand({}));
    expect(Account).toBe(own.account);
  });

  it('binds a session to its policies, which never add anything', async () => {
    const role = await newRole(own, trusting(accountOf(own)), allowing(['s3:*', 'iam:*']));
    const { Credentials, PackedPolicySize } = await assume(own.root, role.RoleArn, {
      Policy: allowing(['s3:PutObject', 'iam:*', 'stillage:*', 'sts:*']),
      PolicyArns: [{ arn: 'arn:aws:iam::aws:policy/IAMReadOnlyAccess' }],
    });
    expect(PackedPolicySize).toBeGreaterThan(0);
    const key = keyOf(Credentials);
    expect(await reads(key)).toBe('AccessDenied');
    expect(await writes(key)).toBe('allowed');
    // IAM and administration included: it makes no key that would be wider than itself.
    const iam = as(key);
    expect(await outcome(iam.send(new ListUsersCommand({})))).toBe('allowed');
    expect(await outcome(iam.send(new CreateUserCommand({ UserName: aName() })))).toBe('AccessDenied');
    const widen = { RoleName: role.RoleName, PolicyName: 'q', PolicyDocument: allowing('*') };
    expect(await outcome(iam.send(new PutRolePolicyCommand(widen)))).toBe('AccessDenied');
    const narrow = await assumed(own.root, role.RoleArn, {
      PolicyArns: [{ arn: 'arn:aws:iam::aws:policy/AmazonS3ReadOnlyAccess' }],
    });
    expect(await reads(narrow)).toBe('allowed');
    expect(await writes(narrow)).toBe('AccessDenied');
    expect(await outcome(as(narrow).send(new ListUsersCommand({})))).toBe('AccessDenied');
    const missing = { PolicyArns: [{ arn: 'arn:aws:iam::aws:policy/Nothing' }] };
    await expect(assume(own.root, role.RoleArn, missing)).rejects.toEqual(invalid);
    await expect(assume(own.root, role.RoleArn, { Policy: '{}' })).rejects.toEqual(
      s3Error('MalformedPolicyDocumentException', 400),
    );
  });

  it('refuses policies that fill a token', async () => {
    const role = await newRole(own, trusting(accountOf(own)));
    const { CreatePolicyCommand } = await import('@aws-sdk/client-iam');
    const PolicyArns: { arn: string }[] = [];
    for (let at = 0; at < 3; at += 1) {
      const resources = Array.from({ length: 60 }, () => `arn:aws:s3:::${crypto.randomUUID()}/*`);
      const made = await own.iam.send(
        new CreatePolicyCommand({ PolicyName: aName(), PolicyDocument: allowing('s3:GetObject', resources) }),
      );
      PolicyArns.push({ arn: made.Policy!.Arn! });
    }
    await expect(assume(own.root, role.RoleArn, { PolicyArns })).rejects.toEqual(
      s3Error('PackedPolicyTooLargeException', 400),
    );
  });

  it('administers by a role as its policies and its boundary say', async () => {
    const boundary = 'arn:aws:iam::aws:policy/IAMReadOnlyAccess';
    const admin = await newRole(own, trusting(accountOf(own)), allowing('iam:*'));
    const iam = as(await assumed(own.root, admin.RoleArn));
    const UserName = aName();
    expect(await outcome(iam.send(new CreateUserCommand({ UserName })))).toBe('allowed');
    expect(await outcome(iam.send(new DeleteUserCommand({ UserName })))).toBe('allowed');
    // It has no user of its own.
    await expect(iam.send(new GetUserCommand({}))).rejects.toEqual(invalid);
    await own.iam.send(
      new PutRolePermissionsBoundaryCommand({ RoleName: admin.RoleName, PermissionsBoundary: boundary }),
    );
    expect(await outcome(iam.send(new ListUsersCommand({})))).toBe('allowed');
    await settles(() => outcome(iam.send(new CreateUserCommand({ UserName })))).toBe('AccessDenied');
  });

  it('lasts no longer than the role allows, and an hour in a chain', async () => {
    const chained = await newRole(own, trusting(accountOf(own)), allowing('s3:*'), { MaxSessionDuration: 43_200 });
    const first = await newRole(own, trusting(accountOf(own)), allowing('sts:AssumeRole'));
    await expect(assume(own.root, first.RoleArn, { DurationSeconds: 3601 })).rejects.toEqual(invalid);
    for (const DurationSeconds of [899, 43_201])
      await expect(assume(own.root, chained.RoleArn, { DurationSeconds })).rejects.toEqual(invalid);
    const key = await assumed(own.root, first.RoleArn);
    await expect(assume(key, chained.RoleArn, { DurationSeconds: 3601 })).rejects.toEqual(invalid);
    expect(await reads(await assumed(key, chained.RoleArn, { DurationSeconds: 3600 }))).toBe('allowed');
    expect(await outcome(assume(own.root, chained.RoleArn, { DurationSeconds: 43_200 }))).toBe('allowed');
    // A role that another names does not lend its own rights, nor is it trusted once it is another of the same name.
    const trusted = await newRole(own, trusting({ AWS: first.RoleArn }));
    expect(await outcome(assume(key, trusted.RoleArn))).toBe('allowed');
    expect(await outcome(assume(own.root, trusted.RoleArn))).toBe('AccessDenied');
    const { DeleteRolePolicyCommand } = await import('@aws-sdk/client-iam');
    await own.iam.send(new DeleteRolePolicyCommand({ RoleName: first.RoleName, PolicyName: 'p' }));
    await settles(() => outcome(assume(key, chained.RoleArn))).toBe('AccessDenied');
    await settles(() => outcome(assume(key, trusted.RoleArn))).toBe('allowed');
    await own.iam.send(new DeleteRoleCommand({ RoleName: first.RoleName }));
    await own.iam.send(
      new CreateRoleCommand({ RoleName: first.RoleName, AssumeRolePolicyDocument: trusting(accountOf(own)) }),
    );
    const again = await assumed(own.root, first.RoleArn);
    await settles(() => outcome(assume(again, trusted.RoleArn))).toBe('AccessDenied');
  });

  it('takes other temporary keys as AWS does', async () => {
    const role = await newRole(own, trusting(accountOf(own)));
    const session = keyOf((await sts(own.root).send(new GetSessionTokenCommand({}))).Credentials);
    expect(await outcome(assume(session, role.RoleArn))).toBe('allowed');
    const federated = new GetFederationTokenCommand({ Name: 'guest', Policy: allowing('*') });
    const guest = keyOf((await sts(own.root).send(federated)).Credentials);
    await expect(assume(guest, role.RoleArn)).rejects.toEqual(denied);
    const key = await assumed(own.root, role.RoleArn);
    await expect(sts(key).send(new GetSessionTokenCommand({}))).rejects.toEqual(denied);
    await expect(sts(key).send(federated)).rejects.toEqual(denied);
    for (const refused of [
      { Tags: [{ Key: 'a', Value: 'b' }] },
      { SourceIdentity: 'someone' },
      { TokenCode: '123456' },
    ])
      await expect(assume(own.root, role.RoleArn, refused)).rejects.toEqual(invalid);
  });

  it('is not trusted to a later user of the same name', async () => {
    const user = await newUser(own);
    const role = await newRole(own, trusting(userOf(own, user)));
    expect(await outcome(assume(user, role.RoleArn))).toBe('allowed');
    const { UserName, accessKeyId: AccessKeyId } = user;
    await own.iam.send(new DeleteAccessKeyCommand({ UserName, AccessKeyId }));
    await own.iam.send(new DeleteUserCommand({ UserName }));
    await own.iam.send(new CreateUserCommand({ UserName }));
    const { AccessKey } = await own.iam.send(new CreateAccessKeyCommand({ UserName }));
    const next = { accessKeyId: AccessKey!.AccessKeyId!, secretAccessKey: AccessKey!.SecretAccessKey! };
    expect(await outcome(assume(next, role.RoleArn))).toBe('AccessDenied');
  });

  it('makes no role of root by its name', async () => {
    const RoleName = 'owner';
    await own.iam.send(new CreateRoleCommand({ RoleName, AssumeRolePolicyDocument: trusting(accountOf(own)) }));
    const key = await assumed(own.root, `arn:aws:iam::${own.account}:role/owner`);
    expect(await outcome(as(key).send(new ListUsersCommand({})))).toBe('AccessDenied');
    expect(await writes(key)).toBe('AccessDenied');
  });

  it('ends with the role, and with the trust of a policy that looks at when the key was made', async () => {
    const role = await newRole(own, trusting(accountOf(own)));
    const key = await assumed(own.root, role.RoleArn);
    await settles(() => reads(key)).toBe('allowed');
    const { RoleName } = role;
    const revoke = (before: number) =>
      own.iam.send(
        new PutRolePolicyCommand({
          RoleName,
          PolicyName: 'revoked',
          PolicyDocument: JSON.stringify({
            Version: '2012-10-17',
            Statement: [
              {
                Effect: 'Deny',
                Action: '*',
                Resource: '*',
                Condition: { DateLessThan: { 'aws:TokenIssueTime': new Date(before).toISOString() } },
              },
            ],
          }),
        }),
      );
    await revoke(Date.now() + 60_000);
    await settles(() => reads(key)).toBe('AccessDenied');
    await revoke(Date.now() - 3_600_000);
    await settles(() => reads(key)).toBe('allowed');
    // The trust is asked when a key is made.
    await own.iam.send(new UpdateAssumeRolePolicyCommand({ RoleName, PolicyDocument: trusting(accountOf(other)) }));
    expect(await outcome(assume(own.root, role.RoleArn))).toBe('AccessDenied');
    await settles(() => reads(key)).toBe('allowed');
    const { DeleteRolePolicyCommand } = await import('@aws-sdk/client-iam');
    for (const PolicyName of ['p', 'revoked'])
      await own.iam.send(new DeleteRolePolicyCommand({ RoleName, PolicyName }));
    await own.iam.send(new DeleteRoleCommand({ RoleName }));
    await settles(() => reads(key)).toBe('InvalidToken');
    await own.iam.send(new CreateRoleCommand({ RoleName, AssumeRolePolicyDocument: trusting(accountOf(own)) }));
    await own.iam.send(new PutRolePolicyCommand({ RoleName, PolicyName: 'p', PolicyDocument: allowing('s3:*') }));
    await settles(() => reads(key)).toBe('InvalidToken');
  });

  it('ends while the project of the role is suspended', async () => {
    const project = await newProject();
    const role = await newRole(project, trusting(accountOf(project)), allowing('s3:*'));
    const key = await assumed(project.root, role.RoleArn);
    const list = () => outcome(s3(key).send(new ListBucketsCommand({})));
    expect(await list()).toBe('allowed');
    await administer(service.place, 'project', 'suspend', project.name);
    await expect.poll(list).toBe('UserSuspended');
  });
});
