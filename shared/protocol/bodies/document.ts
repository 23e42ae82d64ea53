import { S3Error } from '../../errors/s3-error.ts';
import type { Payload } from './payload.ts';

const nothing = new Uint8Array();

/**
 * Reads a body up to a maximum size, and verifies it.
 * @throws S3Error MaxMessageLengthExceeded, and the errors of the payload
 */
export async function readWhole(payload: Payload, maximum: number): Promise<Uint8Array> {
  if (payload.length !== undefined && payload.length > maximum) throw tooLong(maximum);
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of payload.bytes) {
    size += chunk.byteLength;
    if (size > maximum) throw tooLong(maximum);
    chunks.push(chunk);
  }
  return chunks.length === 0 ? nothing : Buffer.concat(chunks);
}

function tooLong(maximum: number): S3Error {
  return new S3Error('MaxMessageLengthExceeded', { details: { MaxMessageLengthBytes: String(maximum) } });
}
