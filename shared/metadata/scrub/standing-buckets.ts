import type { KeyValueTable } from '../../ports/key-value-table.ts';
import * as keyParts from '../table/key-parts.ts';
import { kinds, partition } from '../table/keys.ts';

/** The buckets that stand, by their ids, and those that wait to be swept. Held in memory: there are far fewer than objects. */
export class StandingBuckets {
  readonly #names: ReadonlyMap<string, string>;
  readonly #tombstones: ReadonlySet<string>;

  private constructor(names: ReadonlyMap<string, string>, tombstones: ReadonlySet<string>) {
    this.#names = names;
    this.#tombstones = tombstones;
  }

  /** All of them, as they are now. */
  static async read(table: KeyValueTable): Promise<StandingBuckets> {
    const names = new Map<string, string>();
    for await (const { key, attributes } of table.scan({ prefixes: [kinds.bucket] })) {
      names.set(attributes['id'] as string, keyParts.bucket(key));
    }
    // Read after the buckets: one that was removed meanwhile has its tombstone by now.
    const tombstones = new Set<string>();
    for await (const { key } of table.scan({ prefixes: [partition.tombstones] })) {
      tombstones.add(keyParts.tombstone(key).bucketId);
    }
    return new StandingBuckets(names, tombstones);
  }

  ids(): Iterable<string> {
    return this.#names.keys();
  }

  nameOf(bucketId: string): string | undefined {
    return this.#names.get(bucketId);
  }

  /** Neither stands nor waits to be swept: nobody looks after what is left of it. */
  isLost(bucketId: string): boolean {
    return !this.#names.has(bucketId) && !this.#tombstones.has(bucketId);
  }
}
