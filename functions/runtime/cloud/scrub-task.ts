import { Command, Option } from 'commander';
import { DynamoDbTable } from '../../../shared/adapters/cloud/dynamodb-table.ts';
import { S3BlobStore } from '../../../shared/adapters/cloud/s3-blob-store.ts';
import { CryptoRandomness } from '../../../shared/adapters/system/crypto-randomness.ts';
import { SystemClock } from '../../../shared/adapters/system/system-clock.ts';
import { checkLayout } from '../../../shared/metadata/table/layout.ts';
import type { ScrubReport } from '../../../shared/metadata/scrub/findings.ts';
import type { ScrubDeps } from '../../../shared/metadata/scrub/deps.ts';
import { duration } from '../command-line/durations.ts';
import { refuseHastyRepair, runScrub, withScrubOptions, type ScrubCommandOptions } from '../command-line/scrub-run.ts';
import { setting } from '../command-line/setting.ts';
import { Log } from '../telemetry/log.ts';
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
    .addOption(setting('--table <name>', 'table of the deployment (required)', 'TABLE').makeOptionMandatory())
    .addOption(
      setting('--blob-bucket <name>', 'S3 bucket with its blobs (required)', 'BLOB_BUCKET').makeOptionMandatory(),
    )
    .addOption(
      new Option('--feed-lag <time>', 'time in which followers process a change; the scrub waits for it four times')
        .default(duration('10m'), '10m')
        .argParser(duration),
    );
  await withScrubOptions(command)
    .action(async (options: CloudScrubOptions) => {
      refuseHastyRepair(options, 'the deployment');
      await runScrub(options, (work) => inCloud(options, work));
    })
    .parseAsync([...commandLine]);
}

/** Runs the scrub. Functions follow the change feed, so `drain` can only wait until they have. */
async function inCloud(
  { table: tableName, blobBucket, feedLag }: CloudScrubOptions,
  work: (deps: ScrubDeps) => Promise<ScrubReport>,
): Promise<ScrubReport> {
  const log = new Log(process.stderr);
  const table = new DynamoDbTable({ tableName, telemetry: log });
  const blobs = new S3BlobStore({ bucket: blobBucket });
  const clock = new SystemClock();
  const deps = scrubDeps({ table, blobs, clock, randomness: new CryptoRandomness() });
  try {
    await checkLayout(table, 'write');
    return await work({ ...deps, drain: () => clock.sleep(feedLag) });
  } finally {
    await table.close();
    blobs.close();
  }
}
