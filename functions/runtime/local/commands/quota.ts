import { Option, type Command } from 'commander';
import { bucketCountOf } from '../../../../shared/metadata/bucket-count.ts';
import type { Bucket } from '../../../../shared/metadata/bucket.ts';
import { Buckets } from '../../../../shared/metadata/buckets.ts';
import type { Amount } from '../../../../shared/metadata/amount.ts';
import { quotaOf } from '../../../../shared/metadata/quotas.ts';
import { Usage } from '../../../../shared/metadata/usage.ts';
import { defaultLimits, limitTable, type Limits } from '../../../../shared/protocol/limits.ts';
import { OperatorError } from '../../operator-error.ts';
import { limitOption } from '../limit-option.ts';
import { family, verb, type Rooms } from './command.ts';
import { recordReport, type Report } from './report.ts';
import { parseNumber, parseSize, sizeText, type Chosen } from './sizes.ts';

/** More than this no project can be given. */
const mostBuckets = limitTable.bucketsPerProject.most;

const operand = ['<project or bucket>', 'project@customer, or the name of a bucket'] as const;

interface Asked {
  readonly buckets?: Chosen;
  readonly bytes?: Chosen;
  readonly objects?: Chosen;
}

/** `stillage quota` */
export function quotaFamily(): Command {
  return family('quota', 'how many buckets a project may have, and what a bucket may hold', [
    verb<{ limit: Partial<Limits> }>({
      name: 'show',
      does: 'show the quota of a project or of a bucket, and how much of it is used',
      operands: [operand],
      options: [limitOption('the limits that the service was started with')],
      examples: ['quota show shop@acme', 'quota show first-bucket --json'],
      act: (rooms, [name], { limit }) => show(rooms, name!, { ...defaultLimits, ...limit }),
    }),
    verb<Asked>({
      name: 'set',
      does: 'set the quota of a project (--buckets) or of a bucket (--bytes, --objects)',
      operands: [operand],
      options: [
        new Option('--buckets <n>', `how many buckets the project may have: 0 to ${mostBuckets}, or default`).argParser(
          parseNumber,
        ),
        new Option(
          '--bytes <size>',
          'what the bucket may hold: 500GiB, 10TiB, a number of bytes, or default',
        ).argParser(parseSize),
        new Option('--objects <n>', 'how many objects, each version counted: a number, or default').argParser(
          parseNumber,
        ),
      ],
      examples: [
        'quota set shop@acme --buckets 200',
        'quota set first-bucket --bytes 10TiB --objects 1000000',
        'quota set first-bucket --bytes default',
      ],
      act: (rooms, [name], asked) =>
        name!.includes('@') ? setProject(rooms, name!, asked) : setBucket(rooms, name!, asked),
    }),
  ]);
}

async function show(rooms: Rooms, name: string, limits: Limits): Promise<Report> {
  if (name.includes('@')) {
    const { id, bucketQuota } = await rooms.accounts.project(name);
    const used = await bucketCountOf(rooms.table, id);
    const quota = bucketQuota ?? limits.bucketsPerProject;
    return recordReport({ project: name, buckets: { used, quota, isDefault: bucketQuota === undefined } }, [
      ['buckets', `${used} of ${quota}${remark(bucketQuota)}`],
    ]);
  }
  const bucket = await new Buckets(rooms).load(name);
  const defaults = { bytes: limits.bucketBytes, objects: limits.bucketObjects };
  const quota = quotaOf(bucket, defaults);
  const used = await new Usage(rooms).held(bucket.id);
  return recordReport({ bucket: name, used, quota, isDefault: isDefault(bucket) }, [
    ['bytes', `${sizeText(used.bytes)} of ${sizeText(quota.bytes)}${remark(bucket.quota?.bytes)}`],
    ['objects', `${used.objects} of ${quota.objects}${remark(bucket.quota?.objects)}`],
  ]);
}

async function setProject({ accounts }: Rooms, name: string, { buckets, bytes, objects }: Asked): Promise<string> {
  if (buckets === undefined || bytes !== undefined || objects !== undefined) {
    throw new OperatorError('a project has a quota of buckets: --buckets; bytes and objects are those of a bucket');
  }
  if (buckets !== 'default' && buckets > mostBuckets) {
    throw new OperatorError(`--buckets: a project may have at most ${mostBuckets}`);
  }
  await accounts.setBucketQuota(name, buckets === 'default' ? undefined : buckets);
  return `${name} may have ${buckets === 'default' ? 'the default number of' : buckets} buckets`;
}

async function setBucket(rooms: Rooms, name: string, { buckets, bytes, objects }: Asked): Promise<string> {
  if (buckets !== undefined || (bytes === undefined && objects === undefined)) {
    throw new OperatorError(
      'a bucket has a quota of --bytes, --objects or both; buckets are those of a project@customer',
    );
  }
  const repository = new Buckets(rooms);
  const { quota = {} } = await repository.load(name);
  await repository.setQuota(name, { ...chosen('bytes', bytes, quota), ...chosen('objects', objects, quota) });
  return `the quota of ${name} is set`;
}

/** One of the two, as it is to be from now on. */
function chosen(what: keyof Amount, asked: Chosen | undefined, before: Partial<Amount>): Partial<Amount> {
  const value = asked ?? before[what];
  return value === undefined || value === 'default' ? {} : { [what]: value };
}

function remark(own: number | undefined): string {
  return own === undefined ? ' (default)' : '';
}

function isDefault({ quota }: Bucket): { readonly bytes: boolean; readonly objects: boolean } {
  return { bytes: quota?.bytes === undefined, objects: quota?.objects === undefined };
}
