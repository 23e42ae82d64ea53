import type { Position } from '../../ports/item-view.ts';
import type { ListedVersion } from '../versions/listed-version.ts';
import { behindPrefix, type Start } from '../utf8-order.ts';
import type { ListingRequest } from './listing.ts';

/**
 * The number of further keys of a common prefix to read before the rest is skipped by a seek, which takes as long as
 * reading this many.
 */
const patience = 8;

/**
 * The common prefixes of a page under construction. Decides on bytes which keys they stand for: prefix, delimiter and
 * key are valid UTF-8, in which one character never begins within another.
 */
export class CommonPrefixes {
  readonly shown: string[] = [];
  /** The number of bytes of a key that the delimiter comes after. */
  readonly #prefixSize: number;
  readonly #delimiter: Buffer;
  /** The last common prefix, if the last key began with it. */
  #last = '';
  #lastBytes: Buffer | undefined;
  /** The number of keys seen in the last common prefix, after the one that showed it. */
  #folded = 0;

  constructor({ prefix, delimiter }: Pick<ListingRequest, 'prefix' | 'delimiter'>) {
    this.#prefixSize = Buffer.byteLength(prefix);
    this.#delimiter = Buffer.from(delimiter);
  }

  /** The common prefix that stands for the last key, if one that was shown does. */
  get current(): string | undefined {
    return this.#lastBytes && this.#last;
  }

  /** The number of keys at the end that a shown common prefix stands for. */
  get foldedAtEnd(): number {
    return this.#lastBytes === undefined ? 0 : this.#folded;
  }

  /** Returns whether the last common prefix stands for the next key. */
  covers(version: ListedVersion): boolean {
    if (this.#lastBytes === undefined) return false;
    if (beginsWith(version, this.#lastBytes)) return true;
    this.#lastBytes = undefined;
    return false;
  }

  /**
   * Passes over a key that the last common prefix stands for, or over all that are left of it. No key can follow some prefixes.
   * @returns what {@link ItemVisitor.visit} does
   */
  skip(): 'stop' | Position | undefined {
    this.#folded += 1;
    return this.#folded % patience === 0 ? (behindPrefix(this.#last) ?? 'stop') : undefined;
  }

  /** Returns the end of the common prefix that a key is shown under, or −1 if the key itself is shown. */
  endIn({ keyBytes, keyStart, keyEnd }: ListedVersion): number {
    const delimiter = this.#delimiter;
    const size = delimiter.length;
    if (size === 0) return -1;
    const last = keyEnd - size;
    for (let at = keyStart + this.#prefixSize; at <= last; at += 1) {
      let same = 0;
      while (same < size && keyBytes[at + same] === delimiter[same]) same += 1;
      if (same === size) return at + size;
    }
    return -1;
  }

  /** Adds that of a key, up to the end that {@link endIn} returned. @returns it */
  add({ keyBytes, keyStart }: ListedVersion, end: number): string {
    this.#lastBytes = Buffer.from(keyBytes.subarray(keyStart, end));
    this.#last = this.#lastBytes.toString();
    this.#folded = 0;
    this.shown.push(this.#last);
    return this.#last;
  }

  /** Removes all but the first ones. The next key must not begin with any that is left. */
  cut(length: number): void {
    this.shown.length = length;
    this.#lastBytes = undefined;
  }

  /**
   * Returns where the listing continues after the last key.
   * @param next where it would continue if nothing were shown
   */
  continuation(next: Position): Start | undefined {
    return this.#lastBytes === undefined ? next : behindPrefix(this.#last);
  }
}

function beginsWith({ keyBytes, keyStart, keyEnd }: ListedVersion, start: Uint8Array): boolean {
  if (keyEnd - keyStart < start.length) return false;
  for (let at = 0; at < start.length; at += 1) if (keyBytes[keyStart + at] !== start[at]) return false;
  return true;
}
