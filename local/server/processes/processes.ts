import type { Handler } from '../../../shared/node-http/node-http.ts';
import type { LocalService } from '../local-service.ts';
import type { StartOptions } from '../../../shared/command-line/start-options.ts';
import { acceptConnections, Connections, type Place } from './connections.ts';
import { startWorkers, type SupervisorDeps, type Workers } from './supervisor.ts';

export interface ProcessesDeps extends Omit<SupervisorDeps, 'connections' | 'services' | 'kept'> {
  /** The service in this process. */
  readonly service: LocalService;
  readonly handler: Handler;
}

/** Several processes that serve as one: this one and its workers. */
export interface Processes extends Pick<Workers, 'tellOrigins'> {
  /** `http://127.0.0.1:9000` */
  readonly url: string;
}

/**
 * Returns how many connections each of the primary's own counts as. The more workers it commits for, the fewer it gets; next to one
 * worker it gets half of them, as a write that it serves itself needs no messages.
 */
function ownWeight(workers: number): number {
  return workers;
}

/**
 * Serves requests in several processes, until the service in this one stops. It accepts all connections, serves some of them, and passes the
 * others to workers.
 * @throws OperatorError if it cannot listen, or a worker cannot serve
 */
export async function startProcesses(options: StartOptions, deps: ProcessesDeps): Promise<Processes> {
  const { service, handler, ...others } = deps;
  const { capacity, tls, refused } = service;
  const workerCount = options.workers - 1;
  const connections = new Connections(capacity.connections.most);
  const serve = service.serveConnections(handler);
  const place: Place = {
    weight: ownWeight(workerCount),
    serve: (socket) => {
      let isCounted = true;
      const uncount = (): void => {
        if (isCounted) connections.closed(place);
        isCounted = false;
      };
      // One that the client has ended closes a little later: the client may connect again meanwhile, and is not to be sent to a worker.
      socket.once('end', uncount).once('close', uncount);
      serve(socket);
    },
  };
  connections.add(place);
  const acceptor = await acceptConnections(connections, options, { isSecure: tls !== undefined, onError: refused });
  service.closeWith(async () => acceptor.close());
  const workers = await startWorkers(workerCount, { ...service.composed, ...others, connections });
  service.closeWith((patience) => workers.close(patience));
  return { url: acceptor.url, tellOrigins: (origins) => workers.tellOrigins(origins) };
}
