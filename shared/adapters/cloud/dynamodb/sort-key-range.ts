import type { QueryOptions } from '../../../ports/key-value-table.ts';
import { compareUtf8 } from '../../../ports/utf8-order.ts';

/** The maximum length of a sort key in bytes. DynamoDB rejects longer ones, even as a bound. */
const maxSortKeyLength = 1024;

/** The part of a partition that a query reads, in terms that DynamoDB supports. */
export interface SortKeyRange {
  /** The lowest and the highest sort key to query, both inclusive. May include slightly more than wanted. */
  readonly low: string | undefined;
  readonly high: string | undefined;
  /** Starts after this sort key: DynamoDB's ExclusiveStartKey, which need not exist. */
  readonly start: string | undefined;
  /** Tells exactly whether a sort key is wanted. */
  readonly contains: (sk: string) => boolean;
}

/**
 * Combines the options of a query into one range, since a key condition allows only one comparison of the sort key.
 * Returns undefined if the range is empty.
 */
export function sortKeyRange({ from, after, prefix, reverse = false }: QueryOptions): SortKeyRange | undefined {
  if (prefix !== undefined && !fits(prefix)) return undefined;
  // Sort keys are not empty, so every key is at or after ''.
  const low = greater(from ?? '', prefix ?? '');
  const behindPrefix = successor(prefix ?? '');
  if (reverse) {
    const high = after === undefined ? behindPrefix : lesser(after, behindPrefix);
    return between({ low, high, start: high });
  }
  if (after === undefined || compareUtf8(after, low) < 0) return between({ low, high: behindPrefix });
  return between({ low: after, high: behindPrefix, start: after });
}

/** Returns the range of `low` ≤ sort key < `high`, without `start` itself. */
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
 * Returns the lowest string after all those with this prefix: replaces its last character by the next one. Strings
 * cannot contain the byte 0xFF, and surrogates are not characters. Returns undefined if there is none.
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

/** Returns the highest valid sort key that is not above this one, or undefined: DynamoDB has no empty keys. */
function roundDown(key: string): string | undefined {
  return (fits(key) ? key : cut(key, maxSortKeyLength)) || undefined;
}

/** Returns a valid sort key that is not below this one. The successor of a key may be a byte longer. */
function roundUp(key: string): string | undefined {
  return fits(key) ? key : successor(cut(key, maxSortKeyLength - 1));
}

/** Truncates a string to this many bytes, in whole characters. */
function cut(text: string, bytes: number): string {
  const buffer = Buffer.from(text);
  let end = bytes;
  while (((buffer[end] ?? 0) & 0xc0) === 0x80) end--;
  return buffer.toString('utf8', 0, end);
}
