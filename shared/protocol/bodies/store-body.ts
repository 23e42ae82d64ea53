import type { Checksum } from '../../checksums/algorithms.ts';
import { S3Error } from '../../errors/s3-error.ts';
import type { Content } from '../../metadata/objects/content.ts';
import { OutcomeUnknown } from '../../metadata/objects/outcomes.ts';
import type { BlobWriter } from '../../metadata/objects/contents.ts';
import type { BlobOwner } from '../../ports/blob-store.ts';
import type { Limits } from '../limits.ts';
import type { Payload } from './payload.ts';

/** A body that was verified to its end and is durable. */
export interface StoredBody {
  readonly size: number;
  readonly md5: Buffer;
  readonly checksum: Checksum | undefined;
  /** Undefined for an empty body: no bytes, no blob. */
  readonly blob: string | undefined;
  readonly content: Content | undefined;
  /** Removes the bytes again: nothing came to refer to them. */
  discard(): Promise<void>;
  /** Says that it is not known whether something came to refer to them, and that nothing else will. */
  abandon(): void;
  /** Abandons them after an error of which nobody knows what it left behind ({@link OutcomeUnknown}), and discards them after any other. */
  giveUp(error: unknown): Promise<void>;
}

/**
 * Streams a body into the blob store.
 * @throws S3Error EntityTooLarge, and what the payload throws if the body is not what was signed; nothing is left then
 */
export async function storeBody(
  payload: Payload,
  owner: BlobOwner,
  blobs: BlobWriter,
  limits: Limits,
): Promise<StoredBody> {
  const maximum = limits.singleUploadBytes;
  if (payload.length !== undefined && payload.length > maximum) throw tooLarge(payload.length, maximum);
  const ref = payload.length === 0 ? await exhaust(payload) : await writeBlob(payload, owner, blobs, maximum);
  const { size, md5, checksum } = payload.digests();
  if (md5 === undefined) throw new Error('an operation that stores its body must stream it');
  const refs = ref === undefined ? [] : [ref];
  const discard = (): Promise<void> => blobs.remove(refs);
  const abandon = (): void => blobs.abandon(refs);
  return {
    size,
    md5: Buffer.from(md5),
    checksum,
    blob: ref,
    content: ref === undefined ? undefined : { kind: 'blob', ref },
    discard,
    abandon,
    giveUp: async (error) => (error instanceof OutcomeUnknown ? abandon() : discard()),
  };
}

async function writeBlob(payload: Payload, owner: BlobOwner, blobs: BlobWriter, maximum: number): Promise<string> {
  const { ref } = await blobs.write(bounded(payload.bytes, maximum), owner, payload.length);
  return ref;
}

/** Even an empty body is read to its end: its digests are signed. */
async function exhaust(payload: Payload): Promise<undefined> {
  for await (const _ of payload.bytes);
}

/** A body of unknown length is measured as it comes. */
async function* bounded(bytes: AsyncIterable<Uint8Array>, maximum: number): AsyncGenerator<Uint8Array> {
  let size = 0;
  for await (const chunk of bytes) {
    size += chunk.byteLength;
    if (size > maximum) throw tooLarge(size, maximum);
    yield chunk;
  }
}

function tooLarge(proposed: number, maximum: number): S3Error {
  return new S3Error('EntityTooLarge', {
    details: { ProposedSize: String(proposed), MaxSizeAllowed: String(maximum) },
  });
}
