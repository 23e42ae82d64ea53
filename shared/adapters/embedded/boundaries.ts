import type { Database, RangeOptions } from 'lmdb';
import { ItemDamaged } from '../../ports/key-value-table.ts';
import { decodeItemKey, type KeyRange } from './item-key.ts';
import { unseal } from './sealed-item.ts';

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
    if (reverse) this.#verifyAfter(end, false, end);
    else this.#verifyBefore(start, start);
  }

  /** Verifies where a range ended, which has been read to its end. @param last the key of its last item, if any. @throws ItemDamaged */
  leave({ start, end }: KeyRange, reverse: boolean, last: Buffer | undefined): void {
    if (reverse) this.#verifyBefore(last ?? end, start);
    else this.#verifyAfter(last ?? start, last !== undefined, end);
  }

  /**
   * Verifies that there is no item with a key that was not found: the sound items around its place are in order, and no damaged one between
   * them is the item under another key, or has a flipped bit in its key. So an item with a damaged value hinders none to be written beside it.
   * @throws ItemDamaged
   */
  verifyMissing(key: Buffer): void {
    this.#verifyMissing(key, { start: key, exclusiveStart: true, reverse: true }, -1);
    this.#verifyMissing(key, { start: key }, 1);
  }

  /** @param order of the items in this direction, compared with the key */
  #verifyMissing(key: Buffer, range: RangeOptions, order: -1 | 1): void {
    let last = key;
    for (const item of this.#items.getRange(range)) {
      if (Buffer.compare(item.key, last) !== order) throw misled(item.key);
      if (isSound(item.key, item.value)) return;
      if (isSound(key, item.value) || hasFlipped(item.key, item.value))
        throw new ItemDamaged('its key has changed', decodeItemKey(key));
      last = Buffer.from(item.key);
    }
    // The search may have been led past all items.
    for (const item of this.#items.getRange({ reverse: order > 0, limit: 1 }))
      if (Buffer.compare(item.key, last) === order) throw misled(item.key);
  }

  /** Verifies the last item before `from`, which must be before `bound` as well. */
  #verifyBefore(from: Buffer, bound: Buffer): void {
    for (const { key, value } of this.#items.getRange({ start: from, exclusiveStart: true, reverse: true, limit: 1 })) {
      verify(key, value);
      if (Buffer.compare(key, bound) >= 0) throw misled(key);
      return;
    }
    for (const { key } of this.#items.getRange({ limit: 1 })) if (Buffer.compare(key, from) < 0) throw misled(key);
  }

  /** Verifies the first item from `from` on, which must not be before `bound`. */
  #verifyAfter(from: Buffer, exclusiveStart: boolean, bound: Buffer): void {
    for (const { key, value } of this.#items.getRange({ start: from, exclusiveStart, limit: 1 })) {
      verify(key, value);
      if (Buffer.compare(key, bound) < 0) throw misled(key);
      return;
    }
    for (const { key } of this.#items.getRange({ reverse: true, limit: 1 })) {
      const order = Buffer.compare(key, from);
      if (order > 0 || (order === 0 && !exclusiveStart)) throw misled(key);
    }
  }
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
