import type { Clock } from '../../ports/clock.ts';
import type { KeyValueTable } from '../../ports/key-value-table.ts';
import type { Randomness } from '../../ports/randomness.ts';
import type { Amount } from '../amount.ts';
import { numberOf } from '../table/attribute-values.ts';
import * as keyParts from '../table/keys/key-parts.ts';
import { ownedBucketPrefix, partition } from '../table/keys/keys.ts';
import { settled } from '../table/settled.ts';
import type { Authorisation, BucketAuthorisation } from './authorisation.ts';
import { BucketChanges } from './bucket-changes.ts';
import { BucketDocuments, type Revision } from './bucket-documents.ts';
import { bucketCountOf, BucketReads } from './bucket-reads.ts';
import type { BucketSettings, ObjectLockSettings } from './bucket-settings.ts';
import { closingIs, settlingIs, type Bucket, type Transition, type Versioning } from './bucket.ts';
import { createBucket, type BucketBeginning } from './create-bucket.ts';
import { setObjectLock } from './lock-bucket.ts';
import { removeBucket } from './remove-bucket.ts';
import { setVersioning } from './set-versioning.ts';

export interface OwnedBucketEntry {
  readonly name: string;
  readonly created: number;
}

/** The repository of buckets: their items and documents, and the lists of a project's buckets. Reads are in {@link BucketReads}. */
export class Buckets extends BucketReads {
  readonly documents: BucketDocuments;
  readonly #table: KeyValueTable;
  readonly #changes: BucketChanges;

  constructor(deps: { table: KeyValueTable; clock: Clock; randomness: Randomness }) {
    super(deps);
    this.#table = deps.table;
    this.#changes = new BucketChanges(deps, this);
    this.documents = new BucketDocuments({ ...deps, buckets: this });
  }

  /**
   * Creates a bucket if its name is free and the project has fewer than `limit` buckets.
   * @returns `owned` if the project has this bucket already; then nothing is changed
   * @throws S3Error BucketAlreadyExists (another project's), TooManyBuckets, SlowDown
   */
  async create(
    authorisation: Authorisation,
    name: string,
    project: string,
    limit: number,
    beginning: BucketBeginning = {},
  ): Promise<'created' | 'owned'> {
    return createBucket(this.#changes, authorisation, name, project, limit, beginning);
  }

  /**
   * Removes an empty bucket. Writers wait meanwhile. The bucket purge removes its uploads and documents later.
   * @throws S3Error NoSuchBucket, BucketNotEmpty, SlowDown
   */
  async remove(authorisation: BucketAuthorisation): Promise<void> {
    return removeBucket(this.#changes, authorisation, (bucket) => this.documents.unlisted(bucket));
  }

  /** Changes the versioning state. @throws S3Error NoSuchBucket, InvalidBucketState (the bucket has an object lock), SlowDown */
  async setVersioning(authorisation: BucketAuthorisation, versioning: Exclude<Versioning, 'off'>): Promise<void> {
    return setVersioning(this.#changes, authorisation, versioning);
  }

  /**
   * Changes settings of the bucket.
   * @param change returns the new settings, given the bucket as it is at the commit; may throw. Called at every attempt
   * @throws S3Error NoSuchBucket, SlowDown
   */
  async configure(
    authorisation: BucketAuthorisation,
    change: (bucket: Bucket) => Omit<BucketSettings, 'objectLock'> | Promise<Omit<BucketSettings, 'objectLock'>>,
  ): Promise<void> {
    await this.revise(authorisation, async (bucket) => ({ bucket: { ...bucket, ...(await change(bucket)) } }));
  }

  /**
   * Enables the object lock of a bucket, or changes its default retention.
   * @throws S3Error NoSuchBucket, InvalidBucketState (versioning is not enabled), SlowDown
   */
  async setObjectLock(authorisation: BucketAuthorisation, objectLock: ObjectLockSettings): Promise<void> {
    return setObjectLock(this.#changes, authorisation, objectLock);
  }

  /**
   * Sets the bucket's quota. The deployment's default applies to an omitted field. Existing objects beyond the quota are kept.
   * Clears the mark of a full bucket, so the next write is accepted; a follower of the feed sets the mark again if necessary.
   * @throws S3Error NoSuchBucket, SlowDown
   */
  async setQuota(authorisation: BucketAuthorisation, quota: Partial<Amount>): Promise<void> {
    await this.revise(authorisation, async (bucket) => ({ bucket: { ...bucket, quota, full: false } }));
  }

  /** Marks a bucket as full, or no longer full, unless it is gone. @throws S3Error SlowDown */
  async setFull(name: string, id: string, full: boolean): Promise<void> {
    if ((await this.find(name))?.id !== id) return;
    await this.#changes.revise({
      load: () => this.ready(name),
      revision: async (bucket) => (bucket.id === id ? { bucket: { ...bucket, full } } : undefined),
      confirm: async () => [],
    });
  }

  /**
   * Changes a bucket's item. Repeats the attempt if another writer has changed it meanwhile.
   * @param revision returns the changes for the bucket as it is now, or undefined for none. Called again after a write whose response
   *   was lost
   * @returns the bucket as it was before
   * @throws S3Error NoSuchBucket, SlowDown
   */
  async revise(
    authorisation: BucketAuthorisation,
    revision: (bucket: Bucket, attempt: number) => Promise<Revision | undefined>,
  ): Promise<Bucket> {
    return this.#changes.revise({
      load: () => this.present(authorisation.bucket),
      revision,
      confirm: (bucket) => authorisation.confirm(bucket),
    });
  }

  /** Returns the number of buckets of a project. */
  countOf(project: string): Promise<number> {
    return bucketCountOf(this.#table, project);
  }

  /** Returns a page of a project's buckets after `after`, in the order of their names. */
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

  protected override async abandon(bucket: Bucket, transition: Transition): Promise<void> {
    const closes = bucket.closing?.token === transition.token;
    const change = closes
      ? this.#changes.change({ ...bucket, closing: undefined }, closingIs(transition.token))
      : this.#changes.change({ ...bucket, settling: undefined }, settlingIs(transition.token));
    await settled(this.#table.write([change]));
  }
}
