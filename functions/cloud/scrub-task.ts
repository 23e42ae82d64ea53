import { Command } from 'commander';
import { DynamoDbTable } from '../../shared/adapters/cloud/dynamodb/dynamodb-table.ts';
import { S3BlobStore } from '../../shared/adapters/cloud/s3/s3-blob-store.ts';
import { CryptoRandomness } from '../../shared/adapters/system/crypto-randomness.ts';
import { SystemClock } from '../../shared/adapters/system/system-clock.ts';
import { Slice } from '../../shared/scrub/slice.ts';
import { minute } from '../../shared/ports/durations.ts';
import { checkLayout } from '../../shared/storage/table/layout.ts';
import type { ScrubReport } from '../../shared/scrub/findings.ts';
import type { ScrubDeps } from '../../shared/scrub/deps.ts';
import { duration } from '../../shared/command-line/durations.ts';
import {
  refuseHastyRepair,
  runScrub,
  withScrubOptions,
  type ScrubCommandOptions,
} from '../../shared/command-line/scrub-run.ts';
import { option } from '../../shared/command-line/option.ts';
import { read } from '../../shared/command-line/option-values.ts';
import { cloudLog, type Log } from '../../shared/telemetry/log.ts';
import { scrubDeps } from '../compose/scrub.ts';

interface CloudScrubOptions extends ScrubCommandOptions {
  readonly table: string;
  readonly blobBucket: string;
  readonly feedLag: number;
}

/**
 * Runs the scrub of a cloud deployment as a program: as a task beside the servers of the byte lane, or on any machine that may read
 * the table and the bucket. With millions of objects it takes hours, longer than a function may run.
 */
export async function cloudScrub(commandLine: readonly string[]): Promise<void> {
  const command = new Command('cloud-scrub')
    .description('Check that table and blobs of a deployment are consistent')
    .addOption(
      option('--table <name>', 'table of the deployment (required)').env('STILLAGE_TABLE').makeOptionMandatory(),
    )
    .addOption(
      option('--blob-bucket <name>', 'S3 bucket with its blobs (required)')
        .env('STILLAGE_BLOB_BUCKET')
        .makeOptionMandatory(),
    )
    .addOption(
      option(
        '--feed-lag <time>',
        'time in which followers process a change; the scrub waits for it four times',
        duration,
      ).default(10 * minute, '10m'),
    )
    .addOption(
      option('--slice <i/n>', 'report on one of n parts; today/n is that of the day (UTC)', slice).conflicts('repair'),
    );
  await withScrubOptions(command)
    .action(async (options: CloudScrubOptions) => {
      refuseHastyRepair(options, 'the deployment');
      const log = cloudLog(process.stderr);
      const startedAt = performance.now();
      const report = await runScrub(options, (work) => inCloud(options, log, work));
      log.note('scrub finished', summaryOf(report, options, performance.now() - startedAt));
    })
    .parseAsync([...commandLine]);
}

/** Returns the log fields of a finished scrub. `infra/constructs/scrub-tasks.ts` makes a metric of `scrubFindings`. */
function summaryOf(report: ScrubReport, { slice: checked = Slice.whole }: CloudScrubOptions, time: number): object {
  const counts = Object.values(report.findings);
  return {
    slice: checked.toString(),
    scrubFindings: counts.reduce((sum, { found }) => sum + found, 0),
    mended: counts.reduce((sum, { mended }) => sum + mended, 0),
    items: report.items,
    blobs: report.blobs,
    leftOut: report.leftOut,
    seconds: Math.round(time / 1000),
  };
}

/** `3/28`, or `today/28`, the slice of the day. */
const slice = read((text, refuse) => {
  const [, index, of] = /^(today|[1-9]\d*)\/([1-9]\d{0,3})$/.exec(text) ?? [];
  if (index === undefined) return refuse('Must be such as 3/28, or today/28.');
  if (index === 'today') return Slice.ofDay(Date.now(), Number(of));
  if (Number(index) > Number(of)) return refuse(`There are only ${of} slices.`);
  return new Slice(Number(index), Number(of));
});

/** Runs the scrub. Functions follow the change feed, so `drain` can only wait until they have. */
async function inCloud(
  { table: tableName, blobBucket, feedLag, repair = false }: CloudScrubOptions,
  log: Log,
  work: (deps: ScrubDeps) => Promise<ScrubReport>,
): Promise<ScrubReport> {
  const table = new DynamoDbTable({ tableName, telemetry: log });
  const blobs = new S3BlobStore({ bucket: blobBucket });
  const clock = new SystemClock();
  const deps = scrubDeps({ table, blobs, clock, randomness: new CryptoRandomness() });
  try {
    await checkLayout(table, repair ? 'write' : 'read');
    return await work({ ...deps, drain: () => clock.sleep(feedLag) });
  } finally {
    await table.close();
    blobs.close();
  }
}
