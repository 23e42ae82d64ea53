import { rename, rm, writeFile } from 'node:fs/promises';
import { CryptoRandomness } from '../../shared/adapters/system/crypto-randomness.ts';
import { SystemClock } from '../../shared/adapters/system/system-clock.ts';
import { second } from '../../shared/ports/durations.ts';
import { OperatorError, UsageError } from '../../shared/errors/operator-error.ts';
import { Log } from '../../shared/telemetry/log.ts';
import { LogOutput } from '../../shared/telemetry/log-output.ts';
import type { ProjectDeclaration } from '../../shared/accounts/accounts.ts';
import { Administration } from '../../shared/accounts/administration.ts';
import { Operators } from '../../shared/accounts/operators.ts';
import { administrationDeps } from '../../functions/admin/deps.ts';
import type { AdminServer, Commands } from './administration/admin-server.ts';
import { ProgramJobs } from './administration/program-jobs.ts';
import { localActionKinds, serviceSettings } from './administration/service-settings.ts';
import { checkConsoleOrigins, consoleOrNone, type RunningConsole } from './console/console-server.ts';
import { MemoryReturn } from './capacity/memory-return.ts';
import { openToServe } from './data-directory/data-directory.ts';
import { warnOfDamage } from './doctor/table-check.ts';
import { WorkerDigests } from './digests/worker-digests.ts';
import { ephemeralNotice, ephemeralStores } from './data-directory/ephemeral-stores.ts';
import { clientSettings, ensureFirstKey, howToTrust, whereKeysAre } from './first-start/first-start.ts';
import { firstProject } from './first-start/initial-key.ts';
import type { Stores } from './embedded-service.ts';
import { LocalService } from './local-service.ts';
import { isMeasured, Metrics, ProcessMeasurements } from './metrics/metrics.ts';
import { withMetrics } from './metrics/metrics-handler.ts';
import { startMetricsServer, type MetricsServer } from './metrics/metrics-server.ts';
import { StoreMetrics } from './metrics/store-metrics.ts';
import { hasEndedUncleanly } from './data-directory/service-lock.ts';
import type { StartOptions } from '../../shared/command-line/start-options.ts';
import { Tls } from './tls.ts';
import { scheduleBackups } from './schedules/backup-schedule.ts';
import { startProcesses } from './processes/processes.ts';
import { WorkerReports } from './processes/worker-reports.ts';

/** The time after which a stop cuts off running requests. */
const stopTime = 30 * second;
/** The same for requests for files of the console. */
const consoleStopTime = 2 * second;
/** How long a process that ends waits for whoever reads its log. */
const logPatience = second;

/**
 * Runs the service of the program on one machine, with its log on standard output, until SIGTERM or SIGINT. Then it finishes running requests,
 * follows the change feed to its end, and closes the table.
 * What only some services need is loaded by those, before they answer: docs/adr/0095-code-is-loaded-on-demand.md.
 * @param loadCommands loads what operators may ask for over HTTP
 * @throws OperatorError
 */
export async function runLocalServer(options: StartOptions, loadCommands: () => Promise<Commands>): Promise<void> {
  const tls = await Tls.read(options);
  checkConsoleOrigins(options);
  if (options.ephemeral && options.workers !== 1) {
    throw new UsageError('--ephemeral cannot be used with --workers: it keeps all data in the memory of one process');
  }
  const declared = options.accounts === undefined ? undefined : await readAccounts(options.accounts);
  const readyFile = options.readyFile === undefined ? undefined : await openReadyFile(options.readyFile);

  const output = new LogOutput(process.stdout, process.stdout.fd);
  const log = new Log(output);
  const [clock, randomness] = [new SystemClock(), new CryptoRandomness()];
  const isShared = options.table !== undefined;
  if (isShared) checkShared(options);
  const directory = options.ephemeral || isShared ? undefined : await openDirectory(options.data, log);
  const stores = directory ?? (isShared ? await sharedStores(options) : ephemeralStores(randomness));
  const measurements = isMeasured(options) ? new ProcessMeasurements() : undefined;
  const reports = options.workers > 1 ? new WorkerReports() : undefined;
  // As many as a single process has: it serves the clients who are alone. Those of idle workers wait.
  const digestThreads = WorkerDigests.forProcesses(1);
  const settle = reports && (() => reports.settle());
  const deps = {
    ...stores,
    clock,
    randomness,
    telemetry: log,
    logState: output,
    declared,
    tls,
    measurements,
    isShared,
  };
  const service = await LocalService.open(options, { ...deps, digestThreads, settle });
  const { capacity } = service;
  // Until the process ends.
  void new MemoryReturn([capacity.uploads, capacity.downloads]);
  if (readyFile) service.closeWith(() => readyFile.remove());
  const closeSoon = (server: MetricsServer | RunningConsole | AdminServer): void =>
    service.closeWith((patience) => server.close(Math.min(patience, consoleStopTime)));
  let stop: Promise<void>;
  try {
    const kept = {
      table: stores.table,
      clock,
      data: directory && options.data,
      perBucket: options.metricsBuckets,
      events: () => service.composed.events,
      accessLogs: () => service.composed.accessLogs?.(),
      log: output,
    };
    const metrics = measurements && new Metrics(measurements, new StoreMetrics(kept), reports);
    const scrape = async (): Promise<string> => (await metrics?.scrape()) ?? '';
    const metricsServer =
      options.metricsPort === 0 ? undefined : await startMetricsServer(options.metricsPort, scrape, log);
    if (metricsServer) closeSoon(metricsServer);
    const handler = await withMetrics(service, options, scrape);
    const processes =
      directory && reports
        ? await startProcesses(options, { ...directory, service, handler, log, output, reports, scrape })
        : undefined;
    const url = processes?.url ?? (await service.listen(handler));
    const jobs = directory && new ProgramJobs({ options, program: process.argv[1]!, clock, randomness });
    if (jobs) service.closeWith(() => jobs.stop());
    const operators = options.adminPort === 0 ? undefined : await import('./administration/admin-server.ts');
    const adminServer = await operators?.startAdminServer(options, {
      ...{
        commands: await loadCommands(),
        secrets: stores.secrets,
        telemetry: log,
        requestId: service.composed.requestId,
        audit: service.composed.audit,
      },
      operators: new Operators(
        { table: stores.table, clock, randomness },
        new Administration({ table: stores.table, clock, randomness }),
      ),
      administration: administrationDeps({
        ...{ ...stores, clock, randomness, actionKinds: localActionKinds, jobs },
        settings: serviceSettings({ ...options, port: Number(new URL(url).port) }),
      }),
    });
    if (adminServer) closeSoon(adminServer);
    const { accounts, consoleOrigins } = service.composed;
    const own = service.tls?.own;
    const started = { file: process.argv[1]!, environment: process.env };
    const hasKeys = declared !== undefined || options.key !== undefined;
    const isFirst = await ensureFirstKey({ ...stores, accounts, randomness }, hasKeys, (key) => {
      process.stderr.write(clientSettings(key, url, options, started, own));
    });
    if (directory && !isFirst && !hasKeys && (await accounts.byEmail(firstProject)))
      process.stderr.write(whereKeysAre(options.data, started));
    const consoleDeps = { url, tls: service.tls, telemetry: log };
    const console = options.ephemeral ? undefined : await consoleOrNone(options, consoleDeps);
    if (console) closeSoon(console);
    for (const origin of console?.origins ?? []) consoleOrigins.add(origin);
    processes?.tellOrigins(consoleOrigins);
    // Whoever is told that the service is ready may stop it at once.
    stop = asked();
    await readyFile?.write(url);

    if (options.ephemeral) {
      log.note(ephemeralNotice);
      process.stderr.write(`${ephemeralNotice}\n`);
    }
    if (directory && options.backupTo !== undefined) {
      const backups = scheduleBackups({ ...options, to: options.backupTo, program: process.argv[1]! }, clock, log);
      service.closeWith(() => backups.stop());
    }
    const hint = console ? `The console is at ${console.url}: sign in with an access key\n` : '';
    const ofMetrics = metricsServer ? `Metrics are at ${metricsServer.url}/metrics\n` : '';
    const ofAdmin = adminServer ? `Operators administer it at ${adminServer.url}\n` : '';
    const hints = hint + ofMetrics + ofAdmin;
    process.stderr.write(`Stillage is listening on ${url}\n${own ? howToTrust(own, url) : ''}${hints}`);
  } catch (error) {
    await service.stop(0);
    throw error;
  }
  await stop;
  await service.stop(stopTime);
  log.note('stopped');
  log.flush();
  // Lines that nobody reads would keep the process for as long as the pipe is open.
  if (!(await output.drained(logPatience))) process.exit();
}

/** @throws UsageError for options that a service without a data directory cannot have */
function checkShared({ ephemeral, workers, backupTo }: StartOptions): void {
  if (ephemeral) throw new UsageError('--ephemeral and --table cannot be used together');
  if (workers !== 1) throw new UsageError('--workers cannot be used with --table: start more servers instead');
  if (backupTo !== undefined) {
    throw new UsageError('--backup-to cannot be used with --table: back up the database and the bucket');
  }
}

/** Loads what only a service of many machines needs: the client of PostgreSQL, and AWS's SDK, which may not be installed. */
async function sharedStores(options: StartOptions): Promise<Stores> {
  // It would print warnings about Node.js versions among the program's output.
  process.env['AWS_SDK_JS_NODE_VERSION_SUPPORT_WARNING_DISABLED'] ??= 'true';
  try {
    const { openSharedStores } = await import('./many-machines/shared-stores.ts');
    return await openSharedStores(options);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code !== 'MODULE_NOT_FOUND' && code !== 'ERR_MODULE_NOT_FOUND') throw error;
    throw new OperatorError('--blobs needs the AWS SDK, which is not installed; run: npm install @aws-sdk/client-s3');
  }
}

/** Loads what only a service with declared accounts needs, and reads them. @throws OperatorError */
async function readAccounts(path: string): Promise<readonly ProjectDeclaration[]> {
  const { readAccountsFile } = await import('./first-start/accounts-file.ts');
  return readAccountsFile(path);
}

/** Resolves when the process is asked to stop. */
function asked(): Promise<void> {
  return new Promise((resolve) => {
    for (const signal of ['SIGTERM', 'SIGINT'] as const) process.once(signal, () => resolve());
  });
}

async function openDirectory(data: string, log: Log): ReturnType<typeof openToServe> {
  if (await hasEndedUncleanly(data)) await warnOfDamage(data);
  return openToServe(data, undefined, (cause) => log.problem('a transaction of the table failed', cause));
}

/** The file with the endpoint of the service, written once the service answers. */
interface ReadyFile {
  /** Writes the endpoint and a line break, atomically replacing the file. */
  write(url: string): Promise<void>;
  remove(): Promise<void>;
}

/** Checks that the file can be written, before the service starts. @throws OperatorError */
async function openReadyFile(path: string): Promise<ReadyFile> {
  const draft = `${path}.${process.pid}.draft`;
  await writeFile(draft, '').catch((cause: unknown) => {
    throw new OperatorError(`--ready-file: cannot write ${path}: ${(cause as Error).message}`);
  });
  return {
    write: async (url) => {
      await writeFile(draft, `${url}\n`);
      await rename(draft, path);
    },
    remove: async () => {
      await Promise.all([path, draft].map((each) => rm(each, { force: true })));
    },
  };
}
