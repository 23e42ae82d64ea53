import {
  AddUserToGroupCommand,
  AttachRolePolicyCommand,
  AttachUserPolicyCommand,
  CreateAccessKeyCommand,
  CreateGroupCommand,
  CreatePolicyCommand,
  CreatePolicyVersionCommand,
  CreateRoleCommand,
  CreateUserCommand,
  DeleteRolePermissionsBoundaryCommand,
  DeleteRolePolicyCommand,
  DeleteUserPermissionsBoundaryCommand,
  DeleteUserPolicyCommand,
  DetachRolePolicyCommand,
  DetachUserPolicyCommand,
  GetAccessKeyLastUsedCommand,
  GetGroupCommand,
  GetRoleCommand,
  GetUserCommand,
  ListAccessKeysCommand,
  ListAttachedUserPoliciesCommand,
  ListUsersCommand,
  PutGroupPolicyCommand,
  PutRolePolicyCommand,
  PutUserPermissionsBoundaryCommand,
  PutUserPolicyCommand,
  UpdateUserCommand,
  type IAMClient,
} from '@aws-sdk/client-iam';
import { ListBucketsCommand } from '@aws-sdk/client-s3';
import {
  GetCallerIdentityCommand,
  GetFederationTokenCommand,
  GetSessionTokenCommand,
  STSClient,
} from '@aws-sdk/client-sts';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { bucketName } from '../support/clients/clients.ts';
import { allowing, iamClient, outcome, trusting } from '../support/clients/iam.ts';
import type { Key } from '../support/clients/signer.ts';
import { administer, makeKey, runAt, type MadeKey } from '../support/storage/administration.ts';
import { isAdministered, serviceUnderTest } from '../support/programs/service-under-test.ts';

/** What IAM does not let its callers do: keys that make wider keys, temporary keys that administer, and looks at other projects. */

const service = serviceUnderTest();

describe.runIf(isAdministered)('Iam', () => {
  const customer = bucketName();
  let root: MadeKey;
  let iam: IAMClient;
  let account: string;
  const clients: IAMClient[] = [];
  let names = 0;
  const aName = (): string => `limited-${(names += 1)}`;

  const as = (key: Key, token?: string): IAMClient => {
    const client = iamClient(service.url, key, token);
    clients.push(client);
    return client;
  };
  const keyOf = async (UserName: string): Promise<Key> => {
    const { AccessKey } = await iam.send(new CreateAccessKeyCommand({ UserName }));
    return { accessKeyId: AccessKey!.AccessKeyId!, secretAccessKey: AccessKey!.SecretAccessKey! };
  };
  const userWith = async (
    PolicyDocument: string,
    more: object = {},
  ): Promise<{ name: string; iam: IAMClient; key: Key }> => {
    const name = aName();
    await iam.send(new CreateUserCommand({ UserName: name, ...more }));
    await iam.send(new PutUserPolicyCommand({ UserName: name, PolicyName: 'p', PolicyDocument }));
    const key = await keyOf(name);
    return { name, iam: as(key), key };
  };
  const newPolicy = async (PolicyDocument: string): Promise<string> => {
    const { Policy } = await iam.send(new CreatePolicyCommand({ PolicyName: aName(), PolicyDocument }));
    return Policy!.Arn!;
  };
  const fullAccess = 'arn:aws:iam::aws:policy/FullAccess';

  beforeAll(async () => {
    root = await makeKey(service.place, `shop:owner@${customer}`);
    iam = as(root);
    const sts = new STSClient({ endpoint: service.url, region: 'us-east-1', credentials: { ...root } });
    const { Account, Arn, UserId } = await sts.send(new GetCallerIdentityCommand({}));
    expect({ Arn, UserId }).toEqual({ Arn: `arn:aws:iam::${Account}:root`, UserId: Account });
    account = Account!;
  });
  afterAll(() => {
    for (const client of clients) client.destroy();
  });

  it('is of root alone at first: full access to S3 is none to IAM', async () => {
    const user = `shop:second@${customer}`;
    await administer(service.place, 'user', 'create', user);
    const second = as(await administer<MadeKey>(service.place, 'key', 'create', user));
    for (const tried of [
      () => second.send(new GetUserCommand({})),
      () => second.send(new ListUsersCommand({})),
      () => second.send(new CreateUserCommand({ UserName: aName() })),
      () => second.send(new CreateAccessKeyCommand({})),
      () =>
        second.send(new PutUserPolicyCommand({ UserName: 'second', PolicyName: 'p', PolicyDocument: allowing('*') })),
    ]) {
      expect(await outcome(tried())).toBe('AccessDenied');
    }
    const { AttachedPolicies } = await iam.send(new ListAttachedUserPoliciesCommand({ UserName: 'second' }));
    expect(AttachedPolicies).toEqual([{ PolicyName: 'FullAccess', PolicyArn: fullAccess }]);
  });

  it('makes no root of a user that the command line limits', async () => {
    const limited = bucketName();
    await administer(service.place, 'customer', 'create', limited);
    await administer(service.place, 'project', 'create', `shop@${limited}`);
    const user = `shop:ci@${limited}`;
    await administer(service.place, 'user', 'create', user, '--bucket', 'some-bucket', '--access', 'read');
    const key = await administer<MadeKey>(service.place, 'key', 'create', user);
    expect(await outcome(as(key).send(new ListUsersCommand({})))).toBe('AccessDenied');
  });

  it('does not change root, nor list it', async () => {
    const admin = await userWith(allowing('iam:*'));
    for (const tried of [
      () => admin.iam.send(new GetUserCommand({ UserName: 'owner' })),
      () => admin.iam.send(new CreateAccessKeyCommand({ UserName: 'owner' })),
      () =>
        admin.iam.send(new PutUserPolicyCommand({ UserName: 'owner', PolicyName: 'p', PolicyDocument: allowing('*') })),
      () => admin.iam.send(new UpdateUserCommand({ UserName: 'owner', NewUserName: aName() })),
    ]) {
      expect(await outcome(tried())).toBe('NoSuchEntityException');
    }
    expect(await outcome(admin.iam.send(new CreateUserCommand({ UserName: 'Owner' })))).toBe(
      'EntityAlreadyExistsException',
    );
    expect(await outcome(iam.send(new CreateAccessKeyCommand({})))).toBe('AccessDenied');
  });

  it('lets nobody name the users of another project', async () => {
    const other = `shop:owner@${bucketName()}`;
    const stranger = as(await makeKey(service.place, other));
    const { name } = await userWith(allowing('iam:*'));
    expect(await outcome(stranger.send(new GetUserCommand({ UserName: name })))).toBe('NoSuchEntityException');
    const { Users } = await stranger.send(new ListUsersCommand({}));
    expect(Users).toEqual([]);
    const arn = await newPolicy(allowing('s3:*'));
    await stranger.send(new CreateUserCommand({ UserName: 'mine' }));
    const attach = new AttachUserPolicyCommand({ UserName: 'mine', PolicyArn: arn });
    expect(await outcome(stranger.send(attach))).toBe('NoSuchEntityException');
  });

  it('tells whoever may not see them nothing of which users, groups, roles and keys there are', async () => {
    const stranger = await userWith(allowing('s3:*'));
    const [Path, there, gone] = ['/team/', aName(), aName()];
    await iam.send(new CreateUserCommand({ UserName: there, Path }));
    await iam.send(new CreateGroupCommand({ GroupName: there, Path }));
    await iam.send(new CreateRoleCommand({ RoleName: there, Path, AssumeRolePolicyDocument: trusting('*') }));
    const { accessKeyId } = await keyOf(there);
    const answers = async (name: string, AccessKeyId: string): Promise<readonly string[]> => {
      const tried = [
        new GetUserCommand({ UserName: name }),
        new ListAccessKeysCommand({ UserName: name }),
        new UpdateUserCommand({ UserName: name, NewUserName: 'another' }),
        new AttachUserPolicyCommand({ UserName: name, PolicyArn: fullAccess }),
        new GetGroupCommand({ GroupName: name }),
        new GetRoleCommand({ RoleName: name }),
        new GetAccessKeyLastUsedCommand({ AccessKeyId }),
      ] as never[];
      const errors: string[] = [];
      for (const command of tried)
        errors.push(
          await stranger.iam.send(command).then(
            () => 'allowed',
            ({ name: code, message }: Error) => `${code} ${message}`,
          ),
        );
      return errors.map((error) => error.replaceAll(name, 'it'));
    };
    const known = await answers(there, accessKeyId);
    expect(known).toHaveLength(7);
    for (const error of known) expect(error).toMatch(/^AccessDenied User: .* is not authorized to perform: iam:/);
    expect(await answers(gone, 'STILNOSUCHKEYNOSUCHK')).toEqual(known);
  });

  it('obeys resources and conditions of policies', async () => {
    const Statement = [
      { Effect: 'Allow', Action: 'iam:CreateUser', Resource: `arn:aws:iam::${account}:user/team/*` },
      {
        Effect: 'Allow',
        Action: 'iam:AttachUserPolicy',
        Resource: `arn:aws:iam::${account}:user/team/*`,
        Condition: { ArnEquals: { 'iam:PolicyARN': 'arn:aws:iam::aws:policy/AmazonS3ReadOnlyAccess' } },
      },
      { Effect: 'Allow', Action: 'iam:UpdateUser', Resource: `arn:aws:iam::${account}:user/team/*` },
    ];
    const lead = await userWith(JSON.stringify({ Version: '2012-10-17', Statement }));
    const UserName = aName();
    expect(await outcome(lead.iam.send(new CreateUserCommand({ UserName, Path: '/other/' })))).toBe('AccessDenied');
    expect(await outcome(lead.iam.send(new CreateUserCommand({ UserName, Path: '/team/' })))).toBe('allowed');
    const attach = (PolicyArn: string) => outcome(lead.iam.send(new AttachUserPolicyCommand({ UserName, PolicyArn })));
    expect(await attach(fullAccess)).toBe('AccessDenied');
    expect(await attach('arn:aws:iam::aws:policy/AmazonS3ReadOnlyAccess')).toBe('allowed');
    // Nobody is moved to where the caller may not.
    expect(await outcome(lead.iam.send(new UpdateUserCommand({ UserName, NewPath: '/' })))).toBe('AccessDenied');
    expect(await outcome(lead.iam.send(new UpdateUserCommand({ UserName, NewPath: '/team/a/' })))).toBe('allowed');
  });

  it('tells policies of boundaries: of what is set, and of whose policies are changed', async () => {
    const boundary = await newPolicy(allowing('s3:List*'));
    const Condition = { ArnEquals: { 'iam:PermissionsBoundary': boundary } };
    const Action = ['User', 'Role'].flatMap((kind) => [
      ...[`Create${kind}`, `Attach${kind}Policy`, `Detach${kind}Policy`, `Put${kind}Policy`, `Delete${kind}Policy`],
      ...[`Put${kind}PermissionsBoundary`, `Delete${kind}PermissionsBoundary`],
    ]);
    const Statement = [{ Effect: 'Allow', Action: Action.map((name) => `iam:${name}`), Resource: '*', Condition }];
    const lead = await userWith(JSON.stringify({ Version: '2012-10-17', Statement }));
    const tried = (command: never): Promise<string> => outcome(lead.iam.send(command));
    const PolicyDocument = allowing('s3:*');
    const PolicyName = 'q';
    const AssumeRolePolicyDocument = trusting('*');
    for (const [PermissionsBoundary, expected] of [
      [undefined, 'AccessDenied'],
      [fullAccess, 'AccessDenied'],
      [boundary, 'allowed'],
    ] as const) {
      const name = aName();
      const user = { UserName: name };
      const role = { RoleName: name };
      const sets = [
        new CreateUserCommand({ ...user, PermissionsBoundary }),
        new CreateRoleCommand({ ...role, AssumeRolePolicyDocument, PermissionsBoundary }),
      ] as never[];
      for (const command of sets) expect(await tried(command), JSON.stringify(command)).toBe(expected);
      if (expected !== 'allowed') {
        await iam.send(new CreateUserCommand({ ...user, PermissionsBoundary }));
        await iam.send(new CreateRoleCommand({ ...role, AssumeRolePolicyDocument, PermissionsBoundary }));
      }
      const changes = [
        new PutUserPolicyCommand({ ...user, PolicyName, PolicyDocument }),
        new PutRolePolicyCommand({ ...role, PolicyName, PolicyDocument }),
        new AttachUserPolicyCommand({ ...user, PolicyArn: fullAccess }),
        new AttachRolePolicyCommand({ ...role, PolicyArn: fullAccess }),
      ] as never[];
      const undone = [
        new DetachUserPolicyCommand({ ...user, PolicyArn: fullAccess }),
        new DetachRolePolicyCommand({ ...role, PolicyArn: fullAccess }),
        new DeleteUserPolicyCommand({ ...user, PolicyName }),
        new DeleteRolePolicyCommand({ ...role, PolicyName }),
        new DeleteUserPermissionsBoundaryCommand(user),
        new DeleteRolePermissionsBoundaryCommand(role),
      ] as never[];
      for (const command of [...changes, ...undone])
        expect(await tried(command), JSON.stringify(command)).toBe(expected);
      // What was taken off may be put on again, and nothing else.
      for (const [other, outcomeOfOther] of [
        [fullAccess, 'AccessDenied'],
        [boundary, 'allowed'],
      ] as const) {
        const put = new PutUserPermissionsBoundaryCommand({ ...user, PermissionsBoundary: other });
        expect(await tried(put as never)).toBe(outcomeOfOther);
      }
    }
  });

  it('is of whom an operator makes root', async () => {
    const owned = bucketName();
    const first = as(await makeKey(service.place, `shop:first@${owned}`));
    const user = `shop:second@${owned}`;
    await administer(service.place, 'user', 'create', user);
    const second = as(await administer<MadeKey>(service.place, 'key', 'create', user));
    const lists = (client: IAMClient) => outcome(client.send(new ListUsersCommand({})));
    expect(await lists(first)).toBe('allowed');
    expect(await lists(second)).toBe('AccessDenied');
    await administer(service.place, 'project', 'root', user);
    // What operators change takes effect within seconds.
    await expect.poll(() => lists(second)).toBe('allowed');
    await expect.poll(() => lists(first)).toBe('AccessDenied');
    const { Users } = await second.send(new ListUsersCommand({}));
    expect(Users!.map(({ UserName }) => UserName)).toEqual(['first']);
    expect((await second.send(new GetUserCommand({}))).User!.Arn).toMatch(/^arn:aws:iam::\d{12}:root$/);

    const limited = `shop:limited@${owned}`;
    await administer(service.place, 'user', 'create', limited, '--bucket', 'some-bucket', '--access', 'read');
    const { code, stderr } = await runAt(service.place, ['project', 'root', limited]);
    expect(code).not.toBe(0);
    expect(stderr).toContain(`${limited} is limited`);
    const nobody = await runAt(service.place, ['project', 'root', `shop:nobody@${owned}`]);
    expect(nobody.code).not.toBe(0);
    expect(await lists(second)).toBe('allowed');

    // Nobody follows by itself, neither who is there nor who comes later, under the same name or another.
    await administer(service.place, 'user', 'remove', user);
    await expect.poll(() => lists(second)).toBe('InvalidClientTokenId');
    expect(await lists(first)).toBe('AccessDenied');
    for (const later of [user, `shop:third@${owned}`]) {
      await administer(service.place, 'user', 'create', later);
      const key = await administer<MadeKey>(service.place, 'key', 'create', later);
      expect(await lists(as(key)), later).toBe('AccessDenied');
    }
    await administer(service.place, 'project', 'root', `shop:first@${owned}`);
    await expect.poll(() => lists(first)).toBe('allowed');
    // Those who were root are users as all others are.
    const names = (await first.send(new ListUsersCommand({}))).Users!.map(({ UserName }) => UserName);
    expect(names).toEqual(['limited', 'second', 'third']);
    expect(await outcome(first.send(new GetUserCommand({ UserName: 'second' })))).toBe('allowed');
  });

  it('lets a caller with a boundary make and mend only what has the same', async () => {
    const boundary = await newPolicy(allowing(['iam:*', 's3:List*']));
    const wide = await newPolicy(allowing('*'));
    const admin = await userWith(allowing('*'), { PermissionsBoundary: boundary });
    const other = await userWith(allowing('s3:*'));
    const tried = async (command: never): Promise<string> => outcome(admin.iam.send(command));
    const refused = [
      new CreateUserCommand({ UserName: aName() }),
      new CreateUserCommand({ UserName: aName(), PermissionsBoundary: wide }),
      new DeleteUserPermissionsBoundaryCommand({ UserName: admin.name }),
      new PutUserPermissionsBoundaryCommand({ UserName: admin.name, PermissionsBoundary: wide }),
      new CreateAccessKeyCommand({ UserName: other.name }),
      new PutUserPolicyCommand({ UserName: other.name, PolicyName: 'q', PolicyDocument: allowing('*') }),
      new AttachUserPolicyCommand({ UserName: other.name, PolicyArn: fullAccess }),
      new CreatePolicyVersionCommand({ PolicyArn: boundary, PolicyDocument: allowing('*'), SetAsDefault: true }),
    ] as never[];
    for (const command of refused) expect(await tried(command), JSON.stringify(command)).toBe('AccessDenied');

    // By way of a group that has a member without the boundary.
    const GroupName = aName();
    await iam.send(new CreateGroupCommand({ GroupName }));
    await iam.send(new AddUserToGroupCommand({ GroupName, UserName: other.name }));
    const put = new PutGroupPolicyCommand({ GroupName, PolicyName: 'p', PolicyDocument: allowing('*') });
    expect(await tried(put as never)).toBe('AccessDenied');
    expect(await tried(new AddUserToGroupCommand({ GroupName, UserName: other.name }) as never)).toBe('AccessDenied');
    // And of a policy that is attached to such a user.
    const attached = await newPolicy(allowing('s3:List*'));
    await iam.send(new AttachUserPolicyCommand({ UserName: other.name, PolicyArn: attached }));
    const version = { PolicyArn: attached, PolicyDocument: allowing('*'), SetAsDefault: true };
    expect(await tried(new CreatePolicyVersionCommand(version) as never)).toBe('AccessDenied');

    const UserName = aName();
    await admin.iam.send(new CreateUserCommand({ UserName, PermissionsBoundary: boundary }));
    await admin.iam.send(new AttachUserPolicyCommand({ UserName, PolicyArn: wide }));
    const { AccessKey } = await admin.iam.send(new CreateAccessKeyCommand({ UserName }));
    const made = { accessKeyId: AccessKey!.AccessKeyId!, secretAccessKey: AccessKey!.SecretAccessKey! };
    expect(await outcome(service.sdk(made).send(new ListBucketsCommand({})))).toBe('allowed');
    const { CreateBucketCommand } = await import('@aws-sdk/client-s3');
    const create = new CreateBucketCommand({ Bucket: service.freeName('bucket') });
    expect(await outcome(service.sdk(made).send(create))).toBe('AccessDenied');
  });

  it('is not called with temporary keys, whatever their policy says', async () => {
    const sts = new STSClient({ endpoint: service.url, region: 'us-east-1', credentials: { ...root } });
    const session = (await sts.send(new GetSessionTokenCommand({}))).Credentials!;
    const federated = (await sts.send(new GetFederationTokenCommand({ Name: 'guest', Policy: allowing('*') })))
      .Credentials!;
    for (const one of [session, federated]) {
      const key = { accessKeyId: one.AccessKeyId!, secretAccessKey: one.SecretAccessKey! };
      const temporary = as(key, one.SessionToken);
      expect(await outcome(temporary.send(new ListUsersCommand({})))).toBe('AccessDenied');
      expect(await outcome(temporary.send(new CreateAccessKeyCommand({})))).toBe('AccessDenied');
    }
    sts.destroy();
  });
});
