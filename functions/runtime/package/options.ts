import { InvalidArgumentError, type Option } from 'commander';
import { isOfText } from '../command-line/option-values.ts';
import { startOptions } from '../local/start-options.ts';
import type { Fault } from '../local/faults.ts';
import { checkedKey } from '../local/initial-key.ts';
import type { InitialKey, StartOptions } from '../local/settings.ts';
import { OperatorError } from '../operator-error.ts';

/** A line of the service's log: `level`, `message` and further fields. */
export type LogLine = Readonly<Record<string, unknown>> & {
  readonly level: 'info' | 'error';
  readonly message: string;
};

/** The options of `startStillage`: those of `stillage start` in camel case, and some for use within a program. */
export interface StillageOptions extends Partial<
  Omit<
    StartOptions,
    | 'key'
    | 'awsCredentials'
    | 'readyFile'
    | 'workers'
    | 'consolePort'
    | 'consoleOrigin'
    | 'consoleFiles'
    | 'metricsPort'
    | 'metricsTokenFile'
    | 'metricsBuckets'
    | 'releaseGrace'
    | 'scrubRate'
  >
> {
  /** The time to keep deleted bytes that no request reads: `90s`, `1h`, `7d`. Default: `0`. */
  readonly releaseGrace?: string;
  /** The amount that the background scrub reads and verifies per second: `4MiB`; `0`: nothing. Default: `4MiB`. */
  readonly scrubRate?: string;
  /** The access key to use. Default: a random one if the service is ephemeral; required otherwise. */
  readonly credentials?: InitialKey;
  /** Called with every line of the log. Nothing is logged otherwise. */
  readonly log?: (line: LogLine) => void;
  /** Faults for the first requests; only with `ephemeral`. */
  readonly faults?: readonly Fault[];
  /** Milliseconds by which the clock of the service is ahead, or behind if negative; only with `ephemeral`. */
  readonly clockOffset?: number;
}

/** Options of the command line that `startStillage` refuses, with the reason. */
const ofTheProgramOnly: ReadonlyMap<string, string> = new Map([
  ['awsCredentials', 'use credentials instead'],
  ['readyFile', 'startStillage resolves once the service answers'],
  ['workers', 'a service within a program is one process'],
  ['consolePort', 'the console is served by the program alone'],
  ['metricsPort', 'metrics are served by the program alone'],
  ['metricsTokenFile', 'metrics are served by the program alone'],
  ['metricsBuckets', 'metrics are served by the program alone'],
  ['consoleOrigin', 'the console is served by the program alone'],
  ['consoleFiles', 'the console is served by the program alone'],
]);

/** Options of `startStillage` only. */
const ofThePackageOnly: ReadonlySet<string> = new Set(['credentials', 'log', 'faults', 'clockOffset']);

/**
 * Reads options as `stillage start` does, with the same names, defaults and checks, but without environment variables.
 * @throws TypeError whose message is one line that names the option
 */
export function readOptions(given: StillageOptions): StartOptions {
  const values = new Map<string, unknown>(Object.entries(given).filter(([, value]) => value !== undefined));
  const options = startOptions().filter((option) => !ofTheProgramOnly.has(option.attributeName()));
  const known = new Set([...options.map((option) => option.attributeName()), ...ofThePackageOnly]);
  for (const name of values.keys()) {
    if (!known.has(name))
      throw new TypeError(`startStillage: ${ofTheProgramOnly.get(name) ?? 'unknown option'} (${name})`);
  }
  const read = options.flatMap((option) => {
    const name = option.attributeName();
    const value = values.has(name) ? readValue(option, values.get(name)) : (option.defaultValue as unknown);
    return value === undefined ? [] : [[name, value] as const];
  });
  const { credentials } = given;
  const key = credentials && asTypeError(() => checkedKey({ ...credentials }, 'credentials'));
  // The names and types are those of the command line's options, which a test compares with StartOptions.
  const ofCommandLine = Object.fromEntries(read) as Omit<
    StartOptions,
    'key' | 'awsCredentials' | 'consolePort' | 'consoleOrigin'
  >;
  return {
    ...ofCommandLine,
    awsCredentials: false,
    workers: 1,
    consolePort: 0,
    metricsPort: 0,
    metricsBuckets: false,
    consoleOrigin: [],
    ...(key && { key }),
  };
}

/** Reads a value as from the command line. Lists are repeated options, and records are options of `name=value`. */
function readValue(option: Option, value: unknown): unknown {
  const name = option.attributeName();
  if (option.isBoolean() || option.negate) {
    if (typeof value === 'boolean') return value;
    throw new TypeError(`startStillage: ${name}: Must be true or false.`);
  }
  const { parseArg } = option;
  if ((parseArg === undefined || isOfText(parseArg)) && typeof value !== 'string') {
    throw new TypeError(`startStillage: ${name}: Must be a string.`);
  }
  if (parseArg === undefined) return value;
  const isSet = typeof value === 'object' && value !== null && !Array.isArray(value);
  const texts = isSet
    ? Object.entries(value).map(([part, setting]) => `${part}=${String(setting)}`)
    : (Array.isArray(value) ? value : [value]).map(String);
  const start = option.defaultValue as unknown;
  try {
    return texts.reduce<unknown>((previous, text) => parseArg(text, previous), start);
  } catch (error) {
    if (!(error instanceof InvalidArgumentError)) throw error;
    throw new TypeError(`startStillage: ${name}: ${error.message}`, { cause: error });
  }
}

/** Converts an OperatorError to a TypeError, as the program made the mistake. */
function asTypeError<Value>(read: () => Value): Value {
  try {
    return read();
  } catch (error) {
    if (!(error instanceof OperatorError)) throw error;
    throw new TypeError(`startStillage: ${error.message}`, { cause: error });
  }
}
