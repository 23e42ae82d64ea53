import { day as dayLength } from '../ports/durations.ts';

/** Days and months of bills are those of UTC, written `2026-11-21` and `2026-11`; times are milliseconds since the epoch. */

/** The day that a moment lies in. */
export function dayOf(moment: number): string {
  return new Date(moment).toISOString().slice(0, 'yyyy-mm-dd'.length);
}

/** When a day begins. */
export function beginningOf(day: string): number {
  return Date.parse(`${day}T00:00:00Z`);
}

/** The month that a moment lies in. */
export function monthOf(moment: number): string {
  return dayOf(moment).slice(0, 'yyyy-mm'.length);
}

/** The days of a month, in order; undefined for what is no month. */
export function daysOf(month: string): readonly string[] | undefined {
  if (!/^[2-9]\d{3}-(?:0[1-9]|1[0-2])$/.test(month)) return undefined;
  const days: string[] = [];
  for (let day = `${month}-01`; day.startsWith(month); day = dayOf(beginningOf(day) + dayLength)) days.push(day);
  return days;
}
