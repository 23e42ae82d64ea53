import { InvalidArgumentError, Option, type Command } from 'commander';
import { daysOf } from '../../../../shared/metadata/days.ts';
import type { DayUsage } from '../../../../shared/metadata/billing/project-usage.ts';
import { sumOf } from '../../../../shared/metadata/billing/request-meter.ts';
import { OperatorError } from '../../operator-error.ts';
import { verb } from '../command.ts';
import { tableReport, type Column, type Report } from '../report.ts';
import { sizeText } from '../sizes.ts';

interface Asked {
  readonly month?: string;
  readonly csv?: true;
  readonly json?: true;
}

/** A line of the bill: a day, or all of them. */
type Line = Omit<DayUsage, 'day'> & { readonly day: string };

/** `stillage usage` */
export function usageCommand(): Command {
  return verb<Asked>({
    name: 'usage',
    does: 'show what a project used in a month, day by day (UTC): requests, bytes in and out, byte-hours, objects',
    operands: [['<project>', 'project@customer, or its canonical id']],
    options: [
      new Option('--month <YYYY-MM>', 'the month (default: the present one)').argParser(parseMonth),
      new Option('--csv', 'print CSV'),
    ],
    examples: ['usage shop@acme', 'usage shop@acme --month 2026-11 --csv > 2026-11.csv'],
    act: async (ask, [project], { month, csv, json }) => {
      if (csv && json) throw new OperatorError('--csv and --json cannot be used together');
      const { days, ...about } = await ask('usage', { project: project!, month });
      return reportOf(about, days, csv === true);
    },
  });
}

function reportOf(
  about: { readonly project: string; readonly id: string; readonly month: string },
  days: readonly DayUsage[],
  asCsv: boolean,
): Report {
  const total = totalOf(days);
  const data = { ...about, days, total };
  if (asCsv) return { data, text: csvOf(days) };
  const first = days.findIndex((day) => csvColumns.some((name) => name !== 'day' && day[name] > 0));
  // Of the days before the first with any use there is nothing to show; of a month without any the last one is enough.
  const shown = days.slice(first < 0 ? -1 : first);
  const lines: readonly Line[] = days.length === 0 ? [] : [...shown, total];
  return { data, text: tableReport(lines, columns, `${about.month} has not begun`).text };
}

/** Objects are those at the end, all else is added up. */
function totalOf(days: readonly DayUsage[]): Line {
  const none = { a: 0, b: 0, free: 0, bytesIn: 0, bytesOut: 0 };
  return {
    day: 'total',
    ...days.reduce((sum, day) => sumOf(sum, day), none),
    byteHours: days.reduce((sum, { byteHours }) => sum + byteHours, 0),
    objects: days.at(-1)?.objects ?? 0,
  };
}

const columns: readonly Column<Line>[] = [
  ['DAY', ({ day }) => day],
  ['CLASS A', ({ a }) => String(a)],
  ['CLASS B', ({ b }) => String(b)],
  ['FREE', ({ free }) => String(free)],
  ['IN', ({ bytesIn }) => sizeText(bytesIn)],
  ['OUT', ({ bytesOut }) => sizeText(bytesOut)],
  ['STORED × HOURS', ({ byteHours }) => sizeText(Math.round(byteHours))],
  ['OBJECTS', ({ objects }) => String(objects)],
];

const csvColumns = ['day', 'a', 'b', 'free', 'bytesIn', 'bytesOut', 'byteHours', 'objects'] as const;

/** RFC 4180, but for the line breaks. */
function csvOf(days: readonly DayUsage[]): string {
  return [csvColumns.join(','), ...days.map((day) => csvColumns.map((name) => day[name]).join(','))].join('\n');
}

/** @throws InvalidArgumentError */
function parseMonth(value: string): string {
  if (daysOf(value) === undefined) throw new InvalidArgumentError('A month is a year and a number: 2026-11.');
  return value;
}
