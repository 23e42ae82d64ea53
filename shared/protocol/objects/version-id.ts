import type { Query } from '../../http/query.ts';
import { checkVersionId } from '../../metadata/objects/version-id.ts';

/** Reads the `versionId` parameter, if present. @throws S3Error InvalidArgument */
export function parseVersionId(query: Query): string | undefined {
  const versionId = query.get('versionId');
  if (versionId !== undefined) checkVersionId(versionId);
  return versionId;
}
