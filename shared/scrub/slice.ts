import { hash } from 'node:crypto';
import { day } from '../ports/durations.ts';
import type { ItemKey } from '../ports/key-value-table.ts';
import * as keyParts from '../storage/table/keys/key-parts.ts';

/**
 * A part of a scrub. The slices 1 to `of` together check everything once. Versions, and the blobs that they refer to, are divided by a
 * hash of their keys. Everything else belongs to the first slice: it is little, or has to be compared with all versions, as orphans and
 * counters have.
 */
export class Slice {
  /** A scrub that is not divided. */
  static readonly whole = new Slice(1, 1);

  /** From 1 to {@link of}. */
  readonly index: number;
  readonly of: number;

  /** @throws RangeError if there is no such slice */
  constructor(index: number, of: number) {
    if (!Number.isSafeInteger(of) || !Number.isSafeInteger(index) || index < 1 || index > of) {
      throw new RangeError(`there is no slice ${index} of ${of}`);
    }
    this.index = index;
    this.of = of;
  }

  /** Returns the slice of a day: successive days have successive slices. @param time in milliseconds since the epoch */
  static ofDay(time: number, of: number): Slice {
    return new Slice((Math.floor(time / day) % of) + 1, of);
  }

  get isFirst(): boolean {
    return this.index === 1;
  }

  /** Returns whether this slice checks an item. Exactly one slice does; all versions of a key are in the same one. */
  has(item: ItemKey): boolean {
    const version = keyParts.version(item);
    if (version === undefined) return this.isFirst;
    return hash('sha1', `${version.bucketId}/${version.key}`, 'buffer').readUInt32BE(0) % this.of === this.index - 1;
  }

  toString(): string {
    return `${this.index}/${this.of}`;
  }
}
