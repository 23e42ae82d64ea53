import { optionally } from './buckets.ts';
import type { S3Client } from './client.ts';
import { isFailure, S3Failure } from './failure.ts';
import type { Place } from './objects.ts';
import { writeXml } from './xml.ts';
import { shownAcl, writtenAcl, type Grantee as WrittenGrantee } from '../../shared/documents/acl.ts';
import { publicAccessBlock } from '../../shared/documents/bucket-settings.ts';
import { publicLink, publicLinks } from '../../shared/documents/public-links.ts';
import type { ValueOf } from '../../shared/documents/schema.ts';

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
  const { owner, grants } = shownAcl.content.read(xml);
  return {
    owner: { id: owner.id, name: owner.displayName },
    grants: grants.map(({ grantee, permission }) => ({ grantee: granteeOf(grantee), permission })),
  };
}

function granteeOf({ by, name, displayName = '' }: WrittenGrantee): Grantee {
  if (by !== 'uri') return { kind: 'id', id: name, name: displayName };
  if (name.endsWith('/AllUsers')) return { kind: 'everybody' };
  if (name.endsWith('/AuthenticatedUsers')) return { kind: 'signed-in' };
  return { kind: 'other-group', uri: name };
}

export async function putAcl(client: S3Client, resource: Resource, acl: Acl): Promise<void> {
  const grants = acl.grants.map(({ grantee, permission }) => ({ grantee: writtenGrantee(grantee), permission }));
  const body = writeXml(writtenAcl, { owner: { id: acl.owner.id }, grants });
  const isPublic = acl.grants.some(({ grantee }) => grantee.kind === 'everybody' || grantee.kind === 'signed-in');
  await unlessBlocked(client, resource.bucket, isPublic && 'blockPublicAcls', () =>
    client.send({ method: 'PUT', ...addressOf(resource, 'acl'), body }),
  );
}

/**
 * Sends what may let everybody in. The service refuses it like something that the caller has no right to.
 *
 * @param name the switch of the bucket that would refuse it
 * @throws S3Failure PublicAccessBlocked if that is on
 */
async function unlessBlocked(
  client: S3Client,
  bucket: string,
  name: (typeof publicAccessSwitches)[number] | false,
  act: () => Promise<unknown>,
): Promise<void> {
  try {
    await act();
  } catch (error) {
    if (name === false || !isFailure(error, 'AccessDenied')) throw error;
    const block = await getPublicAccessBlock(client, bucket).catch(() => undefined);
    if (block?.[name] !== true) throw error;
    // With what the service said, which its operator can look for.
    const message = `${error.status} ${error.code}: ${switchElement(name)}`;
    throw new S3Failure({ status: 0, code: 'PublicAccessBlocked', message, requestId: error.requestId });
  }
}

function writtenGrantee(grantee: Grantee): WrittenGrantee {
  switch (grantee.kind) {
    case 'everybody':
    case 'signed-in':
      return { by: 'uri', name: granteeUri[grantee.kind] };
    case 'other-group':
      return { by: 'uri', name: grantee.uri };
    case 'email':
      return { by: 'emailAddress', name: grantee.email };
    case 'id':
      return { by: 'id', name: grantee.id };
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
  const isPublic = /"\*"/.test(policy) && 'blockPublicPolicy';
  await unlessBlocked(client, bucket, isPublic, () =>
    client.send({ method: 'PUT', bucket, query: { policy: '' }, body: policy, headers }),
  );
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
  return linkOf(publicLink.content.read(await client.document({ method: 'POST', bucket, key, query })));
}

export async function listPublicLinks(client: S3Client, { bucket, key }: Place): Promise<PublicLink[]> {
  const xml = await client.document({ method: 'GET', bucket, key, query: { 'public-link': '' } });
  return publicLinks.content.read(xml).links.map(linkOf);
}

const linkOf = <Link extends { readonly created: number; readonly expires: number }>(link: Link) => ({
  ...link,
  created: new Date(link.created),
  expires: new Date(link.expires),
});

export async function deletePublicLink(client: S3Client, { bucket, key }: Place, id: string): Promise<void> {
  await client.send({ method: 'DELETE', bucket, key, query: { 'public-link': '', id } });
}

/** The four switches of PublicAccessBlock. */
export type PublicAccessBlock = ValueOf<typeof publicAccessBlock>;

export const publicAccessSwitches = [
  'blockPublicAcls',
  'ignorePublicAcls',
  'blockPublicPolicy',
  'restrictPublicBuckets',
] as const satisfies readonly (keyof PublicAccessBlock)[];

/** The name of a switch, as an element of the document. */
export const switchElement = (name: (typeof publicAccessSwitches)[number]): string =>
  `${name[0]!.toUpperCase()}${name.slice(1)}`;

const publicAccessQuery = { publicAccessBlock: '' };

const allOff: PublicAccessBlock = {
  blockPublicAcls: false,
  ignorePublicAcls: false,
  blockPublicPolicy: false,
  restrictPublicBuckets: false,
};

/** Returns the switches, all off if they were never set. */
export async function getPublicAccessBlock(client: S3Client, bucket: string): Promise<PublicAccessBlock> {
  const xml = await optionally(client.document({ method: 'GET', bucket, query: publicAccessQuery }));
  return xml ? publicAccessBlock.content.read(xml) : allOff;
}

/** Sets the switches; with all of them off, the configuration is removed. */
export async function putPublicAccessBlock(client: S3Client, bucket: string, block: PublicAccessBlock): Promise<void> {
  const isAny = publicAccessSwitches.some((name) => block[name]);
  if (!isAny) return void (await client.send({ method: 'DELETE', bucket, query: publicAccessQuery }));
  const body = writeXml(publicAccessBlock, block);
  await client.send({ method: 'PUT', bucket, query: publicAccessQuery, body });
}
