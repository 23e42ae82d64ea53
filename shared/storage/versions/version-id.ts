import { S3Error } from '../../errors/s3-error.ts';
import { isVersionId } from '../table/keys/ids.ts';

/**
 * Checks the `versionId` of a request, unless it deletes: deleting what does not exist succeeds.
 * @throws S3Error InvalidArgument if no version can have this id
 */
export function checkVersionId(versionId: string): void {
  if (isPossibleVersionId(versionId)) return;
  throw new S3Error('InvalidArgument', {
    message: 'Invalid version id specified',
    details: { ArgumentName: 'versionId', ArgumentValue: versionId },
  });
}

/** Returns whether a version can have this id: only such ids are safe in a header. */
export function isPossibleVersionId(versionId: string): boolean {
  return versionId === 'null' || isVersionId(versionId);
}
