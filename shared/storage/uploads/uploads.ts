import type { BlobStore } from '../../ports/blob-store.ts';
import type { Clock } from '../../ports/clock.ts';
import type { KeyValueTable } from '../../ports/key-value-table.ts';
import type { Randomness } from '../../ports/randomness.ts';
import type { Bucket } from '../buckets/bucket.ts';
import type { Buckets } from '../buckets/buckets.ts';
import type { Manifests } from '../objects/manifests.ts';
import type { CommitExtras } from '../version-changes/new-version.ts';
import type { ObjectAuthorisation } from '../version-changes/object-authorisation.ts';
import { unlimited, type Room } from '../quotas/quotas.ts';
import { itemBytes } from '../table/item-size.ts';
import { stateKey, uploadIndexKey } from '../table/keys/upload-keys.ts';
import type { Start } from '../utf8-order.ts';
import { abortUpload, abortUploadsOf, finishUpload } from './end-upload.ts';
import { OpenUploadsLimit } from './open-uploads-limit.ts';
import { openUploadsFrom, openUploadsPage, type OpenUploadsRange } from './open-uploads.ts';
import { addPart, PartsReleased, partsOf, releaseOldParts } from './parts.ts';
import { UploadChanges } from './upload-changes.ts';
import {
  encodeListed,
  encodeState,
  noSuchUpload,
  type CompletedUpload,
  type ListedUpload,
  type NewUpload,
  type Part,
  type Upload,
} from './upload.ts';

/** Another request has completed the upload meanwhile. Its result is also that of this one. */
export class CompletedMeanwhile extends Error {
  readonly result: CompletedUpload;

  constructor(result: CompletedUpload) {
    super('the upload was completed meanwhile');
    this.result = result;
  }
}

const justOpened = { state: 'open', result: undefined, picked: undefined, releases: 0, held: 0 } as const;

/** The repository of multipart uploads: their state, their parts, and their ending. */
export class Uploads {
  readonly #changes: UploadChanges;
  readonly #table: KeyValueTable;
  readonly #openUploads: OpenUploadsLimit;
  readonly #deps: { readonly blobs: BlobStore; readonly manifests: Manifests };

  constructor(deps: {
    table: KeyValueTable;
    buckets: Buckets;
    blobs: BlobStore;
    manifests: Manifests;
    clock: Clock;
    randomness: Randomness;
  }) {
    this.#changes = new UploadChanges(deps);
    this.#table = deps.table;
    this.#openUploads = new OpenUploadsLimit(deps);
    this.#deps = { blobs: deps.blobs, manifests: deps.manifests };
  }

  /**
   * Creates an upload.
   * @param room for open uploads of the bucket. Uploads that other processes open at the same time may exceed `most`
   * @returns its id
   * @throws S3Error NoSuchBucket, QuotaExceeded, ServiceUnavailable
   */
  async create({ bucket, key }: ObjectAuthorisation, fresh: NewUpload, room: Room = unlimited): Promise<string> {
    const initiated = this.#changes.clock.now();
    const id = this.#changes.id(initiated);
    const token = this.#changes.token();
    const listed = encodeListed({ ...fresh, key, id, initiated });
    const upload = { ...fresh, id, bucketId: bucket.id, key, initiated, token, ...justOpened };
    const held = itemBytes(encodeState(upload)) + itemBytes(listed);
    await this.#openUploads.admit(bucket.id, room.most);
    const reservation = await room.reserve(held);
    try {
      await this.#changes.add(bucket, [
        { key: stateKey(id), put: encodeState({ ...upload, held }), expect: { is: 'absent' } },
        { key: uploadIndexKey(bucket.id, key, id), put: listed, expect: { is: 'absent' } },
      ]);
    } finally {
      reservation.release();
    }
    return id;
  }

  /** Returns the upload with this id, in any state. @throws S3Error NoSuchUpload, also if it is of another bucket or key */
  async find(bucket: Bucket, key: string, id: string): Promise<Upload> {
    const upload = await this.look(bucket, key, id);
    if (upload === undefined) throw noSuchUpload(id);
    return upload;
  }

  /** As {@link find}, but returns undefined instead of throwing. */
  async look(bucket: Bucket, key: string, id: string): Promise<Upload | undefined> {
    const upload = await this.#changes.byId(id);
    return upload?.bucketId === bucket.id && upload.key === key ? upload : undefined;
  }

  /** As {@link find}. @throws S3Error NoSuchUpload unless it is open */
  async findOpen(bucket: Bucket, key: string, id: string): Promise<Upload> {
    return this.#changes.open(bucket.id, key, id);
  }

  /**
   * Records a part whose bytes are stored. If the upload has ended, this cleans nothing up: the part may repeat one that is part of
   * the object, and {@link finish} will find it.
   * @throws S3Error NoSuchBucket, NoSuchUpload, ServiceUnavailable
   */
  async addPart(authorisation: ObjectAuthorisation, upload: Upload, part: Omit<Part, 'id' | 'at'>): Promise<Part> {
    return addPart(this.#changes, authorisation, upload, part);
  }

  /**
   * Releases all uploads of a part number except the newest `keptUploadsOfPart`: removes them from the upload, and queues their bytes
   * for removal. A CompleteMultipartUpload that has read them cannot commit and must select its parts again. May be repeated.
   */
  async releaseOldParts(id: string, number: number): Promise<void> {
    return releaseOldParts(this.#changes, id, number);
  }

  /** Returns all parts in the order of their numbers, and of their age within a number. */
  async parts(id: string): Promise<readonly Part[]> {
    return partsOf(this.#table, id);
  }

  /** Returns the newest part of each number above `after`, at most `limit` of them, and whether there are more. */
  async latestParts(id: string, after: number, limit: number): Promise<{ parts: readonly Part[]; more: boolean }> {
    const latest = new Map<number, Part>();
    for (const part of await this.parts(id)) if (part.number > after) latest.set(part.number, part);
    const parts = [...latest.values()];
    return { parts: parts.slice(0, limit), more: parts.length > limit };
  }

  /**
   * Returns the extras of the commit whose version completes an upload. Called at every attempt.
   * @param upload as it was before its parts were read
   * @throws CompletedMeanwhile, PartsReleased, S3Error NoSuchUpload
   */
  async completion(bucket: Bucket, upload: Upload, picked: string, result: CompletedUpload): Promise<CommitExtras> {
    const present = await this.find(bucket, upload.key, upload.id);
    if (present.state === 'completed' && present.result) throw new CompletedMeanwhile(present.result);
    if (present.state !== 'open') throw noSuchUpload(upload.id);
    if (present.releases !== upload.releases) throw new PartsReleased();
    return { changes: this.#changes.ended(present, { state: 'completed', result, picked }), conditions: [] };
  }

  /**
   * Returns the next open uploads of a bucket, by key and, within a key, by age. The uploads of a key are never split, so there may be
   * more or fewer than `limit`; none only if there are no more. The index truncates long keys and orders equal ones by upload id, so
   * all uploads with the same truncated key are read.
   */
  async openFrom(
    bucket: Bucket,
    range: { readonly prefix: string; readonly limit: number } & Start,
  ): Promise<{ readonly uploads: readonly ListedUpload[]; readonly more: boolean }> {
    return openUploadsFrom(this.#table, bucket.id, range);
  }

  /** Returns a page of the open uploads whose keys have a prefix, in the order of the index. @param range.after the `next` of the page before */
  async openPage(
    bucket: Bucket,
    range: OpenUploadsRange & { readonly limit: number },
  ): Promise<{ readonly uploads: readonly ListedUpload[]; readonly next: string | undefined }> {
    return openUploadsPage(this.#table, bucket.id, range);
  }

  /** Ends an upload without creating an object. @throws S3Error NoSuchUpload unless it is open, AccessDenied, SlowDown */
  async abort(authorisation: ObjectAuthorisation, id: string): Promise<void> {
    return abortUpload(this.#changes, authorisation, id);
  }

  /** Ends every upload of a bucket that is gone. */
  async abortAll(bucketId: string): Promise<void> {
    return abortUploadsOf(this.#changes, bucketId);
  }

  /**
   * Cleans up after an upload that has ended: removes the parts, with the bytes of those that are not in the object. Removes the state
   * once it is older than `finishedUploadTime`. May be repeated.
   * @throws BlobsNotRemoved
   */
  async finish(id: string): Promise<void> {
    return finishUpload(this.#changes, this.#deps, id);
  }
}
