import type { Query } from '../../http/query.ts';
import { checkVersionId } from '../../storage/versions/version-id.ts';

/**
 * Reads the `versionId` parameter of a deletion, if present. Any but an empty one is accepted: what cannot be the id of
 * a version is the id of none, and deleting none succeeds.
 * @throws S3Error InvalidArgument
 */
export function parseVersionIdToDelete(query: Query): string | undefined {
  const versionId = query.get('versionId');
  if (versionId === '') checkVersionId(versionId);
  return versionId;
}

/** Reads the `versionId` parameter, if present. @throws S3Error InvalidArgument */
export function parseVersionId(query: Query): string | undefined {
  const versionId = query.get('versionId');
  if (versionId !== undefined) checkVersionId(versionId);
  return versionId;
}
