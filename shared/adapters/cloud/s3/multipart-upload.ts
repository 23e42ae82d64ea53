import {
  AbortMultipartUploadCommand,
  CompleteMultipartUploadCommand,
  type CompletedPart,
  CreateMultipartUploadCommand,
  type S3Client,
  UploadPartCommand,
} from '@aws-sdk/client-s3';
import { partsInFlight, type BlobPart } from './blob-parts.ts';

/** The name and metadata of a new object. */
export interface NewObject {
  readonly Bucket: string;
  readonly Key: string;
  readonly Metadata: Record<string, string>;
}

/** An object being uploaded to S3 in parts. */
export class MultipartUpload {
  readonly #client: S3Client;
  readonly #target: { readonly Bucket: string; readonly Key: string; readonly UploadId: string | undefined };
  readonly #cancelled = new AbortController();
  /** The uploads of parts. A failed one stays, and rejects every later wait. */
  readonly #inFlight = new Set<Promise<void>>();
  readonly #done: CompletedPart[] = [];

  private constructor(client: S3Client, { Bucket, Key }: NewObject, UploadId: string | undefined) {
    this.#client = client;
    this.#target = { Bucket, Key, UploadId };
  }

  static async begin(client: S3Client, object: NewObject): Promise<MultipartUpload> {
    const command = new CreateMultipartUploadCommand({ ...object, ChecksumAlgorithm: 'CRC32' });
    const { UploadId } = await client.send(command);
    return new MultipartUpload(client, object, UploadId);
  }

  /** Starts uploading a part. Resolves as soon as there is room for another. */
  async add(part: BlobPart): Promise<void> {
    const sent = this.#send(part).then(() => void this.#inFlight.delete(sent));
    this.#inFlight.add(sent);
    // The next wait reports a failure; until then it must not count as unhandled.
    sent.catch(() => undefined);
    if (this.#inFlight.size >= partsInFlight) await Promise.race(this.#inFlight);
  }

  /** Combines the parts into one object. */
  async complete(): Promise<void> {
    await Promise.all(this.#inFlight);
    const list = { Parts: this.#done };
    await this.#client.send(new CompleteMultipartUploadCommand({ ...this.#target, MultipartUpload: list }));
  }

  /**
   * Aborts the upload. Never throws: the caller already has an error to report, and the bucket's lifecycle rule for
   * incomplete uploads removes what could not be aborted.
   */
  async abort(): Promise<void> {
    this.#cancelled.abort();
    await Promise.allSettled(this.#inFlight);
    await this.#client.send(new AbortMultipartUploadCommand(this.#target)).catch(() => undefined);
  }

  async #send({ number, bytes }: BlobPart): Promise<void> {
    const command = new UploadPartCommand({
      ...this.#target,
      PartNumber: number,
      Body: bytes,
      ChecksumAlgorithm: 'CRC32',
    });
    const { ETag, ChecksumCRC32 } = await this.#client.send(command, { abortSignal: this.#cancelled.signal });
    // Not every S3-compatible server returns the checksum.
    this.#done[number - 1] = { PartNumber: number, ETag, ...(ChecksumCRC32 === undefined ? {} : { ChecksumCRC32 }) };
  }
}
