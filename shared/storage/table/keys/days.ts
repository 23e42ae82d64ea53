import { day as dayLength } from '../../../ports/durations.ts';

/** Days and months of bills are in UTC, written `2026-11-21` and `2026-11`; times are milliseconds since the epoch. */

/** The latest result, since every request needs today. */
let last = { number: NaN, day: '' };

/** Returns the day of a moment. */
export function dayOf(moment: number): string {
  const number = Math.floor(moment / dayLength);
  if (number !== last.number) last = { number, day: new Date(moment).toISOString().slice(0, 'yyyy-mm-dd'.length) };
  return last.day;
}

/** Returns whether two moments are on the same day. */
export function isSameDay(one: number, other: number): boolean {
  return Math.floor(one / dayLength) === Math.floor(other / dayLength);
}

/** Returns the start of a day. */
export function beginningOf(day: string): number {
  return Date.parse(`${day}T00:00:00Z`);
}

/** Returns the month of a moment. */
export function monthOf(moment: number): string {
  return dayOf(moment).slice(0, 'yyyy-mm'.length);
}

/** Returns the days of a month, in order, or undefined if the month is invalid. */
export function daysOf(month: string): readonly string[] | undefined {
  if (!/^[2-9]\d{3}-(?:0[1-9]|1[0-2])$/.test(month)) return undefined;
  const days: string[] = [];
  for (let day = `${month}-01`; day.startsWith(month); day = dayOf(beginningOf(day) + dayLength)) days.push(day);
  return days;
}
