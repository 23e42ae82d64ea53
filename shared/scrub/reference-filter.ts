import { hash } from 'node:crypto';
import type { Randomness } from '../ports/randomness.ts';

const hashes = 7;
const defaultBytes = 128 * 1024 * 1024;

/**
 * A set of names in a fixed amount of memory (a Bloom filter). Names that were added are always found, and a few
 * others as well (1 in 100 once 110 million names were added to 128 MiB). So a name that is not found was never added, and
 * may be an orphan's. An orphan that is found by mistake is reported by a later scrub, which uses another salt.
 */
export class ReferenceFilter {
  readonly #bits: Uint8Array;
  readonly #salt: string;

  /** @param bytes a power of two */
  constructor(randomness: Randomness, bytes = defaultBytes) {
    this.#bits = new Uint8Array(bytes);
    this.#salt = Buffer.from(randomness.bytes(12)).toString('base64');
  }

  add(name: string): void {
    for (const position of this.#positions(name)) this.#bits[position >>> 3]! |= 1 << (position & 7);
  }

  has(name: string): boolean {
    return this.#positions(name).every((position) => (this.#bits[position >>> 3]! >>> (position & 7)) & 1);
  }

  /** Derives all positions from two hashes. The second is odd, so that it reaches every position. */
  #positions(name: string): number[] {
    const digest = hash('sha1', this.#salt + name, 'buffer');
    const [first, second] = [digest.readUInt32LE(0), digest.readUInt32LE(4) | 1];
    const mask = this.#bits.length * 8 - 1;
    return Array.from({ length: hashes }, (_, nth) => ((first + Math.imul(nth, second)) & mask) >>> 0);
  }
}

/** The names under which a scrub remembers the references it has seen. */
export const reference = {
  /** Content that an existing version refers to, as the version names it: `b…` or `m…`. */
  content: (content: string): string => `c ${content}`,
  details: (id: string): string => `d ${id}`,
  /** An existing version that has content. */
  instance: (instance: string): string => `i ${instance}`,
  /** A blob that the manifest of an existing version, or a part of an open upload, refers to. */
  blob: (ref: string): string => `b ${ref}`,
  /** A blob that a manifest or a part of anything else refers to, until it is freed. */
  releasedBlob: (ref: string): string => `r ${ref}`,
  /** Content or details that an existing version refers to, as `thingsOf` names them. */
  thing: (thing: string): string =>
    thing.startsWith('d') ? reference.details(thing.slice(1)) : reference.content(thing),
  /**
   * An entry of the release queue: content, `d` and the id of details, or `u`; `instance` is the version or upload that
   * released it.
   */
  queued: (thing: string, instance?: string): string => `q ${thing}${instance === undefined ? '' : `/${instance}`}`,
} as const;
