import { invalidArgument } from '../../errors/s3-error.ts';
import type { Query } from '../../http/query.ts';
import { requireUploadId } from './part.ts';

/**
 * Refuses a part number or a version id in a write of a whole object, which always creates a version. A request with a
 * part number but no upload id has lost the id, and would replace the object by one part.
 * @throws S3Error InvalidArgument
 */
export function refuseSelection(query: Query): void {
  if (query.has('partNumber')) requireUploadId(query);
  const versionId = query.get('versionId');
  if (versionId === undefined) return;
  throw invalidArgument('versionId', versionId, 'This operation does not accept a version-id.');
}
