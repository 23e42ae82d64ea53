import type { Checksum, ChecksumAlgorithm, ChecksumType } from '../../checksums/algorithms.ts';
import { decodeEncryption, encodeEncryption, type EncryptionRecord } from '../../encryption/customer-key.ts';
import { S3Error } from '../../errors/s3-error.ts';
import type { BlobStore } from '../../ports/blob-store.ts';
import type { Clock } from '../../ports/clock.ts';
import type { Attributes, Change, Item, ItemKey, KeyValueTable } from '../../ports/key-value-table.ts';
import type { Randomness } from '../../ports/randomness.ts';
import type { Bucket } from '../buckets/bucket.ts';
import { timedId, writeToken } from '../ids.ts';
import type { Manifests } from '../objects/manifests.ts';
import type { Companions, NewVersion } from '../objects/new-version.ts';
import { cutKey, cutOf, indexStart, uploadIndexKey, uploadIndexPartition, uploadPartition } from './upload-index.ts';
import { compareUtf8, type Start } from '../utf8-order.ts';
import {
  decodeChecksum,
  decodeParticulars,
  encodeChecksum,
  encodeParticulars,
  type Particulars,
} from '../objects/versions.ts';

/** What CreateMultipartUpload says about the object to come. */
export interface NewUpload {
  /** The canonical id of the project that will own the object, and of the one that began the upload. */
  readonly owner: string;
  readonly initiator: string;
  readonly contentType: string | undefined;
  readonly particulars: Particulars;
  readonly encryption: EncryptionRecord | undefined;
  /** The checksum that every part must bring, if the upload has one. */
  readonly checksum: { readonly algorithm: ChecksumAlgorithm; readonly type: ChecksumType } | undefined;
  /** Fields of the request that policies ask for, and will ask for again when parts come. */
  readonly asked?: Readonly<Record<string, string>> | undefined;
}

export interface Upload extends NewUpload {
  readonly id: string;
  readonly bucketId: string;
  readonly key: string;
  /** Milliseconds since the epoch. */
  readonly initiated: number;
  readonly token: string;
  readonly state: 'open' | 'completed' | 'aborted';
  /** What Complete answered, and answers again. */
  readonly result: CompletedUpload | undefined;
  /** The manifest that Complete wrote. */
  readonly picked: string | undefined;
}

export interface CompletedUpload {
  readonly md5: Uint8Array;
  readonly partCount: number;
  readonly versionId: string;
  readonly checksum: Checksum | undefined;
}

/** An open upload in its bucket's list. */
export interface ListedUpload {
  readonly key: string;
  readonly id: string;
  readonly initiated: number;
  readonly initiator: string;
  readonly owner: string;
}

/** A part as it was uploaded. Uploading a number again adds another part; the newest counts. */
export interface Part {
  /** Sorts by age. */
  readonly id: string;
  readonly number: number;
  readonly blob: string | undefined;
  readonly size: number;
  readonly md5: Uint8Array;
  readonly checksum: Checksum | undefined;
  /** Milliseconds since the epoch. */
  readonly at: number;
}

/** The upload was completed by another request meanwhile: its result is this one's, too. */
export class CompletedMeanwhile extends Error {
  readonly result: CompletedUpload;

  constructor(result: CompletedUpload) {
    super('the upload was completed meanwhile');
    this.result = result;
  }
}

const stateKey = (id: string): ItemKey => ({ pk: uploadPartition(id), sk: '-' });
const partKey = (upload: string, part: Pick<Part, 'number' | 'id'>): ItemKey => ({
  pk: uploadPartition(upload),
  sk: `p/${paddedNumber(part.number)}/${part.id}`,
});

/** No upload has a longer id; what is asked for may be longer than the name of an item. */
const longestId = 64;

/** How long a finished upload is kept, so that a repeated Complete gets the same answer. */
export const finishedUploadTime = 7 * 24 * 60 * 60 * 1000;

/** Multipart uploads: their state, their parts, and what becomes of both. */
export class Uploads {
  readonly #table: KeyValueTable;
  readonly #blobs: BlobStore;
  readonly #manifests: Manifests;
  readonly #clock: Clock;
  readonly #randomness: Randomness;

  constructor(rooms: {
    table: KeyValueTable;
    blobs: BlobStore;
    manifests: Manifests;
    clock: Clock;
    randomness: Randomness;
  }) {
    this.#table = rooms.table;
    this.#blobs = rooms.blobs;
    this.#manifests = rooms.manifests;
    this.#clock = rooms.clock;
    this.#randomness = rooms.randomness;
  }

  /** Begins an upload. @returns its id */
  async create(bucket: Bucket, key: string, fresh: NewUpload): Promise<string> {
    const initiated = this.#clock.now();
    const id = timedId(initiated, this.#randomness);
    const { outcome } = await this.#table.write([
      {
        key: stateKey(id),
        put: encodeState({ ...fresh, id, bucketId: bucket.id, key, initiated, token: this.#token(), ...justOpened }),
        expect: { is: 'absent' },
      },
      {
        key: uploadIndexKey(bucket.id, key, id),
        put: { key, id, initiated, initiator: fresh.initiator, owner: fresh.owner },
        expect: { is: 'absent' },
      },
    ]);
    if (outcome !== 'written') throw new S3Error('ServiceUnavailable');
    return id;
  }

  /** The upload of this id, whatever its state. @throws S3Error NoSuchUpload, also if it belongs to another bucket or key */
  async find(bucket: Bucket, key: string, id: string): Promise<Upload> {
    const upload = await this.look(bucket, key, id);
    if (upload === undefined) throw noSuchUpload(id);
    return upload;
  }

  /** As {@link find}, or undefined if there is none. */
  async look(bucket: Bucket, key: string, id: string): Promise<Upload | undefined> {
    if (id.length > longestId) return undefined;
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
  async addPart(bucket: Bucket, upload: Upload, part: Omit<Part, 'id' | 'at'>): Promise<Part> {
    const at = this.#clock.now();
    const added = { ...part, at, id: timedId(at, this.#randomness) };
    const { outcome } = await this.#table.write([
      {
        key: partKey(upload.id, added),
        // The bucket is for whoever counts its bytes.
        put: { ...encodePart(added), bucketId: upload.bucketId },
        expect: { is: 'absent' },
      },
    ]);
    if (outcome !== 'written') throw new S3Error('ServiceUnavailable');
    await this.findOpen(bucket, upload.key, upload.id);
    return added;
  }

  /** All parts in the order of their numbers, and of their age within a number. */
  async parts(id: string): Promise<readonly Part[]> {
    const parts: Part[] = [];
    if (id.length > longestId) return parts;
    for (let after: string | undefined, more = true; more;) {
      const page = await this.#table.query(uploadPartition(id), {
        prefix: 'p/',
        ...(after !== undefined && { after }),
      });
      parts.push(...page.items.map(decodePart));
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
   * @throws CompletedMeanwhile, S3Error NoSuchUpload
   */
  async completion(bucket: Bucket, upload: Upload, picked: string, result: CompletedUpload): Promise<Companions> {
    const present = await this.find(bucket, upload.key, upload.id);
    if (present.state === 'completed' && present.result) throw new CompletedMeanwhile(present.result);
    if (present.state !== 'open') throw noSuchUpload(upload.id);
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
        .map(({ attributes }) => attributes as unknown as ListedUpload)
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
    const uploads = items.map(({ attributes }) => attributes as unknown as ListedUpload);
    return {
      uploads: uploads.filter(({ key }) => key.startsWith(prefix)),
      next: more ? items.at(-1)?.key.sk : undefined,
    };
  }

  /** Ends an upload without an object. @throws S3Error NoSuchUpload unless it is open */
  async abort(bucket: Bucket, key: string, id: string): Promise<void> {
    for (;;) {
      const upload = await this.findOpen(bucket, key, id);
      const { outcome } = await this.#table.write([this.#ended(upload, { state: 'aborted' }), this.#unlisted(upload)]);
      if (outcome === 'written') return;
      // Looking again could find it aborted by this very write, and answer that there is no such upload.
      if (outcome === 'unknown') throw new S3Error('ServiceUnavailable');
    }
  }

  /** Ends every upload of a bucket that is gone. */
  async abortAll(bucketId: string): Promise<void> {
    const { items } = await this.#table.query(uploadIndexPartition(bucketId));
    for (const { attributes } of items) {
      const { id } = attributes as unknown as ListedUpload;
      const state = await this.#table.get(stateKey(id));
      const upload = state && decodeState(id, state);
      if (upload?.state !== 'open') continue;
      await this.#table.write([this.#ended(upload, { state: 'aborted' }), this.#unlisted(upload)]);
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
    for (const part of await this.parts(id)) {
      if (part.blob !== undefined && !picked.has(part.blob)) await this.#blobs.remove([part.blob]);
      await this.#table.write([{ key: partKey(id, part), delete: true }]);
    }
    if (this.#clock.now() - upload.initiated > finishedUploadTime) {
      await this.#table.write([{ key: stateKey(id), delete: true }]);
    }
  }

  #ended(upload: Upload, end: Pick<Upload, 'state'> & Partial<Upload>): Change {
    return {
      key: stateKey(upload.id),
      put: encodeState({ ...upload, ...end, token: this.#token() }),
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

/** 404 that names the upload. */
export function noSuchUpload(id: string): S3Error {
  return new S3Error('NoSuchUpload', { details: { UploadId: id } });
}

/** What a completed upload brings to the commit of its version. */
export function versionOf(upload: Upload, size: number, result: CompletedUpload, manifest: string): NewVersion {
  const { owner, contentType, particulars, encryption } = upload;
  const { md5, partCount, checksum } = result;
  return {
    marker: false,
    size,
    md5,
    partCount,
    content: { kind: 'manifest', id: manifest },
    owner,
    contentType,
    checksum,
    encryption,
    particulars,
  };
}

const justOpened = { state: 'open', result: undefined, picked: undefined } as const;

function paddedNumber(number: number): string {
  return String(number).padStart(5, '0');
}

function encodeState(upload: Upload): Attributes {
  const { checksum, result } = upload;
  return {
    state: upload.state,
    bucketId: upload.bucketId,
    key: upload.key,
    initiated: upload.initiated,
    initiator: upload.initiator,
    owner: upload.owner,
    ...(upload.contentType !== undefined && { y: upload.contentType }),
    ...encodeParticulars(upload.particulars),
    ...(upload.encryption && { x: encodeEncryption(upload.encryption) }),
    ...(checksum && { algorithm: checksum.algorithm, type: checksum.type }),
    ...(upload.asked && { asked: upload.asked }),
    ...(upload.picked !== undefined && { picked: upload.picked }),
    ...(result && {
      result: {
        md5: result.md5,
        parts: result.partCount,
        version: result.versionId,
        ...(result.checksum && { k: encodeChecksum(result.checksum) }),
      },
    }),
    r: upload.token,
  };
}

function decodeState(id: string, item: Attributes): Upload {
  const result = item['result'] as Attributes | undefined;
  const algorithm = item['algorithm'] as ChecksumAlgorithm | undefined;
  const encryption = item['x'] as Uint8Array | undefined;
  return {
    id,
    state: item['state'] as Upload['state'],
    bucketId: item['bucketId'] as string,
    key: item['key'] as string,
    initiated: item['initiated'] as number,
    initiator: item['initiator'] as string,
    owner: item['owner'] as string,
    contentType: item['y'] as string | undefined,
    particulars: decodeParticulars(item),
    encryption: encryption && decodeEncryption(encryption),
    checksum: algorithm && { algorithm, type: item['type'] as ChecksumType },
    asked: item['asked'] as Upload['asked'],
    picked: item['picked'] as string | undefined,
    result: result && {
      md5: result['md5'] as Uint8Array,
      partCount: result['parts'] as number,
      versionId: result['version'] as string,
      checksum: decodeChecksum(result['k']),
    },
    token: item['r'] as string,
  };
}

function encodePart(part: Part): Attributes {
  return {
    ...(part.blob !== undefined && { blob: part.blob }),
    size: part.size,
    md5: part.md5,
    at: part.at,
    ...(part.checksum && { k: encodeChecksum(part.checksum) }),
  };
}

function decodePart({ key, attributes }: Item): Part {
  const [, number, id] = key.sk.split('/') as [string, string, string];
  return {
    id,
    number: Number(number),
    blob: attributes['blob'] as string | undefined,
    size: attributes['size'] as number,
    md5: attributes['md5'] as Uint8Array,
    at: attributes['at'] as number,
    checksum: decodeChecksum(attributes['k']),
  };
}
