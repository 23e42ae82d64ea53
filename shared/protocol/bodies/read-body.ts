import { S3Error } from '../../errors/s3-error.ts';
import type { Fields } from '../../http/message.ts';
import { EventLoopBudget } from '../../ports/event-loop.ts';
import type { BodyMode, Settings } from '../operation.ts';
import { isLengthGiven } from './announced-body.ts';
import type { Payload } from './payload.ts';

/** Returns a function that calls `begin` the first time, and returns the same promise every time. */
export function once<Value>(begin: () => Promise<Value>): () => Promise<Value> {
  let begun: Promise<Value> | undefined;
  return () => (begun ??= begin());
}

/** The maximum size in bytes of a body without a meaning. It is read because its signature and length are verified. */
const meaninglessBytes = 1024 * 1024;

/**
 * Reads the body of a request as its operation wants it: the part of the operation's context that holds it.
 * @throws S3Error MissingContentLength, and the errors of the body
 */
export async function readBody(mode: BodyMode, fields: Fields, payload: Payload, settings: Settings): Promise<object> {
  if (mode === 'stream' || mode === 'form') return { payload };
  if (mode === 'none') {
    await readWhole(payload, meaninglessBytes);
    return {};
  }
  const isChunked = fields.has('transfer-encoding');
  const isAbsent = mode.optional === true && !isChunked;
  if (!isLengthGiven(fields) && !isAbsent && !(mode.chunked && isChunked)) throw new S3Error('MissingContentLength');
  const bytes = await readWhole(payload, settings.limits[mode.maximum]);
  return { document: (await mode.read(bytes, settings, new EventLoopBudget())) as unknown };
}

const nothing = new Uint8Array();

/**
 * Reads a body up to a maximum size, and verifies it.
 * @throws S3Error MaxMessageLengthExceeded, and the errors of the payload
 */
export async function readWhole(payload: Pick<Payload, 'bytes' | 'length'>, maximum: number): Promise<Uint8Array> {
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
