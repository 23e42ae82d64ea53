import { InvalidArgumentError, Option, type Command } from 'commander';
import {
  findingKinds,
  type Finding,
  type FindingKind,
  type ScrubReport,
} from '../../../shared/metadata/scrub/findings.ts';
import type { ScrubDeps } from '../../../shared/metadata/scrub/deps.ts';
import { scrub } from '../../../shared/metadata/scrub/scrub.ts';
import { day, hour, minute, second } from '../../../shared/ports/durations.ts';
import { defaultLimits, type Limits } from '../../../shared/protocol/limits.ts';
import { printable } from '../telemetry/log.ts';
import { OperatorError } from '../operator-error.ts';
import { limitOption } from './limit-option.ts';
import { count } from './report.ts';

/** What a scrub is told, wherever it runs. */
export interface ScrubCommandOptions {
  readonly repair?: boolean;
  readonly minAge: number;
  readonly json?: true;
  /** The limits of the service, as far as they differ from the default ones. */
  readonly limit: Partial<Limits>;
}

/** Milliseconds between two lines of progress. */
const progressEvery = 5000;

/** The options that a scrub takes wherever it runs. */
export function withScrubOptions(command: Command): Command {
  return command
    .option('--repair', 'mend what can be mended; without it nothing is changed')
    .addOption(
      new Option('--min-age <time>', 'leave alone what is younger: it may be work in progress (90s, 30m, 12h, 7d)')
        .default(duration('7d'), '7d')
        .argParser(duration),
    )
    .addOption(limitOption('a limit that the service has been given: requestDuration counts here (repeatable)'))
    .option('--json', 'print JSON');
}

/**
 * Of what a running request writes nothing refers to the bytes before it ends: a repair that minds no age would remove them.
 * @param others who may be writing: `process 7`
 * @throws OperatorError if what is younger than a request may be would be mended
 */
export function refuseHastyRepair({ repair, minAge, limit }: ScrubCommandOptions, others: string): void {
  const longest = limit.requestDuration ?? defaultLimits.requestDuration;
  if (!repair || minAge >= longest) return;
  throw new OperatorError(
    `${others} may be writing what is younger than the longest request; stop it first, or take --min-age ${durationText(longest)} or more`,
  );
}

/**
 * Scrubs, and tells what it finds. The program then ends with 1 if something was found, mended or not.
 * @param inDeps opens the deps for so long as the work takes
 */
export async function runScrub(
  { repair = false, minAge, json }: ScrubCommandOptions,
  inDeps: (work: (deps: ScrubDeps) => Promise<ScrubReport>) => Promise<ScrubReport>,
): Promise<void> {
  const output = json ? jsonOutput() : textOutput;
  let shownAt = Date.now();
  const report = await inDeps((deps) => {
    process.stdout.write(output.begin);
    return scrub(deps, {
      repair,
      minAge,
      onFinding: (finding) => process.stdout.write(output.finding(finding)),
      onProgress: (stage, { items, blobs }) => {
        if (Date.now() - shownAt < progressEvery) return;
        shownAt = Date.now();
        process.stderr.write(`looking at ${stage}: ${count(items, 'item')}, ${count(blobs, 'blob')} so far\n`);
      },
    });
  });
  process.stdout.write(output.end(report, repair));
  process.exitCode = isClean(report) ? 0 : 1;
}

/** How findings are printed: one by one, since there may be more of them than fit into memory. */
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
      const remedy = 'mending' in rest ? `with --repair ${rest.mending}` : 'cannot be mended';
      return `${found} × ${kind}: ${means} (${repair && mended > 0 ? `${mended} mended` : remedy})`;
    });
    const verdict = isClean(report) ? 'everything fits together' : 'not everything fits together';
    return [
      ...lines,
      ...report.leftOut.map((what) => `left out: ${what}`),
      `looked at ${count(report.items, 'item')} and ${count(report.blobs, 'blob')}: ${verdict}`,
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
    end: ({ findings: counts, items, blobs, leftOut }) =>
      `\n],"summary":${JSON.stringify({ items, blobs, counts, leftOut })}}\n`,
  };
}

function isClean({ findings }: ScrubReport): boolean {
  return Object.keys(findings).length === 0;
}

/** The shortest time that `duration` reads and that is not below so many milliseconds. */
function durationText(milliseconds: number): string {
  const [unit, size] = Object.entries(unitOf).findLast(([, one]) => milliseconds % one === 0) ?? ['s', unitOf['s']!];
  return `${Math.ceil(milliseconds / size)}${unit}`;
}

const unitOf: Readonly<Record<string, number>> = { s: second, m: minute, h: hour, d: day };

/** `7d` in milliseconds. */
export function duration(text: string): number {
  if (text === '0') return 0;
  const [, number, unit] = /^(\d{1,6})([smhd])$/.exec(text) ?? [];
  if (number === undefined) {
    throw new InvalidArgumentError('A time is a number with a unit: 90s, 30m, 12h, 7d; or 0.');
  }
  return Number(number) * unitOf[unit!]!;
}
