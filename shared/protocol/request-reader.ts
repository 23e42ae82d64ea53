import type { RequestMessage, ResponseMessage } from '../http/message.ts';
import type { Reader } from '../storage/removal/readers.ts';
import { EndedBody } from './bodies/ended-body.ts';

/** Returns the request with a body during whose reads the reader waits. */
export function withWaits(request: RequestMessage, reader: Reader): RequestMessage {
  const { body } = request;
  return body === undefined ? request : withBody(request, waiting(body, reader));
}

/** Returns the request with another body. */
export function withBody(request: RequestMessage, body: AsyncIterable<Uint8Array>): RequestMessage {
  const { method, target, fields, secure, received, remoteAddress, tlsVersion, tlsCipher } = request;
  const { isSurplus, isFormer, cutOff, signal } = request;
  return {
    method,
    target,
    fields,
    body,
    secure,
    remoteAddress,
    tlsVersion,
    tlsCipher,
    isSurplus,
    isFormer,
    received,
    cutOff,
    signal,
  };
}

async function* waiting(body: AsyncIterable<Uint8Array>, reader: Reader): AsyncGenerator<Uint8Array> {
  const chunks = body[Symbol.asyncIterator]();
  try {
    for (;;) {
      reader.wait();
      const next = await chunks.next().finally(() => reader.resume());
      if (next.done === true) return;
      yield next.value;
    }
  } finally {
    await chunks.return?.();
  }
}

/**
 * Returns the response with a body that ends the reader once it was sent, or given up. While it is sent, the request reads only what it
 * has found.
 */
export function endedWhenSent(response: ResponseMessage, reader: Reader): ResponseMessage {
  const { status, fields, body, chunked } = response;
  if (body === undefined || typeof body === 'string' || body instanceof Uint8Array) {
    reader.end();
    return response;
  }
  reader.wait();
  return { status, fields, body: new EndedBody(body, () => reader.end()), chunked };
}
