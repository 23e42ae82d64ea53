import { Socket } from 'node:net';
import { CryptoRandomness } from '../../../shared/adapters/system/crypto-randomness.ts';
import { SystemClock } from '../../../shared/adapters/system/system-clock.ts';
import type { Usage } from '../../../shared/storage/quotas/usage.ts';
import { Readers } from '../../../shared/storage/removal/readers.ts';
import type { Limits } from '../../../shared/protocol/limits.ts';
import { OperatorError } from '../../../shared/errors/operator-error.ts';
import { Log } from '../../../shared/telemetry/log.ts';
import { MemoryReturn } from '../capacity/memory-return.ts';
import { ownFiles } from '../data-directory/own-certificate.ts';
import { attachData } from '../data-directory/data-directory.ts';
import { WorkerDigests } from '../digests/worker-digests.ts';
import { LocalService } from '../local-service.ts';
import type { StartOptions } from '../../../shared/command-line/start-options.ts';
import { isMeasured, ProcessMeasurements } from '../metrics/metrics.ts';
import { withMetrics } from '../metrics/metrics-handler.ts';
import { Tls } from '../tls.ts';
import { Link } from './link.ts';
import { primaryCalls, type ChannelMessage, type PrimaryProcess, type WorkerProcess } from './messages.ts';
import { Arrivals } from './passed-connections.ts';
import { linkDescriptor } from './supervisor.ts';
import {
  LinkedCommits,
  LinkedMutex,
  LinkedQuotas,
  LinkedRates,
  linkedLogKeeper,
  linkedOutput,
  LinkedSmallBlobs,
} from './worker-adapters.ts';

/**
 * Serves requests as one of several workers until the primary stops it. Reads table and blobs and writes the files of blobs itself;
 * leaves commits and everything that the processes share to the primary. Exits if the primary does.
 */
export async function runWorker(options: StartOptions): Promise<void> {
  let consoleOrigins = new Set<string>();
  let readers = new Readers();
  const measurements = isMeasured(options) ? new ProcessMeasurements() : undefined;
  const own: WorkerProcess = {
    // The answer is sent after all earlier messages, which settles them.
    settle: async () => undefined,
    readers: async () => readers.state(),
    measurements: async () => measurements?.taken(),
    knowOrigins: (origins) => origins.forEach((one) => consoleOrigins.add(one)),
  };
  const stream = new Socket({ fd: linkDescriptor, readable: true, writable: true });
  const link = new Link<WorkerProcess, PrimaryProcess>(stream, own, primaryCalls, () => process.exit(1));
  const primary = link.other;
  // A terminal sends both signals to all processes; the primary decides when a worker stops.
  for (const signal of ['SIGTERM', 'SIGINT'] as const) process.on(signal, () => undefined);
  try {
    const tls = await Tls.read(options.tls === undefined ? options : ownFiles(options.data));
    const mutex = new LinkedMutex(primary);
    const stores = await attachData(options.data, new LinkedCommits(primary, mutex), new LinkedSmallBlobs(primary));
    const log = new Log(linkedOutput(link));
    const shared = {
      mutex,
      counters: (usage: Usage, { bucketBytes, bucketObjects }: Limits) => ({
        usage: { of: (bucketId: string) => primary.drain().then(() => usage.of(bucketId)) },
        quotas: new LinkedQuotas(primary, { bytes: bucketBytes, objects: bucketObjects }),
      }),
      rates: ({ requestsPerSecond }: Limits) => (requestsPerSecond < Infinity ? new LinkedRates(primary) : undefined),
      logIsWritten: () => primary.logIsWritten(),
      refused: (isDiskFull: boolean) => primary.refused(isDiskFull),
      logKeeper: linkedLogKeeper(primary),
    };
    const digestThreads = WorkerDigests.forProcesses(options.workers);
    const [clock, randomness] = [new SystemClock(), new CryptoRandomness()];
    const deps = { ...stores, clock, randomness, telemetry: log, primary: shared, digestThreads, tls, measurements };
    const service = await LocalService.open(options, deps);
    const { capacity } = service;
    // Until the process ends.
    void new MemoryReturn([capacity.uploads, capacity.downloads]);
    const origins = await primary.start();
    ({ consoleOrigins, readers } = service.composed);
    own.knowOrigins(origins);
    const serveConnection = service.serveConnections(await withMetrics(service, options, () => primary.scrape()));
    const serve = (socket: Socket | undefined): void => {
      const closed = (): void => primary.closed();
      if (socket === undefined) return closed();
      socket.once('close', closed);
      serveConnection(socket);
    };
    const stop = async (patience: number): Promise<void> => {
      await service.stop(patience);
      log.flush();
      await link.flush();
      process.exit();
    };
    const arrivals = new Arrivals();
    process.on('message', (message: ChannelMessage, socket: Socket | undefined) => {
      if (message.kind === 'stop') return void stop(message.patience);
      const { kind, number } = message;
      const dropped = arrivals.missing(kind === 'connection' ? number - 1 : number);
      if (dropped.length > 0) primary.dropped(dropped);
      if (kind === 'check') return;
      arrivals.arrived(number);
      primary.taken(number);
      serve(socket);
    });
    await primary.serving();
  } catch (error) {
    const text = error instanceof OperatorError ? error.message : ((error as Error).stack ?? String(error));
    primary.failed(text);
    await link.flush();
    process.exit(1);
  }
}
