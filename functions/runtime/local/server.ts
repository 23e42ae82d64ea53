import { CryptoRandomness } from '../../../shared/adapters/system/crypto-randomness.ts';
import { SystemClock } from '../../../shared/adapters/system/system-clock.ts';
import { second } from '../../../shared/ports/durations.ts';
import { TrustedProxies } from '../http/trusted-proxies.ts';
import { Log } from '../telemetry/log.ts';
import { readAccountsFile } from './accounts-file.ts';
import { checkConsoleOrigins, consoleOrNone } from './console/console-server.ts';
import { openData } from './data-directory.ts';
import { composeEmbeddedService } from './embedded-service.ts';
import { clientSettings, ensureFirstKey, firstProject, whereKeysAre } from './first-start.ts';
import { startListener } from './listener.ts';
import type { StartOptions } from './settings.ts';
import { Tls } from './tls.ts';

/** A running service. */
export interface LocalServer {
  /** `http://127.0.0.1:9000` */
  readonly url: string;
  /** Finishes the requests that are running, follows the change feed to its end, and closes the table. */
  stop(): Promise<void>;
  /** Resolves once it has stopped. */
  readonly stopped: Promise<void>;
}

/** After so long a stop cuts what still runs. */
const stopTime = 30 * second;
/** The same for the files of the console. */
const consoleStopTime = 2 * second;

/** The program's service on one machine: on a data directory, with the log on standard output, until a signal ends it. */
export async function startLocalServer(options: StartOptions): Promise<LocalServer> {
  const tls = await Tls.read(options);
  const proxies = new TrustedProxies(options.trustProxy);
  checkConsoleOrigins(options);
  const declared = options.accounts === undefined ? undefined : await readAccountsFile(options.accounts);

  const log = new Log(process.stdout);
  const randomness = new CryptoRandomness();
  const stores = await openData(options.data);
  const service = await composeEmbeddedService(
    { ...stores, clock: new SystemClock(), randomness, telemetry: log, ...(declared && { declared }) },
    options,
  );
  const { accounts, pipeline, consoleOrigins } = service;
  const listener = await startListener({ ...service, handler: pipeline, proxies, telemetry: log, tls }, options);
  const { url } = listener;
  const isFirst = await ensureFirstKey({ ...stores, accounts, randomness }, declared !== undefined, (key) => {
    process.stderr.write(clientSettings(key, url, options.region));
  });
  if (!isFirst && declared === undefined && (await accounts.byEmail(firstProject)))
    process.stderr.write(whereKeysAre(options.data));
  const console = await consoleOrNone(options, { url, tls, telemetry: log });
  for (const origin of console?.origins ?? []) consoleOrigins.add(origin);

  const certificates = tls?.follow(log);

  const close = async (): Promise<void> => {
    await certificates?.stop();
    await Promise.all([listener.close(stopTime), console?.close(consoleStopTime)]);
    await service.close();
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

  const hint = console ? `The console is at ${console.url}: sign in there with an access key\n` : '';
  process.stderr.write(`Stillage is listening on ${url}\n${hint}`);
  return { url, stop, stopped };
}
