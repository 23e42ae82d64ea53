import type { Command } from 'commander';
import { UsageError } from '../../../shared/errors/operator-error.ts';
import { family, limitOfService, verb, type Named } from '../command.ts';
import * as operand from '../operands.ts';
import { recordReport, type Report } from '../../../shared/command-line/report.ts';
import { option } from '../../../shared/command-line/option.ts';
import { chosenNumber, chosenSize, sizeText, type Chosen } from '../../../shared/command-line/sizes.ts';
import { asService } from '../../../shared/storage/version-changes/service-authorisation.ts';
import { bucketCountOf } from '../../../shared/storage/buckets/bucket-reads.ts';
import { countedByQuota, quotaOf } from '../../../shared/storage/quotas/quotas.ts';
import { limitTable } from '../../../shared/protocol/limits.ts';
import { argument, command, optional, present, Refusal, type Ask } from '../../../functions/admin/command.ts';
import { result } from '../../../functions/admin/results.ts';

/** The highest quota of buckets for a project. */
const maxBuckets = limitTable.bucketsPerProject.most;

const { text, count, bytes, flag } = result;

export const quotaCommands = {
  showProject: command(
    'quota show project',
    'read',
    { project: argument.text },
    result.object({
      project: text,
      buckets: result.object({ used: count, quota: count, isDefault: flag }),
    }),
    async ({ accounts, table, settings }, { project }) => {
      const { id, bucketQuota } = await accounts.project(project);
      const used = await bucketCountOf(table, id);
      const quota = bucketQuota ?? settings.limits.bucketsPerProject;
      return { project, buckets: { used, quota, isDefault: bucketQuota === undefined } };
    },
  ),
  showBucket: command(
    'quota show bucket',
    'read',
    { bucket: argument.text },
    result.object({
      bucket: text,
      used: result.object({ bytes, objects: count, bytesOfVersions: bytes, bytesBesides: bytes }),
      quota: result.object({ bytes, objects: count }),
      isDefault: result.object({ bytes: flag, objects: flag }),
    }),
    async ({ buckets, usage, settings: { limits } }, given) => {
      const bucket = await buckets.load(given.bucket);
      const held = await usage.of(bucket.id);
      return {
        bucket: bucket.name,
        used: { ...held, ...countedByQuota(held) },
        quota: quotaOf(bucket, { bytes: limits.bucketBytes, objects: limits.bucketObjects }),
        isDefault: { bytes: bucket.quota?.bytes === undefined, objects: bucket.quota?.objects === undefined },
      };
    },
  ),
  setProject: command(
    'quota set project',
    'manage',
    { project: argument.text, buckets: argument.choice },
    result.nothing,
    async ({ accounts }, { project, buckets }) => {
      if (buckets !== 'default' && buckets > maxBuckets) {
        throw new Refusal(`a project may have at most ${maxBuckets} buckets`);
      }
      await accounts.setBucketQuota(project, buckets === 'default' ? undefined : buckets);
    },
  ),
  /** Omitted quotas stay unchanged. */
  setBucket: command(
    'quota set bucket',
    'manage',
    { bucket: argument.text, bytes: optional(argument.choice), objects: optional(argument.choice) },
    result.nothing,
    async ({ buckets }, { bucket, ...asked }) => {
      const found = await buckets.load(bucket);
      const { quota = {} } = found;
      const chosen = Object.entries({ ...quota, ...present(asked) }).filter(([, amount]) => amount !== 'default');
      await buckets.setQuota(asService(found), Object.fromEntries(chosen));
    },
  ),
};

interface Asked {
  readonly buckets?: Chosen;
  readonly bytes?: Chosen;
  readonly objects?: Chosen;
}

/** Returns `stillage quota`. */
export function commandLine(named: Named): Command {
  return family(named, [
    verb({
      name: 'show',
      does: 'Show the quota of a project or bucket, and its use',
      operands: [operand.projectOrBucket],
      service: [limitOfService()],
      examples: ['quota show shop@acme', 'quota show first-bucket --json'],
      act: (ask, [name]) => (name!.includes('@') ? showProject(ask, name!) : showBucket(ask, name!)),
    }),
    verb<Asked>({
      name: 'set',
      does: 'Set the quota of a project (--buckets) or of a bucket (--bytes, --objects)',
      operands: [operand.projectOrBucket],
      options: [
        option('--buckets <n>', `maximum number of buckets: 0 to ${maxBuckets}, or default`, chosenNumber),
        option(
          '--bytes <size>',
          'maximum size of all versions and what is held besides: 500GiB, 10TiB, a number of bytes, or default',
          chosenSize,
        ),
        option(
          '--objects <n>',
          'maximum number of objects, counting every version: a number, or default',
          chosenNumber,
        ),
      ],
      examples: [
        'quota set shop@acme --buckets 200',
        'quota set first-bucket --bytes 10TiB --objects 1000000',
        'quota set first-bucket --bytes default',
      ],
      act: (ask, [name], asked) => (name!.includes('@') ? setProject(ask, name!, asked) : setBucket(ask, name!, asked)),
    }),
  ]);
}

async function showProject(ask: Ask, project: string): Promise<Report> {
  const report = await ask(quotaCommands.showProject, { project });
  const { used, quota, isDefault } = report.buckets;
  return recordReport(report, [['buckets', `${used} of ${quota}${remark(isDefault)}`]]);
}

async function showBucket(ask: Ask, bucket: string): Promise<Report> {
  const report = await ask(quotaCommands.showBucket, { bucket });
  const { used, quota, isDefault } = report;
  const shares = `${sizeText(used.bytesOfVersions)} of versions, ${sizeText(used.bytesBesides)} besides`;
  return recordReport(report, [
    ['bytes', `${sizeText(used.bytes)} of ${sizeText(quota.bytes)}${remark(isDefault.bytes)}: ${shares}`],
    ['objects', `${used.objects} of ${quota.objects}${remark(isDefault.objects)}`],
  ]);
}

async function setProject(ask: Ask, project: string, { buckets, bytes, objects }: Asked): Promise<string> {
  if (buckets === undefined || bytes !== undefined || objects !== undefined) {
    throw new UsageError('a project takes --buckets only; --bytes and --objects are quotas of a bucket');
  }
  await ask(quotaCommands.setProject, { project, buckets });
  return `${project} may have ${buckets === 'default' ? 'the default number of' : buckets} buckets`;
}

async function setBucket(ask: Ask, bucket: string, { buckets, bytes, objects }: Asked): Promise<string> {
  if (buckets !== undefined || (bytes === undefined && objects === undefined)) {
    throw new UsageError('a bucket takes --bytes, --objects or both; --buckets is a quota of a project@customer');
  }
  await ask(quotaCommands.setBucket, { bucket, bytes, objects });
  return `the quota of ${bucket} is set`;
}

function remark(isDefault: boolean): string {
  return isDefault ? ' (default)' : '';
}
