import { Option, type Command } from 'commander';
import type { Ask } from '../../../admin/commands.ts';
import { maxBuckets } from '../../../admin/quotas.ts';
import { UsageError } from '../../operator-error.ts';
import { limitOfServiceOption } from '../../command-line/limit-option.ts';
import { family, verb } from '../command.ts';
import { recordReport, type Report } from '../../command-line/report.ts';
import { parseNumber, parseSize, sizeText, type Chosen } from '../../command-line/sizes.ts';

const operand = ['<project or bucket>', 'project@customer, or the name of a bucket'] as const;

interface Asked {
  readonly buckets?: Chosen;
  readonly bytes?: Chosen;
  readonly objects?: Chosen;
}

/** Returns `stillage quota`. */
export function quotaFamily(): Command {
  return family('quota', 'Limit the buckets of a project, or the size of a bucket', [
    verb({
      name: 'show',
      does: 'Show the quota of a project or bucket, and its use',
      operands: [operand],
      service: [limitOfServiceOption()],
      examples: ['quota show shop@acme', 'quota show first-bucket --json'],
      act: (ask, [name]) => (name!.includes('@') ? showProject(ask, name!) : showBucket(ask, name!)),
    }),
    verb<Asked>({
      name: 'set',
      does: 'Set the quota of a project (--buckets) or of a bucket (--bytes, --objects)',
      operands: [operand],
      options: [
        new Option('--buckets <n>', `maximum number of buckets: 0 to ${maxBuckets}, or default`).argParser(parseNumber),
        new Option(
          '--bytes <size>',
          'maximum size of all versions and parts: 500GiB, 10TiB, a number of bytes, or default',
        ).argParser(parseSize),
        new Option(
          '--objects <n>',
          'maximum number of objects, counting every version: a number, or default',
        ).argParser(parseNumber),
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
  const report = await ask('quota show project', { project });
  const { used, quota, isDefault } = report.buckets;
  return recordReport(report, [['buckets', `${used} of ${quota}${remark(isDefault)}`]]);
}

async function showBucket(ask: Ask, bucket: string): Promise<Report> {
  const report = await ask('quota show bucket', { bucket });
  const { used, quota, isDefault } = report;
  return recordReport(report, [
    ['bytes', `${sizeText(used.bytes)} of ${sizeText(quota.bytes)}${remark(isDefault.bytes)}`],
    ['objects', `${used.objects} of ${quota.objects}${remark(isDefault.objects)}`],
  ]);
}

async function setProject(ask: Ask, project: string, { buckets, bytes, objects }: Asked): Promise<string> {
  if (buckets === undefined || bytes !== undefined || objects !== undefined) {
    throw new UsageError('a project takes --buckets only; --bytes and --objects are quotas of a bucket');
  }
  await ask('quota set project', { project, buckets });
  return `${project} may have ${buckets === 'default' ? 'the default number of' : buckets} buckets`;
}

async function setBucket(ask: Ask, bucket: string, { buckets, bytes, objects }: Asked): Promise<string> {
  if (buckets !== undefined || (bytes === undefined && objects === undefined)) {
    throw new UsageError('a bucket takes --bytes, --objects or both; --buckets is a quota of a project@customer');
  }
  await ask('quota set bucket', { bucket, bytes, objects });
  return `the quota of ${bucket} is set`;
}

function remark(isDefault: boolean): string {
  return isDefault ? ' (default)' : '';
}
