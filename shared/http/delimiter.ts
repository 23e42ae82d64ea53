import { invalidArgument } from '../errors/s3-error.ts';
import type { Query } from './query.ts';

/**
 * Reads the delimiter of a listing; `''` for none. Listings are always in order, so `allow-unordered`, by which Ceph RGW lists faster,
 * changes nothing; but as there it cannot be asked for together with a delimiter.
 * @throws S3Error InvalidArgument for both of them. https://docs.ceph.com/en/latest/radosgw/s3/bucketops/#get-bucket
 */
export function parseDelimiter(query: Query): string {
  const delimiter = query.get('delimiter') ?? '';
  const unordered = query.get('allow-unordered');
  if (delimiter !== '' && unordered !== undefined && /^(true|yes|on|1)$/i.test(unordered)) {
    throw invalidArgument('allow-unordered', unordered, 'allow-unordered cannot be used together with a delimiter.');
  }
  return delimiter;
}
