import type { Database, RangeOptions } from 'lmdb';
import { ItemDamaged } from '../../../ports/key-value-table.ts';
import { decodeItemKey, type KeyRange } from '../../encoded-table/item-key.ts';
import { unseal } from './sealed-item.ts';

/** More bytes than a key of the engine has: lmdb-environment.ts. */
const longestKey = 4096;

/**
 * Verifies the items beside a range. A flipped bit in a key can end a range too soon, or mislead the search for its start: the items after or
 * before it would be missing without a sign. So a range begins and ends only beside items that are what was written, in order.
 */
export class Boundaries {
  readonly #items: Database<Buffer, Buffer>;

  /** @param items whose keys and values are bytes */
  constructor(items: Database<Buffer, Buffer>) {
    this.#items = items;
  }

  /** Verifies where a range begins, before it is read. @throws ItemDamaged */
  enter({ start, end }: KeyRange, reverse: boolean): void {
    if (reverse) this.#verifyNeighbours(this.#beside(end, -1), this.#verifyAfter(end, false, end));
    else this.#verifyNeighbours(this.#verifyBefore(start, start), this.#beside(start, 1, false));
  }

  /**
   * Verifies that a range begins with an item within it: a flipped bit beside a pointer leads the search to another page, whose first item the
   * engine returns whatever its key is. A listing that resumes there would begin again, for ever. @param first its key. @throws ItemDamaged
   */
  begin({ start, end }: KeyRange, reverse: boolean, first: Buffer): void {
    if (reverse ? Buffer.compare(first, end) >= 0 : Buffer.compare(first, start) < 0) throw misled(first);
  }

  /** Verifies where a range ended, which has been read to its end. @param last the key of its last item, if any. @throws ItemDamaged */
  leave({ start, end }: KeyRange, reverse: boolean, last: Buffer | undefined): void {
    const key = last && Buffer.from(last);
    if (reverse) this.#verifyNeighbours(this.#verifyBefore(key ?? end, start), key ?? this.#beside(end, 1, false));
    else
      this.#verifyNeighbours(key ?? this.#beside(start, -1), this.#verifyAfter(key ?? start, key !== undefined, end));
  }

  /**
   * Verifies that there is no item with a key that was not found: the sound items around its place are in order, and no damaged one between
   * them is the item under another key, or has a flipped bit in its key. So an item with a damaged value hinders none to be written beside it.
   * @throws ItemDamaged
   */
  verifyMissing(key: Buffer): void {
    const before = this.#verifyMissing(key, { start: key, exclusiveStart: true, reverse: true }, -1);
    this.#verifyNeighbours(before, this.#verifyMissing(key, { start: key }, 1));
  }

  /**
   * @param order of the items in this direction, compared with the key
   * @returns the key of the nearest one
   */
  #verifyMissing(key: Buffer, range: RangeOptions, order: -1 | 1): Buffer | undefined {
    let last = key;
    let nearest: Buffer | undefined;
    for (const item of this.#items.getRange(range)) {
      if (Buffer.compare(item.key, last) !== order) throw misled(item.key);
      last = Buffer.from(item.key);
      nearest ??= last;
      if (isSound(item.key, item.value)) return nearest;
      if (isSound(key, item.value) || hasFlipped(item.key, item.value))
        throw new ItemDamaged('its key has changed', decodeItemKey(key));
    }
    // The search may have been led past all items.
    for (const item of this.#items.getRange({ reverse: order > 0, limit: 1 }))
      if (Buffer.compare(item.key, last) === order) throw misled(item.key);
    return nearest;
  }

  /**
   * Verifies that two items are next to one another also for a search that begins with the key of either. A damaged page of the tree may lead
   * to a sound one that holds other items: they are in order there, but found by their own keys they have other neighbours.
   */
  #verifyNeighbours(before: Buffer | undefined, after: Buffer | undefined): void {
    if (before !== undefined && !isSame(this.#beside(before, 1), after)) throw misled(before);
    if (after !== undefined && !isSame(this.#beside(after, -1), before)) throw misled(after);
  }

  /** Returns the key of the nearest item before or after a key. */
  #beside(start: Buffer, order: -1 | 1, exclusiveStart = true): Buffer | undefined {
    for (const key of this.#items.getKeys({ start, exclusiveStart, reverse: order < 0, limit: 1 }))
      return Buffer.from(key);
    return undefined;
  }

  /** Verifies the last item before `from`, which must be before `bound` as well, and returns its key. */
  #verifyBefore(from: Buffer, bound: Buffer): Buffer | undefined {
    for (const { key, value } of this.#items.getRange({ start: from, exclusiveStart: true, reverse: true, limit: 1 })) {
      verify(key, value);
      if (Buffer.compare(key, bound) >= 0) throw misled(key);
      return Buffer.from(key);
    }
    for (const { key } of this.#items.getRange({ limit: 1 })) if (Buffer.compare(key, from) < 0) throw misled(key);
    return undefined;
  }

  /** Verifies the first item from `from` on, which must not be before `bound`, and returns its key. */
  #verifyAfter(from: Buffer, exclusiveStart: boolean, bound: Buffer): Buffer | undefined {
    for (const { key, value } of this.#items.getRange({ start: from, exclusiveStart, limit: 1 })) {
      verify(key, value);
      if (Buffer.compare(key, bound) < 0) throw misled(key);
      return Buffer.from(key);
    }
    for (const { key } of this.#items.getRange({ reverse: true, limit: 1 })) {
      const order = Buffer.compare(key, from);
      if (order > 0 || (order === 0 && !exclusiveStart)) throw misled(key);
    }
    return undefined;
  }
}

function isSame(key: Buffer | undefined, other: Buffer | undefined): boolean {
  return key === undefined || other === undefined ? key === other : key.equals(other);
}

function isSound(key: Buffer, value: Buffer): boolean {
  try {
    unseal(key, value);
    return true;
  } catch (error) {
    if (error instanceof ItemDamaged) return false;
    throw error;
  }
}

/** Tells whether an item is sound but for one bit of its key. */
function hasFlipped(key: Buffer, value: Buffer): boolean {
  const tried = Buffer.from(key);
  for (let bit = 0; bit < tried.length * 8; bit += 1) {
    tried[bit >> 3]! ^= 1 << (bit & 7);
    if (isSound(tried, value)) return true;
    tried[bit >> 3]! ^= 1 << (bit & 7);
  }
  return false;
}

function verify(key: Buffer, value: Buffer): void {
  try {
    unseal(key, value);
  } catch (error) {
    throw error instanceof ItemDamaged ? error.of(decodeItemKey(key)) : error;
  }
}

function misled(key: Buffer): ItemDamaged {
  return new ItemDamaged('the pages beside it lead to the wrong place', decodeItemKey(key));
}

/** Verifies that keys follow one another in order: a damaged page of the tree may lead to a sound one that holds others. */
export class KeyOrder {
  readonly #last = Buffer.alloc(longestKey);
  #length = 0;
  #order = 1;

  /** Begins with the next key. */
  begin(reverse: boolean): void {
    this.#length = 0;
    this.#order = reverse ? -1 : 1;
  }

  /** Takes the next key, which lies between two offsets. @throws ItemDamaged if it is not beyond the last one */
  next(bytes: Uint8Array, start: number, end: number): void {
    const last = this.#last;
    const length = end - start;
    const shared = Math.min(length, this.#length);
    let at = 0;
    while (at < shared && bytes[start + at] === last[at]) at += 1;
    const order = at < shared ? bytes[start + at]! - last[at]! : length - this.#length;
    const isFirst = this.#length === 0;
    for (; at < length; at += 1) last[at] = bytes[start + at]!;
    this.#length = length;
    if (!isFirst && order * this.#order <= 0) throw misled(Buffer.from(last.subarray(0, length)));
  }
}
