import type { Randomness } from '../../ports/randomness.ts';
import { dayOf } from '../../storage/table/keys/days.ts';
import type { LogDestination } from './log-spool.ts';

/** What a key of a log object is made of, besides its destination. */
interface LogMoment {
  /** The number of the account that owns the logged bucket. */
  readonly account: string;
  readonly region: string;
  /** The time of the delivery, in milliseconds. */
  readonly now: number;
  /** 16 characters. */
  readonly unique: string;
}

/**
 * Returns the key of a log object.
 * https://docs.aws.amazon.com/AmazonS3/latest/userguide/ServerLogs.html#server-log-keyname-format
 */
export function logKey({ prefix, bucket, day }: LogDestination, { account, region, now, unique }: LogMoment): string {
  const [today, time] = [dayOf(now), new Date(now).toISOString().slice(11, 19).replaceAll(':', '-')];
  if (bucket === undefined) return `${prefix}${today}-${time}-${unique}`;
  const named = day ?? today;
  const folders = `${account}/${region}/${bucket}/${named.replaceAll('-', '/')}/`;
  return `${prefix}${folders}${named}-${day === undefined ? time : '00-00-00'}-${unique}`;
}

/** Returns the most bytes that follow the prefix in a key. */
export function mostAddedBytes(bucket: string, region: string): number {
  const destination = { target: '', prefix: '', project: '', bucket };
  return Buffer.byteLength(logKey(destination, { account: '0'.repeat(12), region, now: 0, unique: '0'.repeat(16) }));
}

/** Returns a new unique part of a key. */
export function uniquePart(randomness: Randomness): string {
  return Buffer.from(randomness.bytes(8)).toString('hex').toUpperCase();
}
