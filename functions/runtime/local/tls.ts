import { readFile } from 'node:fs/promises';
import { createSecureContext } from 'node:tls';
import type { Clock } from '../../../shared/ports/clock.ts';
import { second } from '../../../shared/ports/durations.ts';
import type { Telemetry } from '../../../shared/ports/telemetry.ts';
import { OperatorError, UsageError } from '../operator-error.ts';
import { repeat, type Schedule } from './schedule.ts';
import type { StartOptions } from './settings.ts';

/** A certificate and its private key, in PEM. */
export interface TlsPair {
  readonly cert: Buffer;
  readonly key: Buffer;
}

/** The interval at which the files are read again. */
const checkInterval = 2 * second;

/** The certificate and key of HTTPS listeners, reloaded when their files change. */
export class Tls {
  readonly #files: { readonly cert: string; readonly key: string };
  readonly #followers: ((pair: TlsPair) => void)[] = [];
  #pair: TlsPair;
  /** The result of the latest read: a pair, or the reason why it failed. */
  #seen: TlsPair | OperatorError;
  /** The result that was last used or refused, so that nothing is reported twice. */
  #settled: TlsPair | OperatorError;

  private constructor(files: { readonly cert: string; readonly key: string }, pair: TlsPair) {
    this.#files = files;
    this.#pair = this.#seen = this.#settled = pair;
  }

  /** Reads the files named by the options. Returns undefined for plain HTTP. @throws OperatorError */
  static async read({
    tlsCert: cert,
    tlsKey: key,
  }: Pick<StartOptions, 'tlsCert' | 'tlsKey'>): Promise<Tls | undefined> {
    if (cert === undefined && key === undefined) return undefined;
    if (cert === undefined) throw new UsageError('--tls-key needs --tls-cert, the file of the certificate in PEM');
    if (key === undefined) throw new UsageError('--tls-cert needs --tls-key, the file of the private key in PEM');
    const files = { cert, key };
    const pair = await readPair(files);
    check(pair, files);
    return new Tls(files, pair);
  }

  get pair(): TlsPair {
    return this.#pair;
  }

  /** Calls back with every new pair. */
  onChange(follower: (pair: TlsPair) => void): void {
    this.#followers.push(follower);
  }

  /** Starts watching the files. An unusable pair is logged once, and the current pair stays in use. */
  follow(clock: Clock, telemetry: Telemetry): Schedule {
    return repeat(checkInterval, clock, () => this.#look(telemetry), telemetry, 'reloading the certificate failed');
  }

  /** Reads the files. A change counts once two reads agree, as certificate and key are not written at the same instant. */
  async #look(telemetry: Telemetry): Promise<void> {
    const before = this.#seen;
    this.#seen = await readPair(this.#files).catch((error: unknown) => {
      if (error instanceof OperatorError) return error;
      throw error;
    });
    const now = this.#seen;
    if (!isSame(now, before) || isSame(now, this.#settled)) return;
    this.#settled = now;
    try {
      if (now instanceof OperatorError) throw now;
      check(now, this.#files);
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

async function readPair({ cert, key }: { cert: string; key: string }): Promise<TlsPair> {
  return { cert: await read('--tls-cert', cert), key: await read('--tls-key', key) };
}

/** Checks that a certificate and a key belong together. @throws OperatorError otherwise */
function check(pair: TlsPair, { cert, key }: { cert: string; key: string }): void {
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
