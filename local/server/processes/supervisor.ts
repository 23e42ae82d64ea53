import cluster, { type Worker } from 'node:cluster';
import { Socket } from 'node:net';
import { OperatorError } from '../../../shared/errors/operator-error.ts';
import type { Log } from '../../../shared/telemetry/log.ts';
import type { LogOutput } from '../../../shared/telemetry/log-output.ts';
import type { DataDirectory } from '../data-directory/data-directory.ts';
import type { EmbeddedService } from '../embedded-service.ts';
import type { Connections } from './connections.ts';
import { Desk } from './desk.ts';
import { Link } from './link.ts';
import { workerCalls, type PrimaryProcess, type WorkerProcess } from './messages.ts';
import { PassedConnections } from './passed-connections.ts';
import { watch } from './watch.ts';
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
  readonly link: Link<PrimaryProcess, WorkerProcess>;
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
  // Workers send their lines over the link. A pipe that they inherited would block for this process, too, as long as one starts.
  cluster.setupPrimary({ stdio: ['ignore', 'ignore', 'inherit', 'ipc', 'pipe'] });
  const { quotas } = services;
  const running = new Set<RunningWorker>();
  let origins: readonly string[] = [];
  const deps = { table, smallBlobs: blobs.smallWrites, ...kept, quotas, output, scrape, origins: () => origins };
  let isStopping = false;

  const start = (): Promise<void> =>
    new Promise((resolve, reject) => {
      const worker = cluster.fork();
      const passed = new PassedConnections(worker, connections);
      const failed = (why: string): void => reject(new OperatorError(why));
      const desk = new Desk(deps, { connections: passed, serving: resolve, failed });
      const link = new Link<PrimaryProcess, WorkerProcess>(linkOf(worker), desk, workerCalls, () => desk.close());
      const name = reports.add(link.other);
      const forgetReaders = kept.serviceReaders.add(link.other);
      const { pid } = worker.process;
      const unwatch = watch(link.other, {
        silent: () => {
          passed.silent();
          log.problem('a worker does not answer', undefined, { pid });
        },
        answersAgain: () => {
          passed.answersAgain();
          log.note('a worker answers again', { pid });
        },
        hung: (seconds) => {
          log.problem(`a worker has not answered for ${seconds} seconds and is killed`, undefined, { pid });
          // A stopped process ignores every other signal, and one in an endless loop does not handle it.
          worker.process.kill('SIGKILL');
        },
      });
      const exited = new Promise<void>((resolveExited) => {
        worker.once('exit', (code, signal) => {
          unwatch();
          forgetReaders();
          running.delete(one);
          passed.end();
          reports.remove(name);
          desk.close();
          // Releases the pages of the table that the dead worker was reading.
          otherProcesses();
          resolveExited();
          reject(new OperatorError(`a worker exited before it could serve (${signal || `exit code ${code}`})`));
          if (isStopping) return;
          reports.died();
          log.problem(
            isCrash(signal) ? 'a worker died, perhaps of a damaged table: see stillage doctor' : 'a worker died',
            undefined,
            { pid, ...(signal ? { signal } : { code }) },
          );
          replace(passed.hasBegun ? 0 : restartDelay);
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
    for (const { link } of running) link.other.knowOrigins(origins);
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

function linkOf({ process: { stdio } }: Worker): Socket {
  const stream = stdio[linkDescriptor];
  if (stream instanceof Socket) return stream;
  throw new Error('a worker has no link');
}

/** Tells whether a process was ended by the engine, or by the kernel for what it read: by a damaged page, most likely. */
function isCrash(signal: string): boolean {
  return ['SIGABRT', 'SIGBUS', 'SIGSEGV'].includes(signal);
}

/** Lets a worker finish its requests and exit. */
async function stopWorker({ worker, passed, exited }: RunningWorker, patience: number): Promise<void> {
  const killer = setTimeout(() => worker.process.kill('SIGKILL'), patience + extraPatience);
  if (passed.hasBegun) passed.stop(patience);
  // It serves nothing, and does not handle messages yet.
  else worker.process.kill('SIGKILL');
  await exited;
  clearTimeout(killer);
}
