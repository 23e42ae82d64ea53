import { optionally } from './buckets.ts';
import type { S3Client } from './client.ts';
import type { Place } from './objects.ts';
import { writeXml, type Tree, type Xml } from './xml.ts';

export const permissions = ['READ', 'WRITE', 'READ_ACP', 'WRITE_ACP', 'FULL_CONTROL'] as const;
export type Permission = (typeof permissions)[number];

export type Grantee =
  | { readonly kind: 'everybody' }
  | { readonly kind: 'signed-in' }
  | { readonly kind: 'other-group'; readonly uri: string }
  | { readonly kind: 'id'; readonly id: string; readonly name: string }
  /** `project@customer`; the service finds the project and returns it by its id. */
  | { readonly kind: 'email'; readonly email: string };

export interface Grant {
  readonly grantee: Grantee;
  readonly permission: Permission;
}

export interface Acl {
  readonly owner: { readonly id: string; readonly name: string };
  readonly grants: readonly Grant[];
}

/** A bucket, or an object in it. */
export type Resource = Pick<Place, 'bucket' | 'versionId'> & { readonly key?: string | undefined };

const groups = 'http://acs.amazonaws.com/groups/global';
/** The URIs of the groups that can be granted rights. */
export const granteeUri = { everybody: `${groups}/AllUsers`, 'signed-in': `${groups}/AuthenticatedUsers` } as const;

const addressOf = ({ bucket, key, versionId }: Resource, query: string) => ({
  bucket,
  ...(key !== undefined && { key }),
  query: { [query]: '', versionId },
});

export async function getAcl(client: S3Client, resource: Resource): Promise<Acl> {
  const xml = await client.document({ method: 'GET', ...addressOf(resource, 'acl') });
  const owner = xml.find('Owner');
  const grants = xml.find('AccessControlList')?.all('Grant') ?? [];
  return {
    owner: { id: owner?.textOf('ID') ?? '', name: owner?.textOf('DisplayName') ?? '' },
    grants: grants.map((grant) => ({
      grantee: granteeOf(grant.find('Grantee')),
      permission: grant.textOf('Permission') as Permission,
    })),
  };
}

function granteeOf(xml: Xml | undefined): Grantee {
  const uri = xml?.optional('URI');
  if (uri === undefined) return { kind: 'id', id: xml?.textOf('ID') ?? '', name: xml?.textOf('DisplayName') ?? '' };
  if (uri.endsWith('/AllUsers')) return { kind: 'everybody' };
  if (uri.endsWith('/AuthenticatedUsers')) return { kind: 'signed-in' };
  return { kind: 'other-group', uri };
}

export async function putAcl(client: S3Client, resource: Resource, acl: Acl): Promise<void> {
  const grants = acl.grants.map(({ grantee, permission }): Tree => [
    'Grant',
    [granteeTree(grantee), ['Permission', permission]],
  ]);
  const body = writeXml([
    'AccessControlPolicy',
    [
      ['Owner', [['ID', acl.owner.id]]],
      ['AccessControlList', grants],
    ],
  ]);
  await client.send({ method: 'PUT', ...addressOf(resource, 'acl'), body });
}

function granteeTree(grantee: Grantee): Tree {
  const typed = (type: string, child: Tree): Tree => [
    'Grantee',
    [child],
    ` xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance" xsi:type="${type}"`,
  ];
  switch (grantee.kind) {
    case 'everybody':
    case 'signed-in':
      return typed('Group', ['URI', granteeUri[grantee.kind]]);
    case 'other-group':
      return typed('Group', ['URI', grantee.uri]);
    case 'email':
      return typed('AmazonCustomerByEmail', ['EmailAddress', grantee.email]);
    case 'id':
      return typed('CanonicalUser', ['ID', grantee.id]);
  }
}

/** Returns whether everybody may list a bucket, or get an object. */
export const isOpen = (acl: Acl): boolean =>
  acl.grants.some(
    ({ grantee, permission }) =>
      grantee.kind === 'everybody' && (permission === 'READ' || permission === 'FULL_CONTROL'),
  );

/** The ACL with read access for everybody, or without any access for everybody. */
export function withPublicRead(acl: Acl, open: boolean): Acl {
  const others = acl.grants.filter(({ grantee }) => grantee.kind !== 'everybody');
  const grants = open ? [...others, { grantee: { kind: 'everybody' }, permission: 'READ' } as const] : others;
  return { ...acl, grants };
}

/** Returns the text of a bucket's policy, if it has one. */
export async function getPolicy(client: S3Client, bucket: string): Promise<string | undefined> {
  const response = await optionally(client.send({ method: 'GET', bucket, query: { policy: '' } }));
  return response?.text();
}

export async function putPolicy(client: S3Client, bucket: string, policy: string): Promise<void> {
  const headers = { 'content-type': 'application/json' };
  await client.send({ method: 'PUT', bucket, query: { policy: '' }, body: policy, headers });
}

export async function deletePolicy(client: S3Client, bucket: string): Promise<void> {
  await client.send({ method: 'DELETE', bucket, query: { policy: '' } });
}

export interface PublicLink {
  readonly id: string;
  /** Returned once: the service does not store the token. */
  readonly url?: string;
  readonly created: Date;
  readonly expires: Date;
}

/** Creates a link with which anybody can read the object for at most 24 hours, regardless of its rights. */
export async function createPublicLink(client: S3Client, place: Place, seconds: number): Promise<PublicLink> {
  const { bucket, key, versionId } = place;
  const query = { 'public-link': '', versionId, expires: String(seconds) };
  return linkOf(await client.document({ method: 'POST', bucket, key, query }));
}

export async function listPublicLinks(client: S3Client, { bucket, key }: Place): Promise<PublicLink[]> {
  const xml = await client.document({ method: 'GET', bucket, key, query: { 'public-link': '' } });
  return xml.all('PublicLink').map(linkOf);
}

function linkOf(xml: Xml): PublicLink {
  const url = xml.optional('Url');
  return {
    id: xml.textOf('Id'),
    ...(url !== undefined && { url }),
    created: new Date(xml.textOf('Created')),
    expires: new Date(xml.textOf('Expires')),
  };
}

export async function deletePublicLink(client: S3Client, { bucket, key }: Place, id: string): Promise<void> {
  await client.send({ method: 'DELETE', bucket, key, query: { 'public-link': '', id } });
}

export const publicAccessSwitches = [
  'BlockPublicAcls',
  'IgnorePublicAcls',
  'BlockPublicPolicy',
  'RestrictPublicBuckets',
] as const;

/** The four switches of PublicAccessBlock. */
export type PublicAccessBlock = Readonly<Record<(typeof publicAccessSwitches)[number], boolean>>;

const publicAccessQuery = { publicAccessBlock: '' };

/** Returns the switches, all off if they were never set. */
export async function getPublicAccessBlock(client: S3Client, bucket: string): Promise<PublicAccessBlock> {
  const xml = await optionally(client.document({ method: 'GET', bucket, query: publicAccessQuery }));
  const is = (name: string): boolean => xml?.textOf(name).trim().toLowerCase() === 'true';
  return {
    BlockPublicAcls: is('BlockPublicAcls'),
    IgnorePublicAcls: is('IgnorePublicAcls'),
    BlockPublicPolicy: is('BlockPublicPolicy'),
    RestrictPublicBuckets: is('RestrictPublicBuckets'),
  };
}

/** Sets the switches; with all of them off, the configuration is removed. */
export async function putPublicAccessBlock(client: S3Client, bucket: string, block: PublicAccessBlock): Promise<void> {
  const isAny = publicAccessSwitches.some((name) => block[name]);
  if (!isAny) return void (await client.send({ method: 'DELETE', bucket, query: publicAccessQuery }));
  const body = writeXml([
    'PublicAccessBlockConfiguration',
    publicAccessSwitches.map((name): Tree => [name, block[name]]),
  ]);
  await client.send({ method: 'PUT', bucket, query: publicAccessQuery, body });
}
