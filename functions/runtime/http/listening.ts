import type { IncomingMessage, Server } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { OperatorError } from '../operator-error.ts';

/**
 * Listens, and returns the URL: `http://127.0.0.1:9000`.
 * @param option by which the port was given
 * @throws OperatorError
 */
export async function listen(
  server: Server,
  { port, host }: { readonly port: number; readonly host: string },
  secure: boolean,
  option = '--port',
): Promise<string> {
  await new Promise<void>((resolve, reject) => {
    server.once('error', (error: NodeJS.ErrnoException) => {
      reject(
        error.code === 'EADDRINUSE'
          ? new OperatorError(`port ${port} is taken; choose another one with ${option}`)
          : new OperatorError(`cannot listen on ${host}:${port}: ${error.message}`),
      );
    });
    server.listen(port, host, resolve);
  });
  const address = server.address() as AddressInfo;
  const shown = address.family === 'IPv6' ? `[${address.address}]` : address.address;
  return `${secure ? 'https' : 'http'}://${shown}:${address.port}`;
}

/** How often connections are looked for whose last request has been answered. */
const idleCheck = 50;
/** How long a connection on which nothing was asked yet may still ask. */
const freshTime = 500;

/**
 * Makes a server ready to be closed without cutting anything.
 * @returns what closes it: takes no more connections, lets the requests that are running end, and resolves when the last
 *   connection is closed. What still runs after `patience` milliseconds is cut.
 */
export function closing(server: Server): (patience: number) => Promise<void> {
  // Node takes connections for busy on which no request has come yet.
  const fresh = new Map<string, Socket>();
  server.on('connection', (socket: Socket) => {
    const name = nameOf(socket);
    fresh.set(name, socket);
    socket.once('close', () => fresh.delete(name));
  });
  const asked = ({ socket }: IncomingMessage): void => void fresh.delete(nameOf(socket));
  server.on('request', asked).on('checkContinue', asked).on('checkExpectation', asked);
  return async (patience) => {
    const closed = new Promise<void>((resolve) => server.close(() => resolve()));
    // Again and again, since a connection whose request ends meanwhile is kept for another one.
    const timers = [
      setInterval(() => server.closeIdleConnections(), idleCheck),
      setTimeout(() => fresh.forEach((socket) => socket.destroy()), freshTime),
      setTimeout(() => server.closeAllConnections(), patience),
    ];
    await closed;
    timers.forEach(clearTimeout);
  };
}

/** The same for a connection and for the TLS in it. */
function nameOf({ remoteAddress, remotePort }: Socket): string {
  return `${remoteAddress} ${remotePort}`;
}
