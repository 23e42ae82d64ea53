import type { QueryOptions } from '../../ports/key-value-table.ts';
import { compareUtf8 } from '../../ports/utf8-order.ts';

/** No sort key has more bytes, and DynamoDB refuses longer ones even as a bound. */
const maxSortKeyLength = 1024;

/** The part of a partition that a query walks, in the terms in which DynamoDB can be asked. */
export interface SortKeyRange {
  /** The least and the greatest sort key to ask for, both inclusive. They may take in a little more than is wanted. */
  readonly low: string | undefined;
  readonly high: string | undefined;
  /** The walk begins behind this sort key: DynamoDB's ExclusiveStartKey, which need not be a stored one. */
  readonly start: string | undefined;
  /** Whether a sort key is wanted: the exact answer. */
  readonly contains: (sk: string) => boolean;
}

/**
 * KeyedMutex the options of a query into one range, since a key condition takes a single comparison of the sort key.
 * Undefined: nothing can be in the range.
 */
export function sortKeyRange({ from, after, prefix, reverse = false }: QueryOptions): SortKeyRange | undefined {
  if (prefix !== undefined && !fits(prefix)) return undefined;
  // No sort key is empty: everything is from '' on.
  const low = greater(from ?? '', prefix ?? '');
  const behindPrefix = successor(prefix ?? '');
  if (reverse) {
    const high = after === undefined ? behindPrefix : lesser(after, behindPrefix);
    return between({ low, high, start: high });
  }
  if (after === undefined || compareUtf8(after, low) < 0) return between({ low, high: behindPrefix });
  return between({ low: after, high: behindPrefix, start: after });
}

/** The range of `low` ≤ sort key < `high`, without `start` itself. */
function between({ low, high, start }: { low: string; high?: string | undefined; start?: string | undefined }) {
  if (high !== undefined && compareUtf8(low, high) >= 0) return undefined;
  return {
    low: roundDown(low),
    high: high === undefined ? undefined : roundUp(high),
    start: start === undefined || start === '' || !fits(start) ? undefined : start,
    contains: (sk: string) =>
      compareUtf8(sk, low) >= 0 && (high === undefined || compareUtf8(sk, high) < 0) && sk !== start,
  };
}

/**
 * The least string behind all that begin with this prefix: its last character replaced by the next one. A string cannot
 * hold the byte 0xFF, and surrogates are no characters. Undefined: nothing lies behind them.
 */
export function successor(prefix: string): string | undefined {
  const characters = [...prefix];
  for (;;) {
    const last = characters.pop()?.codePointAt(0);
    if (last === undefined) return undefined;
    if (last === 0x10ffff) continue;
    return characters.join('') + String.fromCodePoint(last === 0xd7ff ? 0xe000 : last + 1);
  }
}

function greater(a: string, b: string): string {
  return compareUtf8(a, b) > 0 ? a : b;
}

function lesser(a: string, b: string | undefined): string {
  return b === undefined || compareUtf8(a, b) < 0 ? a : b;
}

function fits(key: string): boolean {
  return Buffer.byteLength(key) <= maxSortKeyLength;
}

/** The greatest sort key that DynamoDB accepts and that is not above this one. It has no empty keys. */
function roundDown(key: string): string | undefined {
  return (fits(key) ? key : cut(key, maxSortKeyLength)) || undefined;
}

/** A sort key that DynamoDB accepts and that is not below this one. The successor may be a byte longer than what it follows. */
function roundUp(key: string): string | undefined {
  return fits(key) ? key : successor(cut(key, maxSortKeyLength - 1));
}

/** The beginning of a string, in whole characters of at most so many bytes. */
function cut(text: string, bytes: number): string {
  const buffer = Buffer.from(text);
  let end = bytes;
  while (((buffer[end] ?? 0) & 0xc0) === 0x80) end--;
  return buffer.toString('utf8', 0, end);
}
