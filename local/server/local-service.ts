import { createServer, type Server } from 'node:http';
import type { Socket } from 'node:net';
import { SystemClock } from '../../shared/adapters/system/system-clock.ts';
import type { RequestMessage, ResponseMessage } from '../../shared/http/message.ts';
import type { Telemetry } from '../../shared/ports/telemetry.ts';
import { ProcessCapacity } from './capacity/capacity.ts';
import type { ServiceLock } from './data-directory/service-lock.ts';
import type { WorkerDigests } from './digests/worker-digests.ts';
import { composeEmbeddedService, type EmbeddedDeps, type EmbeddedService, type Stores } from './embedded-service.ts';
import { answerClientErrors } from '../../shared/node-http/client-errors.ts';
import { closing, listen } from '../../shared/node-http/connections/listening.ts';
import { nodeHttpListener, type Handler } from '../../shared/node-http/node-http.ts';
import { listenToRequests, serverOptions } from '../../shared/node-http/request-listening.ts';
import { TrustedProxies } from '../../shared/node-http/connections/trusted-proxies.ts';
import { httpsServer } from './https-server.ts';
import type { ProcessMeasurements } from './metrics/metrics.ts';
import type { StartOptions } from '../../shared/command-line/start-options.ts';
import { Tls } from './tls.ts';

interface LocalDeps extends Omit<EmbeddedDeps, 'capacity'> {
  /** The right to serve the data directory of the stores. */
  readonly lock?: ServiceLock | undefined;
  /** The certificate and key for HTTPS. Default: what the options ask for. */
  readonly tls: Tls | undefined;
  readonly digestThreads?: WorkerDigests | undefined;
  /** Count what this process does. */
  readonly measurements?: ProcessMeasurements | undefined;
}

const quiet: Telemetry = { request: () => undefined, problem: () => undefined, note: () => undefined };

/**
 * A service in this process: the pipeline and the schedules over stores, and the servers through which requests come. The program runs one in
 * each of its processes, the package one for each `startStillage`. As a handler, it answers without the servers.
 */
export class LocalService implements Handler {
  readonly #options: StartOptions;
  readonly #deps: LocalDeps & { readonly capacity: ProcessCapacity };
  readonly #certificates: ReturnType<Tls['follow']>;
  /** Close the servers. */
  readonly #closing: ((patience: number) => Promise<void>)[] = [];
  #composed: EmbeddedService;
  #resetting: Promise<void> = Promise.resolve();
  /** Ends of the services that resets have replaced. */
  #retired: Promise<unknown> = Promise.resolve();
  #stopping: Promise<void> | undefined;
  #hasFailed = false;

  /**
   * Composes a service over open stores and starts its schedules. It closes what it is given when it stops, and also if this fails.
   * @throws OperatorError
   */
  static async open(options: StartOptions, { telemetry, ...given }: LocalDeps): Promise<LocalService> {
    let { tls } = given;
    try {
      // Not before the lock: another service may use the files. By the machine's clock, as that of clients.
      tls ??= await Tls.own(options, new SystemClock().now());
      const counted = given.measurements?.counted(telemetry) ?? telemetry;
      const capacity = ProcessCapacity.ofProcess(options, counted);
      const deps = { ...given, tls, telemetry: counted, capacity };
      return new LocalService(options, deps, await composeEmbeddedService(deps, options));
    } catch (error) {
      await tls?.close();
      await Promise.all([given.table.close(), given.blobs.close()]);
      await given.lock?.release();
      throw error;
    }
  }

  private constructor(
    options: StartOptions,
    deps: LocalDeps & { capacity: ProcessCapacity },
    composed: EmbeddedService,
  ) {
    this.#options = options;
    this.#deps = deps;
    this.#composed = composed;
    // The primary of a worker reads the files as well, and logs the outcome.
    this.#certificates = deps.tls?.follow(deps.clock, deps.primary ? quiet : deps.telemetry);
    deps.lock?.answer(composed.actions);
  }

  get composed(): EmbeddedService {
    return this.#composed;
  }

  get capacity(): ProcessCapacity {
    return this.#deps.capacity;
  }

  get telemetry(): Telemetry {
    return this.#deps.telemetry;
  }

  /** The certificate and key for HTTPS; undefined: HTTP. */
  get tls(): Tls | undefined {
    return this.#deps.tls;
  }

  handle(request: RequestMessage): Promise<ResponseMessage> {
    return this.#composed.pipeline.handle(request);
  }

  /**
   * Listens for requests of S3 clients.
   * @param handler answers them: this service, or what stands in front of it
   * @returns `http://127.0.0.1:9000`
   * @throws OperatorError if it cannot listen on the address
   */
  listen(handler: Handler): Promise<string> {
    return listen(this.#server(handler), this.#options, this.tls !== undefined, { onError: this.refused });
  }

  /** Returns a function that serves a connection which has not been read from, and was accepted by another server, also in another process. */
  serveConnections(handler: Handler): (socket: Socket) => void {
    const server = this.#server(handler);
    // Otherwise Node would not enforce the time limits of requests: it begins to when the server listens.
    server.emit('listening');
    return (socket) => {
      // As that of connections which the server accepts itself.
      socket.allowHalfOpen = true;
      server.emit('connection', socket);
      // TLS reads from a paused connection, HTTP does not.
      if (this.tls === undefined) socket.resume();
    };
  }

  /** Notes that a connection could not be accepted. */
  readonly refused = (error: Error): void => {
    this.telemetry.problem('a connection could not be accepted', error);
  };

  /** Closes another server with those of the service, before the stores. */
  closeWith(close: (patience: number) => Promise<void>): void {
    this.#closing.push(close);
  }

  /**
   * Continues with other stores. Requests in progress are answered from the earlier ones, which are then discarded.
   * @throws Error if the service has stopped
   */
  reset(begin: () => Stores): Promise<void> {
    if (this.#stopping) return Promise.reject(new Error('the service has stopped'));
    // One after the other, as concurrent resets would leak a service.
    const next = this.#resetting.then(async () => {
      const former = this.#composed;
      this.#composed = await composeEmbeddedService({ ...this.#deps, ...begin() }, this.#options);
      this.#retired = Promise.all([this.#retired, former.abandon()]);
    });
    this.#resetting = next.catch(() => undefined);
    return next;
  }

  /** Ends all work once the table can no longer be used. */
  halt(): void {
    this.#hasFailed = true;
    this.#composed.halt();
    for (const close of this.#closing) void close(0);
  }

  /**
   * Finishes running requests and background work, and closes the stores. Data in memory is discarded.
   * @param patience milliseconds after which running requests are cut off
   */
  stop(patience: number): Promise<void> {
    return (this.#stopping ??= this.#stop(patience));
  }

  async #stop(patience: number): Promise<void> {
    const { tls, measurements, digestThreads, lock } = this.#deps;
    await this.#certificates?.stop();
    await tls?.close();
    await Promise.all(this.#closing.map((close) => close(patience)));
    // Closing a table that has failed could wait for ever, and its lock must not pass to another process.
    if (this.#hasFailed) return;
    await this.#resetting;
    await this.#retired;
    measurements?.observer.close();
    await digestThreads?.close();
    await (this.#options.ephemeral ? this.#composed.abandon() : this.#composed.close());
    await lock?.release();
  }

  #server(handler: Handler): Server {
    const { telemetry, tls, capacity, measurements } = this.#deps;
    const { connections } = capacity;
    const { limits } = this.#composed;
    let isClosing = false;
    const keepAlive = (): boolean => !isClosing;
    const proxies = new TrustedProxies(this.#options.trustProxy);
    const listener = nodeHttpListener(handler, { proxies, limits, keepAlive, telemetry, connections });
    const server: Server = tls ? httpsServer(tls, serverOptions(limits)) : createServer(serverOptions(limits));
    listenToRequests(server, listener);
    server.keepAliveTimeout = 65_000;
    answerClientErrors(server, { ...this.#composed, telemetry });
    connections.limit(server);
    measurements?.observer.observe(server, capacity, this.#composed.audit);
    const close = closing(server);
    this.closeWith((patience) => {
      isClosing = true;
      return close(patience);
    });
    return server;
  }
}
