import type { S3Client } from './client.ts';
import type { IamAction } from './iam-action.ts';
import type { XmlElement } from '../../shared/documents/element.ts';
import {
  attachedPolicies,
  aUser,
  groups,
  inlinePolicy,
  keys,
  lastUse,
  newKey,
  policies,
  policyNames,
  simulation,
  users,
} from '../../shared/documents/iam.ts';
import type { Content, ValueOf } from '../../shared/documents/schema.ts';

type Page<Item> = Content<{ readonly items: readonly Item[]; readonly Marker?: string | undefined }>;

export type User = ValueOf<typeof aUser>['User'];
export type AccessKey = ValueOf<typeof keys>['items'][number];
export type NewKey = ValueOf<typeof newKey>['AccessKey'];
export type Attached = ValueOf<typeof attachedPolicies>['items'][number];

/** A policy of a user alone. */
export interface Inline {
  readonly name: string;
  readonly text: string;
}

/** How many users a page has. */
const usersOfPage = 25;

/** Returns a page of the users, sorted by name. @param after the marker of the page before */
export async function listUsers(client: S3Client, after?: string) {
  const { items, Marker: next } = await ask(client, users, 'ListUsers', {
    MaxItems: String(usersOfPage),
    Marker: after,
  });
  return { items, next };
}

export async function getUser(client: S3Client, UserName: string): Promise<User> {
  return (await ask(client, aUser, 'GetUser', { UserName })).User;
}

/** Returns the keys of a user, the oldest first. */
export function listKeys(client: S3Client, UserName: string): Promise<readonly AccessKey[]> {
  return every(client, keys, 'ListAccessKeys', { UserName });
}

/** What a key was last used for. */
export interface LastUse {
  /** In milliseconds since the epoch, to a quarter of an hour. */
  readonly at: number;
  /** As signatures name it: `s3`. */
  readonly service: string;
  readonly region: string;
}

/** Returns when a key was last used, and what for. Undefined: no use is known. */
export async function lastUseOf(client: S3Client, AccessKeyId: string): Promise<LastUse | undefined> {
  const { AccessKeyLastUsed } = await ask(client, lastUse, 'GetAccessKeyLastUsed', { AccessKeyId });
  const { LastUsedDate: at, ServiceName: service, Region: region } = AccessKeyLastUsed;
  return at === undefined ? undefined : { at, service, region };
}

/** Returns the names of the groups of a user, or of all. */
export async function listGroups(client: S3Client, UserName?: string): Promise<readonly string[]> {
  const found =
    UserName === undefined
      ? await every(client, groups, 'ListGroups', {})
      : await every(client, groups, 'ListGroupsForUser', { UserName });
  return found.map(({ GroupName }) => GroupName);
}

/** Returns the managed policies that can be attached. */
export async function listPolicies(client: S3Client): Promise<readonly Attached[]> {
  const found = await every(client, policies, 'ListPolicies', {});
  return found.map(({ PolicyName, Arn }) => ({ PolicyName, PolicyArn: Arn }));
}

export function listAttached(client: S3Client, UserName: string): Promise<readonly Attached[]> {
  return every(client, attachedPolicies, 'ListAttachedUserPolicies', { UserName });
}

export async function listInline(client: S3Client, UserName: string): Promise<readonly Inline[]> {
  const names = await every(client, policyNames, 'ListUserPolicies', { UserName });
  const content = inlinePolicy('UserName');
  return Promise.all(
    names.map(async (PolicyName) => {
      const { PolicyDocument } = await ask(client, content, 'GetUserPolicy', { UserName, PolicyName });
      return { name: PolicyName, text: decodeURIComponent(PolicyDocument) };
    }),
  );
}

/** Returns how the policies of a user decide, by action. */
export async function simulate(
  client: S3Client,
  question: {
    readonly arn: string;
    readonly actions: readonly string[];
    readonly resource: string;
    /** Of conditions of policies. */
    readonly context?: Readonly<Record<string, string>>;
    /** Policies that the user does not have yet. */
    readonly besides?: readonly string[];
  },
): Promise<ReadonlyMap<string, string>> {
  const { arn, actions, resource, context = {}, besides } = question;
  const found = await every(client, simulation, 'SimulatePrincipalPolicy', {
    PolicySourceArn: arn,
    ActionNames: actions,
    ResourceArns: [resource],
    PolicyInputList: besides,
    ContextEntries: Object.entries(context).map(([ContextKeyName, value]) => ({
      ContextKeyName,
      ContextKeyValues: [value],
      ContextKeyType: 'string',
    })),
  });
  return new Map(found.map(({ EvalActionName, EvalDecision }) => [EvalActionName, EvalDecision]));
}

/** What changes users. A change is shown as a command before it is sent: both are made of the same action. */
export const changes = {
  createUser: (UserName: string) => ({ name: 'CreateUser', parameters: { UserName } }),
  deleteUser: (UserName: string) => ({ name: 'DeleteUser', parameters: { UserName } }),
  createKey: (UserName: string) => ({ name: 'CreateAccessKey', parameters: { UserName } }),
  setKey: (UserName: string, AccessKeyId: string, Status: 'Active' | 'Inactive') => ({
    name: 'UpdateAccessKey',
    parameters: { UserName, AccessKeyId, Status },
  }),
  deleteKey: (UserName: string, AccessKeyId: string) => ({
    name: 'DeleteAccessKey',
    parameters: { UserName, AccessKeyId },
  }),
  putPolicy: (UserName: string, { name, text }: Inline) => ({
    name: 'PutUserPolicy',
    parameters: { UserName, PolicyName: name, PolicyDocument: text },
  }),
  deletePolicy: (UserName: string, PolicyName: string) => ({
    name: 'DeleteUserPolicy',
    parameters: { UserName, PolicyName },
  }),
  attach: (UserName: string, PolicyArn: string) => ({ name: 'AttachUserPolicy', parameters: { UserName, PolicyArn } }),
  detach: (UserName: string, PolicyArn: string) => ({ name: 'DetachUserPolicy', parameters: { UserName, PolicyArn } }),
  addToGroup: (UserName: string, GroupName: string) => ({
    name: 'AddUserToGroup',
    parameters: { GroupName, UserName },
  }),
  removeFromGroup: (UserName: string, GroupName: string) => ({
    name: 'RemoveUserFromGroup',
    parameters: { GroupName, UserName },
  }),
} as const satisfies Readonly<Record<string, (...parameters: never[]) => IamAction>>;

/** Sends changes, one after the other. */
export async function perform(client: S3Client, actions: readonly IamAction[]): Promise<void> {
  for (const action of actions) await client.send({ method: 'POST', action, once: true });
}

/** Makes an access key. The service tells its secret this once. */
export async function createKey(client: S3Client, user: string): Promise<NewKey> {
  const action = changes.createKey(user);
  return newKey.read(resultOf(action, await client.document({ method: 'POST', action, once: true }))).AccessKey;
}

async function ask<Answer>(
  client: S3Client,
  content: Content<Answer>,
  name: string,
  parameters: IamAction['parameters'],
): Promise<Answer> {
  const action = { name, parameters };
  return content.read(resultOf(action, await client.document({ method: 'POST', action })));
}

/** Asks for all pages of a list. */
async function every<Item>(
  client: S3Client,
  content: Page<Item>,
  name: string,
  parameters: IamAction['parameters'],
): Promise<readonly Item[]> {
  const all: Item[] = [];
  let Marker: string | undefined;
  do {
    const page = await ask(client, content, name, { ...parameters, Marker });
    all.push(...page.items);
    Marker = page.Marker;
  } while (Marker !== undefined);
  return all;
}

const resultOf = ({ name }: IamAction, answer: XmlElement): XmlElement => answer.one(`${name}Result`);
