import { InvalidArgumentError } from 'commander';
import type { Fault } from './faults.ts';
import { checkedKey } from '../server/first-start/accounts-file.ts';
import { grown } from '../../shared/command-line/option.ts';
import {
  defaultOptions,
  startOptions,
  type InitialKey,
  type PackageOptions,
  type StartOption,
  type StartOptions,
} from '../../shared/command-line/start-options.ts';
import { OperatorError } from '../../shared/errors/operator-error.ts';

/** A line of the service's log: `level`, `message` and further fields. */
export type LogLine = Readonly<Record<string, unknown>> & {
  readonly level: 'info' | 'error';
  readonly message: string;
};

/** The options of `startStillage`: those of `stillage start` in camel case, and some for use within a program. */
export interface StillageOptions extends PackageOptions {
  /** The access key to use. Default: a random one if the service is ephemeral; required otherwise. */
  readonly credentials?: InitialKey;
  /** Called with every line of the log. Nothing is logged otherwise. */
  readonly log?: (line: LogLine) => void;
  /** Faults for the first requests; only with `ephemeral`. */
  readonly faults?: readonly Fault[];
  /** Milliseconds by which the clock of the service is ahead, or behind if negative; only with `ephemeral`. */
  readonly clockOffset?: number;
}

/** Options of `startStillage` only. */
const ofThePackageOnly: ReadonlySet<string> = new Set(['credentials', 'log', 'faults', 'clockOffset']);

/**
 * Reads options as `stillage start` does, with the same names, defaults and checks, but without environment variables.
 * @throws TypeError whose message is one line that names the option
 */
export function readOptions(given: StillageOptions): StartOptions {
  const rows: Readonly<Record<string, StartOption<unknown>>> = startOptions;
  const read = Object.entries(given as object).flatMap(([name, value]: [string, unknown]) => {
    if (value === undefined || ofThePackageOnly.has(name)) return [];
    const row = Object.hasOwn(rows, name) ? rows[name] : undefined;
    if (row === undefined || row.programOnly !== undefined)
      throw new TypeError(`startStillage: ${row?.programOnly ?? 'unknown option'} (${name})`);
    const meant = readValue(name, row, value);
    return meant === undefined ? [] : [[name, meant]];
  });
  const { credentials } = given;
  const key = credentials && asTypeError(() => checkedKey({ ...credentials }, 'credentials'));
  const values = Object.fromEntries(read) as Partial<StartOptions>;
  return { ...defaultOptions, ...values, consolePort: 0, ...(key && { key }) };
}

/** Reads a value as from the command line. Lists are repeated options, and records are options of `name=value`. */
function readValue(name: string, row: StartOption<unknown>, value: unknown): unknown {
  const isSet = typeof value === 'object' && value !== null && !Array.isArray(value);
  const repeated = isSet ? Object.entries(value).map(([part, amount]) => `${part}=${String(amount)}`) : [value].flat();
  const parts: readonly unknown[] = row.repeatable ? repeated : [value];
  try {
    return parts.reduce<unknown>((previous, part) => grown(previous, row.read(part)), row.default);
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
