import type { Carrier, CarrierKind, Directory, ManagedPolicy, Tags } from '../../shared/accounts/directory.ts';
import { rootArn } from '../../shared/access/user-arn.ts';
import type { Signer } from '../../shared/protocol/query-api/action.ts';

/* How answers show what an account has. */

/** Returns the ARN of what has a name, whether it is there or not. */
export function arnIn({ account }: Directory, kind: CarrierKind | 'policy', name: string, path = '/'): string {
  return `arn:aws:iam::${account.accountNumber}:${kind}${path}${name}`;
}

export function shownTags(tags: Tags) {
  return tags.map(([Key, Value]) => ({ Key, Value }));
}

function common(carrier: Carrier, directory: Directory) {
  const { kind, name, path, created } = carrier;
  return { Path: path, Arn: arnIn(directory, kind, name, path), CreateDate: created };
}

/** Returns the ARN of the policy that carriers refer to by this name. */
async function arnOf(ref: string, directory: Directory): Promise<string> {
  return (await directory.policy({ ref }))?.arn ?? arnIn(directory, 'policy', ref);
}

/** Returns the permissions boundary of a user or a role. */
export async function shownBoundary({ boundary }: Carrier, directory: Directory) {
  if (boundary === undefined) return undefined;
  return { PermissionsBoundaryType: 'Policy', PermissionsBoundaryArn: await arnOf(boundary, directory) };
}

export async function shownUser(user: Carrier, directory: Directory) {
  return {
    ...listedUser(user, directory),
    PermissionsBoundary: await shownBoundary(user, directory),
    Tags: user.tags.length === 0 ? undefined : shownTags(user.tags),
  };
}

export function listedUser(user: Carrier, directory: Directory) {
  return { UserName: user.name, UserId: user.id, ...common(user, directory) };
}

/** Returns root, which has no name as a user. */
export function shownRoot({ project }: Signer, { created }: Carrier) {
  const { accountNumber } = project;
  return { UserName: undefined, UserId: accountNumber, Path: '/', Arn: rootArn(accountNumber), CreateDate: created };
}

export function shownGroup(group: Carrier, directory: Directory) {
  return { GroupName: group.name, GroupId: group.id, ...common(group, directory) };
}

/** @param all the users, groups and roles of the account, to count those that have the policy */
export function shownPolicy(policy: ManagedPolicy, all: readonly Carrier[]) {
  const { ref, tags } = policy;
  return {
    PolicyName: policy.name,
    PolicyId: policy.id,
    Path: policy.path,
    Arn: policy.arn,
    CreateDate: policy.created,
    DefaultVersionId: policy.inForce,
    AttachmentCount: all.filter(({ attached }) => attached.includes(ref)).length,
    PermissionsBoundaryUsageCount: all.filter(({ boundary }) => boundary === ref).length,
    IsAttachable: true,
    Description: policy.description,
    UpdateDate: policy.updated,
    Tags: tags.length === 0 ? undefined : shownTags(tags),
  };
}

/** Returns a document as answers have it: encoded as in RFC 3986. */
export function shownDocument(text: string): string {
  return encodeURIComponent(text).replaceAll(/[!'()*]/g, (c) => `%${c.charCodeAt(0).toString(16).toUpperCase()}`);
}
