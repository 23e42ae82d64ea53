import { X509Certificate } from 'node:crypto';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { createSecureContext } from 'node:tls';
import type { Clock } from '../../shared/ports/clock.ts';
import { second } from '../../shared/ports/durations.ts';
import type { Telemetry } from '../../shared/ports/telemetry.ts';
import { OperatorError, UsageError } from '../../shared/errors/operator-error.ts';
import { ensureOwnCertificate, ownFiles, ownNames } from './data-directory/own-certificate.ts';
import { repeat, type Schedule } from './schedules/schedule.ts';
import type { StartOptions } from '../../shared/command-line/start-options.ts';
import { selfSignedCertificate, type TlsPair } from './self-signed-certificate.ts';

interface PairFiles {
  readonly cert: string;
  readonly key: string;
}

/** The certificate that a service has made itself, for its clients to trust. */
export interface OwnCertificate {
  /** The absolute path of its file (PEM). */
  readonly path: string;
  readonly pem: string;
  /** The SHA-256 digest: `AB:CD:…`. */
  readonly fingerprint: string;
}

/** The interval at which the files are read again. */
const checkInterval = 2 * second;

/** The certificate and key of HTTPS listeners, reloaded when their files change. */
export class Tls {
  /** Undefined if they are in memory alone. */
  readonly #files: PairFiles | undefined;
  readonly #followers: ((pair: TlsPair) => void)[] = [];
  #pair: TlsPair;
  /** The result of the latest read: a pair, or the reason why it failed. */
  #seen: TlsPair | OperatorError;
  /** The result that was last used or refused, so that nothing is reported twice. */
  #settled: TlsPair | OperatorError;

  /** The path of the certificate that the service has made itself. */
  readonly #own: string | undefined;

  private constructor(files: PairFiles | undefined, pair: TlsPair, own?: string) {
    this.#files = files;
    this.#own = own;
    this.#pair = this.#seen = this.#settled = pair;
  }

  /** Reads the files named by the options. Returns undefined if none are. @throws OperatorError */
  static async read({
    tlsCert: cert,
    tlsKey: key,
    tls,
  }: Pick<StartOptions, 'tlsCert' | 'tlsKey' | 'tls'>): Promise<Tls | undefined> {
    if (tls !== undefined && (cert ?? key) !== undefined)
      throw new UsageError(`--tls ${tls} makes a certificate itself: leave out --tls-cert and --tls-key, or --tls`);
    if (cert === undefined && key === undefined) return undefined;
    if (cert === undefined) throw new UsageError('--tls-key needs --tls-cert, the file of the certificate in PEM');
    if (key === undefined) throw new UsageError('--tls-cert needs --tls-key, the file of the private key in PEM');
    const files = { cert, key };
    const pair = await readPair(files);
    check(pair, files);
    return new Tls(files, pair);
  }

  /**
   * Makes a self-signed certificate, or takes that of the data directory, which no other service may use. An ephemeral service keeps the key in
   * memory, and the certificate in a temporary directory until `close`. Returns undefined unless the options ask for one.
   * @throws OperatorError
   */
  static async own(options: StartOptions, now: number): Promise<Tls | undefined> {
    if (options.tls === undefined) return undefined;
    const names = ownNames(options);
    if (options.ephemeral) {
      const pair = selfSignedCertificate(names, now);
      const path = join(await mkdtemp(join(tmpdir(), 'stillage-tls-')), 'self-signed.crt');
      await writeFile(path, pair.cert);
      return new Tls(undefined, pair, path);
    }
    const { tlsCert: cert, tlsKey: key } = ownFiles(options.data);
    await ensureOwnCertificate(options.data, names, now);
    return new Tls({ cert, key }, await readPair({ cert, key }), resolve(cert));
  }

  /** The certificate for clients to trust, if the service has made it. */
  get own(): OwnCertificate | undefined {
    if (this.#own === undefined) return undefined;
    const pem = this.#pair.cert.toString();
    return { path: this.#own, pem, fingerprint: new X509Certificate(pem).fingerprint256 };
  }

  /** Removes what is temporary. */
  async close(): Promise<void> {
    if (this.#own !== undefined && !this.#files) await rm(dirname(this.#own), { recursive: true, force: true });
  }

  get pair(): TlsPair {
    return this.#pair;
  }

  /** Calls back with every new pair. */
  onChange(follower: (pair: TlsPair) => void): void {
    this.#followers.push(follower);
  }

  /** Starts watching the files. An unusable pair is logged once, and the current pair stays in use. */
  follow(clock: Clock, telemetry: Telemetry): Schedule | undefined {
    const files = this.#files;
    if (!files) return undefined;
    const look = (): Promise<void> => this.#look(files, telemetry);
    return repeat(checkInterval, clock, look, telemetry, 'reloading the certificate failed');
  }

  /** Reads the files. A change counts once two reads agree, as certificate and key are not written at the same instant. */
  async #look(files: PairFiles, telemetry: Telemetry): Promise<void> {
    const before = this.#seen;
    this.#seen = await readPair(files).catch((error: unknown) => {
      if (error instanceof OperatorError) return error;
      throw error;
    });
    const now = this.#seen;
    if (!isSame(now, before) || isSame(now, this.#settled)) return;
    this.#settled = now;
    try {
      if (now instanceof OperatorError) throw now;
      check(now, files);
    } catch (error) {
      if (!(error instanceof OperatorError)) throw error;
      telemetry.problem(`the new certificate is not used: ${error.message}`);
      return;
    }
    // An unusable change was undone.
    if (isSame(now, this.#pair)) return;
    this.#pair = now;
    for (const follower of this.#followers) follower(now);
    telemetry.note('the certificate was reloaded');
  }
}

function isSame(one: TlsPair | OperatorError, other: TlsPair | OperatorError): boolean {
  if (one instanceof OperatorError || other instanceof OperatorError)
    return one instanceof OperatorError && other instanceof OperatorError && one.message === other.message;
  return one.cert.equals(other.cert) && one.key.equals(other.key);
}

async function readPair({ cert, key }: PairFiles): Promise<TlsPair> {
  return { cert: await read('--tls-cert', cert), key: await read('--tls-key', key) };
}

/** Checks that a certificate and a key belong together. @throws OperatorError otherwise */
function check(pair: TlsPair, { cert, key }: PairFiles): void {
  try {
    createSecureContext(pair);
  } catch (cause) {
    throw new OperatorError(`${cert} and ${key} are not a certificate and its key: ${(cause as Error).message}`);
  }
}

async function read(option: string, path: string): Promise<Buffer> {
  return readFile(path).catch((cause: unknown) => {
    throw new OperatorError(`${option}: cannot read ${path}: ${(cause as Error).message}`);
  });
}
