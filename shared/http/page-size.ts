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
