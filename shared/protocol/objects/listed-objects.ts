import type { Projects } from '../../access/identity.ts';
import type { ListedCurrentVersion } from '../../metadata/listings/object-listing.ts';
import type { ListedRow } from '../../metadata/listings/version-listing.ts';
import { etagOf, versionIdOf, type Listed } from '../../metadata/objects/versions.ts';
import type { ListedObject, ListedVersion } from '../../xml/listings.ts';
import type { Owner } from '../../xml/owner.ts';
import { ownersOf } from '../acls/owners.ts';

/** The rows of a listing of objects as its document shows them. */
export async function listedObjects(
  rows: readonly ListedCurrentVersion[],
  projects: Projects,
  showOwner: boolean,
): Promise<readonly ListedObject[]> {
  const owner = showOwner
    ? await ownersOf(
        rows.map(({ currentVersion }) => currentVersion.owner),
        projects,
      )
    : undefined;
  return rows.map(({ key, currentVersion }) => listed(key, currentVersion, owner));
}

/** The rows of a listing of versions as its document shows them. */
export async function listedVersions(
  rows: readonly ListedRow[],
  projects: Projects,
): Promise<readonly ListedVersion[]> {
  const owner = await ownersOf(
    rows.map(({ version }) => version.owner),
    projects,
  );
  return rows.map(({ key, version, isLatest }) => {
    const facts = { ...listed(key, version, owner), versionId: versionIdOf(version), isLatest };
    return version.marker ? { kind: 'delete-marker', ...facts } : { kind: 'version', ...facts };
  });
}

function listed(key: string, version: Listed, owner: ((id: string) => Owner) | undefined): ListedObject {
  return {
    key,
    lastModified: version.lastModified,
    etag: etagOf(version),
    size: version.size,
    ...(owner && { owner: owner(version.owner) }),
  };
}
