import type { RequestListener, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { turnOfItsOwn } from '../ports/event-loop.ts';
import { hold, release } from './held-connections.ts';

/** How many requests of a connection may wait before reading from it pauses. */
const mostWaiting = 16;

/**
 * How many requests of all connections may wait: one that has been parsed takes about 2 KB, and one read may bring some thousand. Beyond
 * that, connections with more than {@link mostWaiting} are closed.
 */
const mostWaitingInAll = 16_384;

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
 */
export function oneAfterAnother(listener: RequestListener): RequestListener {
  const lines = new WeakMap<Socket, Line>();
  let inAll = 0;
  const forget = (line: Line): void => {
    inAll -= line.waiting.length;
    line.waiting.length = 0;
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
    else if (hasGone(socket)) forget(line);
    else void turnOfItsOwn().then(() => beginNext(socket, line));
  }
  const beginNext = (socket: Socket, line: Line): void => {
    // After its last response, nothing is carried out that a connection still brings (RFC 9112, section 9.6).
    if (hasGone(socket)) forget(line);
    const next = line.waiting.shift();
    if (next === undefined) return;
    inAll -= 1;
    if (line.isHeld && line.waiting.length < mostWaiting) {
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
    inAll += 1;
    if (line.waiting.push(response) < mostWaiting) return;
    if (!line.isHeld) {
      line.isHeld = true;
      hold(socket);
    }
    if (inAll > mostWaitingInAll) socket.destroy();
  };
}

/** Returns whether nobody would get another response. */
function hasGone(socket: Socket): boolean {
  return socket.destroyed || socket.writableEnded;
}
