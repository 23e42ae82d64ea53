import type { Command } from 'commander';
import { daysOf, monthOf } from '../../../shared/storage/table/keys/days.ts';
import { type DayUsage, projectUsage } from '../../../shared/billing/project-usage.ts';
import { sumOf } from '../../../shared/billing/request-meter.ts';
import { UsageError } from '../../../shared/errors/operator-error.ts';
import { verb, type Named } from '../command.ts';
import * as operand from '../operands.ts';
import { tableReport, type Column, type Report } from '../../../shared/command-line/report.ts';
import { option } from '../../../shared/command-line/option.ts';
import { read } from '../../../shared/command-line/option-values.ts';
import { sizeText } from '../../../shared/command-line/sizes.ts';
import { argument, command, optional, Refusal } from '../../../functions/admin/command.ts';
import { result } from '../../../functions/admin/results.ts';

const { text, count, bytes, number } = result;
const dayUsage = result.object({
  ...{ day: text, a: count, b: count, free: count, bytesIn: bytes, bytesOut: bytes },
  ...{ byteHours: number, objects: count },
});

export const usageCommands = {
  /** @param month `2026-11`. Default: the current month */
  usage: command(
    'usage',
    'bill',
    { project: argument.text, month: optional(argument.text) },
    result.object({ project: text, id: text, month: text, days: result.list(dayUsage) }),
    async ({ accounts, table, clock }, { project, month }) => {
      const { id, email } = await accounts.project(project);
      const now = clock.now();
      const asked = month ?? monthOf(now);
      const days = daysOf(asked);
      if (days === undefined) throw new Refusal(`${JSON.stringify(asked)} is not a month such as 2026-11`);
      return { project: email, id, month: asked, days: await projectUsage(table, id, days, now) };
    },
  ),
};

interface Asked {
  readonly month?: string;
  readonly csv?: true;
  readonly json?: true;
}

/** A line of the report: a day, or the total. */
type Line = Omit<DayUsage, 'day'> & { readonly day: string };

/** Returns `stillage usage`. */
export function commandLine(named: Named): Command {
  const calendarMonth = read((text, refuse) =>
    daysOf(text) === undefined ? refuse('Must be a year and a month, such as 2026-11.') : text,
  );
  return verb<Asked>({
    ...named,
    operands: [operand.project],
    options: [
      option('--month <YYYY-MM>', 'month to show', calendarMonth).default(undefined, 'the current month'),
      option('--csv', 'print CSV'),
    ],
    examples: ['usage shop@acme', 'usage shop@acme --month 2026-11 --csv > 2026-11.csv'],
    act: async (ask, [project], { month, csv, json }) => {
      if (csv && json) throw new UsageError('--csv and --json cannot be used together');
      const { days, ...about } = await ask(usageCommands.usage, { project: project!, month });
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
  // Days before the first with usage are omitted; a month without usage shows its last day.
  const shown = days.slice(first < 0 ? -1 : first);
  const lines: readonly Line[] = days.length === 0 ? [] : [...shown, total];
  return { data, text: tableReport(lines, columns, `${about.month} has not begun`).text };
}

/** Sums all columns but `objects`, which is the number at the end. */
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

/** Returns CSV as in RFC 4180, but with LF line breaks. */
function csvOf(days: readonly DayUsage[]): string {
  return [csvColumns.join(','), ...days.map((day) => csvColumns.map((name) => day[name]).join(','))].join('\n');
}
