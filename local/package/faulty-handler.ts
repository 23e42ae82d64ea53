import { setTimeout as sleep } from 'node:timers/promises';
import { S3Error } from '../../shared/errors/s3-error.ts';
import { resolveTarget, type Address, type HostNames } from '../../shared/http/address.ts';
import { formatHttpDate } from '../../shared/http/fields/dates.ts';
import { Fields, type RequestMessage, type ResponseMessage } from '../../shared/http/message.ts';
import type { OperationName } from '../../shared/protocol/operation-table.ts';
import { findRoute } from '../../shared/protocol/routes.ts';
import { errorDocument } from '../../shared/xml/error.ts';
import type { Handler } from '../../shared/node-http/node-http.ts';
import type { Faults, RequestDescription } from './faults.ts';

export interface FaultyHandlerDeps {
  readonly handler: Handler;
  readonly faults: Faults;
  readonly hostNames: HostNames;
  readonly requestId: () => string;
  readonly hostId: string;
  readonly now: () => number;
}

/** Makes the transport close the connection, as it does when a handler or a body throws. */
class ConnectionCut extends Error {}

/** Injects faults into the answers of a handler. Requests for the service's internal paths meet none. */
export class FaultyHandler implements Handler {
  readonly #deps: FaultyHandlerDeps;

  constructor(deps: FaultyHandlerDeps) {
    this.#deps = deps;
  }

  async handle(request: RequestMessage): Promise<ResponseMessage> {
    const { handler, faults } = this.#deps;
    if (faults.left === 0) return handler.handle(request);
    const description = this.#describe(request);
    const fault = description && faults.take(description);
    switch (fault?.kind) {
      case undefined:
        return handler.handle(request);
      case 'slow-down':
        return this.#refusal(
          request,
          new S3Error('SlowDown', { headers: { 'retry-after': '1' }, cause: new Error('an injected fault') }),
        );
      case 'internal-error':
        return this.#refusal(request, new S3Error('InternalError'));
      case 'cut':
        throw new ConnectionCut();
      case 'half-body':
        return halved(await handler.handle(request));
      case 'late':
        await sleep(fault.delay);
        return handler.handle(request);
    }
  }

  #describe({ method, target, fields }: RequestMessage): RequestDescription | undefined {
    try {
      const { address, query } = resolveTarget(target, fields.get('host'), this.#deps.hostNames);
      if (address.kind === 'internal') return undefined;
      const operation: OperationName = findRoute(address, method, query, fields);
      return { operation, ...namesOf(address) };
    } catch (error) {
      // The service refuses requests that are not S3's.
      if (error instanceof S3Error) return undefined;
      throw error;
    }
  }

  #refusal({ method }: RequestMessage, error: S3Error): ResponseMessage {
    const { requestId, hostId, now } = this.#deps;
    const ids = { requestId: requestId(), hostId };
    const body = errorDocument(error, ids);
    const fields = new Fields([
      ['x-amz-request-id', ids.requestId],
      ['x-amz-id-2', hostId],
      ['date', formatHttpDate(now())],
      ['server', 'Stillage'],
      ['content-type', 'application/xml'],
      ...Object.entries(error.headers),
    ]);
    if (method !== 'HEAD') return { status: error.status, fields, body };
    return { status: error.status, fields: fields.add('content-length', String(Buffer.byteLength(body))) };
  }
}

function namesOf(address: Address): Omit<RequestDescription, 'operation'> {
  return {
    bucket: 'bucket' in address ? address.bucket : undefined,
    key: 'key' in address ? address.key : undefined,
  };
}

/** Returns a response that ends the connection after half of its body. */
function halved(response: ResponseMessage): ResponseMessage {
  const { body, fields } = response;
  if (body === undefined) throw new ConnectionCut();
  const size = isWhole(body) ? Buffer.byteLength(body) : Number(fields.get('content-length'));
  if (size < 2) throw new ConnectionCut();
  // A stream, so that the transport announces the whole length and is then cut short.
  const announced =
    fields.has('content-length') || response.chunked ? fields : fields.add('content-length', String(size));
  return { ...response, fields: announced, body: firstBytes(body, Math.floor(size / 2)) };
}

function isWhole(body: NonNullable<ResponseMessage['body']>): body is string | Uint8Array {
  return typeof body === 'string' || body instanceof Uint8Array;
}

async function* firstBytes(body: NonNullable<ResponseMessage['body']>, count: number): AsyncGenerator<Uint8Array> {
  let left = count;
  for await (const chunk of isWhole(body) ? [Buffer.from(body)] : body) {
    yield chunk.subarray(0, left);
    left -= chunk.length;
    if (left <= 0) break;
  }
  // The transport writes in the next turn of the event loop.
  await new Promise((resolve) => setImmediate(resolve));
  throw new ConnectionCut();
}
