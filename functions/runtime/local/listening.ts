import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { OperatorError } from '../operator-error.ts';
import type { StartOptions } from './settings.ts';

/** Listens, and answers the URL: `http://127.0.0.1:9000`. @throws OperatorError */
export async function listen(server: Server, { port, host }: StartOptions, secure: boolean): Promise<string> {
  await new Promise<void>((resolve, reject) => {
    server.once('error', (error: NodeJS.ErrnoException) => {
      reject(
        error.code === 'EADDRINUSE'
          ? new OperatorError(`port ${port} is taken; choose another one with --port`)
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

/**
 * Takes no more connections, lets the requests that are running end, and resolves when the last connection is closed.
 * @param patience what still runs after so many milliseconds is cut
 */
export async function closeServer(server: Server, patience: number): Promise<void> {
  const closed = new Promise<void>((resolve) => server.close(() => resolve()));
  // A connection whose request ends meanwhile would be kept for another one.
  const idle = setInterval(() => server.closeIdleConnections(), idleCheck);
  const cut = setTimeout(() => server.closeAllConnections(), patience);
  await closed;
  clearInterval(idle);
  clearTimeout(cut);
}
