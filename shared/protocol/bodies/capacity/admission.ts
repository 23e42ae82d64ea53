import type { RequestMessage } from '../../../http/message.ts';
import { WholeBytes } from '../../../ports/whole-bytes.ts';
import type { Answer } from '../../operation.ts';
import { withBody } from '../../request-reader.ts';
import type { BodiesInFlight } from './bodies-in-flight.ts';
import type { DownloadPace } from './download-pace.ts';

/** The bodies in progress, in both directions. */
export interface Capacity {
  readonly uploads: BodiesInFlight;
  /** The uploads that are read whole into the heap. */
  readonly documents: BodiesInFlight;
  readonly downloads: BodiesInFlight;
  /** The listings that are read, or wait for it: each takes the memory of a page. */
  readonly listings: BodiesInFlight;
  /** Those of strangers, by address, who share what a party may have. */
  readonly strangersListings: BodiesInFlight;
  /** Tells which downloads may be broken off in favour of others. */
  readonly pace: DownloadPace;
}

/** The size up to which a body is always admitted, as it takes little: that of blobs in the table. */
const smallBody = 32 * 1024;
/** The memory that a body in progress may take. What is in memory as a whole counts as several, if it takes more. */
const memoryOfBody = 1024 * 1024;
/** The size of the pieces in which a body that is in memory is sent, so that its client is seen to take it. */
const pieceSize = 128 * 1024;

/** The properties of a request that count, as known when its body begins. */
export interface AdmittedRequest {
  /** False if it may have changed something: then its response is not refused any more. */
  readonly isRead: boolean;
  /** Returns the party that the request counts for: a project, or all anonymous callers. */
  party(): string;
  /** Returns whom the pace of its response counts for: a project, or the address of a stranger. */
  caller(): string;
  /** Closes its connection. Undefined if the transport cannot. */
  readonly cutOff?: (() => void) | undefined;
  /** Returns whether its body is a document. */
  hasDocument(): boolean;
}

/** The bodies of one request that count against the capacity. */
export class Admission {
  readonly #capacity: Capacity;
  readonly #request: AdmittedRequest;
  #endUpload: (() => void) | undefined;
  #endDocument: (() => void) | undefined;
  #endListing: (() => void) | undefined;

  constructor(capacity: Capacity, request: AdmittedRequest) {
    this.#capacity = capacity;
    this.#request = request;
  }

  /** Returns the request with a body that is admitted before its first byte is read. Reading it throws AtCapacity if it is refused. */
  receiving(request: RequestMessage): RequestMessage {
    const { body } = request;
    if (body === undefined || isSmall(request)) return request;
    const { uploads, documents } = this.#capacity;
    const begin = (): void => {
      if (this.#endUpload !== undefined) return;
      const party = this.#request.party();
      this.#endUpload = uploads.admit(party);
      if (this.#request.hasDocument()) this.#endDocument = documents.admit(party);
    };
    return withBody(request, {
      [Symbol.asyncIterator]: () => {
        begin();
        return body[Symbol.asyncIterator]();
      },
    });
  }

  /** Counts a listing until {@link received}. To be called before it reads anything. @throws AtCapacity */
  listing(): void {
    const { listings, strangersListings } = this.#capacity;
    const party = this.#request.party();
    const caller = this.#request.caller();
    const endOfCaller = party === caller ? undefined : strangersListings.admit(caller);
    this.#endListing = endOfCaller;
    const end = listings.admit(party);
    this.#endListing = () => {
      endOfCaller?.();
      end();
    };
  }

  /** Ends the count of the request's body, and of the listing that it asked for. Call this when none of the body is in memory. */
  received(): void {
    this.#endUpload?.();
    this.#endDocument?.();
    this.#endListing?.();
  }

  /** Returns the response with a body that counts until it is sent or abandoned. @throws AtCapacity */
  sending(answer: Answer): Answer | Promise<Answer> {
    const { xml, body } = answer;
    if (typeof xml === 'string' || xml instanceof Uint8Array) return this.#document(answer, xml);
    if (body === undefined) return answer;
    const whole = body instanceof WholeBytes ? body.bytes : body;
    if (!(whole instanceof Uint8Array)) return this.#streaming(answer, whole);
    return whole.byteLength <= smallBody ? answer : { ...answer, body: this.#pieces(whole) };
  }

  #document(answer: Answer, xml: string | Uint8Array): Answer {
    // No text has more bytes than three times its length, and most have far fewer: they are counted only if it may be too long.
    if (xml.length * 3 <= smallBody) return answer;
    const whole = typeof xml === 'string' ? Buffer.from(xml) : xml;
    return whole.byteLength <= smallBody ? answer : { ...answer, xml: this.#pieces(whole) };
  }

  /** Returns bytes in memory as a body that counts for what they take. @throws AtCapacity */
  #pieces(whole: Uint8Array): AsyncIterable<Uint8Array> {
    const { downloads } = this.#capacity;
    const places = Math.ceil(whole.byteLength / memoryOfBody);
    const party = this.#request.party();
    const end = this.#request.isRead ? downloads.admit(party, places) : downloads.add(party, places);
    return this.#watched(piecesOf(whole), party, end);
  }

  async #streaming(answer: Answer, body: AsyncIterable<Uint8Array>): Promise<Answer> {
    const party = this.#request.party();
    let end: () => void;
    try {
      end = this.#capacity.downloads.admit(party);
    } catch (error) {
      await giveUp(body);
      throw error;
    }
    return { ...answer, body: this.#watched(body, party, end) };
  }

  /** Returns a body that was admitted, which may be broken off if its client is late. */
  #watched(body: AsyncIterable<Uint8Array>, party: string, end: () => void): AsyncIterable<Uint8Array> {
    const { downloads, pace } = this.#capacity;
    const { cutOff } = this.#request;
    const watched = pace.watch(body, this.#request.caller(), () => ended());
    const ended = cutOff ? downloads.dispense({ lateness: () => watched.lateness(), cutOff }, party, end) : end;
    return watched;
  }
}

async function* piecesOf(whole: Uint8Array): AsyncGenerator<Uint8Array> {
  for (let at = 0; at < whole.byteLength; at += pieceSize) yield whole.subarray(at, at + pieceSize);
}

function isSmall({ fields }: RequestMessage): boolean {
  const length = fields.get('content-length');
  return length === undefined ? !fields.has('transfer-encoding') : Number(length) <= smallBody;
}

/** Closes the source of a body. A generator does so only once it has begun. */
async function giveUp(body: AsyncIterable<Uint8Array>): Promise<void> {
  const chunks = body[Symbol.asyncIterator]();
  await chunks.next().catch(() => undefined);
  await chunks.return?.();
}
