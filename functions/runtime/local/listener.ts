import { createServer as createHttpServer, type Server } from 'node:http';
import type { Telemetry } from '../../../shared/ports/telemetry.ts';
import type { Limits } from '../../../shared/protocol/limits.ts';
import { answerClientErrors } from '../http/client-errors.ts';
import { closing, listen } from '../http/listening.ts';
import { httpsServer } from './https-server.ts';
import { nodeHttpListener, type Handler } from '../http/node-http.ts';
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
  /** A certificate and its key: serve HTTPS. */
  readonly tls?: Tls | undefined;
}

/** A server that takes connections. */
export interface RunningListener {
  /** `http://127.0.0.1:9000` */
  readonly url: string;
  readonly server: Server;
  /** Takes no more connections, and waits for the running requests, for so many milliseconds at most. */
  close(patience: number): Promise<void>;
}

/** Listens for requests of S3 clients. @throws OperatorError if the address is taken or cannot be had */
export async function startListener(
  deps: ListenerDeps,
  address: { readonly port: number; readonly host: string },
): Promise<RunningListener> {
  const { handler, proxies, limits, telemetry, requestId, hostId, consoleOrigins, tls } = deps;
  const listener = nodeHttpListener(handler, { proxies, limits, keepAlive: () => server.listening, telemetry });
  const serverOptions = {
    maxHeaderSize: 64 * 1024,
    requestTimeout: limits.requestDuration,
    // Looked at often enough that a short limit is kept, too.
    connectionsCheckingInterval: Math.min(30_000, Math.ceil(limits.requestDuration / 4)),
    noDelay: true,
    // A request without Host is refused like any other.
    requireHostHeader: false,
  };
  const server: Server = tls ? httpsServer(tls, serverOptions, listener) : createHttpServer(serverOptions, listener);
  // Node would leave out what comes after a thousand fields, and say nothing. maxHeaderSize bounds them.
  server.maxHeadersCount = 0;
  server.keepAliveTimeout = 65_000;
  server.on('checkContinue', listener).on('checkExpectation', listener);
  answerClientErrors(server, { telemetry, requestId, hostId, consoleOrigins });
  const close = closing(server);
  return { url: await listen(server, address, tls !== undefined), server, close };
}
