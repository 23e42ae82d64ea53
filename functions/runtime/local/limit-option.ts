import { InvalidArgumentError } from 'commander';
import { defaultLimits, type Limits } from '../../../shared/protocol/limits.ts';

/**
 * Reads a value of `--limit`: `name=number`, or several with commas between them.
 * @param previous what earlier ones have set
 * @throws InvalidArgumentError
 */
export function parseLimits(value: string, previous: Partial<Limits>): Partial<Limits> {
  return { ...previous, ...Object.fromEntries(value.split(',').map(parseLimit)) };
}

function parseLimit(text: string): [name: string, value: number] {
  const [, name, digits] = /^\s*(\w+)=(\d+)\s*$/.exec(text) ?? [];
  if (name === undefined) throw new InvalidArgumentError('A limit is set by name=number.');
  if (!Object.hasOwn(defaultLimits, name)) throw new InvalidArgumentError(`There is no limit "${name}".`);
  const number = Number(digits);
  if (number < 1 || !Number.isSafeInteger(number)) throw new InvalidArgumentError('A limit is at least 1.');
  return [name, number];
}

/** The limits and their defaults, for the end of a help text. */
export function limitsHelp(): string {
  const lines = Object.entries(defaultLimits).map(([name, value]) => `  ${name.padEnd(28)} ${value}`);
  return `\nLimits and their defaults, sizes in bytes and times in milliseconds:\n${lines.join('\n')}`;
}
