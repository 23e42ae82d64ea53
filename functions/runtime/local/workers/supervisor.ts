import cluster, { type Worker } from 'node:cluster';
import { Socket } from 'node:net';
import type { ReadersState } from '../../../../shared/metadata/removal/readers.ts';
import type { Attributes } from '../../../../shared/ports/key-value-table.ts';
import { OperatorError } from '../../operator-error.ts';
import type { Log } from '../../telemetry/log.ts';
import type { LogOutput } from '../../telemetry/log-output.ts';
import type { DataDirectory } from '../data-directory.ts';
import type { EmbeddedService } from '../embedded-service.ts';
import type { Connections } from './connections.ts';
import { Desk } from './desk.ts';
import { Link } from './link.ts';
import { PassedConnections } from './passed-connections.ts';
import type { WorkerReports } from './worker-reports.ts';

/** The time after the end of its requests in which a worker must exit, or it is killed. */
const extraPatience = 5000;
/** Milliseconds until a worker that failed to start is replaced. Others are replaced at once. */
const restartDelay = 1000;

/** The file descriptor of a worker's link, after the standard streams and the channel of node:cluster. */
export const linkDescriptor = 4;

export interface SupervisorDeps extends DataDirectory, Pick<EmbeddedService, 'services' | 'kept'> {
  readonly log: Log;
  readonly output: LogOutput;
  /** Workers take part in it once they serve. */
  readonly connections: Connections;
  /** Is told of the workers. */
  readonly reports: WorkerReports;
  /** Measures the whole service, for a worker that was asked for its metrics. */
  readonly scrape?: (() => Promise<string>) | undefined;
}

/** Serving workers. */
export interface Workers {
  /** Stops the workers. @param patience milliseconds after which running requests are cut off */
  close(patience: number): Promise<void>;
  /** Sends the origins of consoles to the workers, also to later ones. */
  tellOrigins(origins: Iterable<string>): void;
}

interface RunningWorker {
  readonly worker: Worker;
  readonly link: Link;
  readonly passed: PassedConnections;
  readonly exited: Promise<void>;
}

/**
 * Starts workers and replaces those that die. This process commits their writes, so that the table has one writer, and there is one
 * feed, one set of quotas and rates, and one log.
 * @param count how many
 * @throws OperatorError if a worker cannot serve, with its message
 */
export async function startWorkers(
  count: number,
  { table, blobs, otherProcesses, services, kept, log, output, connections, reports, scrape }: SupervisorDeps,
): Promise<Workers> {
  cluster.setupPrimary({ stdio: ['ignore', 'inherit', 'inherit', 'ipc', 'pipe'] });
  const { quotas } = services;
  const running = new Set<RunningWorker>();
  const deps = { table, smallBlobs: blobs.smallWrites, ...kept, quotas, output };
  let origins: readonly string[] = [];
  let isStopping = false;

  const start = (): Promise<void> =>
    new Promise((resolve, reject) => {
      const worker = cluster.fork();
      const desk = new Desk(deps);
      const passed = new PassedConnections(worker, connections);
      const link = new Link(linkOf(worker), {
        answer: async (message) => {
          switch (message.kind) {
            case 'start':
              return { origins };
            case 'serving':
              passed.begin();
              resolve();
              return {};
            case 'scrape':
              return { text: (await scrape?.()) ?? '' };
            default:
              return desk.answer(message);
          }
        },
        hear: (message) => {
          if (message.kind === 'failed') reject(new OperatorError(message.body['text'] as string));
          else if (message.kind === 'taken') passed.taken(message.body['number'] as number);
          else if (message.kind === 'dropped') passed.dropped(message.body['numbers'] as readonly number[]);
          else if (message.kind === 'closed') passed.closed();
          else desk.hear(message);
        },
        closed: () => desk.close(),
      });
      const name = reports.add(link);
      const forgetReaders = kept.serviceReaders.add({ readers: async () => readersOf(await link.request('readers')) });
      const exited = new Promise<void>((resolveExited) => {
        worker.once('exit', (code, signal) => {
          forgetReaders();
          running.delete(one);
          const hasServed = passed.end();
          reports.remove(name);
          desk.close();
          // Releases the pages of the table that the dead worker was reading.
          otherProcesses();
          resolveExited();
          reject(new OperatorError(`a worker exited before it could serve (${signal || `exit code ${code}`})`));
          if (isStopping) return;
          reports.died();
          log.problem('a worker died', undefined, { pid: worker.process.pid, ...(signal ? { signal } : { code }) });
          replace(hasServed ? 0 : restartDelay);
        });
      });
      const one = { worker, link, passed, exited };
      running.add(one);
    });

  const replace = (delay: number): void => {
    setTimeout(() => {
      if (isStopping) return;
      start().then(
        () => log.note('a worker was started'),
        // Its exit starts a replacement.
        (error: unknown) => log.problem('a worker cannot serve', error),
      );
    }, delay);
  };

  const close = async (patience: number): Promise<void> => {
    isStopping = true;
    await Promise.all([...running].map((one) => stopWorker(one, patience)));
  };
  const tellOrigins = (consoles: Iterable<string>): void => {
    origins = [...consoles];
    for (const { link } of running) link.notify('origins', { origins });
  };
  try {
    await Promise.all(Array.from({ length: count }, start));
    return { close, tellOrigins };
  } catch (error) {
    isStopping = true;
    for (const { worker } of running) worker.process.kill('SIGKILL');
    throw error;
  }
}

/** Reads a worker's answer about its readers. */
function readersOf({ next, oldest, held }: Attributes): ReadersState {
  return { next: next as number, oldest: oldest as number, held: held as readonly string[] };
}

function linkOf({ process: { stdio } }: Worker): Socket {
  const stream = stdio[linkDescriptor];
  if (stream instanceof Socket) return stream;
  throw new Error('a worker has no link');
}

/** Lets a worker finish its requests and exit. */
async function stopWorker({ worker, passed, exited }: RunningWorker, patience: number): Promise<void> {
  const killer = setTimeout(() => worker.process.kill('SIGKILL'), patience + extraPatience);
  passed.stop(patience);
  await exited;
  clearTimeout(killer);
}
