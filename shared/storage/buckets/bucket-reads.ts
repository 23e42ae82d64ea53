import type { Clock } from '../../ports/clock.ts';
import type { Condition, KeyValueTable } from '../../ports/key-value-table.ts';
import { SharedReads } from '../shared-reads.ts';
import { itemKey } from '../table/keys/keys.ts';
import { decodeBucket, noSuchBucket, type Bucket, type Transition } from './bucket.ts';
import { commitTime } from './commit-time.ts';
import { tokenIs } from '../table/optimistic-write.ts';

/** Longer names are not looked up, since they might not fit into the key of an item. */
const maxNameLength = 63;
/** The maximum age, in milliseconds, of a read of a bucket on which a commit relies. */
const freshness = 1000;
/** The same where the commit checks that the bucket is as it was read. Half a second is left for what is read before the commit. */
const checkedFreshness = commitTime.start - 500;
/** For how long requests begin with a bucket as it was read, where the table remembers it, in milliseconds. */
const rememberedTime = 1000;
/** The interval at which the end of a transition is polled, in milliseconds. */
const transitionPoll = 25;

/**
 * Reads of buckets by name, reads on which a commit may rely, and the conditions of commits on buckets. Together they prevent an
 * acknowledged object from being lost with its bucket.
 */
export abstract class BucketReads {
  readonly #table: KeyValueTable;
  readonly #clock: Clock;
  readonly #reads: SharedReads<string, Bucket | undefined>;

  constructor(deps: { table: KeyValueTable; clock: Clock }) {
    this.#table = deps.table;
    this.#clock = deps.clock;
    this.#reads = new SharedReads((name) => this.#read(name));
  }

  /** Ends a transition that has expired. */
  protected abstract abandon(bucket: Bucket, transition: Transition): Promise<void>;

  /** Returns the bucket of this name as it is now, or undefined. Concurrent requests share one read. */
  find(name: string): Promise<Bucket | undefined> {
    return name.length > maxNameLength ? Promise.resolve(undefined) : this.#reads.get(name);
  }

  /** As {@link find}. @throws S3Error NoSuchBucket */
  async load(name: string): Promise<Bucket> {
    const bucket = await this.find(name);
    if (bucket === undefined) throw noSuchBucket(name);
    return bucket;
  }

  /**
   * As {@link find}, for a request that begins: where the table remembers items, the bucket may be as it was a second ago, without what other
   * processes have changed since. A commit checks it.
   */
  recent(name: string): Promise<Bucket | undefined> {
    return this.#remembers && name.length <= maxNameLength ? this.#read(name, rememberedTime) : this.find(name);
  }

  /** As {@link recent}. @throws S3Error NoSuchBucket */
  async loadRecent(name: string): Promise<Bucket> {
    const bucket = await this.recent(name);
    if (bucket === undefined) throw noSuchBucket(name);
    return bucket;
  }

  /** Rejects if the table does not answer. */
  async check(): Promise<void> {
    await this.#table.get(itemKey.deployment('health'));
  }

  /** Returns the bucket with this name once it is neither closing nor settling. @throws S3Error NoSuchBucket */
  async ready(name: string): Promise<Bucket> {
    const bucket = await this.#settled(name, ({ closing, settling }) => closing ?? settling);
    if (bucket === undefined) throw noSuchBucket(name);
    return bucket;
  }

  /**
   * Returns the same bucket as it is now, once it is neither closing nor settling.
   * @throws S3Error NoSuchBucket if it is gone, even if another bucket has its name
   */
  async present({ name, id }: Bucket): Promise<Bucket> {
    const present = await this.ready(name);
    if (present.id !== id) throw noSuchBucket(name);
    return present;
  }

  /** As {@link present}, but returns the bucket unchanged if it was read so lately that a commit may rely on it. */
  async readyFor(bucket: Bucket): Promise<Bucket> {
    const longest = this.#remembers ? checkedFreshness : freshness;
    if (!inTransition(bucket) && Math.abs(this.#clock.now() - bucket.readAt) < longest) return bucket;
    return this.present(bucket);
  }

  /** As {@link present}, for a commit that depends on rights to the bucket. If the commit itself checks the bucket, as {@link readyFor}. */
  async confirmedFor(bucket: Bucket): Promise<Bucket> {
    return this.#table.freeChecks ? this.readyFor(bucket) : this.present(bucket);
  }

  /** As {@link present}, after waiting for a client. If the commit itself checks the bucket, returns it unchanged. */
  async renewed(bucket: Bucket): Promise<Bucket> {
    return this.#table.freeChecks ? bucket : this.present(bucket);
  }

  /**
   * As {@link present} if the bucket may be older than the request or if reads are free, otherwise as {@link readyFor}: for a response without
   * a commit, as the request changes nothing.
   */
  async standing(bucket: Bucket): Promise<Bucket> {
    return this.#table.freeChecks ? this.present(bucket) : this.readyFor(bucket);
  }

  /** Returns the bucket, marked as outdated so that the next {@link readyFor} reads it again. */
  stale(bucket: Bucket): Bucket {
    return { ...bucket, readAt: 0 };
  }

  /**
   * Returns the conditions of a commit on the bucket if conditions are free; then the bucket need not be read after the commit.
   * @param caller the conditions on the caller, if rights count at the commit: then the bucket must be unchanged, as it must be where it may
   *   have been remembered
   */
  commitConditions(bucket: Bucket, caller?: readonly Condition[]): readonly Condition[] {
    if (!this.#table.freeChecks) return [];
    if (caller !== undefined || this.#remembers) return [unchanged(bucket), ...(caller ?? [])];
    return [
      {
        key: itemKey.bucket(bucket.name),
        expect: {
          is: 'all',
          of: [
            { is: 'equal', attribute: 'id', value: bucket.id },
            { is: 'equal', attribute: 'versioning', value: bucket.versioning },
            { is: 'missing', attribute: 'ct' },
          ],
        },
      },
    ];
  }

  /** As {@link commitConditions} with a caller, for rare changes: includes the condition on the bucket even if it is not free. */
  exactConditions(bucket: Bucket, caller: readonly Condition[]): readonly Condition[] {
    return [unchanged(bucket), ...this.ifFree(caller)];
  }

  /** Returns the conditions if they are free, otherwise none. */
  ifFree(conditions: readonly Condition[]): readonly Condition[] {
    return this.#table.freeChecks ? conditions : [];
  }

  /**
   * Tells whether the bucket still exists after a commit that may have created a current version. Waits while it is closing: a writer
   * that treated it as open could lose the object, and one that treated it as gone could report an error for an object that exists.
   */
  async standsAfterCommit(bucket: Bucket): Promise<boolean> {
    if (this.#table.freeChecks) return true;
    const present = await this.#settled(bucket.name, ({ closing }) => closing);
    return present?.id === bucket.id;
  }

  /** Whether requests may begin with a bucket that was read before. */
  get #remembers(): boolean {
    return this.#table.recent !== undefined;
  }

  async #read(name: string, within = 0): Promise<Bucket | undefined> {
    const key = itemKey.bucket(name);
    const now = this.#clock.now();
    const { item, readAt } = (await this.#table.recent?.(key, within)) ?? {
      item: await this.#table.get(key),
      readAt: now,
    };
    return item === undefined ? undefined : decodeBucket(name, item, readAt);
  }

  /** Returns the bucket once it is not in the given transition. */
  async #settled(name: string, transition: (bucket: Bucket) => Transition | undefined): Promise<Bucket | undefined> {
    for (;;) {
      const bucket = await this.find(name);
      const running = bucket && transition(bucket);
      if (!bucket || !running) return bucket;
      if (this.#clock.now() <= running.until) await this.#clock.sleep(transitionPoll);
      else await this.abandon(bucket, running);
    }
  }
}

/** Returns the condition that the bucket's item has not changed since it was read. */
function unchanged({ name, token }: Bucket): Condition {
  return { key: itemKey.bucket(name), expect: tokenIs(token) };
}

function inTransition(bucket: Bucket): boolean {
  return bucket.closing !== undefined || bucket.settling !== undefined;
}

/** Returns the number of buckets of a project. */
export async function bucketCountOf(table: KeyValueTable, project: string): Promise<number> {
  const item = await table.get(itemKey.bucketCount(project));
  return (item?.['count'] as number | undefined) ?? 0;
}

/** Returns the condition that a project owns no bucket. */
export function ownsNoBucket(project: string): Condition {
  return {
    key: itemKey.bucketCount(project),
    expect: { is: 'any', of: [{ is: 'absent' }, { is: 'equal', attribute: 'count', value: 0 }] },
  };
}
