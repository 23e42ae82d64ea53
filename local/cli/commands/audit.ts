import type { Command } from 'commander';
import { auditPage, isAuditPlace } from '../../../shared/audit/audit-log.ts';
import { cloudTrailRecord, type Actor, type AuditRecord } from '../../../shared/audit/audit-record.ts';
import { duration } from '../../../shared/command-line/durations.ts';
import { option, startOption } from '../../../shared/command-line/option.ts';
import { bucketName } from '../../../shared/command-line/option-values.ts';
import { tableReport, time, type Column } from '../../../shared/command-line/report.ts';
import { UsageError } from '../../../shared/errors/operator-error.ts';
import { day } from '../../../shared/ports/durations.ts';
import { pages } from '../../../shared/storage/table/pages.ts';
import { argument, command, optional, paged } from '../../../functions/admin/command.ts';
import { result } from '../../../functions/admin/results.ts';
import { verb, type Named } from '../command.ts';
import * as operand from '../operands.ts';

/** More than any record is kept: the most of `--audit-days`, and what is forgotten later. */
const longest = 11 * 366 * day;

const { text, object, optional: maybe } = result;
const auditRecord = object({
  time: result.time,
  id: text,
  by: result.union([
    object({ kind: result.literal('user'), project: text, user: text, key: text }),
    object({ kind: result.literal('anonymous') }),
    object({ kind: result.literal('operator'), operator: text }),
    object({ kind: result.literal('machine'), user: text }),
    object({ kind: result.literal('invoker') }),
  ]),
  ...{ source: result.enum(['s3', 'sts', 'iam', 'administration']), event: text, requestId: maybe(text) },
  ...{ address: maybe(text), agent: maybe(text), bucket: maybe(text), key: maybe(text), project: maybe(text) },
  ...{ given: maybe(result.record), data: maybe(result.enum(['read', 'write'])), error: maybe(text) },
});

export const auditCommands = {
  /** Returns a page of records. @param since milliseconds before now. @param after `next` of the page before */
  audit: command(
    'audit',
    'read',
    {
      since: optional(argument.number),
      project: optional(argument.text),
      bucket: optional(argument.text),
      after: paged(isAuditPlace).after,
    },
    result.object({ records: result.list(auditRecord), region: text, next: result.optional(text) }),
    async ({ accounts, table, clock, settings }, { since = day, project, bucket, after }) => {
      const to = clock.now();
      const from = to - Math.min(since, longest);
      const owner = project === undefined ? undefined : (await accounts.project(project)).id;
      const page = await auditPage(table, { from, to, project: owner, bucket }, after);
      return { ...page, region: settings.region };
    },
  ),
};

/** Returns `stillage audit`. */
export function commandLine(named: Named): Command {
  return verb<{ since?: number; bucket?: string; lines?: true; json?: true }>({
    ...named,
    operands: [operand.optionally(operand.project)],
    options: [
      option('--since <time>', 'how far back: 90s, 1h, 7d', duration).default(undefined, '1d'),
      option('--bucket <bucket>', 'the bucket that it was about', bucketName).default(undefined, 'any'),
      option('--lines', "print a record of AWS's CloudTrail in JSON on each line"),
    ],
    service: [startOption('region')],
    examples: ['audit', 'audit shop@acme --since 7d', 'audit --since 1d --lines >> audit.jsonl'],
    act: async (ask, [project], { since, bucket, lines, json }) => {
      if (lines && json) throw new UsageError('--lines and --json cannot be used together');
      const records: AuditRecord[] = [];
      let region = '';
      const pagesOf = pages((after) => ask(auditCommands.audit, { since, project, bucket, after }));
      for await (const page of pagesOf) {
        records.push(...page.records);
        ({ region } = page);
      }
      const report = tableReport(records, columns, 'nothing was changed in that time');
      if (!lines) return report;
      return { ...report, text: records.map((one) => JSON.stringify(cloudTrailRecord(one, region))).join('\n') };
    },
  });
}

const columns: readonly Column<AuditRecord>[] = [
  ['TIME', (one) => time(one.time)],
  ['WHO', ({ by }) => nameOf(by)],
  ['FROM', ({ address }) => address ?? '-'],
  ['WHAT', ({ event }) => event],
  ['ABOUT', aboutOf],
  ['RESULT', ({ error }) => error ?? 'done'],
];

function nameOf(by: Actor): string {
  switch (by.kind) {
    case 'user':
      return `${by.user} (${by.key})`;
    case 'anonymous':
      return 'anonymous';
    case 'operator':
      return `operator ${by.operator}`;
    case 'machine':
      return `${by.user} on the machine`;
    case 'invoker':
      return 'invoker of the function';
  }
}

function aboutOf({ bucket, key, given }: AuditRecord): string {
  if (bucket !== undefined) return key === undefined ? bucket : `${bucket}/${key}`;
  const [first] = Object.values(given ?? {});
  return typeof first === 'string' ? first : '-';
}
