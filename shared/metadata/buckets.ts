import { S3Error } from '../errors/s3-error.ts';
import type { Clock } from '../ports/clock.ts';
import type { Attributes, Change, Condition, Expectation, KeyValueTable } from '../ports/key-value-table.ts';
import type { Randomness } from '../ports/randomness.ts';
import { bucketId, sortableTime, timedId, writeToken } from './ids.ts';
import { itemKey, partition } from './keys.ts';
import type { Amount } from './quotas.ts';
import { SharedReads } from './shared-reads.ts';
import { headPartitions } from './shards.ts';

export type Versioning = 'off' | 'on' | 'suspended';

/** A transition that other writers must wait out: whoever comes after `until` may undo it. */
interface Transition {
  readonly token: string;
  /** Milliseconds since the epoch. */
  readonly until: number;
}

/** The documents a bucket may have. */
export type DocumentKind = 'tagging' | 'acl' | 'policy' | 'cors' | 'website' | 'lifecycle';

/** Kinds whose buckets are listed, for scheduled work that must not look at every bucket there is. */
export const listedKinds: ReadonlySet<DocumentKind> = new Set<DocumentKind>(['lifecycle']);

export interface Bucket {
  readonly name: string;
  /** Fresh per creation: a name taken again is another bucket. */
  readonly id: string;
  /** The canonical id of the owning project. */
  readonly project: string;
  /** Milliseconds since the epoch. */
  readonly created: number;
  readonly versioning: Versioning;
  readonly token: string;
  /** DeleteBucket is looking whether it is empty. */
  readonly closing: Transition | undefined;
  /** PutBucketVersioning waits until no write under the old state is left. */
  readonly settling: Transition | undefined;
  /** What it may hold, where that is not the deployment's limit. */
  readonly quota?: Partial<Amount> | undefined;
  /** It holds as much as it may: set behind the writes, by a follower of the change feed. */
  readonly full: boolean;
  /** Its documents: the revision of each. */
  readonly documents: Readonly<Partial<Record<DocumentKind, string>>>;
  /** When this image was read; what is older than a second is read again before a commit. */
  readonly readAt: number;
}

export interface OwnedBucketEntry {
  readonly name: string;
  readonly created: number;
}

/** No bucket has a longer name; what is asked for may be longer than the name of an item. */
const longestName = 63;
/** How old a bucket's image may be when a commit begins. */
const freshness = 1000;
const closingTime = 5000;
const settlingTime = 5000;
/** Longer than a commit may take: those that began under the old versioning state are over then. */
const settlingWait = 3000;
/** Enough for fifty changes of one bucket at a time, which take turns. */
const attempts = 12;
/** How many documents of buckets are remembered. */
const cachedDocuments = 1000;
const verdictPoll = 25;

/**
 * Buckets: their items, the owner's list, and the fence that lets no acknowledged object vanish with its bucket.
 */
export class Buckets {
  readonly #table: KeyValueTable;
  readonly #clock: Clock;
  readonly #randomness: Randomness;
  readonly #reads: SharedReads<string, Bucket | undefined>;
  /** Documents by their revisions, which are never used again. */
  readonly #documents = new Map<string, Attributes>();

  constructor(rooms: { table: KeyValueTable; clock: Clock; randomness: Randomness }) {
    this.#table = rooms.table;
    this.#clock = rooms.clock;
    this.#randomness = rooms.randomness;
    this.#reads = new SharedReads((name) => this.#read(name));
  }

  /** The bucket of this name as it is now, or undefined. Requests that arrive together share one read. */
  async find(name: string): Promise<Bucket | undefined> {
    return name.length > longestName ? undefined : this.#reads.get(name);
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
   * @param acl the document it begins with, if it has one
   * @returns `owned` if the project has this bucket already: nothing is changed then
   * @throws S3Error BucketAlreadyExists (another project's), TooManyBuckets, SlowDown
   */
  async create(name: string, project: string, limit: number, acl?: Attributes): Promise<'created' | 'owned'> {
    for (let attempt = 0; attempt < attempts; attempt += 1) {
      const existing = await this.find(name);
      if (existing) {
        if (existing.project === project) return 'owned';
        throw new S3Error('BucketAlreadyExists', { details: { BucketName: name } });
      }
      const count = await this.#table.get(itemKey.bucketCount(project));
      if (numberOf(count?.['count']) >= limit) throw new S3Error('TooManyBuckets');
      const now = this.#clock.now();
      const id = bucketId(1, this.#randomness);
      const revision = timedId(now, this.#randomness);
      const { outcome } = await this.#table.write([
        {
          key: itemKey.bucket(name),
          put: {
            id,
            project,
            created: now,
            versioning: 'off',
            r: this.#token(),
            ...(acl && { docs: { acl: revision } }),
          },
          expect: { is: 'absent' },
        },
        ...(acl ? [{ key: itemKey.bucketDocument(id, 'acl', revision), put: acl }] : []),
        { key: itemKey.ownedBucket(project, name), put: { bucketId: id, created: now } },
        { key: itemKey.bucketName(id), put: { name, project } },
        this.#countChange(project, count, +1),
      ]);
      if (outcome === 'written') return 'created';
      await this.#pause(attempt);
    }
    throw new S3Error('SlowDown');
  }

  /**
   * Removes an empty bucket. While it looks, writers wait for its verdict; what is left of uploads and documents is swept later.
   * @throws S3Error NoSuchBucket, BucketNotEmpty, SlowDown
   */
  async remove(name: string): Promise<void> {
    for (let attempt = 0; attempt < attempts; attempt += 1) {
      const bucket = await this.#ready(name);
      const closing = { token: this.#token(), until: this.#clock.now() + closingTime };
      const closed = await this.#table.write([this.#change({ ...bucket, closing }, tokenIs(bucket.token))]);
      if (closed.outcome !== 'written') {
        await this.#pause(attempt);
        continue;
      }
      if (await this.#holdsObjects(bucket)) {
        await this.#table.write([this.#change({ ...bucket, closing: undefined }, closingIs(closing.token))]);
        throw new S3Error('BucketNotEmpty', { details: { BucketName: name } });
      }
      if (await this.#bury(bucket, closing.token)) return;
    }
    throw new S3Error('SlowDown');
  }

  /**
   * Changes the versioning state. Where other writers may have looked at the bucket before and commit afterwards, the new
   * state settles first: nobody commits under it until every commit under the old one is over.
   * @throws S3Error NoSuchBucket, SlowDown
   */
  async setVersioning(name: string, versioning: Exclude<Versioning, 'off'>): Promise<void> {
    for (let attempt = 0; attempt < attempts; attempt += 1) {
      const bucket = await this.#ready(name);
      if (bucket.versioning === versioning) return;
      const token = this.#token();
      const settling = this.#table.freeChecks ? undefined : { token, until: this.#clock.now() + settlingTime };
      const { outcome } = await this.#table.write([
        this.#change({ ...bucket, versioning, settling }, tokenIs(bucket.token)),
      ]);
      if (outcome === 'written') {
        if (settling) await this.#settle(name, token);
        return;
      }
      await this.#pause(attempt);
    }
    throw new S3Error('SlowDown');
  }

  /**
   * Sets what the bucket may hold; what is left out goes back to the deployment's limit. More than that stays where it is.
   * @throws S3Error NoSuchBucket, SlowDown
   */
  async setQuota(name: string, quota: Partial<Amount>): Promise<void> {
    await this.#revise(name, (bucket) => ({ ...bucket, quota }));
  }

  /** Notes that a bucket is full, or not any more. One that is gone is left alone. @throws S3Error SlowDown */
  async setFull(name: string, id: string, full: boolean): Promise<void> {
    if ((await this.find(name))?.id !== id) return;
    await this.#revise(name, (bucket) => (bucket.id === id ? { ...bucket, full } : bucket));
  }

  async #revise(name: string, change: (bucket: Bucket) => Bucket): Promise<void> {
    for (let attempt = 0; attempt < attempts; attempt += 1) {
      const bucket = await this.#ready(name);
      const { outcome } = await this.#table.write([this.#change(change(bucket), tokenIs(bucket.token))]);
      if (outcome === 'written') return;
      await this.#pause(attempt);
    }
    throw new S3Error('SlowDown');
  }

  async #settle(name: string, token: string): Promise<void> {
    await this.#clock.sleep(settlingWait);
    const bucket = await this.find(name);
    if (bucket?.settling?.token !== token) return;
    await this.#table.write([this.#change({ ...bucket, settling: undefined }, settlingIs(token))]);
  }

  /**
   * A document of the bucket, or undefined if it has none. Documents are immutable, so that those read before need not be
   * read again.
   */
  async document(bucket: Bucket, kind: DocumentKind): Promise<Attributes | undefined> {
    const revision = bucket.documents[kind];
    if (revision === undefined) return undefined;
    const cached = this.#documents.get(revision);
    if (cached) return cached;
    const document = await this.#table.get(itemKey.bucketDocument(bucket.id, kind, revision));
    if (document) {
      if (this.#documents.size >= cachedDocuments) this.#documents.clear();
      this.#documents.set(revision, document);
      return document;
    }
    // It was replaced since the bucket was read: what it was replaced by is the answer now.
    const present = await this.find(bucket.name);
    if (present?.id !== bucket.id || present.documents[kind] === revision) return undefined;
    return this.document(present, kind);
  }

  /**
   * Sets a document of a bucket, or takes it away. Documents are immutable: a new one is written first, then the bucket's
   * pointer, so whoever has read the bucket finds the document it speaks of.
   * @throws S3Error NoSuchBucket, SlowDown
   */
  async setDocument(name: string, kind: DocumentKind, document: Attributes | undefined): Promise<void> {
    const revision = document && timedId(this.#clock.now(), this.#randomness);
    let former: string | undefined;
    for (let attempt = 0; attempt < attempts; attempt += 1) {
      const bucket = await this.#ready(name);
      const current = bucket.documents[kind];
      // Our own write, whose answer was lost.
      if (attempt > 0 && current === revision) return this.#dropDocument(bucket, kind, former);
      former = current;
      if (document && revision !== undefined) {
        await this.#table.write([{ key: itemKey.bucketDocument(bucket.id, kind, revision), put: document }]);
      }
      const { [kind]: _, ...others } = bucket.documents;
      const documents = revision === undefined ? others : { ...others, [kind]: revision };
      const { outcome } = await this.#table.write([
        this.#change({ ...bucket, documents }, tokenIs(bucket.token)),
        ...(listedKinds.has(kind) ? [listing(bucket, kind, revision)] : []),
      ]);
      if (outcome === 'written') return this.#dropDocument(bucket, kind, former);
      await this.#pause(attempt);
    }
    throw new S3Error('SlowDown');
  }

  /** Removes a document that no bucket points to any more. Left undone, it goes when the remains of the bucket are swept. */
  async #dropDocument(bucket: Bucket, kind: DocumentKind, revision: string | undefined): Promise<void> {
    if (revision === undefined) return;
    await this.#table.write([{ key: itemKey.bucketDocument(bucket.id, kind, revision), delete: true }]);
  }

  /** Buckets that have a document of a listed kind, by name, behind `after`. What else there is, is not read. */
  async having(
    kind: DocumentKind,
    { after, limit }: { readonly after?: string | undefined; readonly limit: number },
  ): Promise<{ buckets: readonly { readonly name: string; readonly id: string }[]; more: boolean }> {
    const { items, more } = await this.#table.query(partition.bucketsWith(kind), {
      limit,
      ...(after !== undefined && { after }),
    });
    return { buckets: items.map(({ key, attributes }) => ({ name: key.sk, id: attributes['id'] as string })), more };
  }

  /** The buckets of a project in the order of their names, behind `after`. */
  async ownedBy(
    project: string,
    options: { prefix?: string; after?: string; limit: number },
  ): Promise<{ buckets: readonly OwnedBucketEntry[]; more: boolean }> {
    const { items, more } = await this.#table.query(partition.project(project), {
      prefix: `bucket/${options.prefix ?? ''}`,
      limit: options.limit,
      ...(options.after !== undefined && { after: `bucket/${options.after}` }),
    });
    return {
      buckets: items.map(({ key, attributes }) => ({
        name: key.sk.slice('bucket/'.length),
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
    const present = await this.#ready(bucket.name);
    if (present.id !== bucket.id) throw noSuchBucket(bucket.name);
    return present;
  }

  /** Forgets how fresh an image is, so that the next {@link readyFor} reads again. */
  stale(bucket: Bucket): Bucket {
    return { ...bucket, readAt: 0 };
  }

  /** What a commit must find of the bucket where such a condition costs nothing: then no look afterwards is needed. */
  commitConditions(bucket: Bucket): readonly Condition[] {
    if (!this.#table.freeChecks) return [];
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

  /**
   * The fence: after a commit that can create a head, whether the bucket still stands. A bucket that is closing makes the
   * writer wait for the verdict, because taking it for open loses the object and taking it for gone lies about it.
   */
  async standsAfterCommit(bucket: Bucket): Promise<boolean> {
    if (this.#table.freeChecks) return true;
    const present = await this.#settled(bucket.name, ({ closing }) => closing);
    return present?.id === bucket.id;
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
    for (const shard of headPartitions(bucket.id)) {
      const { items } = await this.#table.query(shard, { limit: 1 });
      if (items.length > 0) return true;
    }
    return false;
  }

  async #bury(bucket: Bucket, closingToken: string): Promise<boolean> {
    for (let attempt = 0; attempt < attempts; attempt += 1) {
      const count = await this.#table.get(itemKey.bucketCount(bucket.project));
      const written = await this.#table.write([
        {
          key: itemKey.bucket(bucket.name),
          delete: true,
          expect: { is: 'all', of: [closingIs(closingToken), { is: 'equal', attribute: 'id', value: bucket.id }] },
        },
        { key: itemKey.ownedBucket(bucket.project, bucket.name), delete: true },
        { key: itemKey.bucketName(bucket.id), delete: true },
        ...listedDocuments(bucket).map((kind) => listing(bucket, kind, undefined)),
        this.#countChange(bucket.project, count, -1),
        {
          key: itemKey.grave(sortableTime(this.#clock.now()), bucket.id),
          put: { name: bucket.name, project: bucket.project },
        },
      ]);
      if (written.outcome === 'written') return true;
      const present = await this.find(bucket.name);
      if (present?.id !== bucket.id) return true; // our own write, whose answer was lost, or somebody else's delete
      if (present.closing?.token !== closingToken) return false;
      await this.#pause(attempt);
    }
    return false;
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

/** The change that lists a bucket among those with a document of this kind, or takes it off the list. */
function listing({ name, id }: Bucket, kind: DocumentKind, revision: string | undefined): Change {
  const key = itemKey.bucketWith(kind, name);
  return revision === undefined ? { key, delete: true } : { key, put: { id } };
}

function listedDocuments({ documents }: Bucket): readonly DocumentKind[] {
  return [...listedKinds].filter((kind) => documents[kind] !== undefined);
}

function inTransition(bucket: Bucket): boolean {
  return bucket.closing !== undefined || bucket.settling !== undefined;
}

/** 404 that names the bucket. */
export function noSuchBucket(name: string): S3Error {
  return new S3Error('NoSuchBucket', { details: { BucketName: name } });
}

const tokenIs = (value: string): Expectation => ({ is: 'equal', attribute: 'r', value });
const closingIs = (value: string): Expectation => ({ is: 'equal', attribute: 'ct', value });
const settlingIs = (value: string): Expectation => ({ is: 'equal', attribute: 'st', value });

function encodeBucket(bucket: Bucket): Attributes {
  return {
    id: bucket.id,
    project: bucket.project,
    created: bucket.created,
    versioning: bucket.versioning,
    r: bucket.token,
    ...(bucket.closing && { ct: bucket.closing.token, cu: bucket.closing.until }),
    ...(bucket.settling && { st: bucket.settling.token, su: bucket.settling.until }),
    ...(bucket.quota?.bytes !== undefined && { qb: bucket.quota.bytes }),
    ...(bucket.quota?.objects !== undefined && { qo: bucket.quota.objects }),
    ...(bucket.full && { full: true }),
    ...(Object.keys(bucket.documents).length > 0 && { docs: bucket.documents }),
  };
}

function decodeBucket(name: string, item: Attributes, readAt: number): Bucket {
  return {
    name,
    id: item['id'] as string,
    project: item['project'] as string,
    created: numberOf(item['created']),
    versioning: item['versioning'] as Versioning,
    token: item['r'] as string,
    closing: transition(item['ct'], item['cu']),
    settling: transition(item['st'], item['su']),
    quota: decodeQuota(item),
    full: item['full'] === true,
    documents: (item['docs'] ?? {}) as Bucket['documents'],
    readAt,
  };
}

function decodeQuota({ qb: bytes, qo: objects }: Attributes): Partial<Amount> | undefined {
  if (bytes === undefined && objects === undefined) return undefined;
  return {
    ...(typeof bytes === 'number' && { bytes }),
    ...(typeof objects === 'number' && { objects }),
  };
}

function transition(token: unknown, until: unknown): Transition | undefined {
  return typeof token === 'string' ? { token, until: numberOf(until) } : undefined;
}

function numberOf(value: unknown): number {
  return typeof value === 'number' ? value : 0;
}
