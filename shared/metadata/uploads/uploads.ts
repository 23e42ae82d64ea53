import { S3Error } from '../../errors/s3-error.ts';
import { BlobsNotRemoved, type BlobStore } from '../../ports/blob-store.ts';
import type { Clock } from '../../ports/clock.ts';
import { day } from '../../ports/durations.ts';
import type { Change, Item, KeyValueTable } from '../../ports/key-value-table.ts';
import type { Randomness } from '../../ports/randomness.ts';
import type { Bucket } from '../buckets/bucket.ts';
import type { Buckets } from '../buckets/buckets.ts';
import { sortableTime, timedId, writeToken } from '../table/ids.ts';
import { garbagePartitionOf, itemKey } from '../table/keys.ts';
import { conflict, optimistically, slowDown } from '../table/optimistic-write.ts';
import {
  cutKey,
  cutOf,
  indexStart,
  partKey,
  partPrefix,
  partsPrefix,
  stateKey,
  uploadIndexKey,
  uploadIndexPartition,
  uploadPartition,
} from '../table/upload-keys.ts';
import { inParallel } from '../in-parallel.ts';
import type { Manifests } from '../objects/manifests.ts';
import type { CommitExtras } from '../objects/new-version.ts';
import type { ObjectAuthorisation } from '../objects/object-authorisation.ts';
import { compareUtf8 } from '../../ports/utf8-order.ts';
import { type Start } from '../utf8-order.ts';
import {
  decodePart,
  decodeState,
  encodePart,
  encodeState,
  noSuchUpload,
  type CompletedUpload,
  decodeListed,
  encodeListed,
  type ListedUpload,
  type NewUpload,
  type Part,
  type Upload,
} from './upload.ts';

/** The upload was completed by another request meanwhile: its result is this one's, too. */
export class CompletedMeanwhile extends Error {
  readonly result: CompletedUpload;

  constructor(result: CompletedUpload) {
    super('the upload was completed meanwhile');
    this.result = result;
  }
}

/** No upload has a longer id; what is asked for may be longer than the name of an item. */
const maxIdLength = 64;

/** How long a finished upload is kept, so that a repeated Complete gets the same answer. */
export const finishedUploadTime = 7 * day;

const justOpened = { state: 'open', result: undefined, picked: undefined, releases: 0 } as const;

/** So many uploads of one part number are kept until the upload ends, the newest: its Complete says by ETag which of them it means. */
export const keptUploadsOfPart = 8;
/** As many as one write lets go of: two items each, and the state of the upload. */
const releasedAtOnce = 40;
/** Items of parts that are removed at a time, after an upload. */
const partsTogether = 16;

/** Parts were let go of since an upload was read, perhaps some that were picked. */
export class PartsReleased extends Error {
  constructor() {
    super('parts of the upload were released meanwhile');
  }
}

/** Multipart uploads: their state, their parts, and what becomes of both. */
export class Uploads {
  readonly #table: KeyValueTable;
  readonly #buckets: Buckets;
  readonly #blobs: BlobStore;
  readonly #manifests: Manifests;
  readonly #clock: Clock;
  readonly #randomness: Randomness;

  constructor(deps: {
    table: KeyValueTable;
    buckets: Buckets;
    blobs: BlobStore;
    manifests: Manifests;
    clock: Clock;
    randomness: Randomness;
  }) {
    this.#table = deps.table;
    this.#buckets = deps.buckets;
    this.#blobs = deps.blobs;
    this.#manifests = deps.manifests;
    this.#clock = deps.clock;
    this.#randomness = deps.randomness;
  }

  /** Begins an upload. @returns its id. @throws S3Error NoSuchBucket, ServiceUnavailable */
  async create({ bucket, key }: ObjectAuthorisation, fresh: NewUpload): Promise<string> {
    const initiated = this.#clock.now();
    const id = timedId(initiated, this.#randomness);
    await this.#add(bucket, [
      {
        key: stateKey(id),
        put: encodeState({ ...fresh, id, bucketId: bucket.id, key, initiated, token: this.#token(), ...justOpened }),
        expect: { is: 'absent' },
      },
      {
        key: uploadIndexKey(bucket.id, key, id),
        put: encodeListed({ ...fresh, key, id, initiated }),
        expect: { is: 'absent' },
      },
    ]);
    return id;
  }

  /** Writes what is new, into the bucket as it stands. @throws S3Error NoSuchBucket, ServiceUnavailable */
  async #add(bucket: Bucket, changes: readonly Change[]): Promise<void> {
    return optimistically(
      async () => {
        bucket = await this.#buckets.readyFor(bucket);
        const { outcome } = await this.#table.write(changes, this.#buckets.commitConditions(bucket));
        if (outcome === 'written') return;
        if (outcome === 'unknown') throw new S3Error('ServiceUnavailable');
        bucket = this.#buckets.stale(bucket);
        return conflict;
      },
      () => {
        throw new S3Error('ServiceUnavailable');
      },
    );
  }

  /** The upload of this id, whatever its state. @throws S3Error NoSuchUpload, also if it belongs to another bucket or key */
  async find(bucket: Bucket, key: string, id: string): Promise<Upload> {
    const upload = await this.look(bucket, key, id);
    if (upload === undefined) throw noSuchUpload(id);
    return upload;
  }

  /** As {@link find}, or undefined if there is none. */
  async look(bucket: Bucket, key: string, id: string): Promise<Upload | undefined> {
    if (id.length > maxIdLength) return undefined;
    const item = await this.#table.get(stateKey(id));
    const upload = item && decodeState(id, item);
    return upload?.bucketId === bucket.id && upload.key === key ? upload : undefined;
  }

  /** As {@link find}. @throws S3Error NoSuchUpload unless it is open */
  async findOpen(bucket: Bucket, key: string, id: string): Promise<Upload> {
    const upload = await this.find(bucket, key, id);
    if (upload.state !== 'open') throw noSuchUpload(id);
    return upload;
  }

  /**
   * Records a part whose bytes are stored. If the upload ended meanwhile nothing is touched: the part may be the repetition of
   * one that was completed, and the finisher of the upload looks after it.
   */
  async addPart({ bucket }: ObjectAuthorisation, upload: Upload, part: Omit<Part, 'id' | 'at'>): Promise<Part> {
    const at = this.#clock.now();
    const added = { ...part, at, id: timedId(at, this.#randomness) };
    await this.#add(bucket, [
      {
        key: partKey(upload.id, added),
        // The bucket is for whoever counts its bytes.
        put: { ...encodePart(added), bucketId: upload.bucketId },
        expect: { is: 'absent' },
      },
    ]);
    await this.findOpen(bucket, upload.key, upload.id);
    return added;
  }

  /**
   * Lets go of all uploads of a part number but the newest {@link keptUploadsOfPart}: they are gone from the upload, and their bytes are
   * queued for release. No Complete that has seen them can commit then: it has to pick its parts again. Harmless to repeat.
   */
  async releaseOldParts(id: string, number: number): Promise<void> {
    const releaseSome = async (): Promise<'done' | 'more' | typeof conflict> => {
      const { items } = await this.#table.query(uploadPartition(id), {
        ...{ prefix: partPrefix(number), reverse: true, limit: keptUploadsOfPart + releasedAtOnce },
      });
      const old = items.slice(keptUploadsOfPart).map(decodePart);
      if (old.length === 0) return 'done';
      const state = await this.#table.get(stateKey(id));
      const upload = state && decodeState(id, state);
      // Those of one that has ended are cleared up by its finisher.
      if (upload?.state !== 'open') return 'done';
      const { outcome } = await this.#table.write([
        this.#changed(upload, { releases: upload.releases + 1 }),
        ...old.map((part): Change => ({ key: partKey(id, part), delete: true, expect: { is: 'present' } })),
        ...old.flatMap((part) => this.#released(upload, part)),
      ]);
      return outcome === 'written' ? 'more' : conflict;
    };
    const exhausted = (): never => {
      throw new Error(`old parts of upload ${id} could not be released`);
    };
    while ((await optimistically(releaseSome, exhausted)) === 'more');
  }

  /** Queues the bytes of a part, due at once: they are of no version, and nobody reads those of an open upload. */
  #released({ bucketId, key }: Upload, { id, blob }: Part): readonly Change[] {
    if (blob === undefined) return [];
    const due = sortableTime(this.#clock.now());
    return [{ key: itemKey.garbage(garbagePartitionOf(id), due, `b${blob}`, id), put: { bucketId, key } }];
  }

  /** All parts in the order of their numbers, and of their age within a number. */
  async parts(id: string): Promise<readonly Part[]> {
    const parts: Part[] = [];
    if (id.length > maxIdLength) return parts;
    for (let after: string | undefined, more = true; more;) {
      const page = await this.#table.query(uploadPartition(id), {
        prefix: partsPrefix,
        ...(after !== undefined && { after }),
      });
      for (const item of page.items) parts.push(decodePart(item));
      after = page.items.at(-1)?.key.sk;
      more = page.more;
    }
    return parts;
  }

  /** The newest part of each number behind `after`, at most `limit` of them, and whether there are more. */
  async latestParts(id: string, after: number, limit: number): Promise<{ parts: readonly Part[]; more: boolean }> {
    const latest = new Map<number, Part>();
    for (const part of await this.parts(id)) if (part.number > after) latest.set(part.number, part);
    const parts = [...latest.values()];
    return { parts: parts.slice(0, limit), more: parts.length > limit };
  }

  /**
   * What must be committed together with the version that completes an upload, decided anew at each attempt.
   * @param upload as it was before its parts were read
   * @throws CompletedMeanwhile, PartsReleased, S3Error NoSuchUpload
   */
  async completion(bucket: Bucket, upload: Upload, picked: string, result: CompletedUpload): Promise<CommitExtras> {
    const present = await this.find(bucket, upload.key, upload.id);
    if (present.state === 'completed' && present.result) throw new CompletedMeanwhile(present.result);
    if (present.state !== 'open') throw noSuchUpload(upload.id);
    if (present.releases !== upload.releases) throw new PartsReleased();
    return {
      changes: [this.#ended(present, { state: 'completed', result, picked }), this.#unlisted(present)],
      conditions: [],
    };
  }

  /**
   * The next open uploads of a bucket, by key and, within a key, by age: those of whole keys, about `limit` of them, and none only
   * if there are no more. Keys that were cut alike lie in the order of their ids, so they are read to the last of them.
   */
  async openFrom(
    bucket: Bucket,
    { prefix, limit, from, after }: { readonly prefix: string; readonly limit: number } & Start,
  ): Promise<{ readonly uploads: readonly ListedUpload[]; readonly more: boolean }> {
    const found: Item[] = [];
    for (let start: Start = indexStart(from, after); ; start = { after: found.at(-1)!.key.sk }) {
      const page = await this.#table.query(uploadIndexPartition(bucket.id), {
        ...{ prefix: cutKey(prefix), limit: limit + 1 },
        ...start,
      });
      found.push(...page.items);
      const { more } = page;
      const unfinished = more ? cutOf(found.at(-1)!) : undefined;
      const uploads = found
        .filter((item) => cutOf(item) !== unfinished)
        .map(({ attributes }) => decodeListed(attributes))
        .filter(
          ({ key }) =>
            key.startsWith(prefix) &&
            (from === undefined || compareUtf8(key, from) >= 0) &&
            (after === undefined || compareUtf8(key, after) > 0),
        )
        .sort((a, b) => compareUtf8(a.key, b.key) || (a.id < b.id ? -1 : 1));
      if (uploads.length > 0 || !more) return { uploads, more };
    }
  }

  /** A page of the open uploads of a bucket whose keys begin with a prefix, behind `after`, which is the `next` of the page before. */
  async openPage(
    bucket: Bucket,
    { prefix, after, limit }: { readonly prefix: string; readonly after: string | undefined; readonly limit: number },
  ): Promise<{ readonly uploads: readonly ListedUpload[]; readonly next: string | undefined }> {
    const { items, more } = await this.#table.query(uploadIndexPartition(bucket.id), {
      prefix: cutKey(prefix),
      limit,
      ...(after !== undefined && { after }),
    });
    const uploads = items.map(({ attributes }) => decodeListed(attributes));
    return {
      uploads: uploads.filter(({ key }) => key.startsWith(prefix)),
      next: more ? items.at(-1)?.key.sk : undefined,
    };
  }

  /** Ends an upload without an object. @throws S3Error NoSuchUpload unless it is open, AccessDenied, SlowDown */
  async abort(authorisation: ObjectAuthorisation, id: string): Promise<void> {
    return optimistically(async (attempt) => {
      const bucket = await this.#buckets.confirmedFor(
        attempt === 0 ? authorisation.bucket : this.#buckets.stale(authorisation.bucket),
      );
      const upload = await this.findOpen(bucket, authorisation.key, id);
      const caller = await authorisation.confirm(bucket);
      const { outcome } = await this.#table.write(
        [this.#ended(upload, { state: 'aborted' }), this.#unlisted(upload)],
        this.#buckets.commitConditions(bucket, caller),
      );
      if (outcome === 'written') return;
      // Looking again could find it aborted by this very write, and answer that there is no such upload.
      if (outcome === 'unknown') throw new S3Error('ServiceUnavailable');
      return conflict;
    }, slowDown);
  }

  /** Ends every upload of a bucket that is gone. */
  async abortAll(bucketId: string): Promise<void> {
    for (let after: string | undefined, more = true; more;) {
      const page = await this.#table.query(uploadIndexPartition(bucketId), after === undefined ? {} : { after });
      for (const { attributes } of page.items) {
        const { id } = decodeListed(attributes);
        const state = await this.#table.get(stateKey(id));
        const upload = state && decodeState(id, state);
        if (upload?.state !== 'open') continue;
        await this.#table.write([this.#ended(upload, { state: 'aborted' }), this.#unlisted(upload)]);
      }
      after = page.items.at(-1)?.key.sk;
      more = page.more;
    }
  }

  /**
   * Clears up after an upload that has ended: parts that were not picked with their bytes, picked ones without. Harmless to
   * repeat. The state goes once it is old enough and no part is left.
   */
  async finish(id: string): Promise<void> {
    const item = await this.#table.get(stateKey(id));
    const upload = item && decodeState(id, item);
    if (upload === undefined || upload.state === 'open') return;
    const picked = new Set(
      upload.picked === undefined ? [] : (await this.#manifests.parts(upload.picked)).map(({ blob }) => blob),
    );
    const parts = await this.parts(id);
    const blobs = parts.flatMap(({ blob }) => (blob === undefined || picked.has(blob) ? [] : [blob]));
    // What cannot be removed keeps its item, by which it is found the next time.
    const left = blobs.length === 0 ? undefined : await this.#blobs.remove(blobs).catch(notRemoved);
    const gone = parts.filter(({ blob }) => blob === undefined || !left?.refs.has(blob));
    await inParallel(gone, partsTogether, async (part) => {
      await this.#table.write([{ key: partKey(id, part), delete: true }]);
    });
    if (left) throw left;
    if (this.#clock.now() - upload.initiated > finishedUploadTime) {
      await this.#table.write([{ key: stateKey(id), delete: true }]);
    }
  }

  #ended(upload: Upload, end: Pick<Upload, 'state'> & Partial<Upload>): Change {
    return this.#changed(upload, end);
  }

  /** A change of an upload that is open, and as it was read. */
  #changed(upload: Upload, change: Partial<Upload>): Change {
    return {
      key: stateKey(upload.id),
      put: encodeState({ ...upload, ...change, token: this.#token() }),
      expect: {
        is: 'all',
        of: [
          { is: 'equal', attribute: 'state', value: 'open' },
          { is: 'equal', attribute: 'r', value: upload.token },
        ],
      },
    };
  }

  #unlisted(upload: Upload): Change {
    return { key: uploadIndexKey(upload.bucketId, upload.key, upload.id), delete: true };
  }

  #token(): string {
    return writeToken(this.#randomness);
  }
}

/** @throws what says nothing about single blobs */
function notRemoved(error: unknown): BlobsNotRemoved {
  if (error instanceof BlobsNotRemoved) return error;
  throw error;
}
