import { Socket } from 'node:net';
import { OperatorError } from '../../operator-error.ts';
import { Log } from '../../telemetry/log.ts';
import { attachData } from '../data-directory.ts';
import { localServices } from '../local-services.ts';
import { serveRequests } from '../serving.ts';
import type { StartOptions } from '../settings.ts';
import { Link } from './link.ts';
import { linkDescriptor } from './supervisor.ts';
import {
  LinkedCommits,
  LinkedMutex,
  LinkedQuotas,
  LinkedRates,
  linkedOutput,
  LinkedSmallBlobs,
} from './worker-adapters.ts';

/**
 * Serves requests as one of several workers, until the primary says stop: reads table and blobs itself, writes the files of blobs, and leaves
 * commits and all that is the service's rather than a process's to the primary. Without it there is nothing it could do: then it ends.
 */
export async function runWorker(options: StartOptions): Promise<void> {
  let stop = (): void => process.exit();
  const link = new Link(new Socket({ fd: linkDescriptor, readable: true, writable: true }), {
    answer: async ({ kind }) => Promise.reject(new Error(`the primary asks for ${kind}`)),
    hear: () => stop(),
    closed: () => process.exit(1),
  });
  // Both go to all processes of a terminal, and the primary decides when a worker stops.
  for (const signal of ['SIGTERM', 'SIGINT'] as const) process.on(signal, () => undefined);
  try {
    const data = await attachData(options.data, new LinkedCommits(link), new LinkedSmallBlobs(link));
    const local = await localServices(options, data, new LinkedMutex(link));
    const { usage } = local.services;
    const { bucketBytes, bucketObjects, requestsPerSecond } = local.limits;
    const log = new Log(linkedOutput(link));
    const { port } = await link.request('start');
    const serving = await serveRequests({ ...options, port: port as number }, local, {
      log,
      counters: {
        usage: { of: (bucketId: string) => link.request('drain').then(() => usage.of(bucketId)) },
        quotas: new LinkedQuotas(link, { bytes: bucketBytes, objects: bucketObjects }),
      },
      ...(requestsPerSecond < Infinity && { rates: new LinkedRates(link) }),
    });
    stop = () => {
      void serving.stop().then(async () => {
        log.flush();
        await link.flush();
        process.exit();
      });
    };
    await link.request('listening', { url: serving.url });
  } catch (error) {
    const text = error instanceof OperatorError ? error.message : ((error as Error).stack ?? String(error));
    link.notify('failed', { text });
    await link.flush();
    process.exit(1);
  }
}
