import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http';
import type { TLSSocket } from 'node:tls';
import { S3Error } from '../errors/s3-error.ts';
import { originForm } from '../http/address.ts';
import { Fields, type RequestMessage, type ResponseMessage } from '../http/message.ts';
import type { Telemetry } from '../ports/telemetry.ts';
import type { Limits } from '../protocol/limits.ts';
import { AnnouncedLength, WrongLength } from './announced-length.ts';
import { ChunkedReading } from './connections/chunked-reading.ts';
import type { ConnectionLimit } from './connections/connection-limit.ts';
import { connectionSignal } from './connections/connection-signal.ts';
import { discardRest } from './last-response.ts';
import { oneAfterAnother } from './connections/one-after-another.ts';
import { ReaderLimit } from './reader-limit.ts';
import { ResponseBatch } from './response-batch.ts';
import type { TrustedProxies } from './connections/trusted-proxies.ts';

/** Handles requests: the pipeline. */
export interface Handler {
  handle(request: RequestMessage): Promise<ResponseMessage>;
}

export interface NodeHttpOptions {
  readonly proxies: TrustedProxies;
  readonly limits: BodyLimits & Pick<Limits, 'readerIdle'>;
  /** Once this returns false, responses close their connections. */
  readonly keepAlive: () => boolean;
  /** Receives responses with a wrong length. */
  readonly telemetry: Pick<Telemetry, 'problem'>;
  /** Tells which connections are too many. Default: none. */
  readonly connections?: Pick<ConnectionLimit, 'isSurplus'> | undefined;
}

/** The limits for slow request bodies. */
type BodyLimits = Pick<Limits, 'bodyIdle' | 'bodyGrace' | 'bodyRate'>;

/**
 * Returns a listener of Node's HTTP server: raw target and header fields in, streamed bodies both ways. The same listener serves
 * `request`, `checkContinue` and `checkExpectation`: expectations other than `100-continue` are ignored.
 */
export function nodeHttpListener(handler: Handler, options: NodeHttpOptions): RequestListener {
  const readers = new ReaderLimit(options.limits.readerIdle);
  const batch = new ResponseBatch((response) => readers.follow(response));
  const sending: Sending = { batch, readers };
  const begin = oneAfterAnother((request, response) => {
    respond(handler, options, sending, request, response).catch(() => {
      // The client is gone, or a body broke off: closing the connection shows that the response is incomplete.
      response.destroy();
    });
  });
  return (request, response) => {
    ChunkedReading.watch(request);
    begin(request, response);
  };
}

/** What the responses of all connections share. */
interface Sending {
  readonly batch: ResponseBatch;
  readonly readers: ReaderLimit;
}

async function respond(
  handler: Handler,
  { proxies, limits, keepAlive, telemetry, connections }: NodeHttpOptions,
  sending: Sending,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const body = new IncomingBody(request, response, limits);
  const fields = Fields.fromRaw(request.rawHeaders);
  const { remoteAddress, secure } = proxies.client(
    request.socket.remoteAddress ?? '',
    (request.socket as Partial<TLSSocket>).encrypted === true,
    fields,
  );
  const version = remoteAddress === request.socket.remoteAddress ? tlsVersion(request) : undefined;
  const isSurplus = connections?.isSurplus(request.socket) === true;
  const answer = await handler.handle({
    method: request.method ?? '',
    target: originForm(request.url ?? '', fields.get('host')),
    fields,
    body: body.isAnnounced ? body : undefined,
    received: () => body.received,
    secure,
    remoteAddress,
    tlsVersion: version,
    tlsCipher: version === undefined ? undefined : () => (request.socket as TLSSocket).getCipher().name,
    isSurplus,
    isFormer: isFormer(request),
    cutOff: () => void request.socket.destroy(),
    signal: connectionSignal(request.socket),
  });
  try {
    // Of a body that has arrived, nobody will read more.
    ChunkedReading.of(request)?.release();
    if (body.leftUnread) discardRest(response);
    else if (isSurplus || !keepAlive() || (isFormer(request) && fields.has('transfer-encoding'))) {
      // HTTP/1.0 has no chunks, so nobody knows where such a body ends: https://www.rfc-editor.org/rfc/rfc9112#section-6.1-16
      response.shouldKeepAlive = false;
    }
    await send(response, answer, sending);
  } catch (error) {
    if (error instanceof WrongLength) {
      telemetry.problem('a connection was cut off', error, {
        requestId: answer.fields.get('x-amz-request-id') ?? '',
      });
    }
    throw error;
  }
}

/**
 * Sends a response. Bytes are counted before they are written; none is written beyond the announced length.
 * @throws WrongLength, and any error of the body: then the connection cannot be used again
 */
async function send(response: ServerResponse, answer: ResponseMessage, { batch, readers }: Sending): Promise<void> {
  const { status, body, chunked } = answer;
  const whole = typeof body === 'string' ? Buffer.from(body) : body instanceof Uint8Array ? body : undefined;
  const streamed = whole === undefined ? (body as AsyncIterable<Uint8Array> | undefined) : undefined;
  const length = new AnnouncedLength(response.req.method ?? '', answer);
  if (streamed === undefined) {
    length.count(whole?.byteLength ?? 0);
    length.end();
  }
  const headers: string[] = [];
  for (const [name, value] of answer.fields) headers.push(name, value);
  if (whole !== undefined && !(chunked && !isFormer(response.req)) && !answer.fields.has('content-length')) {
    headers.push('content-length', String(whole.byteLength));
  }
  if (body === undefined && needsZeroLength(response, answer)) headers.push('content-length', '0');
  if (!response.shouldKeepAlive) headers.push('connection', 'close');
  response.sendDate = false;
  response.writeHead(status, headers);
  if (streamed) {
    for await (const chunk of streamed) {
      if (response.destroyed) return;
      length.count(chunk.byteLength);
      if (!response.write(chunk)) await readers.taken(response);
    }
    length.end();
  }
  batch.end(response, whole);
}

/** Returns `1.3` for a connection of TLS 1.3. */
function tlsVersion({ socket }: IncomingMessage): string | undefined {
  return /^TLSv(1(?:\.\d)?)$/.exec((socket as Partial<TLSSocket>).getProtocol?.() ?? '')?.[1];
}

/** Tells whether a request is of HTTP/1.0, whose clients know neither interim responses nor transfer codings. */
function isFormer({ httpVersionMajor, httpVersionMinor }: IncomingMessage): boolean {
  return httpVersionMajor < 1 || (httpVersionMajor === 1 && httpVersionMinor === 0);
}

/** Announces an empty body, except where HTTP forbids it (204, 304) or the length is that of a GET (HEAD). */
function needsZeroLength({ req }: ServerResponse, { status, fields }: ResponseMessage): boolean {
  return status !== 204 && status !== 304 && req.method !== 'HEAD' && !fields.has('content-length');
}

/**
 * The body of a request. Nothing is read and no `100 Continue` is sent before the first bytes are requested, so that a request
 * refused by its head is refused before its body.
 */
class IncomingBody implements AsyncIterable<Uint8Array> {
  received = 0;
  /** False if reading would yield and do nothing. */
  readonly isAnnounced: boolean;
  readonly #request: IncomingMessage;
  readonly #response: ServerResponse;
  readonly #limits: BodyLimits;
  readonly #expectsContinue: boolean;
  #started = false;
  #ended = false;

  constructor(request: IncomingMessage, response: ServerResponse, limits: BodyLimits) {
    this.#request = request;
    this.#response = response;
    this.#limits = limits;
    const { expect, 'content-length': length, 'transfer-encoding': coding } = request.headers;
    this.#expectsContinue = expect !== undefined && /^100-continue$/i.test(expect) && !isFormer(request);
    this.#ended = coding === undefined && (length === undefined || length === '0');
    this.isAnnounced = !this.#ended || this.#expectsContinue;
  }

  /** True while bytes of this body may still arrive. */
  get leftUnread(): boolean {
    return !this.#ended && !this.#request.complete;
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<Uint8Array> {
    if (this.#started) throw new Error('a body can be read only once');
    this.#started = true;
    if (this.#expectsContinue) this.#response.writeContinue();
    if (this.#ended) return;
    const stall = new Stall(this.#limits, () => this.received);
    const chunks = this.#request.iterator({ destroyOnReturn: false }) as AsyncIterableIterator<Buffer>;
    const chunked = ChunkedReading.of(this.#request);
    try {
      for (;;) {
        await chunked?.pace();
        const next = await stall.orElse(chunks.next());
        if (next.done) break;
        this.received += next.value.byteLength;
        yield next.value;
      }
      this.#ended = true;
    } catch (error) {
      throw error instanceof S3Error ? error : new S3Error('IncompleteBody', { cause: error });
    } finally {
      stall.cancel();
    }
  }
}

/**
 * Ends a wait for bytes that takes too long, alone or together with earlier waits for the bytes received: a dripping body would hold
 * its connection indefinitely. Time that the service spends on received bytes does not count. Uses one timer per body, and time
 * stamps instead of setting it again.
 */
class Stall {
  readonly #limits: BodyLimits;
  readonly #received: () => number;
  #timer: NodeJS.Timeout | undefined;
  #waitingSince: number | undefined;
  /** Milliseconds spent in earlier waits. */
  #waited = 0;
  #reject: (error: S3Error) => void = () => undefined;

  /** @param received the number of bytes received */
  constructor(limits: BodyLimits, received: () => number) {
    this.#limits = limits;
    this.#received = received;
    const look = (): void => {
      const left = this.#left();
      if (left <= 0) this.#reject(new S3Error('RequestTimeout'));
      else this.#timer = setTimeout(look, left);
    };
    this.#timer = setTimeout(look, this.#left());
  }

  /** Returns the outcome of a read. @throws S3Error RequestTimeout if the client sends nothing, or has been too slow overall */
  orElse<T>(read: Promise<T>): Promise<T> {
    this.#waitingSince = performance.now();
    return new Promise<T>((resolve, reject) => {
      this.#reject = reject;
      read.then(resolve, reject);
    }).finally(() => {
      this.#waited += this.#waiting();
      this.#waitingSince = undefined;
    });
  }

  cancel(): void {
    clearTimeout(this.#timer);
  }

  /** Returns the milliseconds until the next check; zero or less if the client is late. */
  #left(): number {
    const { bodyIdle, bodyGrace, bodyRate } = this.#limits;
    const forAll = bodyGrace + (1000 * this.#received()) / bodyRate - this.#waited;
    const left = Math.min(bodyIdle, forAll) - this.#waiting();
    // Without a wait, the client is not late.
    return this.#waitingSince === undefined ? Math.max(left, 100) : left;
  }

  #waiting(): number {
    return this.#waitingSince === undefined ? 0 : performance.now() - this.#waitingSince;
  }
}
