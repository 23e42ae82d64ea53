import cluster, { type Worker } from 'node:cluster';
import { Socket } from 'node:net';
import type { KeyedMutex } from '../../../../shared/metadata/keyed-mutex.ts';
import type { ExactQuotas } from '../../../../shared/metadata/quotas/exact-quotas.ts';
import { RateLimit } from '../../../../shared/protocol/rate-limit.ts';
import { OperatorError } from '../../operator-error.ts';
import type { Log } from '../../telemetry/log.ts';
import type { LocalServices } from '../local-services.ts';
import { stopTime, type Serving } from '../serving.ts';
import type { StartOptions } from '../settings.ts';
import { Desk, type DeskDeps } from './desk.ts';
import { Link } from './link.ts';

/** A worker that has not ended so long after it should have stopped is killed. */
const patience = stopTime + 5000;
/** Milliseconds until a worker is replaced that could not serve; one that could is replaced at once. */
const restartDelay = 1000;

/** The descriptor by which a worker is linked, after standard streams and the channel of node:cluster. */
export const linkDescriptor = 4;

interface RunningWorker {
  readonly worker: Worker;
  readonly link: Link;
  readonly exited: Promise<void>;
}

/**
 * Starts workers, and replaces those that die. All of them share the port; what they write is committed here, so that there is one writer of
 * the table, one feed, one set of quotas and rates, and one log.
 * @throws OperatorError what a worker says that cannot serve
 */
export async function startWorkers(
  options: StartOptions,
  { data: { table, blobs, otherProcesses }, limits, clock }: LocalServices,
  { log, quotas, mutex, feed }: { log: Log; quotas: ExactQuotas; mutex: KeyedMutex; feed: DeskDeps['feed'] },
): Promise<Serving> {
  cluster.setupPrimary({ stdio: ['ignore', 'inherit', 'inherit', 'ipc', 'pipe'] });
  const rates = new RateLimit(limits.requestsPerSecond, clock);
  const deps = { table, smallBlobs: blobs.smallWrites, mutex, quotas, rates, feed, output: process.stdout };
  const running = new Set<RunningWorker>();
  /** The workers that serve. */
  const listening = new Set<Worker>();
  /** The ports that workers were told to ask for: those that ask for the same one share it for as long as one of them is there. */
  const told = new Map<Worker, number>();
  let isStopping = false;
  /** Where the workers listen: the first one takes a free port if any will do. */
  let port: number | undefined;

  const start = (): Promise<string> =>
    new Promise((resolve, reject) => {
      const worker = cluster.fork();
      const desk = new Desk(deps);
      const link = new Link(linkOf(worker), {
        answer: async (message) => {
          switch (message.kind) {
            case 'start':
              // With no worker left nobody holds the port: it is asked for by its number.
              told.set(worker, [...told.values()][0] ?? port ?? options.port);
              return { port: told.get(worker)! };
            case 'listening': {
              const url = message.body['url'] as string;
              port = Number(new URL(url).port);
              listening.add(worker);
              resolve(url);
              return {};
            }
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
      worker.once('disconnect', () => told.delete(worker));
      const exited = new Promise<void>((ended) => {
        worker.once('exit', (code, signal) => {
          const hasServed = listening.delete(worker);
          told.delete(worker);
          running.delete(one);
          desk.close();
          // What it was reading is no longer kept for it.
          otherProcesses();
          ended();
          reject(new OperatorError(`a worker ended before it could serve (${signal || `exit code ${code}`})`));
          if (isStopping) return;
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
        // It is replaced in turn.
        (error: unknown) => log.problem('a worker cannot serve', error),
      );
    }, delay);
  };

  const stop = async (): Promise<void> => {
    isStopping = true;
    await Promise.all([...running].map(stopWorker));
  };
  try {
    const urls = await Promise.all(Array.from({ length: options.workers }, start));
    return { url: urls[0]!, stop };
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

/** Lets a worker finish what it is doing, and end. */
async function stopWorker({ worker, link, exited }: RunningWorker): Promise<void> {
  const killer = setTimeout(() => worker.process.kill('SIGKILL'), patience);
  link.notify('stop');
  await exited;
  clearTimeout(killer);
}
