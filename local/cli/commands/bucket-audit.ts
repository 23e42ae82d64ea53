import type { Command } from 'commander';
import { startOption } from '../../../shared/command-line/option.ts';
import { auditedRequests, type AuditedRequests } from '../../../shared/storage/buckets/bucket-settings.ts';
import { asService } from '../../../shared/storage/version-changes/service-authorisation.ts';
import { argument, command, Refusal } from '../../../functions/admin/command.ts';
import { result } from '../../../functions/admin/results.ts';
import { verb } from '../command.ts';
import * as operand from '../operands.ts';

type Requests = 'none' | AuditedRequests;
const choices = ['none', ...auditedRequests] as const;

/** Has the audit log take requests for the data of a bucket. */
export const auditBucket = command(
  'bucket audit',
  'manage',
  { bucket: argument.text, requests: argument.oneOf(choices) },
  result.nothing,
  async ({ buckets, settings }, { bucket, requests }) => {
    const audited = requests === 'none' ? undefined : requests;
    const found = await buckets.load(bucket);
    if (audited !== undefined && !settings.auditsData)
      throw new Refusal(
        'the service has no audit log that takes requests: a cloud deployment has none, nor has a service with --audit-days 0',
      );
    await buckets.configure(asService(found), () => ({ audited }));
  },
);

/** Returns `stillage bucket audit`. */
export function auditVerb(): Command {
  const said = { none: 'no requests', writes: 'writes', all: 'reads and writes' } satisfies Record<Requests, string>;
  return verb({
    name: 'audit',
    does: 'Have the audit log take requests for the data of a bucket: writes, all, or none',
    operands: [operand.bucket, operand.oneOf('requests', choices)],
    service: [startOption('auditDays')],
    examples: ['bucket audit photos writes', 'bucket audit photos none'],
    act: async (ask, [bucket, requests]) => {
      await ask(auditBucket, { bucket: bucket!, requests: requests as Requests });
      return `the audit log takes ${said[requests as Requests]} of ${bucket}`;
    },
  });
}
