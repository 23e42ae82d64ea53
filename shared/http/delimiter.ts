import { invalidArgument } from '../errors/s3-error.ts';
import type { Query } from './query.ts';

/**
 * Reads the delimiter of a listing, or `''` for none. Listings are always ordered, so `allow-unordered`, a Ceph RGW
 * option for faster listings, has no effect; as in Ceph RGW, it cannot be combined with a delimiter.
 * @throws S3Error InvalidArgument if both are given. https://docs.ceph.com/en/latest/radosgw/s3/bucketops/#get-bucket
 */
export function parseDelimiter(query: Query): string {
  const delimiter = query.get('delimiter') ?? '';
  const unordered = query.get('allow-unordered');
  if (delimiter !== '' && unordered !== undefined && /^(true|yes|on|1)$/i.test(unordered)) {
    throw invalidArgument('allow-unordered', unordered, 'allow-unordered cannot be used together with a delimiter.');
  }
  return delimiter;
}
