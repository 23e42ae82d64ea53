import { day, hour, minute, second } from '../ports/durations.ts';
import { read } from './option-values.ts';

const unitOf: Readonly<Record<string, number>> = { s: second, m: minute, h: hour, d: day };

/** `90s`, `30m`, `12h`, `7d` or `0`, in milliseconds. */
export const duration = read((text, refuse) => {
  if (text === '0') return 0;
  const [, number, unit] = /^(\d{1,6})([smhd])$/.exec(text) ?? [];
  if (number === undefined) {
    return refuse('Must be a number followed by s, m, h or d, such as 90s, 30m, 12h or 7d; or 0.');
  }
  return Number(number) * unitOf[unit!]!;
});

/** Formats milliseconds as `duration` reads them, in the largest unit that divides them; fractions of a second round up. */
export function durationText(milliseconds: number): string {
  const [unit, size] = Object.entries(unitOf).findLast(([, one]) => milliseconds % one === 0) ?? ['s', second];
  return `${Math.ceil(milliseconds / size)}${unit}`;
}
