import { S3Error } from '../../errors/s3-error.ts';
import { isVersionId } from '../table/ids.ts';

/**
 * Checks the `versionId` of a request.
 * @throws S3Error InvalidArgument for what no version can have as its id
 */
export function checkVersionId(versionId: string): void {
  if (versionId === 'null' || isVersionId(versionId)) return;
  throw new S3Error('InvalidArgument', {
    message: 'Invalid version id specified',
    details: { ArgumentName: 'versionId', ArgumentValue: versionId },
  });
}
