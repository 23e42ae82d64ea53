import { S3Error } from '../../errors/s3-error.ts';
import type { Clock } from '../../ports/clock.ts';
import type {
  Change,
  Condition,
  Expectation,
  ItemKey,
  KeyValueTable,
  WriteOutcome,
} from '../../ports/key-value-table.ts';
import type { Randomness } from '../../ports/randomness.ts';
import { noSuchBucket, type Bucket } from '../buckets/bucket.ts';
import { jitter, type Buckets } from '../buckets/buckets.ts';
import { instanceId, nextSequence, sequenceOf, timedId, writeToken } from '../table/ids.ts';
import { itemKey } from '../table/keys.ts';
import { conflict, optimistically, slowDown } from '../table/optimistic-write.ts';
import { currentVersionPartitions } from '../table/shards.ts';
import { deleteMarker, type CommitExtras, type Guard, type NewVersion, type PutOptions } from './new-version.ts';
import type { ObjectAuthorisation } from './object-authorisation.ts';
import { OutcomeUnknown, SeenNoMore, SourceGone } from './outcomes.ts';
import { presentVersion } from './present-version.ts';
import { scanShards } from './scan.ts';
import type { ServiceAuthorisation } from './service-authorisation.ts';
import type { KeyedMutex } from '../keyed-mutex.ts';
import { compareUtf8 } from '../../ports/utf8-order.ts';
import { currentVersionKey, tokenIs, unversioned, VersionChain, type ChainDeps, type Found } from './version-chain.ts';
import {
  decodeCurrentVersion,
  decodeListed,
  listedAttributes,
  decodeObjectAttributes,
  encodeObjectAttributes,
  fitsInline,
  noObjectAttributes,
  type CurrentVersion,
  type ObjectAttributes,
  type Unplaced,
  type Version,
  type Listed,
} from './versions.ts';

/** The object that a condition speaks of: a delete marker counts as absent. */
function live<Of extends Version>(version: Of | undefined): Of | undefined {
  return version?.marker ? undefined : version;
}

/** How long after the bucket was looked at a commit may still begin. */
const commitTime = 2000;

/**
 * The objects of buckets. Every change of a key is one conditional write on the write token of its current version, so all changes of
 * a key are in one order and no unread assumption survives a race.
 *
 * Changes throw NoSuchBucket if the bucket went away meanwhile; SlowDown, or ConditionalRequestConflict where there is a guard,
 * if others were always faster; and {@link OutcomeUnknown}.
 */
export class Objects {
  readonly #deps: ChainDeps;
  readonly #table: KeyValueTable;
  readonly #buckets: Buckets;
  readonly #clock: Clock;
  readonly #randomness: Randomness;
  readonly #mutex: Pick<KeyedMutex, 'run'> | undefined;

  /** @param deps.mutex for a process that has many requests at once */
  constructor(deps: {
    table: KeyValueTable;
    buckets: Buckets;
    clock: Clock;
    randomness: Randomness;
    mutex?: Pick<KeyedMutex, 'run'> | undefined;
  }) {
    this.#table = deps.table;
    this.#buckets = deps.buckets;
    this.#clock = deps.clock;
    this.#randomness = deps.randomness;
    this.#mutex = deps.mutex;
    this.#deps = {
      table: deps.table,
      token: () => writeToken(deps.randomness),
      now: () => deps.clock.now(),
    };
  }

  /**
   * The current version of a key or, with a version id, that version. Either may be a delete marker.
   * @param versionId `null` is the null version
   */
  async find(bucket: Bucket, key: string, versionId?: string): Promise<Version | undefined> {
    const chain = this.#chain(bucket, key);
    return versionId === undefined ? chain.currentVersion() : (await chain.find(versionId))?.version;
  }

  /** The long part of a version: from the version itself, or by one further read. */
  async objectAttributes(version: Version): Promise<ObjectAttributes> {
    if (!('details' in version.objectAttributes)) return version.objectAttributes;
    const item = await this.#table.get(itemKey.details(version.objectAttributes.details));
    return item === undefined ? noObjectAttributes : decodeObjectAttributes(item);
  }

  /** A page of current versions, delete markers included, in the order of the keys' UTF-8 bytes. */
  async scan(
    bucket: Bucket,
    range: {
      readonly from?: string;
      readonly after?: string;
      readonly prefix: string;
      readonly limit: number;
      readonly mayBeStale?: boolean;
    },
  ): Promise<{
    readonly entries: readonly { readonly key: string; readonly currentVersion: CurrentVersion }[];
    readonly more: boolean;
  }> {
    const { items, more } = await scanShards(this.#table, bucket.id, range);
    return {
      entries: items.map(({ key, attributes }) => ({ key: key.sk, currentVersion: decodeCurrentVersion(attributes) })),
      more,
    };
  }

  /** As {@link scan}, with no more of each than listings of objects show: to read a thousand whole ones takes twice as long. */
  async scanListed(
    bucket: Bucket,
    range: { readonly from?: string; readonly after?: string; readonly prefix: string; readonly limit: number },
  ): Promise<{
    readonly entries: readonly { readonly key: string; readonly currentVersion: Listed }[];
    readonly more: boolean;
  }> {
    const { items, more } = await scanShards(this.#table, bucket.id, { ...range, attributes: listedAttributes });
    return {
      entries: items.map(({ key, attributes }) => ({ key: key.sk, currentVersion: decodeListed(attributes) })),
      more,
    };
  }

  /** The last key that begins with a prefix and, if that is given, comes before another. Delete markers count. */
  async lastKey(bucket: Bucket, prefix: string, before?: string): Promise<string | undefined> {
    const query = { prefix, limit: 1, reverse: true, ...(before !== undefined && { after: before }) };
    const ends = await Promise.all(currentVersionPartitions(bucket.id).map((shard) => this.#table.query(shard, query)));
    const keys = ends.flatMap(({ items }) => items.map(({ key }) => key.sk));
    return keys.reduce<string | undefined>((a, b) => (a !== undefined && compareUtf8(a, b) > 0 ? a : b), undefined);
  }

  /**
   * The versions of a key, newest first: a true state of it, though the current version and the noncurrent ones are read apart.
   * @param currentVersion as a listing read it
   * @param behind only versions older than this instance
   */
  async versions(
    bucket: Bucket,
    key: string,
    currentVersion: CurrentVersion,
    limit: number,
    behind?: string,
  ): Promise<readonly Version[]> {
    return this.#chain(bucket, key).walk(currentVersion, limit, behind);
  }

  /**
   * Makes a new version current, under the rules of the bucket's versioning state. Throws what the guard throws, too.
   * It is data: what was authorised when the request came is enough, unless `rightsCount` says `at the commit`.
   */
  async put(authorisation: ObjectAuthorisation, fresh: NewVersion, options: PutOptions = {}): Promise<CurrentVersion> {
    const { bucket, key } = authorisation;
    // Before the commit, so that no lifecycle pass takes the object for a new one: see next-due.ts.
    if (fresh.lastModified !== undefined) await this.#buckets.markHoldsRenamed(bucket);
    const placed = await this.#place(key, fresh);
    const currentVersion = await this.#inTurn(bucket, key, () => this.#replace(authorisation, placed, options));
    if (await this.#stands(bucket, key, currentVersion)) return currentVersion;
    throw noSuchBucket(bucket.name);
  }

  /**
   * DELETE without a version id. Where the bucket was never versioned the object goes; else a delete marker becomes current.
   * An object that is not there is no error.
   * @param owner whose the delete marker will be
   * @param sparing `foreign`: what would be gone for good must not belong to another project than the bucket
   * @returns the delete marker, if one was made
   * @throws S3Error AccessDenied (it belongs to another project, or the rights are gone)
   */
  async delete(
    authorisation: ObjectAuthorisation,
    owner: string,
    guard?: Guard,
    sparing?: 'foreign',
  ): Promise<CurrentVersion | undefined> {
    const bucket = await this.#buckets.readyFor(authorisation.bucket);
    const remove = (): Promise<boolean> => this.#deleteUnversioned(authorisation, guard, sparing);
    if (bucket.versioning === 'off' && (await this.#inTurn(bucket, authorisation.key, remove))) return undefined;
    const replaces = bucket.versioning !== 'on' && sparing === 'foreign';
    const options = { guard: replaces ? sparingForeign(guard) : guard, rightsCount: 'at the commit' } as const;
    return this.put(authorisation, { ...deleteMarker, owner }, options);
  }

  /**
   * DELETE of one version, for good. If it was current, the next one below becomes current.
   * @param authorisation names the version
   * @returns the version that is gone, or undefined if there was none
   */
  async deleteVersion(authorisation: ObjectAuthorisation, guard?: Guard): Promise<Version | undefined> {
    const { bucket, key, versionId } = authorisation;
    if (versionId === undefined) throw new Error('no version is named');
    const find = (chain: VersionChain): Promise<Found | undefined> => chain.find(versionId);
    return this.#inTurn(bucket, key, () => this.#remove(bucket, key, find, { authorisation, guard }));
  }

  /**
   * What DELETE without a version id does, in the name of the bucket's owner, on condition that nothing at all has happened to the key
   * since its current version was read.
   * @returns the delete marker, if one was made
   * @throws SeenNoMore
   */
  async expireAsSeen(authorisation: ServiceAuthorisation, seen: CurrentVersion): Promise<CurrentVersion | undefined> {
    return this.delete(authorisation, authorisation.bucket.project, (current) => {
      if (current?.token !== seen.token) throw new SeenNoMore();
    });
  }

  /**
   * Removes a version for good, on condition that nothing at all has happened to the key since its current version was read, nor to the version.
   * @returns the current version that is left, if any
   * @throws SeenNoMore
   */
  async removeAsSeen(
    { bucket, key }: ServiceAuthorisation,
    { currentVersion, version }: Found,
  ): Promise<CurrentVersion | undefined> {
    const commit = await this.#chain(bucket, key).remove(currentVersion, version);
    if (commit === undefined) throw new SeenNoMore();
    const { outcome } = await this.#table.write(commit.changes);
    if (outcome === 'unknown') throw new OutcomeUnknown();
    if (outcome === 'conflict') throw new SeenNoMore();
    return commit.currentVersion;
  }

  /**
   * What takes an object away from its name in the same commit that gives it another: it goes without a trace where there is
   * no noncurrent version and nothing is kept; else a delete marker becomes current.
   * @param source as it was read; had it been changed since, its tags for one, what it is now would be lost
   * @throws SourceGone if it is not current any more, or not as it was
   */
  async leave(bucket: Bucket, key: string, source: Version): Promise<readonly Change[]> {
    const chain = this.#chain(bucket, key);
    const currentVersion = await chain.currentVersion();
    if (currentVersion?.token !== source.token) throw new SourceGone();
    const vanishes = bucket.versioning !== 'on' && !currentVersion.named && currentVersion.olderCount === 0;
    const marker = this.#version(bucket, { ...unplacedMarker, owner: source.owner }, currentVersion);
    const commit = vanishes
      ? await chain.remove(currentVersion, currentVersion)
      : await chain.put(currentVersion, marker);
    if (commit === undefined) throw new SourceGone();
    return commit.changes;
  }

  /**
   * Changes the long part of a version that is there: its tags or its ACL. Neither its content nor its Last-Modified changes.
   * @param authorisation names the version
   * @param change is called anew at every attempt, with the version and its bucket as they are then; may throw
   * @throws S3Error NoSuchKey, MethodNotAllowed (a delete marker by its id), AccessDenied (rights that are gone), SlowDown
   */
  async revise(
    authorisation: ObjectAuthorisation,
    change: (objectAttributes: ObjectAttributes, version: Version, bucket: Bucket) => ObjectAttributes,
  ): Promise<Version> {
    const { bucket, key } = authorisation;
    return this.#inTurn(bucket, key, () => this.#revise(authorisation, change));
  }

  #inTurn<Result>(bucket: Bucket, key: string, change: () => Promise<Result>): Promise<Result> {
    return this.#mutex === undefined ? change() : this.#mutex.run(`${bucket.id}/${key}`, change);
  }

  async #revise(
    authorisation: ObjectAuthorisation,
    change: (objectAttributes: ObjectAttributes, version: Version, bucket: Bucket) => ObjectAttributes,
  ): Promise<Version> {
    const { key, versionId } = authorisation;
    let { bucket } = authorisation;
    const chain = this.#chain(bucket, key);
    return optimistically(async (attempt) => {
      const found = await (versionId === undefined ? chain.findCurrent() : chain.find(versionId));
      const version = presentVersion(found?.version, key, versionId);
      bucket = await this.#buckets.confirmedFor(bucket);
      const caller = await authorisation.confirmVersion(bucket, version);
      const objectAttributes = change(await this.objectAttributes(version), version, bucket);
      const revised = await this.#place(key, { ...version, objectAttributes });
      const commit = chain.revise(found!, { ...version, ...revised });
      const outcome = await this.#write(bucket, commit, { caller });
      if (outcome === 'written') return version;
      if (outcome === 'unknown') throw new OutcomeUnknown();
      bucket = await this.#again(bucket, attempt);
      return conflict;
    }, slowDown);
  }

  /** @returns false if the bucket turned out to be versioned by now */
  async #deleteUnversioned(
    authorisation: ObjectAuthorisation,
    guard: Guard | undefined,
    sparing: 'foreign' | undefined,
  ): Promise<boolean> {
    const { key } = authorisation;
    let { bucket } = authorisation;
    const chain = this.#chain(bucket, key);
    const judge = sparing === 'foreign' ? sparingForeign(guard) : guard;
    return optimistically(
      async (attempt) => {
        bucket = await this.#buckets.readyFor(bucket);
        if (bucket.versioning !== 'off') return false;
        // Without a guard there is nothing to read at first: the condition refuses what must not go.
        const { dependsOnVersion } = authorisation;
        const looks = guard !== undefined || dependsOnVersion || (attempt > 0 && sparing !== undefined);
        const currentVersion = looks ? await chain.currentVersion() : undefined;
        if (looks && currentVersion === undefined) bucket = await this.#buckets.standing(bucket);
        const caller = await (looks
          ? authorisation.confirmVersion(bucket, currentVersion)
          : authorisation.confirm(bucket));
        if (authorisation.dependsOnVersion && !looks) return conflict;
        if (looks) judge?.(live(currentVersion));
        if (looks && currentVersion === undefined) return true;
        const dependsOnCurrent = currentVersion && (guard !== undefined || dependsOnVersion);
        const expect = dependsOnCurrent ? tokenIs(currentVersion) : absentOr(sparing === 'foreign' ? own : unversioned);
        const outcome = await this.#write(bucket, [{ key: currentVersionKey(bucket.id, key), delete: true, expect }], {
          caller,
        });
        if (outcome === 'written') return true;
        if (outcome === 'unknown') throw new OutcomeUnknown();
        bucket = await this.#again(bucket, attempt);
        return conflict;
      },
      () => {
        throw new S3Error(guard ? 'ConditionalRequestConflict' : 'SlowDown');
      },
    );
  }

  /** @param authorisation undefined: to take back what the process has just made */
  async #remove(
    bucket: Bucket,
    key: string,
    find: (chain: VersionChain) => Promise<Found | undefined>,
    { authorisation, guard }: { authorisation?: ObjectAuthorisation; guard?: Guard | undefined } = {},
  ): Promise<Version | undefined> {
    const chain = this.#chain(bucket, key);
    let lost: Version | undefined;
    return optimistically(
      async (attempt) => {
        const found = await find(chain);
        if (found === undefined && lost !== undefined) return lost;
        if (authorisation) bucket = await (found ? this.#buckets.readyFor(bucket) : this.#buckets.standing(bucket));
        const caller = await authorisation?.confirmVersion(bucket, found?.version).catch((error: unknown) => {
          throw lost === undefined ? error : new OutcomeUnknown(error);
        });
        if (found === undefined) return undefined;
        guard?.(live(found.version));
        const commit = await chain.remove(found.currentVersion, found.version);
        if (commit) {
          const outcome = await (caller === undefined
            ? this.#table.write(commit.changes).then((written) => written.outcome)
            : this.#write(bucket, commit.changes, { caller }));
          if (outcome === 'written') return found.version;
          if (outcome === 'unknown') lost = found.version;
        }
        bucket = await this.#again(bucket, attempt);
        return conflict;
      },
      () => {
        throw new S3Error(guard ? 'ConditionalRequestConflict' : 'SlowDown');
      },
    );
  }

  async #replace(
    authorisation: ObjectAuthorisation,
    fresh: Unplaced,
    { guard, extras, rightsCount }: PutOptions,
  ): Promise<CurrentVersion> {
    const { key } = authorisation;
    let { bucket } = authorisation;
    const chain = this.#chain(bucket, key);
    return optimistically(
      async (attempt) => {
        bucket = await this.#buckets.readyFor(bucket);
        // A write that asks for nothing needs no read where no noncurrent version can exist: its condition refuses whatever does.
        const mayBeBlind = attempt === 0 && bucket.versioning !== 'on' && guard === undefined && extras === undefined;
        const blind = mayBeBlind && (rightsCount === undefined || !authorisation.dependsOnVersion);
        const before = blind ? undefined : await chain.currentVersion();
        const caller =
          rightsCount && (await (blind ? authorisation.confirm(bucket) : authorisation.confirmVersion(bucket, before)));
        if (rightsCount && blind && authorisation.dependsOnVersion) return conflict;
        guard?.(live(before));
        const version = this.#version(bucket, fresh, before);
        const commit = blind ? chain.blindPut(version) : await chain.put(before, version);
        if (commit?.currentVersion) {
          const { changes, conditions } = (await extras?.(commit.currentVersion, before, bucket)) ?? alone;
          const outcome = await this.#write(bucket, [...commit.changes, ...changes], { conditions, caller });
          if (outcome === 'written') return commit.currentVersion;
          if (outcome === 'unknown') return await whetherItIsThere(chain, commit.currentVersion);
        }
        bucket = await this.#again(bucket, attempt);
        return conflict;
      },
      () => {
        throw new S3Error(guard ? 'ConditionalRequestConflict' : 'SlowDown');
      },
    );
  }

  /** The version that is to become current: younger than the present one. */
  #version(bucket: Bucket, fresh: Unplaced, before: CurrentVersion | undefined): Version {
    const now = this.#clock.now();
    const sequence = nextSequence(now, before && sequenceOf(before.instance));
    return {
      ...fresh,
      instance: instanceId(sequence, this.#randomness),
      token: this.#deps.token(),
      named: bucket.versioning === 'on',
      foreign: fresh.owner === bucket.project ? undefined : true,
      previousVersion: undefined,
      lastModified: fresh.lastModified ?? now,
      renameToken: fresh.renameToken,
      replacedAt: undefined,
    };
  }

  /** Puts the long part of a version into an item of its own, before the commit, where the item would grow too large with it. */
  async #place(key: string, fresh: Placeable): Promise<Unplaced> {
    const placed = { ...fresh, partCount: fresh.partCount, tagCount: fresh.objectAttributes.tags.length };
    if (fitsInline(key, placed)) return placed;
    const id = timedId(this.#clock.now(), this.#randomness);
    const { outcome } = await this.#table.write([
      { key: itemKey.details(id), put: encodeObjectAttributes(fresh.objectAttributes) },
    ]);
    if (outcome !== 'written') throw new S3Error('ServiceUnavailable');
    return { ...placed, objectAttributes: { details: id } };
  }

  /**
   * The look after a commit: whether its bucket stands. In one that is gone the version is taken back, and the version before it
   * becomes current again. What fails here fails behind the commit.
   */
  async #stands(bucket: Bucket, key: string, { instance }: CurrentVersion): Promise<boolean> {
    try {
      if (await this.#buckets.standsAfterCommit(bucket)) return true;
      await this.#remove(bucket, key, (chain) => chain.findInstance(instance));
      return false;
    } catch (error) {
      throw new OutcomeUnknown(error);
    }
  }

  /** @param of.caller what the commit must find of the caller, if rights count at the commit */
  async #write(
    bucket: Bucket,
    changes: readonly Change[],
    { conditions = [], caller }: { conditions?: readonly Condition[]; caller?: readonly Condition[] | undefined } = {},
  ): Promise<WriteOutcome['outcome']> {
    if (this.#clock.now() - bucket.readAt > commitTime) return 'conflict';
    // What is written anyway hangs on its own image: that is the condition on it.
    const others = conditions.filter(({ key }) => !changes.some((change) => sameKey(change.key, key)));
    const { outcome } = await this.#table.write(changes, [
      ...others,
      ...this.#buckets.commitConditions(bucket, caller),
    ]);
    return outcome;
  }

  async #again(bucket: Bucket, attempt: number): Promise<Bucket> {
    await this.#clock.sleep(jitter(attempt, this.#randomness));
    return this.#buckets.stale(bucket);
  }

  #chain(bucket: Bucket, key: string): VersionChain {
    return new VersionChain(this.#deps, bucket.id, key);
  }
}

/** After a lost answer: the version that was to be committed, if it is there. @throws OutcomeUnknown: it may still come */
async function whetherItIsThere(chain: VersionChain, currentVersion: CurrentVersion): Promise<CurrentVersion> {
  const found = await chain.findInstance(currentVersion.instance).catch((error: unknown) => {
    throw new OutcomeUnknown(error);
  });
  if (found === undefined) throw new OutcomeUnknown();
  return currentVersion;
}

/** What can be given its place: a new version, or one whose objectAttributes were read. */
type Placeable = Omit<Unplaced, 'objectAttributes' | 'tagCount' | 'partCount'> & {
  readonly objectAttributes: ObjectAttributes;
  readonly partCount?: number | undefined;
};

function sameKey(a: ItemKey, b: ItemKey): boolean {
  return a.pk === b.pk && a.sk === b.sk;
}

function absentOr(of: readonly Expectation[]): Expectation {
  return { is: 'any', of: [{ is: 'absent' }, { is: 'all', of }] };
}

/** An object of an unversioned bucket that belongs to the bucket's own project. */
const own: readonly Expectation[] = [...unversioned, { is: 'missing', attribute: 'f' }];

/** Refuses what would be gone for good and belongs to another project than the bucket. */
function sparingForeign(guard: Guard | undefined): Guard {
  return (current) => {
    if (current?.foreign && !current.named) throw new S3Error('AccessDenied');
    guard?.(current);
  };
}

const alone: CommitExtras = { changes: [], conditions: [] };

const unplacedMarker: Omit<Unplaced, 'owner'> = { ...deleteMarker, partCount: undefined, tagCount: 0 };
