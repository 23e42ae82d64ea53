import { InvalidArgumentError, type Option } from 'commander';
import { isLimit, limitFault, limitsByMachine, limitTable, type Limits } from '../../../shared/protocol/limits.ts';
import { durationText } from './durations.ts';
import { setting } from './setting.ts';
import { sizeText } from './sizes.ts';

/**
 * Reads a value of `--limit`: `name=number`, or several separated by commas.
 * @param previous the limits set by earlier values
 * @throws InvalidArgumentError
 */
function parseLimits(value: string, previous: Partial<Limits>): Partial<Limits> {
  return { ...previous, ...Object.fromEntries(value.split(',').map(parseLimit)) };
}

function parseLimit(text: string): [name: string, value: number] {
  const [, name, digits] = /^\s*(\w+)=(\d+)\s*$/.exec(text) ?? [];
  if (name === undefined) throw new InvalidArgumentError('Must be name=value, with a whole number as the value.');
  if (!isLimit(name)) throw new InvalidArgumentError(`Unknown limit "${name}": see stillage start --help.`);
  const number = Number(digits);
  const fault = limitFault(name, number);
  if (fault !== undefined) throw new InvalidArgumentError(fault);
  return [name, number];
}

/** Returns the option `--limit`, repeatable. Its value holds the limits that differ from their defaults. */
export function limitOption(description: string): Option {
  return setting('--limit <name=value>', description, 'LIMIT', {}, 'none').argParser(parseLimits);
}

/** Returns `--limit` for a command that runs beside the service and checks the same limits. */
export function limitOfServiceOption(): Option {
  return limitOption('limit that the service was started with (repeatable)');
}

/** Returns the limits with their defaults and ranges, by unit, for the end of a help text. */
export function limitsHelp(): string {
  const names = Object.keys(limitTable) as (keyof Limits)[];
  const sizes = names.filter((name) => name.endsWith('Bytes'));
  const times = names.filter((name) => /(?:Lifetime|Skew|Idle|Grace|Duration|Effort)$/.test(name));
  const numbers = names.filter((name) => !sizes.includes(name) && !times.includes(name));
  return [
    '\nLimits for --limit <name=value>, described in docs/limits.md:',
    ...tableOf('sizes, in bytes', sizes, sizeText),
    ...tableOf('times, in milliseconds', times, durationText),
    ...tableOf('numbers', numbers),
  ].join('\n');
}

/** @param unitText writes a value in a larger unit, beside the number */
function tableOf(heading: string, names: readonly (keyof Limits)[], unitText?: (value: number) => string): string[] {
  const line = (name: string, value: string, range: string): string =>
    `  ${name.padEnd(24)}${value.padEnd(26)}${range}`;
  const rows = names.map((name) => {
    const { value, least, most } = limitTable[name];
    if (value === Infinity)
      return line(name, limitsByMachine.has(name) ? 'as the machine allows' : 'none', `${least} to ${most}`);
    const remark = unitText === undefined ? '' : ` (${unitText(value)})`;
    return line(name, `${value}${remark}`, `${least} to ${most}`);
  });
  return ['', line(heading, 'default', 'range'), ...rows];
}
