import type { Server } from 'node:http';
import { CryptoRandomness } from '../../../shared/adapters/system/crypto-randomness.ts';
import { SystemClock } from '../../../shared/adapters/system/system-clock.ts';
import { second } from '../../../shared/ports/durations.ts';
import { TrustedProxies } from '../http/trusted-proxies.ts';
import { UsageError } from '../operator-error.ts';
import { Log } from '../telemetry/log.ts';
import { LogOutput } from '../telemetry/log-output.ts';
import { readAccountsFile } from './accounts-file.ts';
import { checkConsoleOrigins, consoleOrNone } from './console/console-server.ts';
import { ProcessCapacity } from './capacity/capacity.ts';
import { MemoryReturn } from './capacity/memory-return.ts';
import { openData } from './data-directory.ts';
import { composeEmbeddedService } from './embedded-service.ts';
import { WorkerDigests } from './digests/worker-digests.ts';
import { ephemeralNotice, ephemeralStores } from './ephemeral-stores.ts';
import { clientSettings, ensureFirstKey, whereKeysAre } from './first-start.ts';
import { firstProject } from './initial-key.ts';
import { startListener, type ListenerDeps, type RunningListener } from './listener.ts';
import { isMeasured, Metrics, ProcessMeasurements } from './metrics/metrics.ts';
import { withMetrics } from './metrics/metrics-handler.ts';
import { startMetricsServer } from './metrics/metrics-server.ts';
import { StoreMetrics } from './metrics/store-metrics.ts';
import { openReadyFile } from './ready-file.ts';
import { lockDirectory, type ServiceLock } from './service-lock.ts';
import type { StartOptions } from './settings.ts';
import { Tls } from './tls.ts';
import { startProcesses, type Processes } from './workers/processes.ts';
import { WorkerReports } from './workers/worker-reports.ts';

/** A running service. */
export interface LocalServer {
  /** `http://127.0.0.1:9000` */
  readonly url: string;
  /** Finishes running requests, follows the change feed to its end, and closes the table. */
  stop(): Promise<void>;
  /** Resolves once it has stopped. */
  readonly stopped: Promise<void>;
}

/** The time after which a stop cuts off running requests. */
const stopTime = 30 * second;
/** The same for requests for files of the console. */
const consoleStopTime = 2 * second;

/** Starts the service of the program on one machine, with its log on standard output, until SIGTERM or SIGINT. @throws OperatorError */
export async function startLocalServer(options: StartOptions): Promise<LocalServer> {
  const tls = await Tls.read(options);
  const proxies = new TrustedProxies(options.trustProxy);
  checkConsoleOrigins(options);
  if (options.ephemeral && options.workers !== 1) {
    throw new UsageError('--ephemeral cannot be used with --workers: it keeps all data in the memory of one process');
  }
  const declared = options.accounts === undefined ? undefined : await readAccountsFile(options.accounts);

  const readyFile = options.readyFile === undefined ? undefined : await openReadyFile(options.readyFile);

  const output = new LogOutput(process.stdout, process.stdout.fd);
  const log = new Log(output);
  const clock = new SystemClock();
  const randomness = new CryptoRandomness();
  const commitFailed = (cause: unknown): void => log.problem('a transaction of the table failed', cause);
  const directory = options.ephemeral ? undefined : await openData(options.data, undefined, commitFailed);
  const lock = directory && (await lockDirectory(options.data, directory.table, randomness));
  try {
    return await serve(options, { tls, proxies, declared, readyFile, output, log, clock, randomness, directory, lock });
  } catch (error) {
    await lock?.release();
    throw error;
  }
}

/** The parts of a service that are ready before it listens. */
interface Prepared {
  readonly tls: Tls | undefined;
  readonly proxies: TrustedProxies;
  readonly declared: Awaited<ReturnType<typeof readAccountsFile>> | undefined;
  readonly readyFile: Awaited<ReturnType<typeof openReadyFile>> | undefined;
  readonly output: LogOutput;
  readonly log: Log;
  readonly clock: SystemClock;
  readonly randomness: CryptoRandomness;
  /** Undefined if it is ephemeral. */
  readonly directory: Awaited<ReturnType<typeof openData>> | undefined;
  readonly lock: ServiceLock | undefined;
}

async function serve(options: StartOptions, prepared: Prepared): Promise<LocalServer> {
  const { tls, proxies, declared, readyFile, output, log, clock, randomness, directory, lock } = prepared;
  const stores = directory ?? ephemeralStores(randomness);
  const own = isMeasured(options) ? new ProcessMeasurements() : undefined;
  const telemetry = own?.counted(log) ?? log;
  // As many as a single process has: it serves the clients who are alone. Those of idle workers wait.
  const digestThreads = WorkerDigests.forProcesses(1);
  const capacity = ProcessCapacity.ofProcess(options, telemetry);
  const memoryReturn = new MemoryReturn([capacity.uploads, capacity.downloads]);
  const reports = options.workers > 1 ? new WorkerReports() : undefined;
  const settle = reports && (() => reports.settle());
  const deps = { ...stores, clock, randomness, telemetry, declared, digestThreads, capacity, settle, logState: output };
  const service = await composeEmbeddedService(deps, options);
  const { accounts, pipeline, consoleOrigins } = service;
  const kept = {
    table: stores.table,
    clock,
    data: directory && options.data,
    perBucket: options.metricsBuckets,
    log: output,
  };
  const metrics = own && new Metrics(own, new StoreMetrics(kept), reports);
  const scrape = async (): Promise<string> => (await metrics?.scrape()) ?? '';
  const listenerDeps = async (): Promise<ListenerDeps> => {
    const handler = await withMetrics(pipeline, options, { ...service, telemetry, scrape });
    const observe = (server: Server): void => own?.observer.observe(server, capacity);
    return { ...service, handler, proxies, telemetry, tls, observe, connections: capacity.connections };
  };
  const metricsServer =
    options.metricsPort === 0 ? undefined : await startMetricsServer(options.metricsPort, scrape, log);
  const start = async (): Promise<RunningListener & Partial<Processes>> => {
    const listening = await listenerDeps();
    if (!directory || !reports) return startListener(listening, options);
    return startProcesses(options, {
      ...directory,
      ...service,
      log,
      output,
      reports,
      scrape,
      listener: listening,
      capacity,
    });
  };
  const listener = await start().catch(async (error: unknown) => {
    await metricsServer?.close(0);
    throw error;
  });
  const { url } = listener;
  const hasKeys = declared !== undefined || options.key !== undefined;
  const isFirst = await ensureFirstKey({ ...stores, accounts, randomness }, hasKeys, (key) => {
    process.stderr.write(clientSettings(key, url, options));
  });
  if (!isFirst && !hasKeys && (await accounts.byEmail(firstProject))) process.stderr.write(whereKeysAre(options.data));
  const console = options.ephemeral ? undefined : await consoleOrNone(options, { url, tls, telemetry: log });
  for (const origin of console?.origins ?? []) consoleOrigins.add(origin);
  listener.tellOrigins?.(consoleOrigins);
  lock?.answer(service.actions);
  await readyFile?.write(url);

  const certificates = tls?.follow(clock, log);

  const close = async (): Promise<void> => {
    await certificates?.stop();
    await readyFile?.remove();
    await Promise.all([
      listener.close(stopTime),
      console?.close(consoleStopTime),
      metricsServer?.close(consoleStopTime),
    ]);
    own?.observer.close();
    memoryReturn.close();
    await digestThreads?.close();
    await service.close();
    await lock?.release();
    log.note('stopped');
    log.flush();
  };
  let stopping: Promise<void> | undefined;
  const stop = (): Promise<void> => (stopping ??= close());
  const stopped = new Promise<void>((resolve, reject) => {
    for (const signal of ['SIGTERM', 'SIGINT'] as const) {
      process.once(signal, () => {
        stop().then(resolve, reject);
      });
    }
  });

  if (options.ephemeral) {
    log.note(ephemeralNotice);
    process.stderr.write(`${ephemeralNotice}\n`);
  }
  const hint = console ? `The console is at ${console.url}: sign in with an access key\n` : '';
  const hints = metricsServer ? `${hint}Metrics are at ${metricsServer.url}/metrics\n` : hint;
  process.stderr.write(`Stillage is listening on ${url}\n${hints}`);
  return { url, stop, stopped };
}
