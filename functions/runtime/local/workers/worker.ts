import type { Server } from 'node:http';
import { Socket } from 'node:net';
import { CryptoRandomness } from '../../../../shared/adapters/system/crypto-randomness.ts';
import { SystemClock } from '../../../../shared/adapters/system/system-clock.ts';
import type { Usage } from '../../../../shared/metadata/quotas/usage.ts';
import { Readers } from '../../../../shared/metadata/removal/readers.ts';
import type { Limits } from '../../../../shared/protocol/limits.ts';
import { TrustedProxies } from '../../http/trusted-proxies.ts';
import { OperatorError } from '../../operator-error.ts';
import { Log } from '../../telemetry/log.ts';
import { ProcessCapacity } from '../capacity/capacity.ts';
import { MemoryReturn } from '../capacity/memory-return.ts';
import { attachData } from '../data-directory.ts';
import { WorkerDigests } from '../digests/worker-digests.ts';
import { composeEmbeddedService } from '../embedded-service.ts';
import { serveConnections } from '../listener.ts';
import type { StartOptions } from '../settings.ts';
import { isMeasured, ProcessMeasurements } from '../metrics/metrics.ts';
import { withMetrics } from '../metrics/metrics-handler.ts';
import { Tls } from '../tls.ts';
import { Link } from './link.ts';
import { Arrivals, type WorkerMessage } from './passed-connections.ts';
import { linkDescriptor } from './supervisor.ts';
import {
  LinkedCommits,
  LinkedMutex,
  LinkedQuotas,
  LinkedRates,
  linkedOutput,
  LinkedSmallBlobs,
} from './worker-adapters.ts';
import { measurementsOf } from './worker-reports.ts';

/**
 * Serves requests as one of several workers until the primary stops it. Reads table and blobs and writes the files of blobs itself;
 * leaves commits and everything that the processes share to the primary. Exits if the primary does.
 */
export async function runWorker(options: StartOptions): Promise<void> {
  let consoleOrigins = new Set<string>();
  const know = (origins: unknown): void => (origins as readonly string[]).forEach((one) => consoleOrigins.add(one));
  let readers: Readers | undefined;
  const measurements = isMeasured(options) ? new ProcessMeasurements() : undefined;
  const link = new Link(new Socket({ fd: linkDescriptor, readable: true, writable: true }), {
    // The answer is sent after all earlier messages, which settles them.
    answer: ({ kind }) => {
      if (kind === 'readers') return Promise.resolve({ ...(readers ?? new Readers()).state() });
      return Promise.resolve(kind === 'measurements' && measurements ? measurementsOf(measurements) : {});
    },
    hear: ({ body }) => know(body['origins']),
    closed: () => process.exit(1),
  });
  // A terminal sends both signals to all processes; the primary decides when a worker stops.
  for (const signal of ['SIGTERM', 'SIGINT'] as const) process.on(signal, () => undefined);
  try {
    const tls = await Tls.read(options);
    const proxies = new TrustedProxies(options.trustProxy);
    const mutex = new LinkedMutex(link);
    const stores = await attachData(options.data, new LinkedCommits(link, mutex), new LinkedSmallBlobs(link));
    const log = new Log(linkedOutput(link));
    const telemetry = measurements?.counted(log) ?? log;
    const primary = {
      mutex,
      counters: (usage: Usage, { bucketBytes, bucketObjects }: Limits) => ({
        usage: { of: (bucketId: string) => link.request('drain').then(() => usage.of(bucketId)) },
        quotas: new LinkedQuotas(link, { bytes: bucketBytes, objects: bucketObjects }),
      }),
      logIsWritten: async () => (await link.request('log state'))['isWritten'] as boolean,
      refused: (isDiskFull: boolean) => link.notify('refused', { isDiskFull }),
      rates: ({ requestsPerSecond }: Limits) => (requestsPerSecond < Infinity ? new LinkedRates(link) : undefined),
    };
    const digestThreads = WorkerDigests.forProcesses(options.workers);
    const [clock, randomness] = [new SystemClock(), new CryptoRandomness()];
    const capacity = ProcessCapacity.ofProcess(options, telemetry);
    // Until the process ends.
    void new MemoryReturn([capacity.uploads, capacity.downloads]);
    const service = await composeEmbeddedService(
      { ...stores, clock, randomness, telemetry, primary, digestThreads, capacity },
      options,
    );
    const { origins } = await link.request('start');
    ({ consoleOrigins, readers } = service);
    know(origins);
    // The primary reads the files as well and logs the outcome.
    tls?.follow(clock, { request: () => undefined, problem: () => undefined, note: () => undefined });
    const scrape = async (): Promise<string> => (await link.request('scrape'))['text'] as string;
    const handler = await withMetrics(service.pipeline, options, { ...service, telemetry, scrape });
    const { connections } = capacity;
    const observe = (server: Server): void => measurements?.observer.observe(server, capacity);
    const server = serveConnections({ ...service, handler, proxies, telemetry, tls, connections, observe });
    const serve = (socket: Socket | undefined): void => {
      const closed = (): void => link.notifyLater('closed');
      if (socket === undefined) return closed();
      socket.once('close', closed);
      server.serve(socket);
    };
    const stop = async (patience: number): Promise<void> => {
      await server.close(patience);
      await service.close();
      log.flush();
      await link.flush();
      process.exit();
    };
    const arrivals = new Arrivals();
    process.on('message', (message: WorkerMessage, socket: Socket | undefined) => {
      if (message.kind === 'stop') return void stop(message.patience);
      const { kind, number } = message;
      const dropped = arrivals.missing(kind === 'connection' ? number - 1 : number);
      if (dropped.length > 0) link.notify('dropped', { numbers: dropped });
      if (kind === 'check') return;
      arrivals.arrived(number);
      link.notify('taken', { number });
      serve(socket);
    });
    await link.request('serving');
  } catch (error) {
    const text = error instanceof OperatorError ? error.message : ((error as Error).stack ?? String(error));
    link.notify('failed', { text });
    await link.flush();
    process.exit(1);
  }
}
