import type { Clock } from '../../ports/clock.ts';
import type { Attributes, Change, Condition, Expectation, KeyValueTable } from '../../ports/key-value-table.ts';
import type { Randomness } from '../../ports/randomness.ts';
import { numberOf } from '../table/attribute-values.ts';
import { writeToken } from '../table/keys/ids.ts';
import { itemKey } from '../table/keys/keys.ts';
import {
  asRead,
  conflict,
  jitter,
  optimistically,
  slowDown,
  tokenIs,
  type LostAttempts,
} from '../table/optimistic-write.ts';
import type { Revision } from './bucket-documents.ts';
import type { BucketReads } from './bucket-reads.ts';
import { encodeBucket, type Bucket } from './bucket.ts';

/** The maximum number of attempts, enough for fifty concurrent changes of one bucket. */
const maxAttempts = 12;

/** Changes buckets' items: the common part of creation, settings and removal. */
export class BucketChanges {
  readonly table: KeyValueTable;
  readonly clock: Clock;
  readonly randomness: Randomness;
  readonly reads: BucketReads;

  constructor(deps: { table: KeyValueTable; clock: Clock; randomness: Randomness }, reads: BucketReads) {
    this.table = deps.table;
    this.clock = deps.clock;
    this.randomness = deps.randomness;
    this.reads = reads;
  }

  /** Repeats a conditional write with pauses until it succeeds. Returns or throws as `exhausted` after {@link maxAttempts} conflicts. */
  attempt<Result>(
    attempt: (number: number) => Promise<Result | typeof conflict>,
    exhausted: (lost: LostAttempts) => Result = slowDown,
  ): Promise<Result> {
    const paused = async (number: number): Promise<Result | typeof conflict> => {
      const result = await attempt(number);
      if (result === conflict) await this.clock.sleep(jitter(number, this.randomness));
      return result;
    };
    return optimistically(paused, exhausted, maxAttempts);
  }

  /**
   * Changes a bucket's item. Repeats the attempt if another writer has changed it meanwhile.
   * @param of.load reads the bucket
   * @param of.revision returns the changes, or undefined for none
   * @param of.confirm returns the conditions on the caller
   * @returns the bucket as it was before
   * @throws S3Error SlowDown, and what the parameters throw
   */
  revise(of: {
    readonly load: () => Promise<Bucket>;
    readonly revision: (bucket: Bucket, attempt: number) => Promise<Revision | undefined>;
    readonly confirm: (bucket: Bucket) => Promise<readonly Condition[]>;
  }): Promise<Bucket> {
    return this.attempt(async (number) => {
      const bucket = await of.load();
      // Before the rights are confirmed, since an earlier attempt whose response was lost may have withdrawn them.
      const revised = await of.revision(bucket, number);
      if (revised === undefined) return bucket;
      const caller = await of.confirm(bucket);
      await revised.first?.();
      const { outcome } = await this.table.write(
        [this.change(revised.bucket, tokenIs(bucket.token)), ...(revised.along ?? [])],
        this.reads.ifFree(caller),
      );
      return outcome === 'written' ? bucket : conflict;
    });
  }

  /** Returns the change that writes a bucket's item under a new token. */
  change(bucket: Bucket, expect: Expectation): Change {
    return { key: itemKey.bucket(bucket.name), put: encodeBucket({ ...bucket, token: this.token() }), expect };
  }

  /** Returns the change that adds `by` to the number of a project's buckets. @param count the item as it was read */
  countChange(project: string, count: Attributes | undefined, by: number): Change {
    return {
      key: itemKey.bucketCount(project),
      put: { count: Math.max(0, numberOf(count?.['count']) + by), r: this.token() },
      expect: asRead(count),
    };
  }

  token(): string {
    return writeToken(this.randomness);
  }
}
