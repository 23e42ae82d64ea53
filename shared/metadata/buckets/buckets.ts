import { S3Error } from '../../errors/s3-error.ts';
import type { Clock } from '../../ports/clock.ts';
import type { Attributes, Change, Condition, Expectation, KeyValueTable } from '../../ports/key-value-table.ts';
import type { Randomness } from '../../ports/randomness.ts';
import type { Amount } from '../amount.ts';
import { numberOf } from '../table/attribute-number.ts';
import { bucketId, sortableTime, timedId, writeToken } from '../table/ids.ts';
import * as keyParts from '../table/key-parts.ts';
import { itemKey, ownedBucketPrefix, partition } from '../table/keys.ts';
import { conflict, optimistically, slowDown } from '../table/optimistic-write.ts';
import { currentVersionPartitions } from '../table/shards.ts';
import {
  closingIs,
  decodeBucket,
  encodeBucket,
  noSuchBucket,
  settlingIs,
  tokenIs,
  type Bucket,
  type DocumentKind,
  type Transition,
  type Versioning,
} from './bucket.ts';
import type { Authorisation, BucketAuthorisation } from './authorisation.ts';
import { bucketCountOf } from './bucket-count.ts';
import { BucketDocuments, type Revision } from './bucket-documents.ts';
import { encodeSettings, type BucketSettings, type ObjectOwnership } from './bucket-settings.ts';
import { SharedReads } from '../shared-reads.ts';

export interface OwnedBucketEntry {
  readonly name: string;
  readonly created: number;
}

/** What a bucket may begin with. */
export interface BucketBeginning {
  readonly documents?: Readonly<Partial<Record<DocumentKind, Attributes>>> | undefined;
  readonly objectOwnership?: ObjectOwnership | undefined;
  /** The LocationConstraint that it was asked for with. */
  readonly location?: string | undefined;
}

/** No bucket has a longer name; what is asked for may be longer than the name of an item. */
const maxNameLength = 63;
/** How old a bucket's image may be when a commit begins. */
const freshness = 1000;
const closingTime = 5000;
const settlingTime = 5000;
/** Longer than a commit may take: those that began under the old versioning state are over then. */
const settlingWait = 3000;
/** Enough for fifty changes of one bucket at a time, which take turns. */
const maxAttempts = 12;
const verdictPoll = 25;

/**
 * Buckets: their items, the owner's list, and the fence that lets no acknowledged object vanish with its bucket.
 */
export class Buckets {
  readonly documents: BucketDocuments;
  readonly #table: KeyValueTable;
  readonly #clock: Clock;
  readonly #randomness: Randomness;
  readonly #reads: SharedReads<string, Bucket | undefined>;

  constructor(deps: { table: KeyValueTable; clock: Clock; randomness: Randomness }) {
    this.#table = deps.table;
    this.#clock = deps.clock;
    this.#randomness = deps.randomness;
    this.#reads = new SharedReads((name) => this.#read(name));
    this.documents = new BucketDocuments({ ...deps, buckets: this });
  }

  /** The bucket of this name as it is now, or undefined. Requests that arrive together share one read. */
  async find(name: string): Promise<Bucket | undefined> {
    return name.length > maxNameLength ? undefined : this.#reads.get(name);
  }

  /** Rejects if the table does not answer. */
  async check(): Promise<void> {
    await this.#table.get(itemKey.deployment('health'));
  }

  /** As {@link find}. @throws S3Error NoSuchBucket */
  async load(name: string): Promise<Bucket> {
    const bucket = await this.find(name);
    if (bucket === undefined) throw noSuchBucket(name);
    return bucket;
  }

  /**
   * Creates a bucket, if its name is free and the project has fewer than `limit`.
   * @returns `owned` if the project has this bucket already: nothing is changed then
   * @throws S3Error BucketAlreadyExists (another project's), TooManyBuckets, SlowDown
   */
  async create(
    authorisation: Authorisation,
    name: string,
    project: string,
    limit: number,
    { documents = {}, objectOwnership, location }: BucketBeginning = {},
  ): Promise<'created' | 'owned'> {
    return optimistically(
      async (attempt) => {
        const existing = await this.find(name);
        const caller = await authorisation.confirmCaller();
        if (existing) {
          if (existing.project === project) return 'owned';
          throw new S3Error('BucketAlreadyExists', { details: { BucketName: name } });
        }
        const count = await this.#table.get(itemKey.bucketCount(project));
        if (numberOf(count?.['count']) >= limit) throw new S3Error('TooManyBuckets');
        const now = this.#clock.now();
        const id = bucketId(1, this.#randomness);
        const kinds = Object.keys(documents) as DocumentKind[];
        const revisions = kinds.map((kind) => [kind, timedId(now, this.#randomness)] as const);
        const { outcome } = await this.#table.write(
          [
            {
              key: itemKey.bucket(name),
              put: {
                id,
                project,
                created: now,
                versioning: 'off',
                r: this.#token(),
                ...(revisions.length > 0 && { docs: Object.fromEntries(revisions) }),
                ...(location !== undefined && { loc: location }),
                ...encodeSettings({ objectOwnership }),
              },
              expect: { is: 'absent' },
            },
            ...revisions.map(([kind, revision]) => ({
              key: itemKey.bucketDocument(id, kind, revision),
              put: documents[kind]!,
            })),
            { key: itemKey.ownedBucket(project, name), put: { bucketId: id, created: now } },
            { key: itemKey.bucketName(id), put: { name, project } },
            this.#countChange(project, count, +1),
          ],
          this.#free(caller),
        );
        if (outcome === 'written') return 'created';
        await this.#pause(attempt);
        return conflict;
      },
      slowDown,
      maxAttempts,
    );
  }

  /**
   * Removes an empty bucket. While it looks, writers wait for its verdict; what is left of uploads and documents is swept later.
   * @throws S3Error NoSuchBucket, BucketNotEmpty, SlowDown
   */
  async remove(authorisation: BucketAuthorisation): Promise<void> {
    const { name } = authorisation.bucket;
    return optimistically(
      async (attempt) => {
        const bucket = await this.#present(authorisation.bucket);
        const closing = { token: this.#token(), until: this.#clock.now() + closingTime };
        const caller = await authorisation.confirm(bucket);
        const closed = await this.#table.write(
          [this.#change({ ...bucket, closing }, tokenIs(bucket.token))],
          this.#free(caller),
        );
        if (closed.outcome !== 'written') {
          await this.#pause(attempt);
          return conflict;
        }
        const reopen = (): Promise<unknown> =>
          this.#table.write([this.#change({ ...bucket, closing: undefined }, closingIs(closing.token))]);
        if (await this.#holdsObjects(bucket)) {
          await reopen();
          throw new S3Error('BucketNotEmpty', { details: { BucketName: name } });
        }
        // Nobody can change the bucket while it is closing, but the caller's key may have been revoked.
        const confirm = async (): Promise<readonly Condition[]> => {
          try {
            return this.#free(await authorisation.confirmCaller());
          } catch (error) {
            await reopen();
            throw error;
          }
        };
        if (await this.#bury(bucket, closing.token, confirm)) return;
        return conflict;
      },
      slowDown,
      maxAttempts,
    );
  }

  /**
   * Changes the versioning state. Where other writers may have looked at the bucket before and commit afterwards, the new
   * state settles first: nobody commits under it until every commit under the old one is over.
   * @throws S3Error NoSuchBucket, SlowDown
   */
  async setVersioning(authorisation: BucketAuthorisation, versioning: Exclude<Versioning, 'off'>): Promise<void> {
    const token = this.#token();
    const before = await this.revise(authorisation, async (bucket) => {
      if (bucket.versioning === versioning) return undefined;
      const settling = this.#table.freeChecks ? undefined : { token, until: this.#clock.now() + settlingTime };
      return { bucket: { ...bucket, versioning, settling } };
    });
    if (before.versioning !== versioning && !this.#table.freeChecks) await this.#settle(before.name, token);
  }

  /**
   * Changes settings of the bucket.
   * @param change what they are to be, given the bucket as it is at the commit; may throw, and is called anew at every attempt
   * @throws S3Error NoSuchBucket, SlowDown
   */
  async configure(
    authorisation: BucketAuthorisation,
    change: (bucket: Bucket) => BucketSettings | Promise<BucketSettings>,
  ): Promise<void> {
    await this.revise(authorisation, async (bucket) => ({ bucket: { ...bucket, ...(await change(bucket)) } }));
  }

  /**
   * Sets what the bucket may hold; what is left out goes back to the deployment's limit. More than that stays where it is.
   * @throws S3Error NoSuchBucket, SlowDown
   */
  async setQuota(authorisation: BucketAuthorisation, quota: Partial<Amount>): Promise<void> {
    await this.revise(authorisation, async (bucket) => ({ bucket: { ...bucket, quota } }));
  }

  /** Notes that a bucket is full, or not any more. One that is gone is left alone. @throws S3Error SlowDown */
  async setFull(name: string, id: string, full: boolean): Promise<void> {
    if ((await this.find(name))?.id !== id) return;
    const load = (): Promise<Bucket> => this.#ready(name);
    await this.#revise(load, async (bucket) => (bucket.id === id ? { bucket: { ...bucket, full } } : undefined), none);
  }

  /**
   * Records that objects of a bucket may be older than their keys, before the first is renamed.
   * @returns the bucket as it is now
   * @throws S3Error NoSuchBucket, SlowDown
   */
  async markHoldsRenamed(bucket: Bucket): Promise<Bucket> {
    if (bucket.holdsRenamed) return bucket;
    const load = (): Promise<Bucket> => this.#present(bucket);
    const mark = async (present: Bucket): Promise<Revision | undefined> =>
      present.holdsRenamed ? undefined : { bucket: { ...present, holdsRenamed: true } };
    await this.#revise(load, mark, none);
    return load();
  }

  /**
   * Changes a bucket's item, over and over until nobody else has changed it meanwhile.
   * @param revision what is to be written for the bucket as it is now, or undefined if nothing is. It may be asked again after
   *   a write of its own whose answer was lost.
   * @returns the bucket as it was before
   * @throws S3Error NoSuchBucket, SlowDown
   */
  async revise(
    authorisation: BucketAuthorisation,
    revision: (bucket: Bucket, attempt: number) => Promise<Revision | undefined>,
  ): Promise<Bucket> {
    const load = (): Promise<Bucket> => this.#present(authorisation.bucket);
    return this.#revise(load, revision, (bucket) => authorisation.confirm(bucket));
  }

  async #revise(
    load: () => Promise<Bucket>,
    revision: (bucket: Bucket, attempt: number) => Promise<Revision | undefined>,
    confirm: (bucket: Bucket) => Promise<readonly Condition[]>,
  ): Promise<Bucket> {
    return optimistically(
      async (attempt) => {
        const bucket = await load();
        // Before rights are confirmed: a change of its own, whose answer was lost, may have taken them away.
        const revised = await revision(bucket, attempt);
        if (revised === undefined) return bucket;
        const caller = await confirm(bucket);
        await revised.first?.();
        const { outcome } = await this.#table.write(
          [this.#change(revised.bucket, tokenIs(bucket.token)), ...(revised.along ?? [])],
          this.#free(caller),
        );
        if (outcome === 'written') return bucket;
        await this.#pause(attempt);
        return conflict;
      },
      slowDown,
      maxAttempts,
    );
  }

  async #settle(name: string, token: string): Promise<void> {
    await this.#clock.sleep(settlingWait);
    const bucket = await this.find(name);
    if (bucket?.settling?.token !== token) return;
    await this.#table.write([this.#change({ ...bucket, settling: undefined }, settlingIs(token))]);
  }

  /** Returns how many buckets a project has. */
  countOf(project: string): Promise<number> {
    return bucketCountOf(this.#table, project);
  }

  /** The buckets of a project in the order of their names, behind `after`. */
  async ownedBy(
    project: string,
    options: { prefix?: string; after?: string; limit: number },
  ): Promise<{ buckets: readonly OwnedBucketEntry[]; more: boolean }> {
    const { items, more } = await this.#table.query(partition.project(project), {
      prefix: ownedBucketPrefix(options.prefix ?? ''),
      limit: options.limit,
      ...(options.after !== undefined && { after: ownedBucketPrefix(options.after) }),
    });
    return {
      buckets: items.map(({ key, attributes }) => ({
        name: keyParts.ofProject(key)!.name!,
        created: numberOf(attributes['created']),
      })),
      more,
    };
  }

  /**
   * The bucket as a commit may rely on it: read less than a second ago, neither closing nor settling.
   * @throws S3Error NoSuchBucket if it is gone, or another bucket has its name
   */
  async readyFor(bucket: Bucket): Promise<Bucket> {
    if (!inTransition(bucket) && this.#clock.now() - bucket.readAt < freshness) return bucket;
    return this.#present(bucket);
  }

  /**
   * The bucket for a commit that hangs on the rights to it: read now, unless the commit itself finds whether it is still so.
   * @throws S3Error NoSuchBucket if it is gone, or another bucket has its name
   */
  async confirmedFor(bucket: Bucket): Promise<Bucket> {
    return this.#table.freeChecks ? this.readyFor(bucket) : this.#present(bucket);
  }

  /**
   * The bucket after something was waited for: read again, unless commits find for themselves whether it is as it was.
   * @throws S3Error NoSuchBucket if it is gone, or another bucket has its name
   */
  async renewed(bucket: Bucket): Promise<Bucket> {
    return this.#table.freeChecks ? bucket : this.#present(bucket);
  }

  /**
   * The bucket for an answer that no commit follows, since there is nothing to change: read now, where that costs nothing.
   * @throws S3Error NoSuchBucket if it is gone, or another bucket has its name
   */
  async standing(bucket: Bucket): Promise<Bucket> {
    return this.#table.freeChecks ? this.#present(bucket) : this.readyFor(bucket);
  }

  /** Forgets how fresh an image is, so that the next {@link readyFor} reads again. */
  stale(bucket: Bucket): Bucket {
    return { ...bucket, readAt: 0 };
  }

  /**
   * What a commit must find of the bucket where such a condition costs nothing: then no look afterwards is needed.
   * @param caller what it must find of the caller, if rights count at the commit: then the bucket must be just as it was
   */
  commitConditions(bucket: Bucket, caller?: readonly Condition[]): readonly Condition[] {
    if (!this.#table.freeChecks) return [];
    if (caller !== undefined) return [unchanged(bucket), ...caller];
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

  /** As {@link commitConditions} for rights, for rare changes: that the bucket is as it was is worth its price anywhere. */
  exactConditions(bucket: Bucket, caller: readonly Condition[]): readonly Condition[] {
    return [unchanged(bucket), ...this.#free(caller)];
  }

  /**
   * The fence: after a commit that can create a current version, whether the bucket still stands. A bucket that is closing makes the
   * writer wait for the verdict, because taking it for open loses the object and taking it for gone lies about it.
   */
  async standsAfterCommit(bucket: Bucket): Promise<boolean> {
    if (this.#table.freeChecks) return true;
    const present = await this.#settled(bucket.name, ({ closing }) => closing);
    return present?.id === bucket.id;
  }

  /** Conditions for a write where they cost nothing. */
  #free(conditions: readonly Condition[]): readonly Condition[] {
    return this.#table.freeChecks ? conditions : [];
  }

  /** This very bucket as it is now, in no transition. @throws S3Error NoSuchBucket */
  async #present({ name, id }: Bucket): Promise<Bucket> {
    const present = await this.#ready(name);
    if (present.id !== id) throw noSuchBucket(name);
    return present;
  }

  async #read(name: string): Promise<Bucket | undefined> {
    const readAt = this.#clock.now();
    const item = await this.#table.get(itemKey.bucket(name));
    return item === undefined ? undefined : decodeBucket(name, item, readAt);
  }

  async #ready(name: string): Promise<Bucket> {
    const bucket = await this.#settled(name, ({ closing, settling }) => closing ?? settling);
    if (bucket === undefined) throw noSuchBucket(name);
    return bucket;
  }

  /** The bucket once it is in none of the transitions asked for; one that has outlived its time is undone. */
  async #settled(name: string, transition: (bucket: Bucket) => Transition | undefined): Promise<Bucket | undefined> {
    for (;;) {
      const bucket = await this.find(name);
      const running = bucket && transition(bucket);
      if (!bucket || !running) return bucket;
      if (this.#clock.now() <= running.until) await this.#clock.sleep(verdictPoll);
      else await this.#abandon(bucket, running);
    }
  }

  async #abandon(bucket: Bucket, transition: Transition): Promise<void> {
    const closes = bucket.closing?.token === transition.token;
    await this.#table.write([
      closes
        ? this.#change({ ...bucket, closing: undefined }, closingIs(transition.token))
        : this.#change({ ...bucket, settling: undefined }, settlingIs(transition.token)),
    ]);
  }

  async #holdsObjects(bucket: Bucket): Promise<boolean> {
    for (const shard of currentVersionPartitions(bucket.id)) {
      const { items } = await this.#table.query(shard, { limit: 1 });
      if (items.length > 0) return true;
    }
    return false;
  }

  async #bury(bucket: Bucket, closingToken: string, confirm: () => Promise<readonly Condition[]>): Promise<boolean> {
    return optimistically(
      async (attempt) => {
        const count = await this.#table.get(itemKey.bucketCount(bucket.project));
        const caller = await confirm();
        const written = await this.#table.write(
          [
            {
              key: itemKey.bucket(bucket.name),
              delete: true,
              expect: { is: 'all', of: [closingIs(closingToken), { is: 'equal', attribute: 'id', value: bucket.id }] },
            },
            { key: itemKey.ownedBucket(bucket.project, bucket.name), delete: true },
            { key: itemKey.bucketName(bucket.id), delete: true },
            ...this.documents.unlisted(bucket),
            this.#countChange(bucket.project, count, -1),
            {
              key: itemKey.tombstone(sortableTime(this.#clock.now()), bucket.id),
              put: { name: bucket.name, project: bucket.project },
            },
          ],
          caller,
        );
        if (written.outcome === 'written') return true;
        const present = await this.find(bucket.name);
        if (present?.id !== bucket.id) return true; // our own write, whose answer was lost, or somebody else's delete
        if (present.closing?.token !== closingToken) return false;
        await this.#pause(attempt);
        return conflict;
      },
      () => false,
      maxAttempts,
    );
  }

  #countChange(project: string, count: Attributes | undefined, by: number): Change {
    return {
      key: itemKey.bucketCount(project),
      put: { count: Math.max(0, numberOf(count?.['count']) + by), r: this.#token() },
      expect: count === undefined ? { is: 'absent' } : tokenIs(count['r'] as string),
    };
  }

  #change(bucket: Bucket, expect: Expectation): Change {
    return { key: itemKey.bucket(bucket.name), put: encodeBucket({ ...bucket, token: this.#token() }), expect };
  }

  #token(): string {
    return writeToken(this.#randomness);
  }

  async #pause(attempt: number): Promise<void> {
    await this.#clock.sleep(jitter(attempt, this.#randomness));
  }
}

/** Milliseconds to wait before an attempt is repeated: longer each time, and never the same for two callers. */
export function jitter(attempt: number, randomness: Randomness): number {
  return ((randomness.bytes(1)[0]! + 1) / 256) * 4 * 2 ** attempt;
}

const none = async (): Promise<readonly Condition[]> => [];

/** Nothing at all has changed of the bucket's item since it was read. */
function unchanged({ name, token }: Bucket): Condition {
  return { key: itemKey.bucket(name), expect: tokenIs(token) };
}

function inTransition(bucket: Bucket): boolean {
  return bucket.closing !== undefined || bucket.settling !== undefined;
}
