import { invalidArgument } from '../../errors/s3-error.ts';
import type { Query } from '../../http/query.ts';
import { requireUploadId } from './part.ts';

/**
 * Writing an object writes all of it, as a version of its own: it takes neither a part number nor a version id. Who names a part and no
 * upload has lost the id of it, and would have the object replaced by its part.
 * @throws S3Error InvalidArgument
 */
export function refuseSelection(query: Query): void {
  if (query.has('partNumber')) requireUploadId(query);
  const versionId = query.get('versionId');
  if (versionId === undefined) return;
  throw invalidArgument('versionId', versionId, 'This operation does not accept a version-id.');
}
