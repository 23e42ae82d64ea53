import { S3Error } from '../../errors/s3-error.ts';
import type { Clock } from '../../ports/clock.ts';
import type { Change, KeyValueTable } from '../../ports/key-value-table.ts';
import type { Randomness } from '../../ports/randomness.ts';
import type { Bucket } from '../buckets/bucket.ts';
import type { Buckets } from '../buckets/buckets.ts';
import { timedId, writeToken } from '../table/keys/ids.ts';
import { conflict, optimistically, tokenIs } from '../table/optimistic-write.ts';
import { stateKey, uploadIndexKey } from '../table/keys/upload-keys.ts';
import { decodeState, encodeState, maxIdLength, noSuchUpload, type Upload } from './upload.ts';

/** The items of uploads and their changes: the common part of creating an upload, adding parts and ending it. */
export class UploadChanges {
  readonly table: KeyValueTable;
  readonly buckets: Buckets;
  readonly clock: Clock;
  readonly #randomness: Randomness;

  constructor(deps: { table: KeyValueTable; buckets: Buckets; clock: Clock; randomness: Randomness }) {
    this.table = deps.table;
    this.buckets = deps.buckets;
    this.clock = deps.clock;
    this.#randomness = deps.randomness;
  }

  /** Returns the upload with this id, in any state, bucket and key, or undefined. */
  async byId(id: string): Promise<Upload | undefined> {
    if (id.length > maxIdLength) return undefined;
    const item = await this.table.get(stateKey(id));
    return item && decodeState(id, item);
  }

  /** As {@link byId}. @throws S3Error NoSuchUpload unless it is open and of this bucket and key */
  async open(bucketId: string, key: string, id: string): Promise<Upload> {
    const upload = await this.byId(id);
    if (upload?.bucketId === bucketId && upload.key === key && upload.state === 'open') return upload;
    throw noSuchUpload(id);
  }

  /** Writes new items, on condition that the bucket exists. @throws S3Error NoSuchBucket, ServiceUnavailable */
  async add(bucket: Bucket, changes: readonly Change[]): Promise<void> {
    return optimistically(
      async () => {
        bucket = await this.buckets.readyFor(bucket);
        const { outcome } = await this.table.write(changes, this.buckets.commitConditions(bucket));
        if (outcome === 'written') return;
        if (outcome === 'unknown') throw new S3Error('ServiceUnavailable');
        bucket = this.buckets.stale(bucket);
        return conflict;
      },
      () => {
        throw new S3Error('ServiceUnavailable');
      },
    );
  }

  /** Returns the changes that end an upload, on condition that it is open and unchanged. */
  ended(upload: Upload, end: Pick<Upload, 'state'> & Partial<Upload>): readonly Change[] {
    const unlisted: Change = { key: uploadIndexKey(upload.bucketId, upload.key, upload.id), delete: true };
    return [this.changed(upload, end), unlisted];
  }

  /** Returns a change of an upload, on condition that it is open and unchanged. */
  changed(upload: Upload, change: Partial<Upload>): Change {
    return {
      key: stateKey(upload.id),
      put: encodeState({ ...upload, ...change, token: this.token() }),
      expect: {
        is: 'all',
        of: [{ is: 'equal', attribute: 'state', value: 'open' }, tokenIs(upload.token)],
      },
    };
  }

  token(): string {
    return writeToken(this.#randomness);
  }

  /** Returns a new id, which sorts by time. */
  id(now: number): string {
    return timedId(now, this.#randomness);
  }
}
