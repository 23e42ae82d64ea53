import type { RequestMessage } from '../../http/message.ts';
import { WholeBytes } from '../../ports/whole-bytes.ts';
import type { Answer } from '../operation.ts';
import { withBody } from '../request-reader.ts';
import type { BodiesInFlight } from './bodies-in-flight.ts';
import { EndedBody } from './ended-body.ts';

/** The bodies in progress, in both directions. */
export interface Capacity {
  readonly uploads: BodiesInFlight;
  /** The uploads that are read whole into the heap. */
  readonly documents: BodiesInFlight;
  readonly downloads: BodiesInFlight;
}

/** The size up to which a body is always admitted, as it takes little: that of blobs in the table. */
const smallBody = 32 * 1024;

/** The properties of a request that count, as known when its body begins. */
export interface AdmittedRequest {
  /** Returns the party that the request counts for: a project, or all anonymous callers. */
  party(): string;
  /** Returns whether its body is a document. */
  hasDocument(): boolean;
}

/** The bodies of one request that count against the capacity. */
export class Admission {
  readonly #capacity: Capacity;
  readonly #request: AdmittedRequest;
  #endUpload: (() => void) | undefined;
  #endDocument: (() => void) | undefined;

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

  /** Ends the count of the body. Call this when none of it is in memory. */
  received(): void {
    this.#endUpload?.();
    this.#endDocument?.();
  }

  /** Returns the response with a body that counts until it is sent or abandoned. @throws AtCapacity */
  sending(answer: Answer): Answer | Promise<Answer> {
    const { body } = answer;
    if (body === undefined || body instanceof Uint8Array || body instanceof WholeBytes) return answer;
    return this.#streaming(answer, body);
  }

  async #streaming(answer: Answer, body: AsyncIterable<Uint8Array>): Promise<Answer> {
    let end: () => void;
    try {
      end = this.#capacity.downloads.admit(this.#request.party());
    } catch (error) {
      await giveUp(body);
      throw error;
    }
    return { ...answer, body: new EndedBody(body, end) };
  }
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
