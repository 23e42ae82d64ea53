import type { Socket } from 'node:net';

/** How many reasons there are not to read from a connection. */
const holds = new WeakMap<Socket, number>();

/**
 * Stops reading from a connection until every hold is released. What one read has already brought is still parsed. Node itself resumes
 * a connection at the end of each request, so a pause alone would not last.
 */
export function hold(socket: Socket): void {
  const count = holds.get(socket) ?? 0;
  holds.set(socket, count + 1);
  if (count > 0) return;
  socket.on('resume', pauseAgain);
  socket.pause();
}

/** Takes back a {@link hold}. */
export function release(socket: Socket): void {
  const count = holds.get(socket)! - 1;
  holds.set(socket, count);
  if (count > 0) return;
  socket.off('resume', pauseAgain);
  if (!socket.destroyed) socket.resume();
}

/** Forgets all holds: the connection is read from once more, whatever is released later. */
export function readAgain(socket: Socket): void {
  holds.set(socket, Number.POSITIVE_INFINITY);
  socket.off('resume', pauseAgain);
}

function pauseAgain(this: Socket): void {
  this.pause();
}
