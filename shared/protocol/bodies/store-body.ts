import type { Checksum } from '../../checksums/algorithms.ts';
import { S3Error } from '../../errors/s3-error.ts';
import type { Content } from '../../storage/versions/stored-values.ts';
import { OutcomeUnknown } from '../../storage/version-changes/outcomes.ts';
import type { BlobWriter } from '../../storage/objects/contents.ts';
import type { BlobOwner } from '../../ports/blob-store.ts';
import type { Limits } from '../limits.ts';
import type { Payload } from './payload.ts';

/** A body that is verified and durable. */
export interface StoredBody {
  readonly size: number;
  readonly md5: Buffer;
  readonly checksum: Checksum | undefined;
  /** Undefined for an empty body, which has no blob. */
  readonly blob: string | undefined;
  readonly content: Content | undefined;
  /** Removes the bytes, because nothing refers to them. If they cannot be removed, a scrub finds them, and the outcome of the request stays. */
  discard(): Promise<void>;
  /** Marks that it is unknown whether something refers to the bytes, and that nothing else will. */
  abandon(): void;
  /**
   * Abandons the bytes after an error with an unknown outcome ({@link OutcomeUnknown}), and discards them after any
   * other.
   */
  giveUp(error: unknown): Promise<void>;
}

/**
 * Streams a body into the blob store.
 * @throws S3Error EntityTooLarge, and the errors of the payload if the body is not what was signed; leaves no bytes
 *   then
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
  const discard = (): Promise<void> => blobs.remove(refs).catch(() => undefined);
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
  // A payload of known length has been compared with the maximum, and ends with an error if it turns out longer.
  const bytes = payload.length === undefined ? bounded(payload.bytes, maximum) : payload.bytes;
  const { ref } = await blobs.write(bytes, owner, payload.length);
  return ref;
}

/** Reads an empty body to its end, since its digests are signed. */
async function exhaust(payload: Payload): Promise<undefined> {
  for await (const _ of payload.bytes);
}

/** Limits a body of unknown length while it arrives. */
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
