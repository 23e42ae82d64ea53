import { randomBytes } from 'node:crypto';
import type { Readable } from 'node:stream';
import {
  DeleteObjectsCommand,
  GetObjectCommand,
  HeadBucketCommand,
  HeadObjectCommand,
  paginateListObjectsV2,
  PutObjectCommand,
  S3Client,
  type S3ClientConfig,
} from '@aws-sdk/client-s3';
import {
  BlobDamaged,
  type BlobDescription,
  BlobMissing,
  BlobsNotRemoved,
  type BlobOwner,
  type BlobRef,
  type BlobStore,
  type ByteRange,
  type OwnedBlob,
} from '../../ports/blob-store.ts';
import { minute } from '../../ports/durations.ts';
import { inParts } from './blob-parts.ts';
import { MultipartUpload, type NewObject } from './multipart-upload.ts';

export interface S3BlobStoreOptions {
  readonly bucket: string;
  /** What stands before each reference in the name of its object. */
  readonly prefix?: string;
  /** Settings of the SDK's client: region, endpoint, credentials. What is left out comes from the environment. */
  readonly client?: S3ClientConfig;
}

/** S3 deletes this many objects with one request. */
const deletedAtOnce = 1000;

/**
 * Integrity: every upload carries a CRC-32 (S3 refuses bytes that arrive differently, and keeps the checksum), since Node
 * computes that in native code at several GB/s. Answers are not checked against it: TLS guards the way back, and by the
 * time a whole blob has been summed its bytes are with the reader.
 */
const checksums = {
  requestChecksumCalculation: 'WHEN_SUPPORTED',
  responseChecksumValidation: 'WHEN_REQUIRED',
} as const;

/**
 * A copy reads one blob while it writes another: were the sockets limited, enough copies could each hold one and wait for
 * ever for a second. How many requests run at once is limited where they come in.
 */
const defaultRequestHandler = {
  connectionTimeout: 2000,
  requestTimeout: minute,
  throwOnRequestTimeout: true,
  httpsAgent: { maxSockets: Infinity },
};

/** The blob store port over a bucket of S3, or of anything that speaks S3. */
export class S3BlobStore implements BlobStore {
  readonly #client: S3Client;
  readonly #bucket: string;
  readonly #prefix: string;

  constructor({ bucket, prefix = 'blobs/', client }: S3BlobStoreOptions) {
    this.#client = new S3Client({
      requestHandler: defaultRequestHandler,
      // The SDK opens a new connection for every request that asks first.
      expectContinueHeader: false,
      ...checksums,
      ...client,
    });
    this.#bucket = bucket;
    this.#prefix = prefix;
  }

  async write(
    bytes: AsyncIterable<Uint8Array>,
    owner: BlobOwner,
    length?: number,
  ): Promise<{ ref: BlobRef; size: number }> {
    const ref = newBlobRef();
    let size = 0;
    let upload: MultipartUpload | undefined;
    try {
      for await (const part of inParts(bytes, length)) {
        size += part.bytes.length;
        if (part.last && part.number === 1) {
          await this.#client.send(new PutObjectCommand({ ...this.#newObject(ref, owner), Body: part.bytes }));
          return { ref, size };
        }
        upload ??= await MultipartUpload.begin(this.#client, this.#newObject(ref, owner));
        await upload.add(part);
      }
      await upload?.complete();
      return { ref, size };
    } catch (error) {
      await upload?.abort();
      throw error;
    }
  }

  async read(ref: BlobRef, size: number, range?: ByteRange): Promise<AsyncIterable<Uint8Array>> {
    const Range = range && `bytes=${range.first}-${range.last}`;
    try {
      const { Body, ContentLength, ContentRange } = await this.#client.send(
        new GetObjectCommand({
          Bucket: this.#bucket,
          Key: this.#prefix + ref,
          ...(Range === undefined ? {} : { Range }),
        }),
      );
      // The SDK types the body for browsers too; in Node it is the response of node:http.
      const body = Body as Readable;
      const stored = range === undefined ? ContentLength : sizeIn(ContentRange);
      if (stored !== size || ContentLength !== lengthOf(size, range)) {
        body.destroy();
        throw new BlobDamaged(ref, size, stored);
      }
      return closing(body);
    } catch (error) {
      if (error instanceof Error && error.name === 'NoSuchKey') throw new BlobMissing(ref, { cause: error });
      if (error instanceof Error && error.name === 'InvalidRange') {
        throw new BlobDamaged(ref, size, undefined, { cause: error });
      }
      throw error;
    }
  }

  async remove(refs: readonly BlobRef[]): Promise<void> {
    const left: BlobRef[] = [];
    let reason = '';
    let cause: unknown;
    for (let at = 0; at < refs.length; at += deletedAtOnce) {
      const some = refs.slice(at, at + deletedAtOnce);
      const Objects = some.map((ref) => ({ Key: this.#prefix + ref }));
      const command = new DeleteObjectsCommand({ Bucket: this.#bucket, Delete: { Objects, Quiet: true } });
      try {
        // 200, whatever became of the single objects.
        const { Errors = [] } = await this.#client.send(command);
        for (const { Key, Code, Message } of Errors) {
          left.push(...(Key === undefined ? some : [Key.slice(this.#prefix.length)]));
          reason ||= `${Key} ${Code} ${Message}`;
        }
      } catch (error) {
        left.push(...some);
        cause ??= error;
        reason ||= String(error);
      }
    }
    if (left.length > 0) throw new BlobsNotRemoved(left, reason, { cause });
  }

  /** What is written is durable: nothing is kept aside. */
  abandon(): void {}

  async *list(): AsyncIterable<BlobDescription> {
    const request = { Bucket: this.#bucket, Prefix: this.#prefix };
    for await (const page of paginateListObjectsV2({ client: this.#client }, request)) {
      for (const { Key = '', Size = 0, LastModified } of page.Contents ?? []) {
        const ref = Key.slice(this.#prefix.length);
        if (blobRefPattern.test(ref)) yield { ref, size: Size, writtenAt: LastModified?.getTime() ?? 0 };
      }
    }
  }

  async describe(ref: BlobRef): Promise<OwnedBlob> {
    try {
      const command = new HeadObjectCommand({ Bucket: this.#bucket, Key: this.#prefix + ref });
      const { ContentLength = 0, LastModified, Metadata = {} } = await this.#client.send(command);
      return { ref, size: ContentLength, writtenAt: LastModified?.getTime() ?? 0, owner: ownerIn(Metadata) };
    } catch (error) {
      // An answer to HEAD has no body to say NoSuchKey in.
      if (error instanceof Error && error.name === 'NotFound') throw new BlobMissing(ref, { cause: error });
      throw error;
    }
  }

  async check(): Promise<{ readonly writable: boolean }> {
    await this.#client.send(new HeadBucketCommand({ Bucket: this.#bucket }));
    return { writable: true };
  }

  /** Closes idle connections. */
  close(): void {
    this.#client.destroy();
  }

  /** The key goes as base64url: metadata is ASCII of 2 KB, and percent signs could treble a key of 1,024 bytes. */
  #newObject(ref: BlobRef, { bucketId, key }: BlobOwner): NewObject {
    const Metadata = { 'bucket-id': bucketId, key: Buffer.from(key).toString('base64url') };
    return { Bucket: this.#bucket, Key: this.#prefix + ref, Metadata };
  }
}

function lengthOf(size: number, range: ByteRange | undefined): number {
  return range === undefined ? size : range.last - range.first + 1;
}

/** The size of the whole in `bytes 0-9/1234`. */
function sizeIn(contentRange: string | undefined): number | undefined {
  const [, size] = /\/(\d+)$/.exec(contentRange ?? '') ?? [];
  return size === undefined ? undefined : Number(size);
}

function ownerIn({ 'bucket-id': bucketId, key }: Readonly<Record<string, string>>): BlobOwner | undefined {
  if (bucketId === undefined || key === undefined) return undefined;
  return { bucketId, key: Buffer.from(key, 'base64url').toString() };
}

/** What lies in the bucket under any other name was not written here. */
const blobRefPattern = /^[A-Za-z0-9_-]{24,64}$/;

/** Two random characters spread the names over S3's partitions, the time tells a blob's age, the rest makes it unique. */
function newBlobRef(): BlobRef {
  const time = Buffer.alloc(6);
  time.writeUIntBE(Date.now(), 0, 6);
  return (
    randomBytes(2).toString('base64url').slice(0, 2) +
    time.toString('base64url') +
    randomBytes(15).toString('base64url')
  );
}

/**
 * A stream that `return()` frees even when nothing was read from it: Node's own iterator is a generator, and one that was
 * never started has nothing to clean up.
 */
function closing(stream: Readable): AsyncIterable<Uint8Array> {
  return {
    [Symbol.asyncIterator](): AsyncIterator<Uint8Array> {
      const chunks = stream[Symbol.asyncIterator]() as AsyncIterator<Uint8Array>;
      return {
        next: () => chunks.next(),
        return: async () => {
          stream.destroy();
          // Waits, where it was started, for the iterator to let go, and keeps it from telling of a premature end.
          await chunks.return?.();
          return { done: true, value: undefined };
        },
      };
    },
  };
}
