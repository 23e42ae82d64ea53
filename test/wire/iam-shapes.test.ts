import { beforeAll, describe, expect, it } from 'vitest';
import type { XmlElement } from '../../shared/documents/element.ts';
import { parsedXml } from '../../shared/xml/reader.ts';
import { bucketName } from '../support/clients/clients.ts';
import { textOf } from '../support/clients/expect-error.ts';
import { isCloud } from '../support/cloud/deployed.ts';
import { allowing, iamForm, trusting } from '../support/clients/iam.ts';
import type { Key } from '../support/clients/signer.ts';
import { makeKey } from '../support/storage/administration.ts';
import { isAdministered, serviceUnderTest } from '../support/programs/service-under-test.ts';

/**
 * The elements of what IAM returns, in the order of AWS's API reference, which is that of the model of its SDKs
 * (`botocore/data/iam/2010-05-08/service-2.json`): https://docs.aws.amazon.com/IAM/latest/APIReference/API_Types.html
 */

/** Each shape, and those that an answer here never has. */
const shapes = {
  User: 'Path UserName UserId Arn CreateDate PasswordLastUsed PermissionsBoundary Tags',
  Group: 'Path GroupName GroupId Arn CreateDate',
  Role: 'Path RoleName RoleId Arn CreateDate AssumeRolePolicyDocument Description MaxSessionDuration PermissionsBoundary Tags RoleLastUsed',
  Policy:
    'PolicyName PolicyId Arn Path DefaultVersionId AttachmentCount PermissionsBoundaryUsageCount IsAttachable Description CreateDate UpdateDate Tags',
  PolicyVersion: 'Document VersionId IsDefaultVersion CreateDate',
  AccessKey: 'UserName AccessKeyId Status SecretAccessKey CreateDate',
  AccessKeyMetadata: 'UserName AccessKeyId Status CreateDate',
  AccessKeyLastUsed: 'LastUsedDate ServiceName Region',
  RoleLastUsed: 'LastUsedDate Region',
  AttachedPermissionsBoundary: 'PermissionsBoundaryType PermissionsBoundaryArn',
  AttachedPolicy: 'PolicyName PolicyArn',
  PolicyGroup: 'GroupName GroupId',
  PolicyUser: 'UserName UserId',
  PolicyRole: 'RoleName RoleId',
  Tag: 'Key Value',
  OpenIDConnectProviderListEntry: 'Arn',
  EvaluationResult:
    'EvalActionName EvalResourceName EvalDecision MatchedStatements MissingContextValues OrganizationsDecisionDetail PermissionsBoundaryDecisionDetail EvalDecisionDetails ResourceSpecificResults',
} as const;

/** The elements that contain a shape, or have members of it. Others contain text or members of text. */
const contents: Readonly<Record<string, keyof typeof shapes>> = {
  User: 'User',
  Users: 'User',
  Group: 'Group',
  Groups: 'Group',
  Role: 'Role',
  Roles: 'Role',
  Policy: 'Policy',
  Policies: 'Policy',
  PolicyVersion: 'PolicyVersion',
  Versions: 'PolicyVersion',
  AccessKey: 'AccessKey',
  AccessKeyMetadata: 'AccessKeyMetadata',
  AccessKeyLastUsed: 'AccessKeyLastUsed',
  RoleLastUsed: 'RoleLastUsed',
  PermissionsBoundary: 'AttachedPermissionsBoundary',
  AttachedPolicies: 'AttachedPolicy',
  PolicyGroups: 'PolicyGroup',
  PolicyUsers: 'PolicyUser',
  PolicyRoles: 'PolicyRole',
  Tags: 'Tag',
  OpenIDConnectProviderList: 'OpenIDConnectProviderListEntry',
  EvaluationResults: 'EvaluationResult',
};

/** What each action returns. */
const results: Readonly<Record<string, string>> = {
  CreateAccessKey: 'AccessKey',
  CreateGroup: 'Group',
  CreateOpenIDConnectProvider: 'OpenIDConnectProviderArn Tags',
  CreatePolicy: 'Policy',
  CreatePolicyVersion: 'PolicyVersion',
  CreateRole: 'Role',
  CreateUser: 'User',
  GetAccessKeyLastUsed: 'UserName AccessKeyLastUsed',
  GetAccountSummary: 'SummaryMap',
  GetGroup: 'Group Users IsTruncated Marker',
  GetGroupPolicy: 'GroupName PolicyName PolicyDocument',
  GetOpenIDConnectProvider: 'Url ClientIDList ThumbprintList CreateDate Tags',
  GetPolicy: 'Policy',
  GetPolicyVersion: 'PolicyVersion',
  GetRole: 'Role',
  GetRolePolicy: 'RoleName PolicyName PolicyDocument',
  GetUser: 'User',
  GetUserPolicy: 'UserName PolicyName PolicyDocument',
  ListAccessKeys: 'AccessKeyMetadata IsTruncated Marker',
  ListAccountAliases: 'AccountAliases IsTruncated Marker',
  ListAttachedGroupPolicies: 'AttachedPolicies IsTruncated Marker',
  ListAttachedRolePolicies: 'AttachedPolicies IsTruncated Marker',
  ListAttachedUserPolicies: 'AttachedPolicies IsTruncated Marker',
  ListEntitiesForPolicy: 'PolicyGroups PolicyUsers PolicyRoles IsTruncated Marker',
  ListGroupPolicies: 'PolicyNames IsTruncated Marker',
  ListGroups: 'Groups IsTruncated Marker',
  ListGroupsForUser: 'Groups IsTruncated Marker',
  ListInstanceProfilesForRole: 'InstanceProfiles IsTruncated Marker',
  ListMFADevices: 'MFADevices IsTruncated Marker',
  ListOpenIDConnectProviderTags: 'Tags IsTruncated Marker',
  ListOpenIDConnectProviders: 'OpenIDConnectProviderList',
  ListPolicies: 'Policies IsTruncated Marker',
  ListPolicyTags: 'Tags IsTruncated Marker',
  ListPolicyVersions: 'Versions IsTruncated Marker',
  ListRolePolicies: 'PolicyNames IsTruncated Marker',
  ListRoleTags: 'Tags IsTruncated Marker',
  ListRoles: 'Roles IsTruncated Marker',
  ListSSHPublicKeys: 'SSHPublicKeys IsTruncated Marker',
  ListServiceSpecificCredentials: 'ServiceSpecificCredentials Marker IsTruncated',
  ListSigningCertificates: 'Certificates IsTruncated Marker',
  ListUserPolicies: 'PolicyNames IsTruncated Marker',
  ListUserTags: 'Tags IsTruncated Marker',
  ListUsers: 'Users IsTruncated Marker',
  ListVirtualMFADevices: 'VirtualMFADevices IsTruncated Marker',
  SimulatePrincipalPolicy: 'EvaluationResults IsTruncated Marker',
  UpdateRole: '',
  UpdateRoleDescription: 'Role',
};

const service = serviceUnderTest();

describe.runIf(isAdministered)('The answers of IAM', () => {
  let owner: Key;
  const seen = new Set<string>();

  /** Compares the elements of an element, and of those in them, with the tables. */
  const compare = (element: XmlElement, order: string, path: string): void => {
    const names = element.children.map(({ name }) => name);
    const expected = order.split(' ').filter((name) => names.includes(name));
    expect(names, path).toEqual(expected);
    for (const child of element.children) {
      const shape = contents[child.name];
      if (shape === undefined) continue;
      const isList = child.children.some(({ name }) => name === 'member');
      for (const one of isList ? child.children : [child]) {
        seen.add(shape);
        for (const { name } of one.children) seen.add(`${shape}.${name}`);
        compare(one, shapes[shape], `${path}/${child.name}`);
      }
    }
  };

  const ask = async (Action: string, parameters: Readonly<Record<string, string>> = {}): Promise<string> => {
    const { status, text } = await service.send(iamForm({ Action, ...parameters }), { key: owner });
    expect(status, `${Action} ${text}`).toBe(200);
    const { root } = parsedXml(text);
    expect(root.name).toBe(`${Action}Response`);
    const order = results[Action];
    expect(root.children.map(({ name }) => name)).toEqual([
      ...(order === undefined ? [] : [`${Action}Result`]),
      'ResponseMetadata',
    ]);
    if (order === undefined) return text;
    seen.add(Action);
    compare(root.children[0]!, order, Action);
    return text;
  };

  beforeAll(async () => {
    owner = await makeKey(service.place, `shop:owner@${bucketName()}`);
  });

  it('have their elements in the order of AWS', async () => {
    const PolicyDocument = allowing('s3:Get*');
    const Tags = {
      'Tags.member.1.Key': 'a',
      'Tags.member.1.Value': '1',
      'Tags.member.2.Key': 'b',
      'Tags.member.2.Value': '2',
    };
    const first = { MaxItems: '1' };
    const user = { UserName: 'user' };
    const group = { GroupName: 'group' };
    const role = { RoleName: 'role' };

    const made = await ask('CreatePolicy', { PolicyName: 'policy', PolicyDocument, Description: 'd', ...Tags });
    const policy = { PolicyArn: textOf(made, 'Arn')! };
    const PermissionsBoundary = policy.PolicyArn;
    await ask('CreatePolicyVersion', { ...policy, PolicyDocument });
    await ask('GetPolicyVersion', { ...policy, VersionId: 'v2' });
    const its = await ask('CreateUser', { ...user, PermissionsBoundary, ...Tags });
    await ask('CreateUser', { UserName: 'other' });
    await ask('CreateGroup', group);
    await ask('CreateGroup', { GroupName: 'other' });
    const AssumeRolePolicyDocument = trusting('*');
    await ask('CreateRole', { ...role, AssumeRolePolicyDocument, PermissionsBoundary, Description: 'd', ...Tags });
    await ask('CreateRole', { RoleName: 'other', AssumeRolePolicyDocument });
    await ask('UpdateRole', { ...role, Description: 'e' });
    await ask('UpdateRoleDescription', { ...role, Description: 'f' });
    const provider = await ask('CreateOpenIDConnectProvider', {
      Url: 'https://id.example.com',
      'ClientIDList.member.1': 'shop',
      'ThumbprintList.member.1': 'a'.repeat(40),
      ...Tags,
    });
    const of = { OpenIDConnectProviderArn: textOf(provider, 'OpenIDConnectProviderArn')! };
    await ask('GetOpenIDConnectProvider', of);
    await ask('ListOpenIDConnectProviders');
    const key = await ask('CreateAccessKey', user);
    await ask('CreateAccessKey', user);
    const AccessKeyId = textOf(key, 'AccessKeyId')!;

    for (const UserName of ['user', 'other']) await ask('AddUserToGroup', { ...group, UserName });
    await ask('AddUserToGroup', { ...user, GroupName: 'other' });
    for (const [Kind, one] of Object.entries({ User: user, Group: group, Role: role })) {
      for (const PolicyName of ['p', 'q']) await ask(`Put${Kind}Policy`, { ...one, PolicyName, PolicyDocument });
      await ask(`Get${Kind}Policy`, { ...one, PolicyName: 'p' });
      await ask(`List${Kind}Policies`, { ...one, ...first });
      await ask(`Attach${Kind}Policy`, { ...one, ...policy });
      await ask(`Attach${Kind}Policy`, { ...one, PolicyArn: 'arn:aws:iam::aws:policy/AmazonS3ReadOnlyAccess' });
      await ask(`ListAttached${Kind}Policies`, { ...one, ...first });
      await ask(`List${Kind}s`, first);
      await ask(`Get${Kind}`, { ...one, ...first });
    }
    for (const [Kind, one] of Object.entries({ User: user, Role: role, Policy: policy, OpenIDConnectProvider: of }))
      await ask(`List${Kind}Tags`, { ...one, ...first });
    await ask('GetUser');
    await ask('GetPolicy', policy);
    await ask('ListPolicies', first);
    await ask('ListPolicyVersions', { ...policy, ...first });
    await ask('ListEntitiesForPolicy', policy);
    await ask('ListEntitiesForPolicy', { ...policy, ...first });
    await ask('ListAccessKeys', { ...user, ...first });
    await ask('ListGroupsForUser', { ...user, ...first });
    await ask('SimulatePrincipalPolicy', {
      PolicySourceArn: textOf(its, 'Arn')!,
      'ActionNames.member.1': 's3:GetObject',
      'ActionNames.member.2': 's3:PutObject',
      ...first,
    });
    await ask('GetAccountSummary');
    for (const name of ['MFADevices', 'SSHPublicKeys', 'SigningCertificates', 'ServiceSpecificCredentials'])
      await ask(`List${name}`, user);
    await ask('ListAccountAliases');
    await ask('ListVirtualMFADevices');
    await ask('ListInstanceProfilesForRole', role);

    // A use is known within seconds of it, in the cloud within half an hour.
    const used = { accessKeyId: AccessKeyId, secretAccessKey: textOf(key, 'SecretAccessKey')! };
    await service.send({ path: '/' }, { key: used });
    const lastUse = () => ask('GetAccessKeyLastUsed', { AccessKeyId });
    if (isCloud) await lastUse();
    else await expect.poll(lastUse).toContain('<LastUsedDate>');

    // Nothing of the tables is left out, but what an answer here does not have.
    const absent = new Set(['PasswordLastUsed', 'MatchedStatements', 'MissingContextValues']);
    const details = /Detail|ResourceSpecificResults|LastUsedDate|RoleLastUsed\./;
    const all = Object.entries(shapes).flatMap(([shape, order]) => order.split(' ').map((name) => `${shape}.${name}`));
    const expected = all.filter((one) => !absent.has(one.split('.')[1]!) && !details.test(one));
    expect([...seen]).toEqual(expect.arrayContaining([...Object.keys(results), ...expected]));
  });
});
