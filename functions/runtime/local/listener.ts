import { createServer as createHttpServer, type Server } from 'node:http';
import type { Socket } from 'node:net';
import type { Telemetry } from '../../../shared/ports/telemetry.ts';
import type { Limits } from '../../../shared/protocol/limits.ts';
import { answerClientErrors } from '../http/client-errors.ts';
import type { ConnectionLimit } from '../http/connection-limit.ts';
import { closing, listen } from '../http/listening.ts';
import { httpsServer } from './https-server.ts';
import { nodeHttpListener, type Handler } from '../http/node-http.ts';
import { listenToRequests, serverOptions } from '../http/request-listening.ts';
import type { TrustedProxies } from '../http/trusted-proxies.ts';
import type { Tls } from './tls.ts';

export interface ListenerDeps {
  readonly handler: Handler;
  readonly proxies: TrustedProxies;
  readonly limits: Limits;
  readonly telemetry: Telemetry;
  readonly requestId: () => string;
  readonly hostId: string;
  readonly consoleOrigins: ReadonlySet<string>;
  /** The certificate and key for HTTPS; undefined: HTTP. */
  readonly tls?: Tls | undefined;
  /** Default: any number of connections. */
  readonly connections?: ConnectionLimit | undefined;
  /** Is told of the server before it has connections. */
  readonly observe?: ((server: Server) => void) | undefined;
}

/** A server that serves connections. */
interface Running {
  /** Takes no more connections and waits for running requests. @param patience milliseconds after which they are cut off */
  readonly close: (patience: number) => Promise<void>;
}

/** A server that accepts connections. */
export interface RunningListener extends Running {
  /** `http://127.0.0.1:9000` */
  readonly url: string;
}

/** A server that is given connections which another one has accepted, also in another process. */
export interface ConnectionServer extends Running {
  /** Serves a connection, which has not been read from. */
  serve(socket: Socket): void;
}

/** Listens for requests of S3 clients. @throws OperatorError if it cannot listen on the address */
export async function startListener(
  deps: ListenerDeps,
  address: { readonly port: number; readonly host: string },
): Promise<RunningListener> {
  const { server, close } = createServer(deps);
  return { url: await listen(server, address, deps.tls !== undefined, { onError: refusing(deps) }), close };
}

/** Returns a server that serves requests of S3 clients on connections that it is given. */
export function serveConnections(deps: ListenerDeps): ConnectionServer {
  const { server, close } = createServer(deps);
  // Otherwise Node would not enforce the time limits of requests: it begins to when the server listens.
  server.emit('listening');
  return {
    close,
    serve: (socket) => {
      // As that of connections which the server accepts itself.
      socket.allowHalfOpen = true;
      server.emit('connection', socket);
      // TLS reads from a paused connection, HTTP does not.
      if (deps.tls === undefined) socket.resume();
    },
  };
}

/** Returns what is told of connections that could not be accepted. */
export function refusing({ telemetry }: Pick<ListenerDeps, 'telemetry'>): (error: Error) => void {
  return (error) => telemetry.problem('a connection could not be accepted', error);
}

function createServer(deps: ListenerDeps): Running & { readonly server: Server } {
  const { handler, proxies, limits, telemetry, requestId, hostId, consoleOrigins, tls, connections, observe } = deps;
  let isClosing = false;
  const listener = nodeHttpListener(handler, { proxies, limits, keepAlive: () => !isClosing, telemetry, connections });
  const server: Server = tls ? httpsServer(tls, serverOptions(limits)) : createHttpServer(serverOptions(limits));
  listenToRequests(server, listener);
  server.keepAliveTimeout = 65_000;
  answerClientErrors(server, { telemetry, requestId, hostId, consoleOrigins });
  connections?.limit(server);
  observe?.(server);
  const closed = closing(server);
  const close = (patience: number): Promise<void> => {
    isClosing = true;
    return closed(patience);
  };
  return { server, close };
}
