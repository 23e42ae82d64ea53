import type { IncomingMessage, Server } from 'node:http';
import type { AddressInfo, Server as NetServer, Socket } from 'node:net';
import { OperatorError } from '../../errors/operator-error.ts';

/**
 * Starts listening. Returns the URL: `http://127.0.0.1:9000`.
 * @param option the option for the port, named in the message. @param onError called with errors of the listening server
 * @throws OperatorError
 */
export async function listen(
  server: NetServer,
  { port, host }: { readonly port: number; readonly host: string },
  secure: boolean,
  {
    option = '--port',
    onError = () => undefined,
  }: { readonly option?: string; readonly onError?: (error: Error) => void } = {},
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
  server.removeAllListeners('error');
  // A connection could not be accepted. libuv closes those for which no handle is left, and reports it where it cannot; without a listener, that
  // would end the process.
  server.on('error', onError);
  const address = server.address() as AddressInfo;
  const shown = address.family === 'IPv6' ? `[${address.address}]` : address.address;
  return `${secure ? 'https' : 'http'}://${shown}:${address.port}`;
}

/** Milliseconds between two closings of idle connections. */
const idleCheck = 50;
/** Milliseconds in which a connection without a request may still send one. */
const freshTime = 500;

/**
 * Returns a function that closes a server gracefully: it stops accepting connections, lets running requests end, and resolves when
 * the last connection is closed. Requests that still run after `patience` milliseconds are cut off. The server may also have been
 * given connections that another one has accepted.
 */
export function closing(server: Server): (patience: number) => Promise<void> {
  // Node counts connections without a request as busy.
  const fresh = new Map<string, Socket>();
  // Node counts those that the server has accepted itself.
  let open = 0;
  let nothingOpen = (): void => undefined;
  server.on('connection', (socket: Socket) => {
    const name = connectionName(socket);
    fresh.set(name, socket);
    open += 1;
    socket.once('close', () => {
      fresh.delete(name);
      open -= 1;
      if (open === 0) nothingOpen();
    });
  });
  const asked = ({ socket }: IncomingMessage): void => {
    if (fresh.size > 0) fresh.delete(connectionName(socket));
  };
  server.on('request', asked).on('checkContinue', asked).on('checkExpectation', asked);
  return async (patience) => {
    const closed = new Promise<void>((resolve) => server.close(() => resolve()));
    // Repeatedly, as a connection whose request has ended is kept for another one.
    const timers = [
      setInterval(() => server.closeIdleConnections(), idleCheck),
      setTimeout(() => fresh.forEach((socket) => socket.destroy()), freshTime),
      setTimeout(() => server.closeAllConnections(), patience),
    ];
    await closed;
    if (open > 0) await new Promise<void>((resolve) => (nothingOpen = resolve));
    timers.forEach(clearTimeout);
  };
}

/** Returns the same value for a TCP connection and the TLS connection on it. */
export function connectionName({ remoteAddress, remotePort }: Socket): string {
  return `${remoteAddress} ${remotePort}`;
}
