import type { Attributes } from '../ports/key-value-table.ts';
import { day as dayLength } from '../ports/durations.ts';
import type { Counters } from '../storage/quotas/usage-rows.ts';
import { beginningOf } from '../storage/table/keys/days.ts';

/** The billed contents of a bucket, or of some of its shards. */
export interface Holding {
  /** Of versions. */
  readonly bytes: number;
  readonly objects: number;
}

/** Returns what the bill counts of a bucket: versions, and nothing besides. */
export function billed({ bytesOfVersions, objects }: Counters): Holding {
  return { bytes: bytesOfVersions, objects };
}

/** A change of a holding at a moment. */
export interface Step extends Holding {
  readonly at: number;
}

/**
 * The storage of one day, a step function of time whose integral is exact however many steps there are. The value after
 * the last step continues through the following days until one of them has steps.
 */
export interface StorageDay extends Holding {
  /** The time of the last step. */
  readonly at: number;
  /** Bytes times milliseconds, from the start of the day to the last step. */
  readonly byteTime: bigint;
}

/** Returns a day before its first step. */
export function beginDay(day: string, { bytes, objects }: Holding): StorageDay {
  return { bytes, objects, at: beginningOf(day), byteTime: 0n };
}

/** Returns the day after one more step. A step with an earlier time than the last counts from the time of the last. */
export function stepOn(day: StorageDay, step: Step): StorageDay {
  const at = Math.max(day.at, step.at);
  return {
    bytes: day.bytes + step.bytes,
    objects: day.objects + step.objects,
    at,
    byteTime: byteTimeAt(day, at),
  };
}

/** Returns the sum of two holdings on the same day. */
export function addDays(one: StorageDay, other: StorageDay): StorageDay {
  const at = Math.max(one.at, other.at);
  return {
    bytes: one.bytes + other.bytes,
    objects: one.objects + other.objects,
    at,
    byteTime: byteTimeAt(one, at) + byteTimeAt(other, at),
  };
}

/** Returns bytes times milliseconds of a day up to a moment, or to the end of the day if that is earlier. */
export function byteTimeUntil(day: string, held: StorageDay, moment: number): bigint {
  return byteTimeAt(held, Math.min(moment, beginningOf(day) + dayLength));
}

function byteTimeAt({ bytes, at, byteTime }: StorageDay, moment: number): bigint {
  return byteTime + BigInt(bytes) * BigInt(Math.max(0, moment - at));
}

/** Encodes a day as an item's attributes. The integral may exceed the safe integers, so it is stored as digits. */
export function encodeDay({ bytes, objects, at, byteTime }: StorageDay): Attributes {
  return { bytes, objects, at, time: String(byteTime) };
}

export function decodeDay({ bytes, objects, at, time }: Attributes): StorageDay {
  return { bytes: bytes as number, objects: objects as number, at: at as number, byteTime: BigInt(time as string) };
}
