import {
  AttachRolePolicyCommand,
  CreatePolicyCommand,
  CreateRoleCommand,
  CreateUserCommand,
  DeletePolicyCommand,
  DeleteRoleCommand,
  DeleteRolePermissionsBoundaryCommand,
  DeleteRolePolicyCommand,
  DeleteUserCommand,
  DetachRolePolicyCommand,
  GetAccountSummaryCommand,
  GetPolicyCommand,
  GetRoleCommand,
  GetRolePolicyCommand,
  ListAttachedRolePoliciesCommand,
  ListEntitiesForPolicyCommand,
  ListInstanceProfilesForRoleCommand,
  ListRolePoliciesCommand,
  ListRolesCommand,
  ListRoleTagsCommand,
  PutRolePermissionsBoundaryCommand,
  PutRolePolicyCommand,
  TagRoleCommand,
  UntagRoleCommand,
  UpdateAssumeRolePolicyCommand,
  UpdateRoleCommand,
  UpdateRoleDescriptionCommand,
  type IAMClient,
} from '@aws-sdk/client-iam';
import { GetCallerIdentityCommand, STSClient } from '@aws-sdk/client-sts';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { bucketName } from '../support/clients/clients.ts';
import { allowing, iamClient, trusting } from '../support/clients/iam.ts';
import { s3Error } from '../support/clients/expect-error.ts';
import { makeKey } from '../support/storage/administration.ts';
import { isAdministered, serviceUnderTest } from '../support/programs/service-under-test.ts';

const service = serviceUnderTest();

describe.runIf(isAdministered)('roles', () => {
  let iam: IAMClient;
  let account: string;
  let names = 0;
  const aName = (): string => `role-${(names += 1)}`;
  const missing = s3Error('NoSuchEntityException', 404);
  const conflict = s3Error('DeleteConflictException', 409);
  const exists = s3Error('EntityAlreadyExistsException', 409);
  const malformed = s3Error('MalformedPolicyDocumentException', 400);
  const limit = s3Error('LimitExceededException', 409);
  const invalid = s3Error('ValidationError', 400);
  const readOnly = 'arn:aws:iam::aws:policy/AmazonS3ReadOnlyAccess';
  const accountTrust = () => trusting({ AWS: `arn:aws:iam::${account}:root` });

  beforeAll(async () => {
    const root = await makeKey(service.place, `shop:owner@${bucketName()}`);
    iam = iamClient(service.url, root);
    const sts = new STSClient({ endpoint: service.url, region: 'us-east-1', credentials: { ...root } });
    account = (await sts.send(new GetCallerIdentityCommand({}))).Account!;
    sts.destroy();
  });
  afterAll(() => iam.destroy());

  const newRole = async (more: object = {}): Promise<string> => {
    const RoleName = aName();
    await iam.send(new CreateRoleCommand({ RoleName, AssumeRolePolicyDocument: accountTrust(), ...more }));
    return RoleName;
  };

  it('come back as they were written', async () => {
    const RoleName = aName();
    const written = {
      RoleName,
      Path: '/team/a/',
      Description: 'Deploys: "é" & <more>',
      MaxSessionDuration: 7200,
      PermissionsBoundary: readOnly,
      Tags: [{ Key: 'team', Value: 'a' }],
    };
    const AssumeRolePolicyDocument = JSON.stringify(JSON.parse(accountTrust()), null, 2);
    const { Role } = await iam.send(new CreateRoleCommand({ ...written, AssumeRolePolicyDocument }));
    const { PermissionsBoundary: PermissionsBoundaryArn, ...fields } = written;
    expect(Role).toEqual({
      ...fields,
      Arn: `arn:aws:iam::${account}:role/team/a/${RoleName}`,
      RoleId: expect.stringMatching(/^\w{16,128}$/) as string,
      CreateDate: expect.any(Date) as Date,
      AssumeRolePolicyDocument: encodeURIComponent(AssumeRolePolicyDocument),
      PermissionsBoundary: { PermissionsBoundaryType: 'Policy', PermissionsBoundaryArn },
    });
    const { Role: read } = await iam.send(new GetRoleCommand({ RoleName }));
    expect(read).toEqual({ ...Role, RoleLastUsed: {} });
    const { Roles } = await iam.send(new ListRolesCommand({ PathPrefix: '/team/' }));
    const { Tags: _, PermissionsBoundary: __, ...listed } = Role!;
    expect(Roles).toEqual([listed]);
  });

  it('are changed', async () => {
    const RoleName = await newRole({ Description: 'before' });
    const read = async () => (await iam.send(new GetRoleCommand({ RoleName }))).Role!;
    await iam.send(new UpdateRoleCommand({ RoleName, MaxSessionDuration: 43_200 }));
    expect(await read()).toMatchObject({ Description: 'before', MaxSessionDuration: 43_200 });
    await iam.send(new UpdateRoleCommand({ RoleName, Description: '' }));
    expect(await read()).toMatchObject({ Description: '', MaxSessionDuration: 43_200 });
    const { Role } = await iam.send(new UpdateRoleDescriptionCommand({ RoleName, Description: 'after' }));
    expect({ ...Role, RoleLastUsed: {} }).toEqual(await read());
    expect(Role!.Description).toBe('after');
    const PolicyDocument = trusting({ AWS: account });
    await iam.send(new UpdateAssumeRolePolicyCommand({ RoleName, PolicyDocument }));
    expect(decodeURIComponent((await read()).AssumeRolePolicyDocument!)).toBe(PolicyDocument);
    for (const MaxSessionDuration of [3599, 43_201])
      await expect(iam.send(new UpdateRoleCommand({ RoleName, MaxSessionDuration }))).rejects.toEqual(invalid);
  });

  it('carry policies, a boundary and tags', async () => {
    const RoleName = await newRole();
    const PolicyDocument = allowing('s3:ListAllMyBuckets');
    await iam.send(new PutRolePolicyCommand({ RoleName, PolicyName: 'p', PolicyDocument }));
    const inline = await iam.send(new GetRolePolicyCommand({ RoleName, PolicyName: 'p' }));
    expect(inline).toMatchObject({ RoleName, PolicyName: 'p' });
    expect(decodeURIComponent(inline.PolicyDocument!)).toBe(PolicyDocument);
    expect((await iam.send(new ListRolePoliciesCommand({ RoleName }))).PolicyNames).toEqual(['p']);
    const { Policy } = await iam.send(new CreatePolicyCommand({ PolicyName: aName(), PolicyDocument }));
    const PolicyArn = Policy!.Arn!;
    await iam.send(new AttachRolePolicyCommand({ RoleName, PolicyArn }));
    const { AttachedPolicies } = await iam.send(new ListAttachedRolePoliciesCommand({ RoleName }));
    expect(AttachedPolicies).toEqual([{ PolicyName: Policy!.PolicyName, PolicyArn }]);
    await iam.send(new PutRolePermissionsBoundaryCommand({ RoleName, PermissionsBoundary: PolicyArn }));
    const entities = async (PolicyUsageFilter?: 'PermissionsBoundary') =>
      (await iam.send(new ListEntitiesForPolicyCommand({ PolicyArn, PolicyUsageFilter }))).PolicyRoles!.map(
        (one) => one.RoleName,
      );
    expect(await entities()).toEqual([RoleName]);
    expect(await entities('PermissionsBoundary')).toEqual([RoleName]);
    expect((await iam.send(new GetPolicyCommand({ PolicyArn }))).Policy).toMatchObject({
      AttachmentCount: 1,
      PermissionsBoundaryUsageCount: 1,
    });
    await expect(iam.send(new DeletePolicyCommand({ PolicyArn }))).rejects.toEqual(conflict);
    await iam.send(new TagRoleCommand({ RoleName, Tags: [{ Key: 'a', Value: '1' }] }));
    expect((await iam.send(new ListRoleTagsCommand({ RoleName }))).Tags).toEqual([{ Key: 'a', Value: '1' }]);
    await iam.send(new UntagRoleCommand({ RoleName, TagKeys: ['a'] }));
    expect((await iam.send(new ListInstanceProfilesForRoleCommand({ RoleName }))).InstanceProfiles).toEqual([]);
    expect((await iam.send(new GetAccountSummaryCommand({}))).SummaryMap!.Roles).toBeGreaterThan(0);

    const remove = () => iam.send(new DeleteRoleCommand({ RoleName }));
    await expect(remove()).rejects.toEqual(conflict);
    await iam.send(new DeleteRolePolicyCommand({ RoleName, PolicyName: 'p' }));
    await expect(remove()).rejects.toEqual(conflict);
    await iam.send(new DetachRolePolicyCommand({ RoleName, PolicyArn }));
    await iam.send(new DeleteRolePermissionsBoundaryCommand({ RoleName }));
    await remove();
    await expect(remove()).rejects.toEqual(missing);
    await expect(iam.send(new GetRoleCommand({ RoleName }))).rejects.toEqual(missing);
    await iam.send(new DeletePolicyCommand({ PolicyArn }));
  });

  it('have names of their own, whatever their case, and a new id each time', async () => {
    const RoleName = await newRole();
    const again = { RoleName: RoleName.toUpperCase(), AssumeRolePolicyDocument: accountTrust() };
    await expect(iam.send(new CreateRoleCommand(again))).rejects.toEqual(exists);
    const { Role } = await iam.send(new GetRoleCommand({ RoleName }));
    await iam.send(new DeleteRoleCommand({ RoleName }));
    const next = await iam.send(new CreateRoleCommand({ RoleName, AssumeRolePolicyDocument: accountTrust() }));
    expect(next.Role!.RoleId).not.toBe(Role!.RoleId);
    // A user may have the same name.
    await iam.send(new CreateUserCommand({ UserName: RoleName }));
    await iam.send(new DeleteUserCommand({ UserName: RoleName }));
  });

  it('need a trust policy that names who is there', async () => {
    const statement = { Effect: 'Allow', Principal: { AWS: account }, Action: 'sts:AssumeRole' };
    const of = (Statement: object) => JSON.stringify({ Version: '2012-10-17', Statement });
    const conditions = {
      StringEquals: { 'sts:ExternalId': 'x', 'gitlab.example.com/realm:aud': 'y' },
      StringLike: { 'sts:RoleSessionName': '${aws:username}' },
    };
    const user = await iam.send(new CreateUserCommand({ UserName: aName(), Path: '/a/' }));
    const role = `arn:aws:iam::${account}:role/${await newRole()}`;
    for (const good of [
      of(statement),
      of([{ ...statement, Sid: 's', Principal: '*', Condition: conditions }]),
      of({ ...statement, Principal: { AWS: [user.User!.Arn!, role] } }),
      of({ ...statement, Principal: { Service: ['ec2.amazonaws.com'] } }),
      of({
        ...statement,
        Principal: { Federated: `arn:aws:iam::${account}:oidc-provider/gitlab.example.com/realm` },
        Action: ['sts:AssumeRoleWithWebIdentity', 'sts:TagSession'],
      }),
    ]) {
      await expect(newRole({ AssumeRolePolicyDocument: good }), good).resolves.toBeDefined();
    }
    for (const bad of [
      '{}',
      'x',
      allowing('sts:AssumeRole'),
      of({ ...statement, Principal: undefined }),
      of({ ...statement, Action: 's3:GetObject' }),
      of({ ...statement, Action: '*' }),
      of({ ...statement, Action: ['sts:AssumeRole', 'sts:GetFederationToken'] }),
      of({ ...statement, Principal: { AWS: `arn:aws:iam::${account}:user/nobody` } }),
      of({ ...statement, Principal: { AWS: `arn:aws:iam::${account}:role/nobody` } }),
      of({ ...statement, Principal: { AWS: user.User!.Arn!.replace('/a/', '/') } }),
      of({ ...statement, Principal: { AWS: '000000000000' } }),
      of({ ...statement, Principal: { Federated: 'accounts.google.com' } }),
      of({ ...statement, Principal: { CanonicalUser: account } }),
      of({ ...statement, Condition: { StringEquals: { 'unknown:key': 'x' } } }),
    ]) {
      await expect(newRole({ AssumeRolePolicyDocument: bad }), bad).rejects.toEqual(malformed);
    }
    const long = of(Array.from({ length: 40 }, () => statement));
    await expect(newRole({ AssumeRolePolicyDocument: long })).rejects.toEqual(limit);
  });
});
