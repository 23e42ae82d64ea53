import { S3Error } from '../../errors/s3-error.ts';
import type { Clock } from '../../ports/clock.ts';
import type { Change, Condition, ItemKey, KeyValueTable, WriteOutcome } from '../../ports/key-value-table.ts';
import type { Randomness } from '../../ports/randomness.ts';
import type { Bucket } from '../buckets/bucket.ts';
import type { Buckets } from '../buckets/buckets.ts';
import type { KeyedMutex } from '../keyed-mutex.ts';
import { instanceId, nextSequence, sequenceOf, timedId, writeToken } from '../table/ids.ts';
import { itemKey } from '../table/keys.ts';
import { jitter } from '../table/optimistic-write.ts';
import type { Guard } from './new-version.ts';
import { encodeObjectAttributes, type ObjectAttributes } from './object-attributes.ts';
import { VersionChain } from './version-chain.ts';
import { fitsInline, type CurrentVersion, type Unplaced, type Version } from './versions.ts';

/** The dependencies of the repository of objects. */
export interface ObjectsDeps {
  readonly table: KeyValueTable;
  readonly buckets: Buckets;
  readonly clock: Clock;
  readonly randomness: Randomness;
  /** For a process that handles many requests at once. */
  readonly mutex?: Pick<KeyedMutex, 'run'> | undefined;
}

/** How long after the bucket was read a commit may still begin, in milliseconds. */
const commitTime = 2000;

/** The commits of changes to keys: what puts, removals and revisions have in common. */
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

  /** Makes a change of a key after those of the same process that began earlier. */
  inTurn<Result>(bucket: Bucket, key: string, change: () => Promise<Result>): Promise<Result> {
    const { mutex } = this.#deps;
    return mutex === undefined ? change() : mutex.run(`${bucket.id}/${key}`, change);
  }

  /**
   * Commits changes in a bucket, if it still is as it was read.
   * @param of.caller what the commit must find of the caller, if rights count at the commit
   */
  async write(
    bucket: Bucket,
    changes: readonly Change[],
    { conditions = [], caller }: { conditions?: readonly Condition[]; caller?: readonly Condition[] | undefined } = {},
  ): Promise<WriteOutcome['outcome']> {
    if (this.#deps.clock.now() - bucket.readAt > commitTime) return 'conflict';
    // A change has the condition on its own item.
    const others = conditions.filter(({ key }) => !changes.some((change) => sameKey(change.key, key)));
    const { outcome } = await this.#deps.table.write(changes, [
      ...others,
      ...this.buckets.commitConditions(bucket, caller),
    ]);
    return outcome;
  }

  /** Commits changes that depend on no bucket: those of the service itself, which a request has not asked for. */
  async writeAnyway(changes: readonly Change[]): Promise<WriteOutcome['outcome']> {
    return (await this.#deps.table.write(changes)).outcome;
  }

  /** Waits before the next attempt. @returns the bucket, to be read again */
  async again(bucket: Bucket, attempt: number): Promise<Bucket> {
    const { clock, randomness } = this.#deps;
    await clock.sleep(jitter(attempt, randomness));
    return this.buckets.stale(bucket);
  }

  /** Returns the version that is to become current above `before`: younger than that one. */
  version(bucket: Bucket, fresh: Unplaced, before: CurrentVersion | undefined): Version {
    const { clock, randomness } = this.#deps;
    const now = clock.now();
    const sequence = nextSequence(now, before && sequenceOf(before.instance));
    return {
      ...fresh,
      instance: instanceId(sequence, randomness),
      token: writeToken(randomness),
      named: bucket.versioning === 'on',
      foreign: fresh.owner === bucket.project ? undefined : true,
      previousVersion: undefined,
      lastModified: fresh.lastModified ?? now,
      replacedAt: undefined,
    };
  }

  /**
   * Writes the object attributes of a version into a details item, before the commit, if the version's item would grow too large.
   * @throws S3Error ServiceUnavailable
   */
  async place(key: string, fresh: Placeable): Promise<Unplaced> {
    const placed = { ...fresh, tagCount: fresh.objectAttributes.tags.length };
    if (fitsInline(key, placed)) return placed;
    const { table, clock, randomness } = this.#deps;
    const id = timedId(clock.now(), randomness);
    const { outcome } = await table.write([
      { key: itemKey.details(id), put: encodeObjectAttributes(fresh.objectAttributes) },
    ]);
    if (outcome !== 'written') throw new S3Error('ServiceUnavailable');
    return { ...placed, objectAttributes: { details: id } };
  }
}

/** A new version, or one whose object attributes were read. */
type Placeable = Omit<Unplaced, 'objectAttributes' | 'tagCount'> & { readonly objectAttributes: ObjectAttributes };

/** The version that the conditions of a request are about: a delete marker counts as absent. */
export function live<Of extends Version>(version: Of | undefined): Of | undefined {
  return version?.marker ? undefined : version;
}

/** For writers that lost every attempt to others. @throws S3Error ConditionalRequestConflict if there is a guard, else SlowDown */
export function conflicted(guard: Guard | undefined): never {
  throw new S3Error(guard ? 'ConditionalRequestConflict' : 'SlowDown');
}

function sameKey(a: ItemKey, b: ItemKey): boolean {
  return a.pk === b.pk && a.sk === b.sk;
}
