import { S3Error } from '../../errors/s3-error.ts';
import type { Clock } from '../../ports/clock.ts';
import { day, second } from '../../ports/durations.ts';
import type { Change, Condition, ItemKey, KeyValueTable, WriteOutcome } from '../../ports/key-value-table.ts';
import type { Randomness } from '../../ports/randomness.ts';
import type { Bucket } from '../buckets/bucket.ts';
import type { Buckets } from '../buckets/buckets.ts';
import { commitTime } from '../buckets/commit-time.ts';
import { mutexName, type KeyedMutex } from '../concurrency.ts';
import { instanceId, nextSequence, sequenceOf, timedId, writeToken } from '../table/keys/ids.ts';
import { itemKey } from '../table/keys/keys.ts';
import { lockTime } from '../table/lock-clock.ts';
import { conflict, jitter, late, slowDown, type Lost, type LostAttempts } from '../table/optimistic-write.ts';
import { putBeforeCommit } from '../table/settled.ts';
import { putRecheck } from '../table/rechecks.ts';
import type { Guard } from './new-version.ts';
import type { Origin } from '../buckets/origin.ts';
import type { ChangeRecorder, KeyChange } from './recorded-changes.ts';
import { encodeObjectAttributes, type ObjectAttributes } from '../versions/object-attributes.ts';
import { latestRetention, secondOf, type Retention } from '../versions/object-lock.ts';
import { currentVersionKey, VersionChain } from './version-chain.ts';
import { fitsInline, type CurrentVersion, type Unplaced, type Version } from '../versions/versions.ts';

/** The dependencies of {@link KeyCommits} and of the repository of objects. */
export interface ObjectsDeps {
  readonly table: KeyValueTable;
  readonly buckets: Buckets;
  readonly clock: Clock;
  readonly randomness: Randomness;
  /** Set if the process handles requests concurrently. */
  readonly mutex?: Pick<KeyedMutex, 'run'> | undefined;
  /** Records changes in buckets whose owner wants to be told of them. Undefined: nobody is told. */
  readonly recorder: ChangeRecorder | undefined;
}

/** Commits changes to keys: the common part of puts, removals and revisions. */
export class KeyCommits {
  readonly buckets: Buckets;
  readonly #deps: ObjectsDeps;

  constructor(deps: ObjectsDeps) {
    this.buckets = deps.buckets;
    this.#deps = deps;
  }

  /** Returns the version chain of a key. */
  chain(bucketId: string, key: string): VersionChain {
    const { table, clock, randomness } = this.#deps;
    return new VersionChain({ table, token: () => writeToken(randomness), now: () => clock.now() }, bucketId, key);
  }

  /** Runs a change of a key after the earlier ones of the same process. */
  inTurn<Result>(bucket: Bucket, key: string, change: () => Promise<Result>): Promise<Result> {
    const { mutex } = this.#deps;
    return mutex === undefined ? change() : mutex.run(mutexName(currentVersionKey(bucket.id, key)), change);
  }

  /**
   * Commits changes in a bucket, on condition that the bucket has not changed since it was read.
   * @param of.caller the conditions on the caller, if rights count at the commit
   * @returns `late` if that read was too long ago; then nothing was written
   */
  async write(
    bucket: Bucket,
    changes: readonly Change[],
    { conditions = [], caller }: { conditions?: readonly Condition[]; caller?: readonly Condition[] | undefined } = {},
  ): Promise<WriteOutcome['outcome'] | 'late'> {
    const age = Math.abs(this.#deps.clock.now() - bucket.readAt);
    if (age > commitTime.start) return 'late';
    // The change of an item has its own condition, and a commit may have only one per item.
    const others = conditions.filter(({ key }) => !changes.some((change) => sameKey(change.key, key)));
    const all = [...others, ...this.buckets.commitConditions(bucket, caller)];
    const { outcome } = await this.#deps.table.write(changes, all, { within: commitTime.end - age });
    return outcome;
  }

  /** Commits changes without a condition on the bucket: the service's own, which no request asked for. */
  async writeAnyway(changes: readonly Change[]): Promise<WriteOutcome['outcome']> {
    return (await this.#deps.table.write(changes)).outcome;
  }

  /** Tells whether anybody wants to be told of changes in a bucket. */
  isRecorded({ documents }: Bucket): boolean {
    return documents.notification !== undefined && this.#deps.recorder !== undefined;
  }

  /** Returns the changes that record a change of a key, for the commit that makes it: {@link ChangeRecorder}. */
  recorded(bucket: Bucket, origin: Origin, change: KeyChange): Promise<readonly Change[]> | readonly Change[] {
    return this.isRecorded(bucket) ? this.#deps.recorder!.record(bucket, origin, change) : [];
  }

  /** Waits before the next attempt. @returns the bucket, marked to be read again */
  async again(bucket: Bucket, attempt: number): Promise<Bucket> {
    const { clock, randomness } = this.#deps;
    await clock.sleep(jitter(attempt, randomness));
    return this.buckets.stale(bucket);
  }

  /**
   * Returns the retention of a new version: its own, or else the default of its bucket, which begins at the time of the commit. The
   * later of two clocks counts, so that one that was set back shortens nothing.
   */
  async retentionOf({ objectLock }: Bucket, { retention, marker, imported }: Unplaced): Promise<Retention | undefined> {
    const { mode, days = 0, years = 0 } = objectLock?.defaultRetention ?? {};
    if (retention || mode === undefined || marker || imported) return retention;
    const { table, clock } = this.#deps;
    const end = new Date(Math.max(clock.now(), await lockTime(table, clock.now())));
    end.setUTCFullYear(end.getUTCFullYear() + years);
    return { mode, until: Math.min(secondOf(end.getTime() + days * day), latestRetention) };
  }

  /** Returns the version that will replace `before` as the current one, with a later instance. */
  version(bucket: Bucket, { imported, ...fresh }: Unplaced, before: CurrentVersion | undefined): Version {
    const { clock, randomness } = this.#deps;
    const now = clock.now();
    const sequence = nextSequence(now, before && sequenceOf(before.instance));
    return {
      ...fresh,
      instance: instanceId(sequence, randomness),
      token: writeToken(randomness),
      named: imported?.named ?? bucket.versioning === 'on',
      foreign: fresh.owner === bucket.project ? undefined : true,
      previousVersion: undefined,
      // That of the instance needs no attribute; it is ahead of the clock after many writes at once.
      lastModified: fresh.lastModified ?? (Math.abs(now - sequence.ms) > second ? now : sequence.ms),
      replacedAt: undefined,
    };
  }

  /**
   * Returns the changes by which the next lifecycle pass learns of a version that keeps an earlier Last-Modified, if the
   * bucket has rules. Rules that are set at the same time count as unknown to writers for an hour: see
   * lifecycle/next-due.ts.
   */
  recheck({ id, documents }: Bucket, key: string, { lastModified }: Unplaced): readonly Change[] {
    if (lastModified === undefined || documents.lifecycle === undefined) return [];
    const { clock, randomness } = this.#deps;
    return [putRecheck(id, { key, lastModified }, { now: clock.now(), randomness })];
  }

  /**
   * Writes the object attributes of a version to a details item before the commit, if the version's own item would be too large.
   * @throws S3Error ServiceUnavailable
   */
  async place(key: string, fresh: Placeable): Promise<Unplaced> {
    const placed = { ...fresh, tagCount: fresh.objectAttributes.tags.length };
    if (fitsInline(key, placed)) return placed;
    const { table, clock, randomness } = this.#deps;
    const id = timedId(clock.now(), randomness);
    await putBeforeCommit(table, itemKey.details(id), encodeObjectAttributes(fresh.objectAttributes));
    return { ...placed, objectAttributes: { details: id } };
  }
}

/** A new version, or one whose object attributes were read. */
type Placeable = Omit<Unplaced, 'objectAttributes' | 'tagCount'> & { readonly objectAttributes: ObjectAttributes };

/** Returns the version to which a request's conditions apply: a delete marker counts as absent. */
export function live<Of extends Version>(version: Of | undefined): Of | undefined {
  return version?.marker ? undefined : version;
}

/** Returns the outcome of an attempt whose commit was not written. */
export function lostBy(outcome: 'conflict' | 'late'): Lost {
  return outcome === 'late' ? late : conflict;
}

/**
 * Reports that every attempt was lost.
 * @throws S3Error ConditionalRequestConflict if there is a guard and other writers won; else SlowDown, which clients retry by themselves
 */
export function conflicted(guard: Guard | undefined, lost: LostAttempts): never {
  if (guard && lost.late === 0) throw new S3Error('ConditionalRequestConflict');
  return slowDown(lost);
}

function sameKey(a: ItemKey, b: ItemKey): boolean {
  return a.pk === b.pk && a.sk === b.sk;
}
