import type { Duplex } from 'node:stream';
import { decodeItem, encodeItem } from '../../../../shared/adapters/embedded/item-encoding.ts';
import { TableBusy, type Attributes } from '../../../../shared/ports/key-value-table.ts';

/** A message to the other process: attributes, and bytes that are passed on unchanged. */
export interface Message {
  readonly kind: string;
  readonly body: Attributes;
  readonly bytes: Buffer;
}

/** Handles the messages of the other process. */
export interface Listener {
  /** Answers a request. Errors are thrown in the requesting process. */
  answer(message: Message): Promise<Attributes>;
  /** Handles a notice, which has no answer. */
  hear(message: Message): void;
  /** Called when the other process has ended. */
  closed(): void;
}

/** A pending request. */
interface Asked {
  readonly resolve: (body: Attributes) => void;
  readonly reject: (error: Error) => void;
}

const frame = { request: 0, notice: 1, reply: 2, failure: 3 } as const;
/** The header of a frame: its size without this field, its kind, the id of the request, the size of the attributes. */
const headSize = 4 + 1 + 4 + 4;
const noBytes = Buffer.alloc(0);
/** How long a notice that is not urgent may wait for another message, in milliseconds. */
const mostDelay = 10;
/** The bytes of such notices that may wait. */
const mostDelayed = 64 * 1024;

/**
 * Requests and notices between two processes of the service over a stream, in order in each direction. Messages of one turn of the
 * event loop go out in one write, and notices that are not urgent with them: waking the other process dominates the cost.
 */
export class Link {
  readonly #stream: Duplex;
  readonly #listener: Listener;
  readonly #asked = new Map<number, Asked>();
  #lastId = 0;
  #outgoing: Buffer[] = [];
  #outgoingBytes = 0;
  /** Whether what is outgoing is sent at the end of this turn of the event loop. */
  #isSending = false;
  #delay: NodeJS.Timeout | undefined;
  #incoming: Buffer = noBytes;
  #isClosed = false;

  constructor(stream: Duplex, listener: Listener) {
    this.#stream = stream;
    this.#listener = listener;
    stream.on('data', (chunk: Buffer) => this.#take(chunk));
    stream.on('close', () => this.#close());
    // An error of the stream also closes it.
    stream.on('error', () => undefined);
  }

  /** The bytes of messages that the operating system has not taken. */
  get waiting(): number {
    return this.#outgoingBytes + this.#stream.writableLength;
  }

  /** Sends a request and resolves with the answer. Rejects with the error thrown there, or if the other process ends first. */
  request(kind: string, body: Attributes = {}, bytes: Buffer = noBytes): Promise<Attributes> {
    if (this.#isClosed) return Promise.reject(new Gone());
    const id = (this.#lastId = (this.#lastId + 1) % 2 ** 32);
    return new Promise((resolve, reject) => {
      this.#asked.set(id, { resolve, reject });
      this.#say(frame.request, id, { ...body, kind }, bytes);
      this.#sendSoon();
    });
  }

  /** Sends a notice. Requests sent later are handled later. */
  notify(kind: string, body: Attributes = {}, bytes: Buffer = noBytes): void {
    if (this.#isClosed) return;
    this.#say(frame.notice, 0, { ...body, kind }, bytes);
    this.#sendSoon();
  }

  /** Sends a notice like {@link notify}, but waits a little for another message to send it with. */
  notifyLater(kind: string, body: Attributes = {}, bytes: Buffer = noBytes): void {
    if (this.#isClosed) return;
    this.#say(frame.notice, 0, { ...body, kind }, bytes);
    if (this.#outgoingBytes > mostDelayed) this.#sendSoon();
    else if (!this.#isSending) this.#delay ??= setTimeout(() => this.#send(), mostDelay);
  }

  /** Resolves once all messages have been handed to the operating system. */
  flush(): Promise<void> {
    this.#send();
    return new Promise((resolve) => {
      if (this.#isClosed || this.#stream.writableLength === 0) resolve();
      else this.#stream.write(noBytes, () => resolve());
    });
  }

  #say(what: number, id: number, body: Attributes, bytes: Buffer): void {
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
    const message = { kind: body['kind'] as string, body, bytes: bytes.subarray(bodyEnd) };
    switch (bytes[4]) {
      case frame.request:
        void this.#answer(id, message);
        return;
      case frame.notice:
        this.#listener.hear(message);
        return;
      default: {
        const asked = this.#asked.get(id);
        this.#asked.delete(id);
        if (bytes[4] === frame.reply) asked?.resolve(body);
        else asked?.reject(errorOf(body));
      }
    }
  }

  async #answer(id: number, message: Message): Promise<void> {
    try {
      this.#say(frame.reply, id, await this.#listener.answer(message), noBytes);
    } catch (error) {
      const { name, message: text } = error as Error;
      this.#say(frame.failure, id, { name: error instanceof TableBusy ? 'TableBusy' : name, text }, noBytes);
    }
    this.#sendSoon();
  }

  #close(): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    const asked = [...this.#asked.values()];
    this.#asked.clear();
    for (const { reject } of asked) reject(new Gone());
    this.#listener.closed();
  }
}

/** The other process ended without an answer. */
class Gone extends Error {
  constructor() {
    super('a process of the service has ended');
    this.name = 'Gone';
  }
}

function errorOf(body: Attributes): Error {
  if (body['name'] === 'TableBusy') return new TableBusy();
  return new Error(body['text'] as string);
}
