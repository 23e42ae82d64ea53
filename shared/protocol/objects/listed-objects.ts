import type { Projects } from '../../access/identity.ts';
import type { Bucket } from '../../metadata/buckets/bucket.ts';
import type { ListedCurrentVersion } from '../../metadata/listings/object-listing.ts';
import type { ListedRow } from '../../metadata/listings/version-listing.ts';
import { etagOf, versionIdOf, type Listed } from '../../metadata/objects/versions.ts';
import type { ListedObject, ListedVersion } from '../../xml/listings.ts';
import type { Owner } from '../../xml/owner.ts';
import { ownersOf } from '../acls/owners.ts';
import { ownerIn } from '../authorisation/ownership.ts';

interface Deps {
  readonly projects: Projects;
  readonly bucket: Bucket;
}

/** Returns the entries of a listing of objects. */
export async function listedObjects(
  rows: readonly ListedCurrentVersion[],
  deps: Deps,
  showOwner: boolean,
): Promise<readonly ListedObject[]> {
  const owners = rows.map(({ currentVersion }) => currentVersion.owner);
  const owner = showOwner ? await shownOwners(owners, deps) : undefined;
  return rows.map(({ key, currentVersion }) => listed(key, currentVersion, owner));
}

/** Returns the entries of a listing of versions. */
export async function listedVersions(rows: readonly ListedRow[], deps: Deps): Promise<readonly ListedVersion[]> {
  const owners = rows.map(({ version }) => version.owner);
  const owner = await shownOwners(owners, deps);
  return rows.map(({ key, version, isLatest }) => {
    const facts = { ...listed(key, version, owner), versionId: versionIdOf(version), isLatest };
    return version.marker ? { kind: 'delete-marker', ...facts } : { kind: 'version', ...facts };
  });
}

/** Returns the effective owners by the stored ones. */
async function shownOwners(ids: readonly string[], { projects, bucket }: Deps): Promise<(id: string) => Owner> {
  const shown = (id: string): string => ownerIn(bucket, id);
  const ownerOf = await ownersOf(ids.map(shown), projects);
  return (id) => ownerOf(shown(id));
}

function listed(key: string, version: Listed, owner: ((id: string) => Owner) | undefined): ListedObject {
  return {
    key,
    lastModified: version.lastModified,
    etag: etagOf(version),
    size: version.size,
    storageClass: version.storageClass,
    ...(owner && { owner: owner(version.owner) }),
  };
}
