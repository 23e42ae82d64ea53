import cluster, { type Worker } from 'node:cluster';
import { Socket } from 'node:net';
import type { Clock } from '../../../../shared/ports/clock.ts';
import type { ReadersState } from '../../../../shared/metadata/removal/readers.ts';
import type { Attributes } from '../../../../shared/ports/key-value-table.ts';
import { RateLimit } from '../../../../shared/protocol/rate-limit.ts';
import { OperatorError } from '../../operator-error.ts';
import type { Log } from '../../telemetry/log.ts';
import type { DataDirectory } from '../data-directory.ts';
import type { EmbeddedService } from '../embedded-service.ts';
import type { StartOptions } from '../settings.ts';
import { Desk } from './desk.ts';
import { Link } from './link.ts';
import type { WorkerReports } from './worker-reports.ts';

/** The time after the end of its requests in which a worker must exit, or it is killed. */
const extraPatience = 5000;
/** Milliseconds until a worker that failed to start is replaced. Others are replaced at once. */
const restartDelay = 1000;

/** The file descriptor of a worker's link, after the standard streams and the channel of node:cluster. */
export const linkDescriptor = 4;

interface SupervisorDeps extends DataDirectory, Pick<EmbeddedService, 'services' | 'limits' | 'kept'> {
  readonly clock: Clock;
  readonly log: Log;
  /** Is told of the workers, where the service is measured. */
  readonly reports?: WorkerReports | undefined;
  /** Measures the whole service, for a worker that was asked for its metrics. */
  readonly scrape?: (() => Promise<string>) | undefined;
}

/** Listening workers. */
export interface Workers {
  /** `http://127.0.0.1:9000` */
  readonly url: string;
  /** Stops the workers. @param patience milliseconds after which running requests are cut off */
  close(patience: number): Promise<void>;
  /** Sends the origins of consoles to the workers, also to later ones. */
  tellOrigins(origins: Iterable<string>): void;
}

interface RunningWorker {
  readonly worker: Worker;
  readonly link: Link;
  readonly exited: Promise<void>;
}

/**
 * Starts workers and replaces those that die. They share the port. This process commits their writes, so that the table has one
 * writer, and there is one feed, one set of quotas and rates, and one log.
 * @throws OperatorError if a worker cannot serve, with its message
 */
export async function startWorkers(
  options: StartOptions,
  { table, blobs, otherProcesses, services, limits, kept, clock, log, reports, scrape }: SupervisorDeps,
): Promise<Workers> {
  cluster.setupPrimary({ stdio: ['ignore', 'inherit', 'inherit', 'ipc', 'pipe'] });
  const rates = new RateLimit(limits.requestsPerSecond, clock);
  const { quotas } = services;
  const running = new Set<RunningWorker>();
  const settle = async (): Promise<void> => {
    await Promise.allSettled([...running].map(({ link }) => link.request('settle')));
  };
  const deps = { table, smallBlobs: blobs.smallWrites, ...kept, quotas, rates, settle, output: process.stdout };
  let origins: readonly string[] = [];
  /** The serving workers. */
  const listening = new Set<Worker>();
  /** The ports requested by workers. Workers that request the same one share it while at least one of them runs. */
  const told = new Map<Worker, number>();
  let isStopping = false;
  /** The address of the workers. For port 0, the first worker picks a free port. */
  let port: number | undefined;

  const start = (): Promise<string> =>
    new Promise((resolve, reject) => {
      const worker = cluster.fork();
      const desk = new Desk(deps);
      const link = new Link(linkOf(worker), {
        answer: async (message) => {
          switch (message.kind) {
            case 'start':
              // Without a running worker nobody holds the port, so it is requested by its number.
              told.set(worker, [...told.values()][0] ?? port ?? options.port);
              return { port: told.get(worker)!, origins };
            case 'listening': {
              const url = message.body['url'] as string;
              port = Number(new URL(url).port);
              listening.add(worker);
              resolve(url);
              return {};
            }
            case 'scrape':
              return { text: (await scrape?.()) ?? '' };
            default:
              return desk.answer(message);
          }
        },
        hear: (message) => {
          if (message.kind === 'failed') reject(new OperatorError(message.body['text'] as string));
          else desk.hear(message);
        },
        closed: () => desk.close(),
      });
      const name = reports?.add(link);
      const forgetReaders = kept.serviceReaders.add({ readers: async () => readersOf(await link.request('readers')) });
      worker.once('disconnect', () => told.delete(worker));
      const exited = new Promise<void>((resolveExited) => {
        worker.once('exit', (code, signal) => {
          forgetReaders();
          const hasServed = listening.delete(worker);
          told.delete(worker);
          running.delete(one);
          if (name !== undefined) reports?.remove(name);
          desk.close();
          // Releases the pages of the table that the dead worker was reading.
          otherProcesses();
          resolveExited();
          reject(new OperatorError(`a worker exited before it could serve (${signal || `exit code ${code}`})`));
          if (isStopping) return;
          reports?.died();
          log.problem('a worker died', undefined, { pid: worker.process.pid, ...(signal ? { signal } : { code }) });
          replace(hasServed ? 0 : restartDelay);
        });
      });
      const one = { worker, link, exited };
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
    const urls = await Promise.all(Array.from({ length: options.workers }, start));
    return { url: urls[0]!, close, tellOrigins };
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
async function stopWorker({ worker, link, exited }: RunningWorker, patience: number): Promise<void> {
  const killer = setTimeout(() => worker.process.kill('SIGKILL'), patience + extraPatience);
  link.notify('stop', { patience });
  await exited;
  clearTimeout(killer);
}
