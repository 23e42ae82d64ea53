import type { Command, Option } from 'commander';
import { SdkEndpoint } from '../../shared/adapters/targets/sdk-endpoint.ts';
import { option, startOption } from '../../shared/command-line/option.ts';
import { count, recordReport, type Report } from '../../shared/command-line/report.ts';
import { s3AddressOf } from '../../shared/command-line/s3-address.ts';
import { byteRate, sizeText } from '../../shared/command-line/sizes.ts';
import { OperatorError, UsageError } from '../../shared/errors/operator-error.ts';
import { TargetFailed } from '../../shared/ports/backup-target.ts';
import { second } from '../../shared/ports/durations.ts';
import { printable } from '../../shared/telemetry/log.ts';
import { ByteRate } from '../server/moving/byte-rate.ts';
import { Ledger, type Difference } from '../server/moving/ledger.ts';
import type { Move } from '../server/moving/move.ts';
import { movingServices } from '../server/moving/moving-service.ts';
import { limitOfService, localVerb } from './command.ts';
import type { Deps } from './data-deps.ts';
import { followingTheFeed } from './following-the-feed.ts';
import type { Operand } from './operands.ts';
import { sparingly } from './progress.ts';

/** The least time between two rounds of a watch, in milliseconds. */
const watchPause = 5 * second;

interface MoveOptions {
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

/** A command that copies between this service and any S3. */
interface MoveCommand {
  readonly name: string;
  readonly does: string;
  /** The other S3. */
  readonly other: Operand;
  /** `--project` and `--bucket`, which do not mean the same in both directions. */
  readonly options: readonly Option[];
  readonly examples: readonly string[];
  readonly move: (job: Move) => Promise<void>;
  /** What no S3 takes of what is copied, for the report. */
  readonly notKept?: string;
}

/** Returns a command that copies between this service and any S3. */
export function moveCommand({ name, does, other, options, examples, ...how }: MoveCommand): Command {
  return localVerb<MoveOptions>({
    ...{ name, does, examples },
    operands: [other],
    options: [
      ...options,
      option('--rate <size>', 'the most bytes to copy in a second', byteRate).default(undefined, 'as fast as possible'),
      option('--delete', 'remove what the source does not have'),
      option('--no-acls', 'do not copy the ACLs of objects, which takes a request for each'),
      option('--no-settings', 'copy no settings of buckets but their versioning'),
      option('--dry-run', 'only tell what differs'),
      option('--watch', 'go on with what changes at the source, until SIGINT or SIGTERM'),
      startOption('region', 'region of the service'),
      limitOfService(),
    ],
    act: (deps, [given], chosen) => act(deps, given!, chosen, how),
  });
}

async function act(
  deps: Deps,
  name: string,
  options: MoveOptions,
  { move, notKept }: Pick<MoveCommand, 'move' | 'notKept'>,
): Promise<Report> {
  const address = s3AddressOf(name)!;
  if (options.bucket !== undefined && address.bucket === undefined) {
    throw new UsageError('--bucket needs an address that names one bucket');
  }
  const other = new SdkEndpoint(name, address);
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
        await move({
          ...{ deps, services, address, rate, ledger, other },
          project: options.project,
          bucketHere: options.bucket,
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
        return reportOf(ledger, took, notKept);
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

function reportOf(ledger: Ledger, took: number, notKept: string | undefined): Report {
  const { versions, markers, bytes, same, removed, settings, differences, examples } = ledger;
  const data = { versions, markers, bytes, same, removed, settings, took, notKept, differences, examples };
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
    ['not kept', notKept],
    [
      'differs',
      missing + changed + extra === 0 ? (notKept === undefined ? 'in nothing' : 'in nothing else') : undefined,
    ],
  ]);
}
