import {
  CompleteMultipartUploadCommand,
  CreateMultipartUploadCommand,
  UploadPartCommand,
  type CompletedPart,
  type CompleteMultipartUploadCommandInput,
  type CompleteMultipartUploadCommandOutput,
  type CreateMultipartUploadCommandInput,
  type S3Client,
  type UploadPartCommandInput,
} from '@aws-sdk/client-s3';
import { createHash } from 'node:crypto';

/** The least bytes that every part but the last must have. */
export const leastPart = 5 * 1024 * 1024;

/** Bytes for a part: as many as a part must have and some more, all from one word. */
export function partOf(word: string, more = 0): Buffer {
  return Buffer.alloc(leastPart + more, word);
}

/** The entity tag of an object in parts: the MD5 of their MD5s, and how many they are. */
export function multipartTag(parts: readonly (string | Uint8Array)[]): string {
  const whole = createHash('md5');
  for (const part of parts) whole.update(createHash('md5').update(part).digest());
  return `"${whole.digest('hex')}-${parts.length}"`;
}

/** An upload in parts, step by step. */
export class TestUpload {
  readonly id: string;
  readonly #client: S3Client;
  readonly #object: { readonly Bucket: string; readonly Key: string };

  private constructor(client: S3Client, object: { Bucket: string; Key: string }, id: string) {
    this.#client = client;
    this.#object = object;
    this.id = id;
  }

  static async begin(
    client: S3Client,
    bucket: string,
    key = 'key',
    more: Partial<CreateMultipartUploadCommandInput> = {},
  ): Promise<TestUpload> {
    const object = { Bucket: bucket, Key: key };
    const { UploadId } = await client.send(new CreateMultipartUploadCommand({ ...object, ...more }));
    return new TestUpload(client, object, UploadId!);
  }

  /** The parameters that the requests of this upload have in common. */
  get target(): { Bucket: string; Key: string; UploadId: string } {
    return { ...this.#object, UploadId: this.id };
  }

  /** Uploads a part, and returns the entry for it in the completion of the upload. */
  async part(
    number: number,
    body: string | Uint8Array,
    more: Partial<UploadPartCommandInput> = {},
  ): Promise<CompletedPart & { PartNumber: number }> {
    const { ETag, ...sent } = await this.#client.send(
      new UploadPartCommand({ ...this.target, PartNumber: number, Body: Buffer.from(body), ...more }),
    );
    // S3 demands the checksums of the parts again if the upload was created with a composite one, which is the SDK's default.
    const sums = Object.entries(sent).filter(([name]) => /^Checksum(?!Type)/.test(name));
    return { PartNumber: number, ETag: ETag!, ...Object.fromEntries(sums) };
  }

  async complete(
    parts: CompletedPart[],
    more: Partial<CompleteMultipartUploadCommandInput> = {},
  ): Promise<CompleteMultipartUploadCommandOutput> {
    const request = { ...this.target, MultipartUpload: { Parts: parts }, ...more };
    return this.#client.send(new CompleteMultipartUploadCommand(request));
  }
}
