import { InvalidArgumentError, type Option } from 'commander';
import { isLimit, limitFault, limitTable, type Limits } from '../../../shared/protocol/limits.ts';
import { setting } from './setting.ts';

/**
 * Reads a value of `--limit`: `name=number`, or several with commas between them.
 * @param previous what earlier ones have set
 * @throws InvalidArgumentError
 */
function parseLimits(value: string, previous: Partial<Limits>): Partial<Limits> {
  return { ...previous, ...Object.fromEntries(value.split(',').map(parseLimit)) };
}

function parseLimit(text: string): [name: string, value: number] {
  const [, name, digits] = /^\s*(\w+)=(\d+)\s*$/.exec(text) ?? [];
  if (name === undefined) throw new InvalidArgumentError('A limit is set by name=number.');
  if (!isLimit(name)) throw new InvalidArgumentError(`There is no limit "${name}".`);
  const number = Number(digits);
  const fault = limitFault(name, number);
  if (fault !== undefined) throw new InvalidArgumentError(fault);
  return [name, number];
}

/** `--limit`, repeatable; its value is what differs from the default limits. */
export function limitOption(description: string): Option {
  return setting('--limit <name=value>', description, 'LIMIT').default({}, 'none').argParser(parseLimits);
}

/** The limits, their defaults and ranges, for the end of a help text. */
export function limitsHelp(): string {
  const lines = Object.entries(limitTable).map(
    ([name, { value, least, most }]) =>
      `  ${name.padEnd(24)}${(value === Infinity ? 'none' : String(value)).padEnd(17)}${least} to ${most}`,
  );
  return [
    '\nLimits, their defaults, and what they can be set to; sizes in bytes, times in milliseconds:',
    ...lines,
  ].join('\n');
}
