import type { RequestListener } from 'node:http';
import { createServer, type Server, type ServerOptions } from 'node:https';
import type { TLSSocket } from 'node:tls';
import { minute } from '../../shared/ports/durations.ts';
import type { Tls } from './tls.ts';

/** Returns an HTTPS server that uses the latest certificate for new connections. */
export function httpsServer(tls: Tls, options: ServerOptions, listener?: RequestListener): Server {
  // As servers for HTTP do by themselves: a client may close its side, and a connection without a request is not kept for longer.
  const likeHttp = { allowHalfOpen: true, handshakeTimeout: Math.min(minute, options.requestTimeout ?? minute) };
  const server = createServer({ ...options, ...likeHttp, ...tls.pair }, listener);
  server.on('secureConnection', (socket) => socket.prependOnceListener('end', () => destroyOnceReset(socket)));
  tls.onChange((pair) => server.setSecureContext(pair));
  return server;
}

/** Milliseconds between two looks at whether a client that has closed its side is still there. */
const lookInterval = 1000;

/**
 * Destroys a connection whose client has closed its side once it is gone altogether. Behind the end of what it receives Node ignores that the
 * connection is reset, and what is left of a response would wait for ever.
 */
function destroyOnceReset(
  socket: TLSSocket & { readonly _handle?: { getpeername?: (into: object) => number } | null },
): void {
  const look = setInterval(() => {
    if ((socket._handle?.getpeername?.({}) ?? 0) < 0) socket.destroy();
  }, lookInterval).unref();
  socket.once('close', () => clearInterval(look));
}
