import { createServer as createHttpServer, type Server } from 'node:http';
import type { Telemetry } from '../../../shared/ports/telemetry.ts';
import type { Limits } from '../../../shared/protocol/limits.ts';
import { answerClientErrors } from '../http/client-errors.ts';
import type { ConnectionLimit } from '../http/connection-limit.ts';
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
  /** The certificate and key for HTTPS; undefined: HTTP. */
  readonly tls?: Tls | undefined;
  /** Default: any number of connections. */
  readonly connections?: ConnectionLimit | undefined;
}

/** A server that accepts connections. */
export interface RunningListener {
  /** `http://127.0.0.1:9000` */
  readonly url: string;
  readonly server: Server;
  /** Stops accepting connections and waits for running requests. @param patience milliseconds after which they are cut off */
  close(patience: number): Promise<void>;
}

/** Listens for requests of S3 clients. @throws OperatorError if it cannot listen on the address */
export async function startListener(
  deps: ListenerDeps,
  address: { readonly port: number; readonly host: string },
): Promise<RunningListener> {
  const { handler, proxies, limits, telemetry, requestId, hostId, consoleOrigins, tls, connections } = deps;
  const keepAlive = (): boolean => server.listening;
  const listener = nodeHttpListener(handler, { proxies, limits, keepAlive, telemetry, connections });
  const serverOptions = {
    maxHeaderSize: 64 * 1024,
    requestTimeout: limits.requestDuration,
    // Often enough to enforce a short limit, too.
    connectionsCheckingInterval: Math.min(30_000, Math.ceil(limits.requestDuration / 4)),
    noDelay: true,
    // A request without Host gets an S3 error from the pipeline.
    requireHostHeader: false,
  };
  const server: Server = tls ? httpsServer(tls, serverOptions, listener) : createHttpServer(serverOptions, listener);
  // Node would silently drop fields after the thousandth. maxHeaderSize bounds them.
  server.maxHeadersCount = 0;
  server.keepAliveTimeout = 65_000;
  server.on('checkContinue', listener).on('checkExpectation', listener);
  answerClientErrors(server, { telemetry, requestId, hostId, consoleOrigins });
  connections?.limit(server);
  const close = closing(server);
  const onError = (error: Error): void => telemetry.problem('a connection could not be accepted', error);
  return { url: await listen(server, address, tls !== undefined, { onError }), server, close };
}
