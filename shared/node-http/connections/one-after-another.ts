import type { RequestListener, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { turnOfItsOwn } from '../../ports/event-loop.ts';
import { connectionSignal } from './connection-signal.ts';
import { bytesKept, hold, readAllInSlices, release, stopParsing } from './sliced-reading.ts';

/** How many requests of a connection exist at a time, the one that is answered and those that wait. */
const mostRequests = 16;
/** As many as are parsed before a connection is held: a slice may bring two, where two reads share the end of a head. */
const enoughRequests = mostRequests - 1;
/** More than the first read of a connection brings, before it is read in slices. */
const mostOfOneRead = 4096;

/** How many bytes of requests all connections may keep that send more than {@link mostRequests}. Beyond that, such connections are closed. */
const mostBytesKept = 32 * 1024 * 1024;

/** The requests of a connection that are answered or wait. */
interface Line {
  isBusy: boolean;
  isHeld: boolean;
  readonly waiting: ServerResponse[];
}

/**
 * Passes the requests of each connection to a listener one after another, as a later one may depend on an earlier one. The next is
 * begun when the system has taken the response before it, in a turn of the event loop of its own, and not for a client that has gone.
 * So a connection has one response in memory, and many requests sent at once take turns with those of others.
 * @param mostKept tests pass less
 */
export function oneAfterAnother(listener: RequestListener, mostKept = mostBytesKept): RequestListener {
  const lines = new WeakMap<Socket, Line>();
  const forget = (socket: Socket, line: Line): void => {
    line.waiting.length = 0;
    stopParsing(socket);
  };
  const begin = (response: ServerResponse): void => {
    response.on('close', closed);
    listener(response.req, response);
  };
  /** Once a response was taken, or its connection was closed. One function for all requests. */
  function closed(this: ServerResponse): void {
    const { socket } = this.req;
    const line = lines.get(socket)!;
    if (line.waiting.length === 0) line.isBusy = false;
    else if (hasGone(socket)) forget(socket, line);
    else {
      turnOfItsOwn(connectionSignal(socket)).then(
        () => beginNext(socket, line),
        () => forget(socket, line),
      );
    }
  }
  const beginNext = (socket: Socket, line: Line): void => {
    // After its last response, nothing is carried out that a connection still brings (RFC 9112, section 9.6).
    if (hasGone(socket)) forget(socket, line);
    const next = line.waiting.shift();
    if (next === undefined) return;
    if (line.isHeld) {
      line.isHeld = false;
      release(socket);
    }
    begin(next);
  };
  return ({ socket }, response) => {
    let line = lines.get(socket);
    if (line === undefined) lines.set(socket, (line = { isBusy: false, isHeld: false, waiting: [] }));
    if (!line.isBusy) {
      line.isBusy = true;
      begin(response);
      return;
    }
    if (hasGone(socket)) return;
    const count = 1 + line.waiting.push(response);
    // A client that waits for its responses may have begun the next request when the one before has just been answered.
    if (count > 2) readAllInSlices();
    if (count >= enoughRequests && !line.isHeld) {
      line.isHeld = true;
      hold(socket);
    }
    if (count > mostOfOneRead || (line.isHeld && bytesKept() > mostKept)) socket.destroy();
  };
}

/** Returns whether nobody would get another response. */
function hasGone(socket: Socket): boolean {
  return socket.destroyed || socket.writableEnded;
}
