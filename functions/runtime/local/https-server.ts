import type { RequestListener } from 'node:http';
import { createServer, type Server, type ServerOptions } from 'node:https';
import type { Tls } from './tls.ts';

/** Returns an HTTPS server that uses the latest certificate for new connections. */
export function httpsServer(tls: Tls, options: ServerOptions, listener: RequestListener): Server {
  const server = createServer({ ...options, ...tls.pair }, listener);
  tls.onChange((pair) => server.setSecureContext(pair));
  return server;
}
