import { Accounts } from '../../../shared/access/accounts.ts';
import { KeyedMutex } from '../../../shared/metadata/keyed-mutex.ts';
import { CryptoRandomness } from '../../../shared/adapters/system/crypto-randomness.ts';
import { SystemClock } from '../../../shared/adapters/system/system-clock.ts';
import { Log } from '../telemetry/log.ts';
import { TrustedProxies } from '../http/trusted-proxies.ts';
import { readAccountsFile } from './accounts-file.ts';
import { startBackground, type Background } from './background.ts';
import { openData } from './data-directory.ts';
import { clientSettings, ensureFirstKey } from './first-start.ts';
import { localServices, type LocalServices } from './local-services.ts';
import { lockDirectory } from './service-lock.ts';
import { serveRequests, type Serving } from './serving.ts';
import { readTls, type StartOptions } from './settings.ts';
import { startWorkers } from './workers/supervisor.ts';

/** A running service. */
export interface LocalServer {
  /** `http://127.0.0.1:9000` */
  readonly url: string;
  /** Finishes the requests that are running, follows the change feed to its end, and closes the table. */
  stop(): Promise<void>;
  /** Resolves once it has stopped. */
  readonly stopped: Promise<void>;
}

/**
 * Starts the service on one machine: embedded table and blob store, feed and schedules, and the servers of requests, in this process or in
 * workers.
 * @throws OperatorError
 */
export async function startLocalServer(options: StartOptions): Promise<LocalServer> {
  // Workers read the same, later: what is wrong with it is said once, and before anything is created.
  await readTls(options);
  new TrustedProxies(options.trustProxy);
  const declared = options.accounts === undefined ? undefined : await readAccountsFile(options.accounts);

  const log = new Log(process.stdout);
  const data = await openData(options.data);
  const { table, blobs, secrets } = data;
  const lock = await lockDirectory(options.data, table, new CryptoRandomness());
  const accounts = new Accounts({ table, secrets, clock: new SystemClock() });
  for (const project of declared ?? []) await accounts.ensure(project);

  const mutex = new KeyedMutex();
  const local = await localServices(options, data, mutex);
  const background = startBackground(options, local, log);
  const serving = await startServing(options, local, { log, background, mutex });
  const { url } = serving;
  await ensureFirstKey({ table, accounts, randomness: local.randomness }, declared !== undefined, (key) => {
    process.stderr.write(clientSettings(key, url, options.region));
  });

  const close = async (): Promise<void> => {
    await serving.stop();
    await background.stop();
    await Promise.all([table.close(), blobs.close()]);
    await lock.release();
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

  process.stderr.write(`Stillage is listening on ${url}\n`);
  return { url, stop, stopped };
}

/** Serves requests in this process, or in as many workers as there are to be. */
function startServing(
  options: StartOptions,
  local: LocalServices,
  { log, background, mutex }: { log: Log; background: Background; mutex: KeyedMutex },
): Promise<Serving> {
  const { counters, feed } = background;
  if (options.workers === 1) return serveRequests(options, local, { log, counters });
  return startWorkers(options, local, { log, quotas: counters.quotas, mutex, feed });
}
