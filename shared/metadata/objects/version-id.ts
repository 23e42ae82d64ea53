import { S3Error } from '../../errors/s3-error.ts';
import { isVersionId } from '../table/ids.ts';

/**
 * Checks the `versionId` of a request.
 * @throws S3Error InvalidArgument if no version can have this id
 */
export function checkVersionId(versionId: string): void {
  if (versionId === 'null' || isVersionId(versionId)) return;
  throw new S3Error('InvalidArgument', {
    message: 'Invalid version id specified',
    details: { ArgumentName: 'versionId', ArgumentValue: versionId },
  });
}
