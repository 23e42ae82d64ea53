import type { Command } from 'commander';
import { findingKinds, type Finding, type FindingKind, type ScrubReport } from '../scrub/findings.ts';
import type { ScrubDeps } from '../scrub/deps.ts';
import { scrub } from '../scrub/scrub.ts';
import type { Slice } from '../scrub/slice.ts';
import { day } from '../ports/durations.ts';
import { defaultLimits, type Limits } from '../protocol/limits.ts';
import { printable } from '../telemetry/log.ts';
import { OperatorError } from '../errors/operator-error.ts';
import { duration, durationText } from './durations.ts';
import { option, startOption } from './option.ts';
import { count } from './report.ts';

/** The options of a scrub, on one machine and in the cloud. */
export interface ScrubCommandOptions {
  readonly repair?: boolean;
  /** True to read and verify all bytes. */
  readonly content?: boolean;
  /** The part to check. Undefined: everything. */
  readonly slice?: Slice;
  readonly minAge: number;
  readonly json?: true;
  /** The limits of the service that differ from their defaults. */
  readonly limit: Partial<Limits>;
}

/** The interval between two lines of progress, in milliseconds. */
const progressEvery = 5000;

/** Adds the options of every scrub to a command. */
export function withScrubOptions(command: Command): Command {
  return command
    .option('--repair', 'repair what can be repaired; without it, nothing is changed')
    .addOption(
      option(
        '--min-age <time>',
        'skip anything younger, as work may be in progress: 90s, 30m, 12h, 7d',
        duration,
      ).default(7 * day, '7d'),
    )
    .addOption(startOption('limit', 'limit that the service was started with; only requestDuration matters'))
    .option('--json', 'print JSON');
}

/**
 * Refuses a repair that could remove the bytes of a running request, which nothing refers to until the request ends.
 * @param others the possible writers, as the subject of the message: `process 7`
 * @throws OperatorError if the minimum age is below the longest duration of a request
 */
export function refuseHastyRepair({ repair, minAge, limit }: ScrubCommandOptions, others: string): void {
  const longest = limit.requestDuration ?? defaultLimits.requestDuration;
  if (!repair || minAge >= longest) return;
  throw new OperatorError(
    `${others} may still be writing data of requests in progress; stop it first, or use --min-age ${durationText(longest)} or more`,
  );
}

/**
 * Scrubs and prints the findings. Sets the exit code to 1 if there are any, repaired or not.
 * @param inDeps opens the dependencies while the work runs
 * @returns the report that was printed
 */
export async function runScrub(
  { repair = false, content = false, slice, minAge, json }: ScrubCommandOptions,
  inDeps: (work: (deps: ScrubDeps) => Promise<ScrubReport>) => Promise<ScrubReport>,
): Promise<ScrubReport> {
  const output = json ? jsonOutput() : textOutput;
  let shownAt = Date.now();
  const report = await inDeps((deps) => {
    process.stdout.write(output.begin);
    return scrub(deps, {
      repair,
      content,
      ...(slice && { slice }),
      minAge,
      onFinding: (finding) => process.stdout.write(output.finding(finding)),
      onProgress: (stage, { items, blobs }) => {
        if (Date.now() - shownAt < progressEvery) return;
        shownAt = Date.now();
        process.stderr.write(`scanning ${stage}: ${count(items, 'item')} and ${count(blobs, 'blob')} checked\n`);
      },
    });
  });
  process.stdout.write(output.end(report, repair));
  process.exitCode = isClean(report) ? 0 : 1;
  return report;
}

/** Prints findings one by one, since there may be more than fit into memory. */
interface Output {
  readonly begin: string;
  readonly finding: (finding: Finding) => string;
  readonly end: (report: ScrubReport, repair: boolean) => string;
}

const textOutput: Output = {
  begin: '',
  finding: ({ kind, where, what, state }) => `${state}  ${kind}  ${printable(`${where}: ${what}`)}\n`,
  end: (report, repair) => {
    const lines = Object.entries(report.findings).map(([kind, { found, mended }]) => {
      const { means, ...rest } = findingKinds[kind as FindingKind];
      const remedy = 'mending' in rest ? `with --repair: ${rest.mending}` : 'cannot be repaired';
      return `${found} × ${kind}: ${means} (${repair && mended > 0 ? `${mended} repaired` : remedy})`;
    });
    const verdict = isClean(report) ? 'everything is consistent' : 'inconsistencies found';
    const { checksummed } = report;
    return [
      ...lines,
      ...(checksummed > 0 ? [`${count(checksummed, 'blob')} of earlier versions got checksums`] : []),
      ...report.leftOut.map((what) => `not checked: ${what}`),
      `checked ${count(report.items, 'item')} and ${count(report.blobs, 'blob')}: ${verdict}`,
      '',
    ].join('\n');
  },
};

function jsonOutput(): Output {
  let comma = '';
  return {
    begin: '{"findings":[',
    finding: (finding) => {
      const line = `${comma}\n${JSON.stringify(finding)}`;
      comma = ',';
      return line;
    },
    end: ({ findings: counts, items, blobs, checksummed, leftOut }) =>
      `\n],"summary":${JSON.stringify({ items, blobs, checksummed, counts, leftOut })}}\n`,
  };
}

function isClean({ findings }: ScrubReport): boolean {
  return Object.keys(findings).length === 0;
}
