import type { IncomingMessage, Server } from 'node:http';
import type { Socket } from 'node:net';
import { Server as TlsServer } from 'node:tls';

/** The end of the head of a request. Node's parser takes no other line break. */
const headEnd = '\r\n\r\n';
/**
 * How much is read from a connection that is held. Not less than what one read brings, as the system tells that a connection was reset only
 * to those who read from it.
 */
const mostKept = 128 * 1024;

/** The connections that Node's parser reads from by itself, and how to change that. */
const unsliced = new Map<Socket, () => SlicedReading>();
const readings = new WeakMap<Socket, SlicedReading>();
let isSlicing = false;
/** The bytes that wait to be parsed, of all connections. */
let keptInAll = 0;

/**
 * Has Node's parser get what arrives on the connections of a server in slices, each of which ends a head at most, and only while nobody holds
 * the connection. By itself it would parse whatever one read brings: some thousand requests. As that is faster, it may do so until
 * {@link readAllInSlices}.
 */
export function readInSlices(server: Server): void {
  server.on(server instanceof TlsServer ? 'secureConnection' : 'connection', (socket: Socket) => {
    // Node's own listeners, which it has just added. Other runtimes have parsers of their own.
    const parse = socket.listeners('data').at(-1) as ((bytes: Buffer) => void) | undefined;
    const end = socket.listeners('end').at(-1) as (() => void) | undefined;
    if (parse === undefined || end === undefined) return;
    const slice = (): SlicedReading => {
      unsliced.delete(socket);
      const reading = new SlicedReading(socket, parse, end);
      readings.set(socket, reading);
      return reading;
    };
    if (isSlicing) slice();
    else {
      unsliced.set(socket, slice);
      socket.once('close', () => unsliced.delete(socket));
    }
  });
  const announce = (request: IncomingMessage): void =>
    readings.get(request.socket)?.announce(Number(request.headers['content-length'] ?? 0));
  server.on('request', announce).on('checkContinue', announce).on('checkExpectation', announce);
}

/** To be called once a client has sent requests without waiting for responses, as no client of S3 does: from now on all are read in slices. */
export function readAllInSlices(): void {
  if (isSlicing) return;
  isSlicing = true;
  for (const slice of unsliced.values()) slice();
}

/** Stops parsing what a connection brings until every hold is released. */
export function hold(socket: Socket): void {
  (readings.get(socket) ?? unsliced.get(socket)?.())?.hold();
}

/** Takes back a {@link hold}. */
export function release(socket: Socket): void {
  readings.get(socket)?.release();
}

/** Leaves a connection, from which others read on: nothing of it is parsed any more, whatever is released later. */
export function stopParsing(socket: Socket): void {
  (readings.get(socket) ?? unsliced.get(socket)?.())?.stop();
}

/** Returns how many bytes of all connections wait to be parsed. */
export function bytesKept(): number {
  return keptInAll;
}

/** What a connection has brought, on its way to Node's parser. */
class SlicedReading {
  readonly #socket: Socket;
  readonly #parse: (bytes: Buffer) => void;
  readonly #end: () => void;
  #kept: Buffer = Buffer.alloc(0);
  #holds = 0;
  /** What is left of the body whose head was parsed last. None of it is searched for heads. */
  #bodyLeft = 0;
  /** The length of the body of the request that was parsed last. */
  #announced = 0;
  #isParsing = false;
  #hasEnded = false;
  #isStopped = false;

  /** @param parse Node's own listeners for the data and the end of a connection */
  constructor(socket: Socket, parse: (bytes: Buffer) => void, end: () => void) {
    this.#socket = socket;
    this.#parse = parse;
    this.#end = end;
    socket.removeListener('data', parse).removeListener('end', end);
    // A listener takes the connection from the parser, which would read from it by itself.
    socket.on('data', (bytes: Buffer) => {
      if (this.#isStopped) return;
      this.#keep(this.#kept.length === 0 ? bytes : Buffer.concat([this.#kept, bytes]));
      this.#goOn();
    });
    socket.on('end', () => {
      this.#hasEnded = true;
      this.#goOn();
    });
    socket.on('resume', () => this.#goOn());
    socket.once('close', () => this.stop());
  }

  announce(bodyLength: number): void {
    this.#announced = bodyLength;
  }

  hold(): void {
    this.#holds += 1;
  }

  release(): void {
    this.#holds -= 1;
    if (this.#holds > 0 || this.#isStopped) return;
    // It goes on once the connection has resumed.
    if (this.#kept.length >= mostKept) this.#socket.resume();
    else this.#goOn();
  }

  stop(): void {
    this.#isStopped = true;
    this.#keep(Buffer.alloc(0));
  }

  #keep(bytes: Buffer): void {
    keptInAll += bytes.length - this.#kept.length;
    this.#kept = bytes;
  }

  /** Parses what may be parsed now. The parser pauses the connection where a body or a response is not taken. */
  #goOn(): void {
    const socket = this.#socket;
    // Within the parser, it goes on when that returns.
    if (this.#isParsing) return;
    while (this.#kept.length > 0 && this.#holds === 0 && !socket.isPaused()) this.#parseSlice();
    // Node itself resumes a connection at the end of each request, so once would not be enough.
    if (this.#kept.length >= mostKept) socket.pause();
    if (!this.#hasEnded || this.#kept.length > 0) return;
    this.#hasEnded = false;
    if (hasParser(socket)) this.#end();
  }

  #parseSlice(): void {
    const at = this.#bodyLeft > 0 ? -1 : this.#kept.indexOf(headEnd);
    const length = at >= 0 ? at + headEnd.length : Math.min(this.#bodyLeft || Infinity, this.#kept.length);
    const slice = this.#kept.subarray(0, length);
    this.#keep(this.#kept.subarray(length));
    this.#announced = 0;
    this.#isParsing = true;
    this.#parse(slice);
    this.#isParsing = false;
    this.#bodyLeft = at >= 0 ? this.#announced : Math.max(0, this.#bodyLeft - length);
    const { destroyed, writableEnded } = this.#socket;
    if (destroyed || writableEnded || !hasParser(this.#socket)) this.stop();
  }
}

/** Tells whether a connection still has its parser: Node takes it from one that it hands over (CONNECT), or that is closed, for others. */
function hasParser(socket: Socket & { readonly parser?: object | null }): boolean {
  return Boolean(socket.parser);
}
