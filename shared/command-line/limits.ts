import { isLimit, limitFault, limitsByMachine, limitTable, type Limits } from '../protocol/limits.ts';
import { durationText } from './durations.ts';
import { read } from './option-values.ts';
import { sizeText } from './sizes.ts';

/** Limits that differ from their defaults: `name=number`, or several separated by commas. */
export const limits = read<Partial<Limits>, Partial<Limits>>((values, refuse) => {
  const given: Partial<Record<string, number>> = {};
  for (const one of values.split(',')) {
    const [, name, digits] = /^\s*(\w+)=(\d+)\s*$/.exec(one) ?? [];
    if (name === undefined) return refuse('Must be name=value, with a whole number as the value.');
    if (!isLimit(name)) return refuse(`Unknown limit "${name}": see stillage start --help.`);
    const fault = limitFault(name, Number(digits));
    if (fault !== undefined) return refuse(fault);
    given[name] = Number(digits);
  }
  return given;
});

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
