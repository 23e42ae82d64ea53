import { readFile } from 'node:fs/promises';
import { createSecureContext } from 'node:tls';
import { second } from '../../../shared/ports/durations.ts';
import type { Telemetry } from '../../../shared/ports/telemetry.ts';
import { OperatorError } from '../operator-error.ts';
import { repeat } from './schedule.ts';
import type { StartOptions } from './settings.ts';

/** A certificate and its private key, in PEM. */
export interface TlsPair {
  readonly cert: Buffer;
  readonly key: Buffer;
}

/** How often the files are read again. */
const checkInterval = 2 * second;

/** The certificate and key of HTTPS listeners, which follow their files: a renewed certificate needs no restart. */
export class Tls {
  readonly #files: { readonly cert: string; readonly key: string };
  readonly #followers: ((pair: TlsPair) => void)[] = [];
  #pair: TlsPair;
  /** What the last look at the files found: a pair, or why there is none. */
  #seen: TlsPair | OperatorError;
  /** What was last used or refused, so that nothing is reported twice. */
  #settled: TlsPair | OperatorError;

  private constructor(files: { readonly cert: string; readonly key: string }, pair: TlsPair) {
    this.#files = files;
    this.#pair = this.#seen = this.#settled = pair;
  }

  /** Reads the files that the options name; undefined for plain HTTP. @throws OperatorError */
  static async read({
    tlsCert: cert,
    tlsKey: key,
  }: Pick<StartOptions, 'tlsCert' | 'tlsKey'>): Promise<Tls | undefined> {
    if (cert === undefined && key === undefined) return undefined;
    if (cert === undefined)
      throw new OperatorError('--tls-key needs --tls-cert as well: the file of the certificate in PEM');
    if (key === undefined)
      throw new OperatorError('--tls-cert needs --tls-key as well: the file of the private key in PEM');
    const files = { cert, key };
    const pair = await readPair(files);
    check(pair, files);
    return new Tls(files, pair);
  }

  get pair(): TlsPair {
    return this.#pair;
  }

  /** Calls back with every pair that takes the place of another. */
  onChange(follower: (pair: TlsPair) => void): void {
    this.#followers.push(follower);
  }

  /** Begins to read the files again and again. What cannot be used is logged once, and the former pair stays in use. */
  follow(telemetry: Telemetry): { stop(): Promise<void> } {
    return repeat(checkInterval, () => this.#look(telemetry), telemetry, 'the certificate could not be read again');
  }

  /** A change counts once two looks found the same: certificate and key are seldom written at the same instant. */
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
      telemetry.problem(`the certificate stays the former: ${error.message}`);
      return;
    }
    // The files are as they were before something that was no use.
    if (isSame(now, this.#pair)) return;
    this.#pair = now;
    for (const follower of this.#followers) follower(now);
    telemetry.note('the certificate was read again');
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

/** @throws OperatorError if this is no certificate with its key */
function check(pair: TlsPair, { cert, key }: { cert: string; key: string }): void {
  try {
    createSecureContext(pair);
  } catch (cause) {
    throw new OperatorError(`${cert} and ${key} are no certificate and its key: ${(cause as Error).message}`);
  }
}

async function read(option: string, path: string): Promise<Buffer> {
  return readFile(path).catch((cause: unknown) => {
    throw new OperatorError(`${option}: cannot read ${path}: ${(cause as Error).message}`);
  });
}
