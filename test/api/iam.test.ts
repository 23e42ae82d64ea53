import {
  AddUserToGroupCommand,
  AttachUserPolicyCommand,
  CreateAccessKeyCommand,
  CreateGroupCommand,
  CreatePolicyCommand,
  CreatePolicyVersionCommand,
  CreateUserCommand,
  DeleteAccessKeyCommand,
  DeleteGroupCommand,
  DeletePolicyCommand,
  DeletePolicyVersionCommand,
  DeleteUserCommand,
  DeleteUserPermissionsBoundaryCommand,
  DeleteUserPolicyCommand,
  DetachUserPolicyCommand,
  GetAccessKeyLastUsedCommand,
  GetAccountSummaryCommand,
  GetGroupCommand,
  GetLoginProfileCommand,
  GetPolicyCommand,
  GetPolicyVersionCommand,
  GetUserCommand,
  GetUserPolicyCommand,
  ListAccessKeysCommand,
  ListAccountAliasesCommand,
  ListAttachedUserPoliciesCommand,
  ListEntitiesForPolicyCommand,
  ListGroupsCommand,
  ListGroupsForUserCommand,
  ListMFADevicesCommand,
  ListPoliciesCommand,
  ListPolicyVersionsCommand,
  ListServiceSpecificCredentialsCommand,
  ListSigningCertificatesCommand,
  ListSSHPublicKeysCommand,
  ListUserPoliciesCommand,
  ListUsersCommand,
  ListUserTagsCommand,
  ListVirtualMFADevicesCommand,
  PutGroupPolicyCommand,
  PutUserPermissionsBoundaryCommand,
  PutUserPolicyCommand,
  RemoveUserFromGroupCommand,
  SetDefaultPolicyVersionCommand,
  SimulatePrincipalPolicyCommand,
  TagUserCommand,
  UntagUserCommand,
  UpdateAccessKeyCommand,
  UpdateGroupCommand,
  UpdateUserCommand,
  type IAMClient,
} from '@aws-sdk/client-iam';
import { GetObjectCommand, ListBucketsCommand, PutObjectCommand } from '@aws-sdk/client-s3';
import { GetCallerIdentityCommand, STSClient } from '@aws-sdk/client-sts';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { bucketName } from '../support/clients/clients.ts';
import { allowing, iamClient, outcome, settles } from '../support/clients/iam.ts';
import { s3Error } from '../support/clients/expect-error.ts';
import type { Key } from '../support/clients/signer.ts';
import { makeKey, type MadeKey } from '../support/storage/administration.ts';
import { isAdministered, serviceUnderTest } from '../support/programs/service-under-test.ts';

// Alone: its log is read.
const service = serviceUnderTest({ alone: true });

describe.runIf(isAdministered)('Iam', () => {
  let root: MadeKey;
  let iam: IAMClient;
  let account: string;
  let Bucket: string;
  let names = 0;
  const aName = (): string => `user-${(names += 1)}`;
  const missing = s3Error('NoSuchEntityException', 404);
  const conflict = s3Error('DeleteConflictException', 409);
  const exists = s3Error('EntityAlreadyExistsException', 409);
  const limit = s3Error('LimitExceededException', 409);
  const readOnly = 'arn:aws:iam::aws:policy/AmazonS3ReadOnlyAccess';

  beforeAll(async () => {
    root = await makeKey(service.place, `shop:owner@${bucketName()}`);
    iam = iamClient(service.url, root);
    const sts = new STSClient({ endpoint: service.url, region: 'us-east-1', credentials: { ...root } });
    account = (await sts.send(new GetCallerIdentityCommand({}))).Account!;
    Bucket = bucketName();
    const { CreateBucketCommand } = await import('@aws-sdk/client-s3');
    const client = service.sdk(root);
    await client.send(new CreateBucketCommand({ Bucket }));
    await client.send(new PutObjectCommand({ Bucket, Key: 'there', Body: 'content' }));
  });
  afterAll(() => iam.destroy());

  const newUser = async (more: object = {}): Promise<string> => {
    const UserName = aName();
    await iam.send(new CreateUserCommand({ UserName, ...more }));
    return UserName;
  };
  const newKey = async (UserName: string): Promise<Key> => {
    const { AccessKey } = await iam.send(new CreateAccessKeyCommand({ UserName }));
    return { accessKeyId: AccessKey!.AccessKeyId!, secretAccessKey: AccessKey!.SecretAccessKey! };
  };
  const reads = (key: Key): Promise<string> =>
    outcome(service.sdk(key).send(new GetObjectCommand({ Bucket, Key: 'there' })));

  describe('users', () => {
    it('are made, shown, changed and deleted', async () => {
      const UserName = aName();
      const Tags = [{ Key: 'team', Value: 'a b' }];
      const { User } = await iam.send(new CreateUserCommand({ UserName, Path: '/team/', Tags }));
      expect(User).toEqual({
        Path: '/team/',
        UserName,
        UserId: expect.stringMatching(/^\w{16,128}$/) as string,
        Arn: `arn:aws:iam::${account}:user/team/${UserName}`,
        CreateDate: expect.any(Date) as Date,
        Tags,
      });
      expect((await iam.send(new GetUserCommand({ UserName }))).User).toEqual(User);
      await expect(iam.send(new CreateUserCommand({ UserName: UserName.toUpperCase() }))).rejects.toEqual(exists);
      const NewUserName = aName();
      const key = await newKey(UserName);
      await iam.send(new PutUserPolicyCommand({ UserName, PolicyName: 'p', PolicyDocument: allowing('s3:*') }));
      await iam.send(new UpdateUserCommand({ UserName, NewUserName, NewPath: '/' }));
      const moved = (await iam.send(new GetUserCommand({ UserName: NewUserName }))).User!;
      expect(moved).toMatchObject({ UserId: User!.UserId, Path: '/', Tags, CreateDate: User!.CreateDate });
      await settles(() => reads(key)).toBe('allowed');
      await expect(iam.send(new GetUserCommand({ UserName }))).rejects.toEqual(missing);
      const gone = { UserName: NewUserName };
      await expect(iam.send(new DeleteUserCommand(gone))).rejects.toEqual(conflict);
      await iam.send(new DeleteAccessKeyCommand({ ...gone, AccessKeyId: key.accessKeyId }));
      await expect(iam.send(new DeleteUserCommand(gone))).rejects.toEqual(conflict);
      await iam.send(new DeleteUserPolicyCommand({ ...gone, PolicyName: 'p' }));
      await iam.send(new DeleteUserCommand(gone));
      await expect(iam.send(new DeleteUserCommand(gone))).rejects.toEqual(missing);
      await iam.send(new CreateUserCommand(gone));
      expect((await iam.send(new GetUserCommand(gone))).User!.UserId).not.toBe(User!.UserId);
    });

    it('are listed page by page, sorted whatever their case, without root', async () => {
      const made = ['Zeta', 'alpha', 'Beta'].map((name) => `${name}${aName()}`);
      for (const UserName of made) await iam.send(new CreateUserCommand({ UserName, Path: '/listed/here/' }));
      const found: string[] = [];
      let Marker: string | undefined;
      do {
        const page = await iam.send(new ListUsersCommand({ PathPrefix: '/listed/', MaxItems: 1, Marker }));
        expect(page.IsTruncated).toBe(page.Marker !== undefined);
        found.push(...page.Users!.map((user) => user.UserName!));
        ({ Marker } = page);
      } while (Marker !== undefined);
      expect(found).toEqual([made[1], made[2], made[0]]);
      const { Users } = await iam.send(new ListUsersCommand({}));
      expect(Users!.map(({ UserName }) => UserName)).not.toContain('owner');
    });

    it('have tags', async () => {
      const UserName = await newUser();
      const tags = async () => (await iam.send(new ListUserTagsCommand({ UserName }))).Tags;
      await iam.send(
        new TagUserCommand({
          UserName,
          Tags: [
            { Key: 'a', Value: '1' },
            { Key: 'B', Value: '' },
          ],
        }),
      );
      await iam.send(new TagUserCommand({ UserName, Tags: [{ Key: 'b', Value: '2' }] }));
      expect(await tags()).toEqual([
        { Key: 'a', Value: '1' },
        { Key: 'b', Value: '2' },
      ]);
      await iam.send(new UntagUserCommand({ UserName, TagKeys: ['A'] }));
      expect(await tags()).toEqual([{ Key: 'b', Value: '2' }]);
      const many = Array.from({ length: 50 }, (_, at) => ({ Key: `k${at}`, Value: '' }));
      await expect(iam.send(new TagUserCommand({ UserName, Tags: many }))).rejects.toEqual(limit);
      const twice = [
        { Key: 'x', Value: '1' },
        { Key: 'X', Value: '2' },
      ];
      await expect(iam.send(new TagUserCommand({ UserName, Tags: twice }))).rejects.toEqual(
        s3Error('InvalidInputException', 400),
      );
    });

    it('refuse names and paths that AWS refuses', async () => {
      const invalid = s3Error('ValidationError', 400);
      for (const user of [
        { UserName: 'a b' },
        { UserName: 'x'.repeat(65) },
        { UserName: aName(), Path: 'team/' },
        { UserName: aName(), Path: '/team' },
      ]) {
        await expect(iam.send(new CreateUserCommand(user))).rejects.toEqual(invalid);
      }
    });

    it('are found by those who look for themselves', async () => {
      const { User } = await iam.send(new GetUserCommand({}));
      expect(User).toMatchObject({ Arn: `arn:aws:iam::${account}:root`, UserId: account, Path: '/' });
      const UserName = await newUser();
      const own = iamClient(service.url, await newKey(UserName));
      await expect(own.send(new GetUserCommand({}))).rejects.toEqual(s3Error('AccessDenied', 403));
      const Resource = `arn:aws:iam::${account}:user/\${aws:username}`;
      await iam.send(
        new PutUserPolicyCommand({ UserName, PolicyName: 'self', PolicyDocument: allowing('iam:Get*', Resource) }),
      );
      expect((await own.send(new GetUserCommand({}))).User!.UserName).toBe(UserName);
      const other = await newUser();
      expect(await outcome(own.send(new GetUserCommand({ UserName: other })))).toBe('AccessDenied');
      // Whoever may not look learns nothing of who is there.
      expect(await outcome(own.send(new GetUserCommand({ UserName: 'nobody' })))).toBe('AccessDenied');
      own.destroy();
    });
  });

  describe('access keys', () => {
    it('start with nothing, work at once, and end at once', async () => {
      const UserName = await newUser();
      const key = await newKey(UserName);
      await settles(() => reads(key)).toBe('AccessDenied');
      await iam.send(new AttachUserPolicyCommand({ UserName, PolicyArn: readOnly }));
      await settles(() => reads(key)).toBe('allowed');
      await iam.send(new DetachUserPolicyCommand({ UserName, PolicyArn: readOnly }));
      await settles(() => reads(key)).toBe('AccessDenied');
      await iam.send(new AttachUserPolicyCommand({ UserName, PolicyArn: readOnly }));
      const AccessKeyId = key.accessKeyId;
      await iam.send(new UpdateAccessKeyCommand({ UserName, AccessKeyId, Status: 'Inactive' }));
      await settles(() => reads(key)).toBe('InvalidAccessKeyId');
      await iam.send(new UpdateAccessKeyCommand({ UserName, AccessKeyId, Status: 'Active' }));
      await settles(() => reads(key)).toBe('allowed');
      await iam.send(new DeleteAccessKeyCommand({ UserName, AccessKeyId }));
      await settles(() => reads(key)).toBe('InvalidAccessKeyId');
      await expect(iam.send(new DeleteAccessKeyCommand({ UserName, AccessKeyId }))).rejects.toEqual(missing);
    });

    it('are two at most, listed without their secrets', async () => {
      const UserName = await newUser();
      const keys = [await newKey(UserName), await newKey(UserName)];
      await expect(newKey(UserName)).rejects.toEqual(limit);
      const { AccessKeyMetadata, $metadata: _ } = await iam.send(new ListAccessKeysCommand({ UserName }));
      expect(AccessKeyMetadata!.map(({ AccessKeyId }) => AccessKeyId).toSorted()).toEqual(
        keys.map(({ accessKeyId }) => accessKeyId).toSorted(),
      );
      expect(JSON.stringify(AccessKeyMetadata)).not.toContain(keys[0]!.secretAccessKey);
      expect(AccessKeyMetadata![0]).toMatchObject({ UserName, Status: 'Active' });
      const used = await iam.send(new GetAccessKeyLastUsedCommand({ AccessKeyId: keys[0]!.accessKeyId }));
      expect(used.UserName).toBe(UserName);
      expect(await service.log()).not.toContain(keys[0]!.secretAccessKey);
    });

    it('tell when they were last used, and what for', async () => {
      const UserName = await newUser();
      const key = await newKey(UserName);
      const lastUse = async () =>
        (await iam.send(new GetAccessKeyLastUsedCommand({ AccessKeyId: key.accessKeyId }))).AccessKeyLastUsed!;
      expect(await lastUse()).toEqual({ ServiceName: 'N/A', Region: 'N/A' });
      const before = Date.now() - 1000;
      // Being refused is a use.
      expect(await reads(key)).toBe('AccessDenied');
      await expect.poll(lastUse).toEqual({
        LastUsedDate: expect.any(Date) as Date,
        ServiceName: 's3',
        Region: 'us-east-1',
      });
      const { LastUsedDate } = await lastUse();
      expect(LastUsedDate!.getTime()).toBeGreaterThan(before);
      expect(LastUsedDate!.getTime()).toBeLessThanOrEqual(Date.now());
    });

    it('of other projects do not exist', async () => {
      const UserName = await newUser();
      const AccessKeyId = service.alice.accessKeyId.padEnd(16, 'X').replaceAll(/\W/g, 'X');
      for (const command of [
        new DeleteAccessKeyCommand({ UserName, AccessKeyId }),
        new UpdateAccessKeyCommand({ UserName, AccessKeyId, Status: 'Inactive' }),
        new GetAccessKeyLastUsedCommand({ AccessKeyId }),
      ] as never[]) {
        await expect(iam.send(command)).rejects.toEqual(missing);
      }
    });
  });

  describe('inline policies', () => {
    it('come back as they were written', async () => {
      const UserName = await newUser();
      const PolicyDocument = JSON.stringify(
        JSON.parse(allowing('s3:GetObject', `arn:aws:s3:::${Bucket}/*'()!`)),
        null,
        2,
      );
      await iam.send(new PutUserPolicyCommand({ UserName, PolicyName: 'p', PolicyDocument }));
      const found = await iam.send(new GetUserPolicyCommand({ UserName, PolicyName: 'p' }));
      expect(found).toMatchObject({ UserName, PolicyName: 'p' });
      expect(found.PolicyDocument).toMatch(/^[\w.~%-]+$/);
      expect(decodeURIComponent(found.PolicyDocument!)).toBe(PolicyDocument);
      expect((await iam.send(new ListUserPoliciesCommand({ UserName }))).PolicyNames).toEqual(['p']);
      await expect(iam.send(new GetUserPolicyCommand({ UserName, PolicyName: 'q' }))).rejects.toEqual(missing);
      await expect(
        iam.send(new PutUserPolicyCommand({ UserName, PolicyName: 'q', PolicyDocument: '{}' })),
      ).rejects.toEqual(s3Error('MalformedPolicyDocumentException', 400));
      const long = allowing(
        's3:*',
        Array.from({ length: 100 }, (_, at) => `arn:aws:s3:::bucket-${at}/*`),
      );
      await expect(
        iam.send(new PutUserPolicyCommand({ UserName, PolicyName: 'q', PolicyDocument: long })),
      ).rejects.toEqual(limit);
    });
  });

  describe('managed policies', () => {
    const newPolicy = async (PolicyDocument: string): Promise<string> => {
      const { Policy } = await iam.send(new CreatePolicyCommand({ PolicyName: aName(), PolicyDocument }));
      return Policy!.Arn!;
    };

    it('have versions, of which one is in force', async () => {
      const UserName = await newUser();
      const key = await newKey(UserName);
      const PolicyArn = await newPolicy(allowing('s3:ListAllMyBuckets'));
      expect(PolicyArn).toMatch(`arn:aws:iam::${account}:policy/`);
      await iam.send(new AttachUserPolicyCommand({ UserName, PolicyArn }));
      await iam.send(new AttachUserPolicyCommand({ UserName, PolicyArn }));
      await settles(() => reads(key)).toBe('AccessDenied');
      expect(await outcome(service.sdk(key).send(new ListBucketsCommand({})))).toBe('allowed');
      const version = (PolicyDocument: string, SetAsDefault: boolean) =>
        iam.send(new CreatePolicyVersionCommand({ PolicyArn, PolicyDocument, SetAsDefault }));
      const { PolicyVersion } = await version(allowing('s3:*'), true);
      expect(PolicyVersion).toMatchObject({ VersionId: 'v2', IsDefaultVersion: true });
      await settles(() => reads(key)).toBe('allowed');
      await iam.send(new SetDefaultPolicyVersionCommand({ PolicyArn, VersionId: 'v1' }));
      await settles(() => reads(key)).toBe('AccessDenied');
      for (const _ of [3, 4, 5]) await version(allowing('s3:Get*'), false);
      await expect(version(allowing('s3:Get*'), false)).rejects.toEqual(limit);
      const { Versions } = await iam.send(new ListPolicyVersionsCommand({ PolicyArn }));
      expect(Versions!.map(({ VersionId }) => VersionId)).toEqual(['v5', 'v4', 'v3', 'v2', 'v1']);
      const shown = await iam.send(new GetPolicyVersionCommand({ PolicyArn, VersionId: 'v2' }));
      expect(decodeURIComponent(shown.PolicyVersion!.Document!)).toBe(allowing('s3:*'));
      await expect(iam.send(new DeletePolicyVersionCommand({ PolicyArn, VersionId: 'v1' }))).rejects.toEqual(conflict);
      const { Policy } = await iam.send(new GetPolicyCommand({ PolicyArn }));
      expect(Policy).toMatchObject({ DefaultVersionId: 'v1', AttachmentCount: 1, PermissionsBoundaryUsageCount: 0 });
      const { PolicyUsers } = await iam.send(new ListEntitiesForPolicyCommand({ PolicyArn }));
      expect(PolicyUsers!.map((user) => user.UserName)).toEqual([UserName]);
      await expect(iam.send(new DeletePolicyCommand({ PolicyArn }))).rejects.toEqual(conflict);
      await iam.send(new DetachUserPolicyCommand({ UserName, PolicyArn }));
      await expect(iam.send(new DetachUserPolicyCommand({ UserName, PolicyArn }))).rejects.toEqual(missing);
      for (const VersionId of ['v2', 'v3', 'v4', 'v5'])
        await iam.send(new DeletePolicyVersionCommand({ PolicyArn, VersionId }));
      await iam.send(new DeletePolicyCommand({ PolicyArn }));
      await expect(iam.send(new GetPolicyCommand({ PolicyArn }))).rejects.toEqual(missing);
    });

    it('of AWS are there, and are not changed', async () => {
      const { Policies } = await iam.send(new ListPoliciesCommand({ Scope: 'AWS' }));
      expect(Policies!.map(({ PolicyName }) => PolicyName)).toEqual([
        'AdministratorAccess',
        'AmazonS3FullAccess',
        'AmazonS3ReadOnlyAccess',
        'AWSCloudTrail_ReadOnlyAccess',
        'FullAccess',
        'IAMFullAccess',
        'IAMReadOnlyAccess',
      ]);
      const { Policy } = await iam.send(new GetPolicyCommand({ PolicyArn: readOnly }));
      expect(Policy!.PolicyName).toBe('AmazonS3ReadOnlyAccess');
      await expect(iam.send(new DeletePolicyCommand({ PolicyArn: readOnly }))).rejects.toEqual(missing);
      await expect(
        iam.send(new CreatePolicyVersionCommand({ PolicyArn: readOnly, PolicyDocument: allowing('*') })),
      ).rejects.toEqual(missing);
    });

    it('are seen where they are attached, FullAccess of users of the command line as well', async () => {
      const UserName = await newUser();
      await iam.send(new AttachUserPolicyCommand({ UserName, PolicyArn: readOnly }));
      const { AttachedPolicies } = await iam.send(new ListAttachedUserPoliciesCommand({ UserName }));
      expect(AttachedPolicies).toEqual([{ PolicyName: 'AmazonS3ReadOnlyAccess', PolicyArn: readOnly }]);
    });

    it('are boundaries', async () => {
      const PermissionsBoundary = await newPolicy(allowing('s3:ListAllMyBuckets'));
      const UserName = await newUser({ PermissionsBoundary });
      await iam.send(new AttachUserPolicyCommand({ UserName, PolicyArn: readOnly }));
      const key = await newKey(UserName);
      await settles(() => reads(key)).toBe('AccessDenied');
      expect(await outcome(service.sdk(key).send(new ListBucketsCommand({})))).toBe('allowed');
      const { User } = await iam.send(new GetUserCommand({ UserName }));
      expect(User!.PermissionsBoundary).toEqual({
        PermissionsBoundaryType: 'Policy',
        PermissionsBoundaryArn: PermissionsBoundary,
      });
      await iam.send(new PutUserPermissionsBoundaryCommand({ UserName, PermissionsBoundary: readOnly }));
      await settles(() => reads(key)).toBe('allowed');
      await iam.send(new DeleteUserPermissionsBoundaryCommand({ UserName }));
      expect((await iam.send(new GetUserCommand({ UserName }))).User!.PermissionsBoundary).toBeUndefined();
    });
  });

  describe('groups', () => {
    it('carry policies to their members', async () => {
      const GroupName = aName();
      const { Group } = await iam.send(new CreateGroupCommand({ GroupName, Path: '/g/' }));
      expect(Group).toMatchObject({ GroupName, Arn: `arn:aws:iam::${account}:group/g/${GroupName}` });
      await expect(iam.send(new CreateGroupCommand({ GroupName: GroupName.toUpperCase() }))).rejects.toEqual(exists);
      const UserName = await newUser();
      const key = await newKey(UserName);
      await iam.send(new PutGroupPolicyCommand({ GroupName, PolicyName: 'p', PolicyDocument: allowing('s3:Get*') }));
      await settles(() => reads(key)).toBe('AccessDenied');
      await iam.send(new AddUserToGroupCommand({ GroupName, UserName }));
      await settles(() => reads(key)).toBe('allowed');
      const NewGroupName = aName();
      await iam.send(new UpdateGroupCommand({ GroupName, NewGroupName }));
      await settles(() => reads(key)).toBe('allowed');
      const group = await iam.send(new GetGroupCommand({ GroupName: NewGroupName }));
      expect(group.Group!.GroupId).toBe(Group!.GroupId);
      expect(group.Users!.map((user) => user.UserName)).toEqual([UserName]);
      const { Groups } = await iam.send(new ListGroupsForUserCommand({ UserName }));
      expect(Groups!.map((one) => one.GroupName)).toEqual([NewGroupName]);
      expect((await iam.send(new ListGroupsCommand({}))).Groups!.map((one) => one.GroupName)).toContain(NewGroupName);
      await expect(iam.send(new DeleteGroupCommand({ GroupName: NewGroupName }))).rejects.toEqual(conflict);
      await iam.send(new RemoveUserFromGroupCommand({ GroupName: NewGroupName, UserName }));
      await settles(() => reads(key)).toBe('AccessDenied');
      await expect(iam.send(new DeleteGroupCommand({ GroupName: NewGroupName }))).rejects.toEqual(conflict);
    });
  });

  describe('a simulation', () => {
    it('tells what somebody may do', async () => {
      const UserName = await newUser();
      const { User } = await iam.send(new GetUserCommand({ UserName }));
      const Statement = [
        { Effect: 'Allow', Action: 's3:Get*', Resource: `arn:aws:s3:::${Bucket}/a/*` },
        {
          Effect: 'Deny',
          Action: 's3:GetObject',
          Resource: '*',
          Condition: { Bool: { 'aws:SecureTransport': 'false' } },
        },
      ];
      const PolicyDocument = JSON.stringify({ Version: '2012-10-17', Statement });
      await iam.send(new PutUserPolicyCommand({ UserName, PolicyName: 'p', PolicyDocument }));
      const decide = async (value: string) => {
        const { EvaluationResults } = await iam.send(
          new SimulatePrincipalPolicyCommand({
            PolicySourceArn: User!.Arn!,
            ActionNames: ['s3:GetObject', 's3:PutObject'],
            ResourceArns: [`arn:aws:s3:::${Bucket}/a/x`],
            ContextEntries: [
              { ContextKeyName: 'aws:SecureTransport', ContextKeyValues: [value], ContextKeyType: 'boolean' },
            ],
          }),
        );
        return EvaluationResults!.map(({ EvalDecision }) => EvalDecision);
      };
      expect(await decide('true')).toEqual(['allowed', 'implicitDeny']);
      expect(await decide('false')).toEqual(['explicitDeny', 'implicitDeny']);
    });
  });

  describe('the account', () => {
    it('is summed up, and lacks what is not here', async () => {
      const { SummaryMap } = await iam.send(new GetAccountSummaryCommand({}));
      expect(SummaryMap).toMatchObject({ UsersQuota: 5000, GroupsQuota: 300, AccessKeysPerUserQuota: 2 });
      expect(SummaryMap!.Users).toBeGreaterThan(0);
      const UserName = await newUser();
      expect((await iam.send(new ListAccountAliasesCommand({}))).AccountAliases).toEqual([]);
      expect((await iam.send(new ListMFADevicesCommand({ UserName }))).MFADevices).toEqual([]);
      expect((await iam.send(new ListVirtualMFADevicesCommand({}))).VirtualMFADevices).toEqual([]);
      expect((await iam.send(new ListSSHPublicKeysCommand({ UserName }))).SSHPublicKeys).toEqual([]);
      expect((await iam.send(new ListSigningCertificatesCommand({ UserName }))).Certificates).toEqual([]);
      const { ServiceSpecificCredentials } = await iam.send(new ListServiceSpecificCredentialsCommand({ UserName }));
      expect(ServiceSpecificCredentials).toEqual([]);
      await expect(iam.send(new GetLoginProfileCommand({ UserName }))).rejects.toEqual(missing);
    });
  });
});
