import type { KeyValueTable } from '../ports/key-value-table.ts';
import * as keyParts from '../storage/table/keys/key-parts.ts';
import { kinds, partition } from '../storage/table/keys/keys.ts';

/**
 * The existing buckets by id, and the deleted ones that wait for their purge. Held in memory: there are far fewer than
 * objects.
 */
export class StandingBuckets {
  readonly #names: ReadonlyMap<string, string>;
  readonly #tombstones: ReadonlySet<string>;
  readonly #isComplete: boolean;

  private constructor(names: ReadonlyMap<string, string>, tombstones: ReadonlySet<string>, isComplete: boolean) {
    this.#names = names;
    this.#tombstones = tombstones;
    this.#isComplete = isComplete;
  }

  /** Reads all buckets and tombstones. */
  static async read(table: KeyValueTable): Promise<StandingBuckets> {
    const names = new Map<string, string>();
    let isComplete = true;
    const onDamaged = (): void => void (isComplete = false);
    for await (const { key, attributes } of table.scan({ prefixes: [kinds.bucket], onDamaged })) {
      names.set(attributes['id'] as string, keyParts.bucket(key));
    }
    // Read after the buckets: a bucket removed in between has its tombstone by now.
    const tombstones = new Set<string>();
    for await (const { key } of table.scan({ prefixes: [partition.tombstones], onDamaged })) {
      tombstones.add(keyParts.tombstone(key).bucketId);
    }
    return new StandingBuckets(names, tombstones, isComplete);
  }

  ids(): Iterable<string> {
    return this.#names.keys();
  }

  nameOf(bucketId: string): string | undefined {
    return this.#names.get(bucketId);
  }

  /**
   * Returns whether a bucket neither exists nor waits for its purge, so that nothing will remove what is left of it.
   * No bucket is lost if the item of one could not be read: it may be that one.
   */
  isLost(bucketId: string): boolean {
    return this.#isComplete && !this.#names.has(bucketId) && !this.#tombstones.has(bucketId);
  }
}
