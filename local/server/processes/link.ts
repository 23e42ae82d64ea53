import type { Duplex } from 'node:stream';
import { decodeItem, encodeItem } from '../../../shared/adapters/encoded-table/item-encoding.ts';
import { S3Error } from '../../../shared/errors/s3-error.ts';
import { TableBusy, type Attribute, type Attributes } from '../../../shared/ports/key-value-table.ts';
import type { Calls } from './messages.ts';

/** A pending request. */
interface Asked {
  readonly resolve: (result: Attribute | undefined) => void;
  readonly reject: (error: Error) => void;
}

/** A method of a process, as messages call it. */
type Method = (...args: readonly Attribute[]) => unknown;

const frame = { request: 0, notice: 1, reply: 2, failure: 3 } as const;
/** The header of a frame: its size without this field, its kind, the id of the request, the size of the attributes. */
const headSize = 4 + 1 + 4 + 4;
const noBytes = Buffer.alloc(0);
/** How long a notice that is not urgent may wait for another message, in milliseconds. */
const mostDelay = 10;
/** The bytes of such notices that may wait. */
const mostDelayed = 64 * 1024;

/**
 * Two processes of the service that call each other over a stream, in order in each direction. Messages of one turn of the event loop go out
 * in one write, and notices that are not urgent with them: waking the other process dominates the cost.
 */
export class Link<Own extends object, Other extends object> {
  /** The other process. Its requests reject with the error thrown there, or if it ends first. Notices sent earlier are handled earlier. */
  readonly other: Other;
  readonly #stream: Duplex;
  readonly #own: Own;
  readonly #closed: () => void;
  readonly #asked = new Map<number, Asked>();
  #lastId = 0;
  #outgoing: Buffer[] = [];
  #outgoingBytes = 0;
  /** Whether what is outgoing is sent at the end of this turn of the event loop. */
  #isSending = false;
  #delay: NodeJS.Timeout | undefined;
  #incoming: Buffer = noBytes;
  #isClosed = false;

  /**
   * @param own what the other process calls
   * @param calls how to call the other process
   * @param closed called when the other process has ended
   */
  constructor(stream: Duplex, own: Own, calls: Calls<Other>, closed: () => void) {
    this.#stream = stream;
    this.#own = own;
    this.#closed = closed;
    const methods = Object.entries<'request' | 'notice' | 'later'>(calls).map(([name, how]) => {
      const call = (...args: Attribute[]): unknown =>
        how === 'request' ? this.#request(name, args) : this.#notify(name, args, { isUrgent: how === 'notice' });
      return [name, call] as const;
    });
    this.other = Object.fromEntries(methods) as Other;
    stream.on('data', (chunk: Buffer) => this.#take(chunk));
    stream.on('close', () => this.#close());
    // An error of the stream also closes it.
    stream.on('error', () => undefined);
  }

  /** The bytes of messages that the operating system has not taken. */
  get waiting(): number {
    return this.#outgoingBytes + this.#stream.writableLength;
  }

  /** Resolves once all messages have been handed to the operating system. */
  flush(): Promise<void> {
    this.#send();
    return new Promise((resolve) => {
      if (this.#isClosed || this.#stream.writableLength === 0) resolve();
      else this.#stream.write(noBytes, () => resolve());
    });
  }

  #request(name: string, args: readonly Attribute[]): Promise<unknown> {
    if (this.#isClosed) return Promise.reject(new Gone());
    const id = (this.#lastId = (this.#lastId + 1) % 2 ** 32);
    return new Promise((resolve, reject) => {
      this.#asked.set(id, { resolve, reject });
      this.#call(frame.request, id, name, args);
      this.#sendSoon();
    });
  }

  #notify(name: string, args: readonly Attribute[], { isUrgent }: { readonly isUrgent: boolean }): void {
    if (this.#isClosed) return;
    this.#call(frame.notice, 0, name, args);
    if (isUrgent || this.#outgoingBytes > mostDelayed) this.#sendSoon();
    else if (!this.#isSending) this.#delay ??= setTimeout(() => this.#send(), mostDelay);
  }

  #call(what: number, id: number, name: string, args: readonly Attribute[]): void {
    const bytes = args.at(-1);
    if (Buffer.isBuffer(bytes)) this.#say(what, id, { name, args: args.slice(0, -1), bytes: true }, bytes);
    else this.#say(what, id, { name, args });
  }

  #say(what: number, id: number, body: Attributes, bytes: Buffer = noBytes): void {
    const encoded = encodeItem(body);
    const head = Buffer.allocUnsafe(headSize);
    head.writeUInt32LE(headSize - 4 + encoded.length + bytes.length, 0);
    head[4] = what;
    head.writeUInt32LE(id, 5);
    head.writeUInt32LE(encoded.length, 9);
    this.#outgoing.push(head, encoded);
    if (bytes.length > 0) this.#outgoing.push(bytes);
    this.#outgoingBytes += headSize + encoded.length + bytes.length;
  }

  #sendSoon(): void {
    if (this.#isSending) return;
    this.#isSending = true;
    setImmediate(() => this.#send());
  }

  #send(): void {
    this.#isSending = false;
    clearTimeout(this.#delay);
    this.#delay = undefined;
    if (this.#outgoing.length === 0 || this.#isClosed) return;
    const outgoing = this.#outgoing;
    this.#outgoing = [];
    this.#stream.write(Buffer.concat(outgoing, this.#outgoingBytes));
    this.#outgoingBytes = 0;
  }

  #take(chunk: Buffer): void {
    let rest = this.#incoming.length === 0 ? chunk : Buffer.concat([this.#incoming, chunk]);
    while (rest.length >= 4) {
      const end = 4 + rest.readUInt32LE(0);
      if (rest.length < end) break;
      this.#hear(rest.subarray(0, end));
      rest = rest.subarray(end);
    }
    this.#incoming = rest;
  }

  #hear(bytes: Buffer): void {
    const id = bytes.readUInt32LE(5);
    const bodyEnd = headSize + bytes.readUInt32LE(9);
    const body = decodeItem(bytes.subarray(headSize, bodyEnd));
    switch (bytes[4]) {
      case frame.request:
        void this.#answer(id, body, bytes.subarray(bodyEnd));
        return;
      case frame.notice:
        this.#perform(body, bytes.subarray(bodyEnd));
        return;
      default: {
        const asked = this.#asked.get(id);
        this.#asked.delete(id);
        if (bytes[4] === frame.reply) asked?.resolve(body['result']);
        else asked?.reject(errorOf(body));
      }
    }
  }

  #perform({ name, args, bytes }: Attributes, passed: Buffer): unknown {
    const own = this.#own as Readonly<Record<string, Method>>;
    return own[name as string]!(...(args as readonly Attribute[]), ...(bytes ? [passed] : []));
  }

  async #answer(id: number, body: Attributes, bytes: Buffer): Promise<void> {
    try {
      const result = (await this.#perform(body, bytes)) as Attribute | undefined;
      this.#say(frame.reply, id, result === undefined ? {} : { result });
    } catch (error) {
      this.#say(frame.failure, id, failureOf(error as Error));
    }
    this.#sendSoon();
  }

  #close(): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    const asked = [...this.#asked.values()];
    this.#asked.clear();
    for (const { reject } of asked) reject(new Gone());
    this.#closed();
  }
}

/** The other process ended without an answer. */
class Gone extends Error {
  constructor() {
    super('a process of the service has ended');
    this.name = 'Gone';
  }
}

function failureOf(error: Error): Attributes {
  if (error instanceof TableBusy) return { name: 'TableBusy', text: error.message };
  // Its cause tells the operator why.
  if (isSlowDown(error)) return { name: 'SlowDown', text: (error.cause as Error).message };
  return { name: error.name, text: error.message };
}

function isSlowDown(error: Error): boolean {
  return error instanceof S3Error && error.code === 'SlowDown';
}

function errorOf(body: Attributes): Error {
  if (body['name'] === 'TableBusy') return new TableBusy();
  if (body['name'] === 'SlowDown') return new S3Error('SlowDown', { cause: new Error(body['text'] as string) });
  return new Error(body['text'] as string);
}
