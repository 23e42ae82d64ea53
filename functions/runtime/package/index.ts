/// <reference lib="esnext.disposable" preserve="true" />
import { randomKeyId, randomSecret } from '../../../shared/metadata/accounts/key-administration.ts';
import { CryptoRandomness } from '../../../shared/adapters/system/crypto-randomness.ts';
import type { RequestMessage, ResponseMessage } from '../../../shared/http/message.ts';
import type { Handler } from '../http/node-http.ts';
import { TrustedProxies } from '../http/trusted-proxies.ts';
import { readAccountsFile } from '../local/accounts-file.ts';
import { ProcessCapacity } from '../local/capacity/capacity.ts';
import { composeEmbeddedService, type EmbeddedService, type Stores } from '../local/embedded-service.ts';
import { ephemeralStores } from '../local/ephemeral-stores.ts';
import { Faults, type Fault } from '../local/faults.ts';
import { FaultyHandler } from '../local/faulty-handler.ts';
import { startListener } from '../local/listener.ts';
import type { ServiceActions } from '../local/service-socket.ts';
import type { InitialKey, StartOptions } from '../local/settings.ts';
import { Tls } from '../local/tls.ts';
import { CallbackTelemetry } from './callback-telemetry.ts';
import { awsEnvironment, type ClientConfig } from './client-config.ts';
import { OffsetClock } from './offset-clock.ts';
import { readOptions, type StillageOptions } from './options.ts';

export type { ClientConfig } from './client-config.ts';
export type { Fault, FaultKind } from '../local/faults.ts';
export type { InitialKey as StillageCredentials } from '../local/settings.ts';
export type { LogLine, StillageOptions } from './options.ts';

/** A service running in this process. */
export interface Stillage extends AsyncDisposable {
  /** `http://127.0.0.1:49152` */
  readonly endpoint: string;
  readonly region: string;
  readonly credentials: InitialKey;
  readonly clientConfig: ClientConfig;
  /** Environment variables of the AWS CLI and SDKs, for a child process. */
  readonly env: Readonly<Record<string, string>>;
  /**
   * Restores the initial state: the buckets that the service was started with, empty and without configuration. Removes all other
   * buckets, faults and the clock offset. Requests in progress are answered from the earlier state.
   * @throws Error unless the service is ephemeral
   */
  reset(): Promise<void>;
  /**
   * Makes the next matching requests meet a fault.
   * @throws Error unless the service is ephemeral; TypeError if the fault is invalid
   */
  fault(fault: Fault): void;
  /**
   * Sets the clock of the service ahead by a number of milliseconds, or back if negative. Beyond 15 minutes, signatures are refused.
   * @throws Error unless the service is ephemeral
   */
  setClockOffset(milliseconds: number): void;
  /**
   * Stops the service; running requests have two seconds to finish. The data of an ephemeral service is lost.
   * @throws Error if the disk has failed a write to the table: the service has stopped by itself, and this process must end before the directory
   *   can be used again
   */
  stop(): Promise<void>;
}

/** The time after which a stop cuts off running requests. */
const stopTime = 2000;

/**
 * Starts the service in this process. It writes nothing to standard output or standard error, and handles no signals.
 * @throws TypeError for invalid options; Error with a message of one line if the port is in use or the directory cannot be used
 */
export function startStillage(options: StillageOptions = {}): Promise<Stillage> {
  return startObserved(options);
}

/**
 * Starts the service as {@link startStillage} does.
 * @param observe called with every request and its response when the response begins
 * @internal
 */
export async function startObserved(
  given: StillageOptions,
  observe?: (request: RequestMessage, response: ResponseMessage) => void,
): Promise<Stillage> {
  const randomness = new CryptoRandomness();
  const read = readOptions(given);
  const declared = read.accounts === undefined ? undefined : await readAccountsFile(read.accounts);
  const credentials = read.key ?? firstKeyOf(declared) ?? (read.ephemeral ? randomKey(randomness) : undefined);
  if (!credentials) throw new TypeError('startStillage: credentials are required unless ephemeral is true');
  const options: StartOptions = { ...read, key: credentials };
  if (!options.ephemeral) refuseForTests(given);
  const proxies = new TrustedProxies(options.trustProxy);
  const tls = await Tls.read(options);
  const telemetry = new CallbackTelemetry(given.log);
  const clock = new OffsetClock(checkedOffset(given.clockOffset ?? 0));
  const faults = new Faults();
  for (const fault of given.faults ?? []) faults.add(fault);

  const capacity = ProcessCapacity.ofProcess(options, telemetry);
  const compose = (stores: Stores): Promise<EmbeddedService> =>
    composeEmbeddedService({ ...stores, clock, randomness, telemetry, declared, capacity }, options);
  const directory = options.ephemeral ? undefined : await openDirectory(options.data, randomness);
  let hasFailed = false;
  directory?.failed.catch((error: unknown) => {
    hasFailed = true;
    telemetry.problem('the service has stopped', error);
    service.halt();
    void listener.close(0);
  });
  let service = await compose(directory?.stores ?? ephemeralStores(randomness)).catch(async (error: unknown) => {
    await directory?.close();
    throw error;
  });
  directory?.answer(service.actions);
  const { limits, requestId, hostId, consoleOrigins } = service;
  const current: Handler = {
    handle: async (request) => {
      const response = await service.pipeline.handle(request);
      observe?.(request, response);
      return response;
    },
  };
  const hostNames = { domain: options.domain.toLowerCase(), websiteDomain: options.websiteDomain.toLowerCase() };
  const handler = options.ephemeral
    ? new FaultyHandler({ handler: current, faults, hostNames, requestId, hostId, now: () => clock.now() })
    : current;
  const listener = await startListener(
    { handler, proxies, limits, telemetry, requestId, hostId, consoleOrigins, tls, connections: capacity.connections },
    options,
  ).catch(async (error: unknown) => {
    await service.close();
    await directory?.release();
    throw error;
  });

  const needsEphemeral = (method: string): void => {
    if (!options.ephemeral) throw new Error(`${method} needs a service that was started with ephemeral: true`);
  };
  const reset = async (): Promise<void> => {
    needsEphemeral('reset');
    faults.clear();
    clock.offset = 0;
    const former = service;
    service = await compose(ephemeralStores(randomness));
    retired = Promise.all([retired, former.abandon()]);
  };
  /** Services replaced by a reset that still answer requests. */
  let retired: Promise<unknown> = Promise.resolve();
  let resetting: Promise<void> = Promise.resolve();
  const certificates = tls?.follow(clock, telemetry);
  let stopping: Promise<void> | undefined;
  const close = async (): Promise<void> => {
    await certificates?.stop();
    await listener.close(stopTime);
    // Closing a table that has failed could wait for ever, and its lock must not pass to another process.
    if (hasFailed) return;
    await resetting;
    await retired;
    await (options.ephemeral ? service.abandon() : service.close());
    await directory?.release();
  };
  const stop = (): Promise<void> => (stopping ??= directory ? Promise.race([close(), directory.failed]) : close());

  const { url: endpoint } = listener;
  const { region } = options;
  const clientConfig: ClientConfig = { endpoint, region, credentials, forcePathStyle: true };
  return {
    endpoint,
    region,
    credentials,
    clientConfig,
    env: awsEnvironment(clientConfig),
    reset: () => {
      if (stopping) return Promise.reject(new Error('the service has stopped'));
      // One after the other, as concurrent resets would leak a service.
      const next = resetting.then(reset);
      resetting = next.catch(() => undefined);
      return next;
    },
    fault: (fault) => {
      needsEphemeral('fault');
      faults.add(fault);
    },
    setClockOffset: (milliseconds) => {
      needsEphemeral('setClockOffset');
      clock.offset = checkedOffset(milliseconds);
    },
    stop,
    [Symbol.asyncDispose]: stop,
  };
}

interface OpenDirectory {
  readonly stores: Stores;
  /** Rejects once the disk has failed a write to the table, which LMDB gives up then; never resolves. */
  readonly failed: Promise<never>;
  answer(actions: ServiceActions): void;
  release(): Promise<void>;
  close(): Promise<void>;
}

/** Loads the table engine, which has native code, only if it is needed. @throws OperatorError */
async function openDirectory(data: string, randomness: CryptoRandomness): Promise<OpenDirectory> {
  const { openData, whyUnusable } = await import('../local/data-directory.ts');
  const { lockDirectory } = await import('../local/service-lock.ts');
  let fail = (_why: string): void => undefined;
  const failed = new Promise<never>((_, reject) => {
    fail = (why) => reject(new Error(`${why}: end this process, and start another one`));
  });
  const stores = await openData(data, (failure) => fail(whyUnusable(data, failure)));
  const closeStores = async (): Promise<void> => {
    await Promise.all([stores.table.close(), stores.blobs.close()]);
  };
  const lock = await lockDirectory(data, stores.table, randomness).catch(async (error: unknown) => {
    // Otherwise it would be watched for as long as the process runs, and `failed` would reject without anybody to hear it.
    await closeStores();
    throw error;
  });
  const close = async (): Promise<void> => {
    await closeStores();
    await lock.release();
  };
  return { stores, failed, answer: (actions) => lock.answer(actions), release: () => lock.release(), close };
}

/** Returns the first key of declared accounts. */
function firstKeyOf(declared: Awaited<ReturnType<typeof readAccountsFile>> | undefined): InitialKey | undefined {
  return declared?.flatMap(({ users }) => users).flatMap(({ keys }) => keys)[0];
}

function randomKey(randomness: CryptoRandomness): InitialKey {
  return { accessKeyId: randomKeyId(randomness), secretAccessKey: randomSecret(randomness) };
}

function checkedOffset(milliseconds: number): number {
  if (Number.isFinite(milliseconds)) return milliseconds;
  throw new TypeError('startStillage: clockOffset must be a number of milliseconds');
}

/** Refuses faults and clock offsets for services that keep data. */
function refuseForTests({ faults, clockOffset }: StillageOptions): void {
  if (faults === undefined && clockOffset === undefined) return;
  throw new TypeError('startStillage: faults and clockOffset need ephemeral: true');
}
