/// <reference lib="esnext.disposable" preserve="true" />
import { randomKeyId, randomSecret } from '../../shared/accounts/key-administration.ts';
import { CryptoRandomness } from '../../shared/adapters/system/crypto-randomness.ts';
import { SystemClock } from '../../shared/adapters/system/system-clock.ts';
import type { RequestMessage, ResponseMessage } from '../../shared/http/message.ts';
import type { Handler } from '../../shared/node-http/node-http.ts';
import { readAccountsFile } from '../server/first-start/accounts-file.ts';
import { ephemeralStores } from '../server/data-directory/ephemeral-stores.ts';
import { Faults, type Fault } from './faults.ts';
import { FaultyHandler } from './faulty-handler.ts';
import { LocalService } from '../server/local-service.ts';
import type { InitialKey, StartOptions } from '../../shared/command-line/start-options.ts';
import { Tls } from '../server/tls.ts';
import { awsEnvironment, type ClientConfig } from './client-config.ts';
import { readOptions, type LogLine, type StillageOptions } from './options.ts';
import type { RequestRecord, Telemetry } from '../../shared/ports/telemetry.ts';

/** A service running in this process. */
export interface Stillage extends AsyncDisposable {
  /** `http://127.0.0.1:49152` */
  readonly endpoint: string;
  readonly region: string;
  readonly credentials: InitialKey;
  readonly clientConfig: ClientConfig;
  /** The certificate (PEM) that the service has made itself, with `tls: 'self-signed'`: an authority for its clients to trust. */
  readonly certificate?: string;
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
 * @param observe called with every request and its response when the response begins
 * @throws TypeError for invalid options; Error with a message of one line if the port is in use or the directory cannot be used
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
  const tls = await Tls.read(options);
  const telemetry = new CallbackTelemetry(given.log);
  const clock = new OffsetClock(checkedOffset(given.clockOffset ?? 0));
  const faults = new Faults();
  for (const fault of given.faults ?? []) faults.add(fault);

  const { failed, ...stores } = options.ephemeral
    ? { ...ephemeralStores(randomness), failed: undefined }
    : await openDirectory(options.data);
  const service = await LocalService.open(options, { ...stores, clock, randomness, telemetry, declared, tls });
  failed?.catch((error: unknown) => {
    telemetry.problem('the service has stopped', error);
    service.halt();
  });
  const observed: Handler = {
    handle: async (request) => {
      const response = await service.handle(request);
      observe?.(request, response);
      return response;
    },
  };
  const { requestId, hostId } = service.composed;
  const hostNames = { domain: options.domain.toLowerCase(), websiteDomain: options.websiteDomain.toLowerCase() };
  const handler = options.ephemeral
    ? new FaultyHandler({ handler: observed, faults, hostNames, requestId, hostId, now: () => clock.now() })
    : observed;
  const endpoint = await service.listen(handler).catch(async (error: unknown) => {
    await service.stop(0);
    throw error;
  });

  const needsEphemeral = (method: string): void => {
    if (!options.ephemeral) throw new Error(`${method} needs a service that was started with ephemeral: true`);
  };
  const stop = (): Promise<void> => {
    const stopped = service.stop(stopTime);
    return failed ? Promise.race([stopped, failed]) : stopped;
  };

  const own = service.tls?.own;
  const { region } = options;
  const clientConfig: ClientConfig = { endpoint, region, credentials, forcePathStyle: true };
  return {
    endpoint,
    region,
    credentials,
    clientConfig,
    ...(own && { certificate: own.pem }),
    env: {
      ...awsEnvironment(clientConfig),
      ...(own && { AWS_CA_BUNDLE: own.path, NODE_EXTRA_CA_CERTS: own.path }),
    },
    reset: () =>
      service.reset(() => {
        needsEphemeral('reset');
        faults.clear();
        clock.offset = 0;
        return ephemeralStores(randomness);
      }),
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

/**
 * Opens the stores in a directory. Loads the table engine, which has native code, only if it is needed.
 * @returns also `failed`, which rejects once this process can no longer use them, as LMDB gives up the table when the disk fails a write
 * @throws OperatorError
 */
async function openDirectory(data: string) {
  const { openToServe, whyUnusable } = await import('../server/data-directory/data-directory.ts');
  let fail: (why: Error) => void = () => undefined;
  const failed = new Promise<never>((_, reject) => (fail = reject));
  // Nobody hears of it until the service is open.
  failed.catch(() => undefined);
  const stores = await openToServe(data, (failure) => {
    fail(new Error(`${whyUnusable(data, failure)}: end this process, and start another one`));
  });
  return { ...stores, failed };
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

/** Passes every line of the log to a callback, if there is one. */
class CallbackTelemetry implements Telemetry {
  readonly #log: (line: LogLine) => void;

  constructor(log: (line: LogLine) => void = () => undefined) {
    this.#log = log;
  }

  request(record: RequestRecord): void {
    this.#log({ ...record, level: 'info', message: 'request' });
  }

  problem(message: string, error?: unknown, fields: Readonly<Record<string, string | number>> = {}): void {
    this.#log({ ...fields, ...(error !== undefined && { error }), level: 'error', message });
  }

  note(message: string, fields: Readonly<Record<string, string | number>> = {}): void {
    this.#log({ ...fields, level: 'info', message });
  }
}

/** The clock of the machine, with an offset in milliseconds. */
class OffsetClock extends SystemClock {
  offset: number;

  constructor(offset: number) {
    super();
    this.offset = offset;
  }

  override now(): number {
    return super.now() + this.offset;
  }
}
