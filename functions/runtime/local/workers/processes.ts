import type { ProcessCapacity } from '../capacity/capacity.ts';
import { refusing, serveConnections, type ListenerDeps, type RunningListener } from '../listener.ts';
import type { StartOptions } from '../settings.ts';
import { acceptConnections, Connections, type Place } from './connections.ts';
import { startWorkers, type SupervisorDeps, type Workers } from './supervisor.ts';

export interface ProcessesDeps extends Omit<SupervisorDeps, 'connections'> {
  readonly listener: ListenerDeps;
  /** What each process may have. */
  readonly capacity: ProcessCapacity;
}

/** Several processes that serve as one: this one and its workers. */
export type Processes = RunningListener & Pick<Workers, 'tellOrigins'>;

/**
 * Returns how many connections each of the primary's own counts as. The more workers it commits for, the fewer it gets; next to one
 * worker it gets half of them, as a write that it serves itself needs no messages.
 */
function ownWeight(workers: number): number {
  return workers;
}

/**
 * Serves requests in several processes. This one accepts all connections, serves some of them, and passes the others to workers.
 * @throws OperatorError if it cannot listen, or a worker cannot serve
 */
export async function startProcesses(options: StartOptions, deps: ProcessesDeps): Promise<Processes> {
  const { listener, capacity, ...others } = deps;
  const workerCount = options.workers - 1;
  const connections = new Connections(capacity.connections.most);
  const own = serveConnections(listener);
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
      own.serve(socket);
    },
  };
  connections.add(place);
  const isSecure = listener.tls !== undefined;
  const acceptor = await acceptConnections(connections, options, { isSecure, onError: refusing(listener) });
  const workers = await startWorkers(workerCount, { ...others, connections }).catch((error: unknown) => {
    acceptor.close();
    throw error;
  });
  return {
    url: acceptor.url,
    close: async (patience) => {
      acceptor.close();
      await Promise.all([own.close(patience), workers.close(patience)]);
    },
    tellOrigins: (origins) => workers.tellOrigins(origins),
  };
}
