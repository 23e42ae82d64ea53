import type { RangeOptions } from 'lmdb';
import type { KeyRange } from '../../encoded-table/item-key.ts';

/** Returns a range as the engine expects it: one that it reads backwards starts at its end. */
export function inDirection({ start, end }: KeyRange, reverse = false): RangeOptions {
  if (!reverse) return { start, end };
  return { start: end, exclusiveStart: true, end: start, inclusiveEnd: true, reverse };
}
