import type { Caller } from './identity.ts';

/** https://docs.aws.amazon.com/AmazonS3/latest/userguide/acl-overview.html#permissions */
export type Permission = 'READ' | 'WRITE' | 'READ_ACP' | 'WRITE_ACP' | 'FULL_CONTROL';

/** The predefined groups. To LogDelivery belongs only what delivers access logs. */
export type Group = 'AllUsers' | 'AuthenticatedUsers' | 'LogDelivery';

/** The recipient of a grant: all users of a project (by its canonical id), or a group. */
export type Grantee = { readonly project: string } | { readonly group: Group };

export interface Grant {
  readonly grantee: Grantee;
  readonly permission: Permission;
}

/** The access control list of a bucket or a version, without its owner. */
export type Acl = readonly Grant[];

const groupUris: Readonly<Record<Group, string>> = {
  AllUsers: 'http://acs.amazonaws.com/groups/global/AllUsers',
  AuthenticatedUsers: 'http://acs.amazonaws.com/groups/global/AuthenticatedUsers',
  LogDelivery: 'http://acs.amazonaws.com/groups/s3/LogDelivery',
};

/** Returns the group that a URI names: an S3 URI, or the deployment's own for all users. */
export function groupOf(uri: string, allUsersGroupUri: string): Group | undefined {
  if (uri === allUsersGroupUri) return 'AllUsers';
  return (Object.keys(groupUris) as Group[]).find((group) => groupUris[group] === uri);
}

/** Returns the URI of a group, as responses show it. */
export function uriOf(group: Group, allUsersGroupUri: string): string {
  return group === 'AllUsers' ? allUsersGroupUri : groupUris[group];
}

type Party = Group | 'BucketOwner';

/**
 * The grants of each canned ACL, besides FULL_CONTROL for the owner:
 * https://docs.aws.amazon.com/AmazonS3/latest/userguide/acl-overview.html#canned-acl
 */
const cannedAcls = {
  private: [],
  'public-read': [['AllUsers', 'READ']],
  'public-read-write': [
    ['AllUsers', 'READ'],
    ['AllUsers', 'WRITE'],
  ],
  'authenticated-read': [['AuthenticatedUsers', 'READ']],
  'bucket-owner-read': [['BucketOwner', 'READ']],
  'bucket-owner-full-control': [['BucketOwner', 'FULL_CONTROL']],
  'log-delivery-write': [
    ['LogDelivery', 'WRITE'],
    ['LogDelivery', 'READ_ACP'],
  ],
  // Grants access to Amazon EC2, which does not exist here.
  'aws-exec-read': [],
} as const satisfies Readonly<Record<string, readonly (readonly [Party, Permission])[]>>;

export type CannedAcl = keyof typeof cannedAcls;

export function isCannedAcl(name: string): name is CannedAcl {
  return Object.hasOwn(cannedAcls, name);
}

/**
 * Returns the grants of a canned ACL. For a bucket, both owners are the same.
 * @param owner canonical id
 * @param bucketOwner canonical id
 */
export function cannedAcl(name: CannedAcl, owner: string, bucketOwner: string): Acl {
  const rows: readonly (readonly [Party, Permission])[] = cannedAcls[name];
  return withoutRepeats([
    { grantee: { project: owner }, permission: 'FULL_CONTROL' },
    ...rows.map(([party, permission]) => ({
      grantee: party === 'BucketOwner' ? { project: bucketOwner } : { group: party },
      permission,
    })),
  ]);
}

/** Removes repeated grants and keeps the order of the rest. */
export function withoutRepeats(acl: Acl): Acl {
  return [...new Map(acl.map((grant) => [encodeGrant(grant), grant])).values()];
}

/** Tells whether an ACL grants a permission to a caller. FULL_CONTROL includes the four others. */
export function grants(acl: Acl, caller: Caller, permission: Permission): boolean {
  return acl.some(
    (grant) =>
      (grant.permission === permission || grant.permission === 'FULL_CONTROL') && isAmong(caller, grant.grantee),
  );
}

/** Tells whether a grant is to everyone, or to everyone with an access key. */
export function isPublicGrant({ grantee }: Grant): boolean {
  return 'group' in grantee && grantee.group !== 'LogDelivery';
}

/** Tells whether an ACL grants FULL_CONTROL to this project and nothing else. */
export function isOwnersAlone(acl: Acl, project: string): boolean {
  const [only] = acl;
  if (acl.length !== 1 || only?.permission !== 'FULL_CONTROL') return false;
  return 'project' in only.grantee && only.grantee.project === project;
}

function isAmong(caller: Caller, grantee: Grantee): boolean {
  if ('project' in grantee) return caller.kind === 'user' && caller.project.id === grantee.project;
  if (grantee.group === 'AllUsers') return true;
  return caller.kind === (grantee.group === 'LogDelivery' ? 'service' : 'user');
}

const permissionCodes = {
  READ: 'R',
  WRITE: 'W',
  READ_ACP: 'r',
  WRITE_ACP: 'w',
  FULL_CONTROL: 'F',
} as const satisfies Record<Permission, string>;

const groupCodes = { AllUsers: '*', AuthenticatedUsers: '+', LogDelivery: '~' } as const satisfies Record<
  Group,
  string
>;

/** Encodes an ACL for storage: one string per grant, `F=<canonical id>` or `R*`. */
export function encodeAcl(acl: Acl): readonly string[] {
  return acl.map(encodeGrant);
}

function encodeGrant({ grantee, permission }: Grant): string {
  return permissionCodes[permission] + ('project' in grantee ? `=${grantee.project}` : groupCodes[grantee.group]);
}

export function decodeAcl(stored: readonly string[]): Acl {
  return stored.map((grant) => ({
    permission: keyOf(permissionCodes, grant.charAt(0)),
    grantee: grant.charAt(1) === '=' ? { project: grant.slice(2) } : { group: keyOf(groupCodes, grant.charAt(1)) },
  }));
}

function keyOf<Key extends string>(codes: Readonly<Record<Key, string>>, code: string): Key {
  const found = (Object.keys(codes) as Key[]).find((key) => codes[key] === code);
  if (found === undefined) throw new Error(`unknown code in a stored ACL: ${code}`);
  return found;
}
