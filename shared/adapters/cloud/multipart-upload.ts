import {
  AbortMultipartUploadCommand,
  CompleteMultipartUploadCommand,
  type CompletedPart,
  CreateMultipartUploadCommand,
  type S3Client,
  UploadPartCommand,
} from '@aws-sdk/client-s3';
import { partsInFlight, type BlobPart } from './blob-parts.ts';

/** What an object is to be called and what is kept beside its bytes. */
export interface NewObject {
  readonly Bucket: string;
  readonly Key: string;
  readonly Metadata: Record<string, string>;
}

/** One object on its way into S3, part by part. */
export class MultipartUpload {
  readonly #client: S3Client;
  readonly #target: { readonly Bucket: string; readonly Key: string; readonly UploadId: string | undefined };
  readonly #cancelled = new AbortController();
  /** A part that failed stays here, and fails whatever waits next. */
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

  /** Takes a part, and returns as soon as there is room for another. */
  async add(part: BlobPart): Promise<void> {
    const sent = this.#send(part).then(() => void this.#inFlight.delete(sent));
    this.#inFlight.add(sent);
    // Whoever waits next learns of a failure; until then it must not count as unhandled.
    sent.catch(() => undefined);
    if (this.#inFlight.size >= partsInFlight) await Promise.race(this.#inFlight);
  }

  /** Makes the parts one object. */
  async complete(): Promise<void> {
    await Promise.all(this.#inFlight);
    const list = { Parts: this.#done };
    await this.#client.send(new CompleteMultipartUploadCommand({ ...this.#target, MultipartUpload: list }));
  }

  /**
   * Gives the upload up. Does not throw: whoever gives up has a reason to report already, and what S3 keeps of an upload
   * that could not be aborted goes by the bucket's lifecycle rule for incomplete uploads.
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
    // Not every server that speaks S3 answers with the checksum.
    this.#done[number - 1] = { PartNumber: number, ETag, ...(ChecksumCRC32 === undefined ? {} : { ChecksumCRC32 }) };
  }
}
