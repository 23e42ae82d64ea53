import type { Command } from 'commander';
import { SdkEndpoint } from '../../../shared/adapters/targets/sdk-endpoint.ts';
import { option, startOption } from '../../../shared/command-line/option.ts';
import { bucketName } from '../../../shared/command-line/option-values.ts';
import { count, recordReport, type Report } from '../../../shared/command-line/report.ts';
import { s3Address, s3AddressOf } from '../../../shared/command-line/s3-address.ts';
import { byteRate, sizeText } from '../../../shared/command-line/sizes.ts';
import { OperatorError, UsageError } from '../../../shared/errors/operator-error.ts';
import { second } from '../../../shared/ports/durations.ts';
import { TargetFailed } from '../../../shared/ports/backup-target.ts';
import { printable } from '../../../shared/telemetry/log.ts';
import { ByteRate } from '../../server/moving/byte-rate.ts';
import { importData } from '../../server/moving/import-data.ts';
import { Ledger, type Difference } from '../../server/moving/ledger.ts';
import { movingServices } from '../../server/moving/moving-service.ts';
import { limitOfService, localVerb } from '../command.ts';
import type { Deps } from '../data-deps.ts';
import { followingTheFeed } from '../following-the-feed.ts';
import * as operand from '../operands.ts';
import { sparingly } from '../progress.ts';

const source: operand.Operand = [
  '<source>',
  's3://bucket?endpoint=https://s3.example.com&region=us-east-1; without a bucket: all',
  s3Address,
];

/** The least time between two rounds of a watch, in milliseconds. */
const watchPause = 5 * second;

interface ImportOptions {
  readonly project?: string;
  readonly bucket?: string;
  readonly delete?: true;
  readonly dryRun?: true;
  readonly watch?: true;
  readonly acls: boolean;
  readonly settings: boolean;
  readonly rate?: number;
  readonly region: string;
  readonly limit: Parameters<typeof movingServices>[1]['limit'];
}

/** Returns `stillage import`. */
export function importCommand(): Command {
  return localVerb<ImportOptions>({
    name: 'import',
    does: 'Copy buckets from any S3, with versions and their times, also while the service runs',
    operands: [source],
    options: [
      option('--project <project>', 'owner of the buckets that are not there yet', operand.project[2]),
      option('--bucket <name>', 'name of the bucket here, if it is another', bucketName),
      option('--rate <size>', 'the most bytes to read in a second', byteRate).default(undefined, 'as fast as possible'),
      option('--delete', 'remove from the buckets what the source does not have'),
      option('--no-acls', 'do not read the ACLs of objects, which takes a request for each'),
      option('--no-settings', 'copy no settings of buckets but their versioning'),
      option('--dry-run', 'only tell what differs'),
      option('--watch', 'go on with what changes at the source, until SIGINT or SIGTERM'),
      startOption('region', 'region of the service'),
      limitOfService(),
    ],
    examples: [
      "import 's3://photos?endpoint=https://minio.example.com' --project shop@acme",
      "import 's3://?endpoint=https://rgw.example.com' --project shop@acme --rate 50MiB --json",
    ],
    act: (deps, [name], options) => act(deps, name!, options),
  });
}

async function act(deps: Deps, name: string, options: ImportOptions): Promise<Report> {
  const address = s3AddressOf(name)!;
  if (options.bucket !== undefined && address.bucket === undefined) {
    throw new UsageError('--bucket needs a source that names one bucket');
  }
  const source = new SdkEndpoint(name, address);
  const rate = new ByteRate(options.rate ?? Infinity, deps.clock);
  const stopping = stopped(options.watch ?? false);
  try {
    // What follows the feed is composed of the services.
    let drain = (): Promise<void> => Promise.resolve();
    const services = await movingServices(deps, options, () => drain());
    return await followingTheFeed(deps, services.uploads, async (following) => {
      drain = following;
      for (;;) {
        const tell = sparingly(() => progressText(ledger));
        const ledger = new Ledger(tell, (difference) => process.stderr.write(`${differenceText(difference)}\n`));
        const began = deps.clock.now();
        await importData({
          ...{ deps, services, address, rate, ledger, source },
          project: options.project,
          as: options.bucket,
          removes: options.delete ?? false,
          isTrial: options.dryRun ?? false,
          acls: options.acls,
          settings: options.settings,
        });
        const took = deps.clock.now() - began;
        // A round takes as long as the listings: what asks no more of the source than half of the time may go on for weeks.
        const next = deps.clock.now() + Math.max(watchPause, took);
        // A sleep that a signal ends would not keep the process running.
        while (!stopping.aborted && deps.clock.now() < next) await deps.clock.sleep(second / 4);
        if (!stopping.aborted) {
          process.stderr.write(`a round has ended: ${progressText(ledger)}\n`);
          continue;
        }
        process.exitCode = ledger.differences.missing > 0 ? 1 : 0;
        return reportOf(ledger, took);
      }
    });
  } catch (error) {
    if (error instanceof TargetFailed) throw new OperatorError(error.message);
    throw error;
  }
}

/** Returns a signal that is aborted already or, of a watch, once the process is told to end, so that the round is ended first. */
function stopped(isWatch: boolean): AbortSignal {
  if (!isWatch) return AbortSignal.abort();
  const controller = new AbortController();
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => controller.abort());
  return controller.signal;
}

function progressText({ versions, markers, bytes, same }: Ledger): string {
  return `${count(versions + markers, 'version')} copied, ${sizeText(bytes)}; ${same.toLocaleString('en')} were there`;
}

function differenceText({ kind, bucket, key, version, what }: Difference): string {
  const at = [bucket, ...(key === undefined ? [] : [key])].join('/') + (version === undefined ? '' : ` (${version})`);
  return printable(`${kind}  ${at}: ${what}`);
}

function reportOf(ledger: Ledger, took: number): Report {
  const { versions, markers, bytes, same, removed, settings, differences, examples } = ledger;
  const data = { versions, markers, bytes, same, removed, settings, took, differences, examples };
  const { missing, changed, extra } = differences;
  return recordReport(data, [
    [
      'copied',
      `${count(versions, 'version')} and ${count(markers, 'delete marker')}, ${sizeText(bytes)} in ${(took / 1000).toFixed(1)} s`,
    ],
    ['same', `${count(same, 'version')}, there before`],
    ['settings', settings === 0 ? undefined : `${count(settings, 'setting')} of buckets`],
    ['removed', removed === 0 ? undefined : count(removed, 'version')],
    ['missing', missing === 0 ? undefined : `${missing.toLocaleString('en')} of the source: run it again`],
    ['changed', changed === 0 ? undefined : `${changed.toLocaleString('en')} copied, but not in all respects`],
    ['extra', extra === 0 ? undefined : `${count(extra, 'version')} that the source does not have`],
    ['differs', missing + changed + extra === 0 ? 'in nothing' : undefined],
  ]);
}
