import type { RequestListener } from 'node:http';
import { createServer, type Server, type ServerOptions } from 'node:https';
import { minute } from '../../shared/ports/durations.ts';
import type { Tls } from './tls.ts';

/** Returns an HTTPS server that uses the latest certificate for new connections. */
export function httpsServer(tls: Tls, options: ServerOptions, listener?: RequestListener): Server {
  // As servers for HTTP do by themselves: a client may close its side, and a connection without a request is not kept for longer.
  const likeHttp = { allowHalfOpen: true, handshakeTimeout: Math.min(minute, options.requestTimeout ?? minute) };
  const server = createServer({ ...options, ...likeHttp, ...tls.pair }, listener);
  tls.onChange((pair) => server.setSecureContext(pair));
  return server;
}
