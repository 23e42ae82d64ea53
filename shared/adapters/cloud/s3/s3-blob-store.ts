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
  BlobSizeDiffers,
  type BlobDescription,
  BlobMissing,
  BlobsBusy,
  BlobsNotRemoved,
  type BlobOwner,
  type BlobRef,
  type BlobStore,
  type ByteRange,
  type OwnedBlob,
} from '../../../ports/blob-store.ts';
import { minute } from '../../../ports/durations.ts';
import { inParts } from './blob-parts.ts';
import { callFailure } from '../call-failure.ts';
import { MultipartUpload, type NewObject } from './multipart-upload.ts';

export interface S3BlobStoreOptions {
  readonly bucket: string;
  /** The prefix of each blob's object key. */
  readonly prefix?: string;
  /** SDK client settings: region, endpoint, credentials. Omitted settings come from the environment. */
  readonly client?: S3ClientConfig;
}

/** The maximum number of objects in one DeleteObjects request. */
const deletedAtOnce = 1000;

/**
 * Every upload carries a CRC-32, which Node computes natively at several GB/s; S3 rejects bytes that do not match and
 * stores the checksum. Responses are not checked against it: TLS protects them, and by the time a whole blob has been
 * summed its bytes have been passed on.
 */
const checksums = {
  requestChecksumCalculation: 'WHEN_SUPPORTED',
  responseChecksumValidation: 'WHEN_REQUIRED',
} as const;

/**
 * Not limited, because a copy reads one blob while it writes another: with a limit, enough copies could each hold one
 * socket and wait forever for a second. The number of concurrent requests is limited where they arrive.
 */
const defaultRequestHandler = {
  connectionTimeout: 2000,
  requestTimeout: minute,
  throwOnRequestTimeout: true,
  httpsAgent: { maxSockets: Infinity },
};

/**
 * Returns what a failed call means: {@link BlobsBusy} if S3 throttles, has an error of its own or does not answer, and otherwise the same error.
 * https://docs.aws.amazon.com/AmazonS3/latest/API/ErrorResponses.html
 */
function asBlobsBusy(error: unknown): unknown {
  const isAborted = error instanceof Error && error.name === 'AbortError';
  return isAborted || callFailure(error) === 'final' ? error : new BlobsBusy({ cause: error });
}

/** The blob store port on an S3 bucket, or on any S3-compatible service. */
export class S3BlobStore implements BlobStore {
  readonly #client: S3Client;
  readonly #bucket: string;
  readonly #prefix: string;

  constructor({ bucket, prefix = 'blobs/', client }: S3BlobStoreOptions) {
    this.#client = new S3Client({
      requestHandler: defaultRequestHandler,
      // With it, the SDK would open a new connection for every request.
      expectContinueHeader: false,
      ...checksums,
      ...client,
    });
    this.#client.middlewareStack.add(
      (next) => async (call) => {
        try {
          return await next(call);
        } catch (error) {
          throw asBlobsBusy(error);
        }
      },
      // Before the SDK's attempts, so that it sees the last of them.
      { name: 'blobsBusy', step: 'initialize', priority: 'high' },
    );
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
      // The SDK's type covers browsers too; in Node, the body is the response of node:http.
      const body = Body as Readable;
      const stored = range === undefined ? ContentLength : sizeIn(ContentRange);
      if (stored !== size || ContentLength !== lengthOf(size, range)) {
        body.destroy();
        throw new BlobSizeDiffers(ref, size, stored);
      }
      return closing(body);
    } catch (error) {
      if (error instanceof Error && error.name === 'NoSuchKey') throw new BlobMissing(ref, { cause: error });
      if (error instanceof Error && error.name === 'InvalidRange') {
        throw new BlobSizeDiffers(ref, size, undefined, { cause: error });
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
        // DeleteObjects returns 200 even if single objects failed.
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

  /** Written blobs are durable, so there is nothing to drop. */
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
      // A response to HEAD has no body with the code NoSuchKey.
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

  /**
   * Describes a blob's object. The key is base64url-encoded: metadata is limited to 2 KB of ASCII, and percent escapes
   * could triple a key of 1,024 bytes.
   */
  #newObject(ref: BlobRef, { bucketId, key }: BlobOwner): NewObject {
    const Metadata = { 'bucket-id': bucketId, key: Buffer.from(key).toString('base64url') };
    return { Bucket: this.#bucket, Key: this.#prefix + ref, Metadata };
  }
}

function lengthOf(size: number, range: ByteRange | undefined): number {
  return range === undefined ? size : range.last - range.first + 1;
}

/** Returns the total size in `bytes 0-9/1234`. */
function sizeIn(contentRange: string | undefined): number | undefined {
  const [, size] = /\/(\d+)$/.exec(contentRange ?? '') ?? [];
  return size === undefined ? undefined : Number(size);
}

function ownerIn({ 'bucket-id': bucketId, key }: Readonly<Record<string, string>>): BlobOwner | undefined {
  if (bucketId === undefined || key === undefined) return undefined;
  return { bucketId, key: Buffer.from(key, 'base64url').toString() };
}

/** Objects with other names in the bucket were not written by this store. */
const blobRefPattern = /^[A-Za-z0-9_-]{24,64}$/;

/**
 * Creates a reference: two random characters spread the names over S3's partitions, the time gives a blob's age, the
 * rest makes it unique.
 */
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
 * Wraps a stream so that `return()` frees it even if nothing was read: Node's own iterator is a generator, and one that
 * was never started has nothing to clean up.
 */
function closing(stream: Readable): AsyncIterable<Uint8Array> {
  return {
    [Symbol.asyncIterator](): AsyncIterator<Uint8Array> {
      const chunks = stream[Symbol.asyncIterator]() as AsyncIterator<Uint8Array>;
      return {
        next: () => chunks.next(),
        return: async () => {
          stream.destroy();
          // If it was started, waits for the iterator to let go of the stream, so that it does not report a premature
          // end.
          await chunks.return?.();
          return { done: true, value: undefined };
        },
      };
    },
  };
}
