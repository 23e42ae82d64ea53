import type { Attributes } from '../../ports/key-value-table.ts';
import { day as dayLength } from '../../ports/durations.ts';
import { beginningOf } from '../days.ts';

/** What something holds. */
export interface Holding {
  readonly bytes: number;
  readonly objects: number;
}

/** A change of what is held, at a moment. */
export interface Step extends Holding {
  readonly at: number;
}

/**
 * What was held on a day, as far as it is known: a step function, whose integral is exact however many steps there are. After the last
 * step it goes on as it is, into the days that follow, until one of them has steps of its own.
 */
export interface StorageDay extends Holding {
  /** When the last step was. */
  readonly at: number;
  /** Bytes times milliseconds from the beginning of the day to then. */
  readonly byteTime: bigint;
}

/** A day before its first step. */
export function beginDay(day: string, { bytes, objects }: Holding): StorageDay {
  return { bytes, objects, at: beginningOf(day), byteTime: 0n };
}

/** The day after one more step. One that comes with an earlier time counts from the last one on. */
export function stepOn(day: StorageDay, step: Step): StorageDay {
  const at = Math.max(day.at, step.at);
  return {
    bytes: day.bytes + step.bytes,
    objects: day.objects + step.objects,
    at,
    byteTime: byteTimeAt(day, at),
  };
}

/** Adds up what two held on the same day. */
export function addDays(one: StorageDay, other: StorageDay): StorageDay {
  const at = Math.max(one.at, other.at);
  return {
    bytes: one.bytes + other.bytes,
    objects: one.objects + other.objects,
    at,
    byteTime: byteTimeAt(one, at) + byteTimeAt(other, at),
  };
}

/** Bytes times milliseconds of a day up to a moment, or up to its end if that comes first. */
export function byteTimeUntil(day: string, held: StorageDay, moment: number): bigint {
  return byteTimeAt(held, Math.min(moment, beginningOf(day) + dayLength));
}

function byteTimeAt({ bytes, at, byteTime }: StorageDay, moment: number): bigint {
  return byteTime + BigInt(bytes) * BigInt(Math.max(0, moment - at));
}

/** As an item's attributes. The integral can be larger than a number is exact, so it is written in digits. */
export function encodeDay({ bytes, objects, at, byteTime }: StorageDay): Attributes {
  return { bytes, objects, at, time: String(byteTime) };
}

export function decodeDay({ bytes, objects, at, time }: Attributes): StorageDay {
  return { bytes: bytes as number, objects: objects as number, at: at as number, byteTime: BigInt(time as string) };
}
