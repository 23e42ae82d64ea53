import type { RequestListener, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { stopParsing } from './connections/sliced-reading.ts';

/** Milliseconds for which a connection stays open after its last response, so that the client receives it, for a client that does not close it. */
const lingering = 5000;
/** How much of an unread body is discarded, so that a client that sends all of it before it reads receives the response. */
const discardedBytes = 64 * 1024 * 1024;

/** The connections of which nothing more is read. */
const discarded = new WeakSet<Duplex>();

/** Tells whether what a connection still brings is discarded: it may be malformed. */
export function isDiscarded(socket: Duplex): boolean {
  return discarded.has(socket);
}

/** Sends the last bytes of a connection, and closes it. */
export function endConnection(socket: Duplex, last = ''): void {
  socket.end(last);
  const timer = setTimeout(() => socket.destroy(), lingering);
  socket.once('close', () => clearTimeout(timer));
}

/**
 * Makes a response whose head is not written the last one of its connection. What the client still sends is discarded, within bounds,
 * and as it comes: parsing the chunks of a body that nobody wants could be made to take longer than any request.
 */
export function discardRest(response: ServerResponse): void {
  response.shouldKeepAlive = false;
  const { socket } = response.req;
  discarded.add(socket);
  // Node calls this after the last response, and would close the connection at once: unread bytes would then reset it.
  socket.destroySoon = () => endConnection(socket);
  stopParsing(socket);
  let left = discardedBytes;
  // Instead of Node's parser.
  socket.removeAllListeners('data').on('data', (bytes: Buffer) => {
    left -= bytes.byteLength;
    if (left < 0) socket.pause();
  });
  restart(socket);
}

/** Passes on requests whose bodies nobody reads: one that has a body is the last of its connection. */
export function withoutBodies(listener: RequestListener): RequestListener {
  return (request, response) => {
    const { 'content-length': length, 'transfer-encoding': coding } = request.headers;
    if (coding !== undefined || (length !== undefined && length !== '0')) discardRest(response);
    listener(request, response);
  };
}

/** Reads from a connection that may have been paused while a parser read from it: resuming it would not. */
function restart(socket: Socket): void {
  if (socket.destroyed) return;
  socket._read(0);
  socket.resume();
}
