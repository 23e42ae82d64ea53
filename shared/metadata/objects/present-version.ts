import { S3Error } from '../../errors/s3-error.ts';
import { formatHttpDate } from '../../http/dates.ts';
import { versionIdOf, type Version } from './versions.ts';

/**
 * Returns the version that a request names, if it exists and is not a delete marker. A current marker hides the object; a marker
 * named by its id can only be deleted. The headers of both errors report the marker.
 * https://docs.aws.amazon.com/AmazonS3/latest/userguide/DeleteMarker.html
 *
 * @throws S3Error NoSuchKey, MethodNotAllowed (a delete marker by its id)
 */
export function presentVersion(version: Version | undefined, key: string, versionId: string | undefined): Version {
  if (version === undefined) throw new S3Error('NoSuchKey', { details: { Key: key } });
  if (!version.marker) return version;
  const headers = { 'x-amz-delete-marker': 'true', 'x-amz-version-id': versionIdOf(version) };
  if (versionId === undefined) throw new S3Error('NoSuchKey', { details: { Key: key }, headers });
  throw new S3Error('MethodNotAllowed', {
    details: { ResourceType: 'DeleteMarker' },
    headers: { ...headers, allow: 'DELETE', 'last-modified': formatHttpDate(version.lastModified) },
  });
}
