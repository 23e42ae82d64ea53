import { boolean, elements, ifAny, list, number, one, optional, text, time, type Content } from './schema.ts';

/* What the actions of IAM return, in the order of https://docs.aws.amazon.com/IAM/latest/APIReference/API_Types.html */

const members = <Value>(name: string, content: Content<Value>) => one(name, list('member', content));
const someMembers = <Value>(name: string, content: Content<Value>) => ifAny(name, list('member', content));

/** What each page of a listing ends with. */
const ending = { IsTruncated: one('IsTruncated', boolean), Marker: ifAny('Marker', text) };

/** A page of a listing. */
const page = <Value>(name: string, content: Content<Value>) => elements({ items: members(name, content), ...ending });

const tag = elements({ Key: one('Key', text), Value: one('Value', text) });

const path = one('Path', text);
const arn = one('Arn', text);
const created = one('CreateDate', time);

const boundary = ifAny(
  'PermissionsBoundary',
  elements({
    PermissionsBoundaryType: one('PermissionsBoundaryType', text),
    PermissionsBoundaryArn: one('PermissionsBoundaryArn', text),
  }),
);

const user = elements({
  Path: path,
  UserName: ifAny('UserName', text),
  UserId: one('UserId', text),
  Arn: arn,
  CreateDate: created,
  PermissionsBoundary: boundary,
  Tags: someMembers('Tags', tag),
});

const group = elements({
  Path: path,
  GroupName: one('GroupName', text),
  GroupId: one('GroupId', text),
  Arn: arn,
  CreateDate: created,
});

const role = elements({
  Path: path,
  RoleName: one('RoleName', text),
  RoleId: one('RoleId', text),
  Arn: arn,
  CreateDate: created,
  AssumeRolePolicyDocument: one('AssumeRolePolicyDocument', text),
  Description: ifAny('Description', text),
  MaxSessionDuration: one('MaxSessionDuration', number),
  PermissionsBoundary: boundary,
  Tags: someMembers('Tags', tag),
  RoleLastUsed: ifAny(
    'RoleLastUsed',
    elements({ LastUsedDate: optional('LastUsedDate', time), Region: ifAny('Region', text) }),
  ),
});

const policy = elements({
  PolicyName: one('PolicyName', text),
  PolicyId: one('PolicyId', text),
  Arn: arn,
  Path: path,
  DefaultVersionId: one('DefaultVersionId', text),
  AttachmentCount: one('AttachmentCount', number),
  PermissionsBoundaryUsageCount: one('PermissionsBoundaryUsageCount', number),
  IsAttachable: one('IsAttachable', boolean),
  Description: ifAny('Description', text),
  CreateDate: created,
  UpdateDate: one('UpdateDate', time),
  Tags: someMembers('Tags', tag),
});

const version = elements({
  Document: ifAny('Document', text),
  VersionId: one('VersionId', text),
  IsDefaultVersion: one('IsDefaultVersion', boolean),
  CreateDate: created,
});

const key = {
  UserName: one('UserName', text),
  AccessKeyId: one('AccessKeyId', text),
  Status: one('Status', text),
};

export const aUser = elements({ User: one('User', user) });
export const users = page('Users', user);
export const aGroup = elements({ Group: one('Group', group) });
export const groups = page('Groups', group);
export const groupWithUsers = elements({
  Group: one('Group', group),
  items: members('Users', user),
  ...ending,
});
export const aRole = elements({ Role: one('Role', role) });
export const roles = page('Roles', role);
/** Of an action that returns nothing in an element of its own. */
export const emptyResult = elements({});
export const tagPage = page('Tags', tag);

export const newKey = elements({
  AccessKey: one('AccessKey', elements({ ...key, SecretAccessKey: one('SecretAccessKey', text), CreateDate: created })),
});
export const keys = page('AccessKeyMetadata', elements({ ...key, CreateDate: created }));
export const lastUse = elements({
  UserName: one('UserName', text),
  AccessKeyLastUsed: one(
    'AccessKeyLastUsed',
    elements({
      LastUsedDate: optional('LastUsedDate', time),
      ServiceName: one('ServiceName', text),
      Region: one('Region', text),
    }),
  ),
});

export const policyNames = page('PolicyNames', text);
/** @param of the element that names what has the policy */
export const inlinePolicy = (of: string) =>
  elements({
    name: one(of, text),
    PolicyName: one('PolicyName', text),
    PolicyDocument: one('PolicyDocument', text),
  });
export const attachedPolicies = page(
  'AttachedPolicies',
  elements({ PolicyName: one('PolicyName', text), PolicyArn: one('PolicyArn', text) }),
);

export const aPolicy = elements({ Policy: one('Policy', policy) });
export const policies = page('Policies', policy);
export const aVersion = elements({ PolicyVersion: one('PolicyVersion', version) });
export const versions = page('Versions', version);

const attachedTo = <Name extends string>(name: Name) =>
  elements({ name: one(`${name}Name`, text), id: one(`${name}Id`, text) });
export const entities = elements({
  PolicyGroups: members('PolicyGroups', attachedTo('Group')),
  PolicyUsers: members('PolicyUsers', attachedTo('User')),
  PolicyRoles: members('PolicyRoles', attachedTo('Role')),
  ...ending,
});

const words = (name: string) => members(name, text);
const itsTags = someMembers('Tags', tag);
export const newProvider = elements({
  OpenIDConnectProviderArn: one('OpenIDConnectProviderArn', text),
  Tags: itsTags,
});
export const aProvider = elements({
  Url: one('Url', text),
  ClientIDList: words('ClientIDList'),
  ThumbprintList: words('ThumbprintList'),
  CreateDate: created,
  Tags: itsTags,
});
export const providers = elements({
  items: members('OpenIDConnectProviderList', elements({ Arn: arn })),
});

const entry = elements({ key: one('key', text), value: one('value', number) });
export const summary = elements({ entries: one('SummaryMap', list('entry', entry)) });

export const simulation = page(
  'EvaluationResults',
  elements({
    EvalActionName: one('EvalActionName', text),
    EvalResourceName: one('EvalResourceName', text),
    EvalDecision: one('EvalDecision', text),
  }),
);

/** A list of what does not exist here. */
export const emptyList = (name: string) => page(name, text);
