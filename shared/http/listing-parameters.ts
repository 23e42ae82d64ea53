import { invalidArgument } from '../errors/s3-error.ts';
import type { Query } from './query.ts';

/**
 * Reads `max-keys` and similar parameters. A value above the maximum is reduced to the maximum, in the response too.
 * @throws S3Error InvalidArgument if the value is negative or not a number
 */
export function parsePageSize(query: Query, name: string, maximum: number): number {
  const value = query.get(name);
  if (value === undefined || value === '') return maximum;
  if (!/^\d+$/.test(value) || Number(value) > 2 ** 31 - 1) {
    throw invalidArgument(name, value, `Argument ${name} must be an integer between 0 and 2147483647`);
  }
  return Math.min(Number(value), maximum);
}

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
