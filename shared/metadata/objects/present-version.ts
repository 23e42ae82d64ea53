import { S3Error } from '../../errors/s3-error.ts';
import { formatHttpDate } from '../../http/dates.ts';
import { versionIdOf, type Version } from './versions.ts';

/**
 * The version that a request is about, if there is one that is no delete marker. A current marker hides the object; a marker
 * that was asked for by its id can only be deleted. Either error tells of the marker in its headers.
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
