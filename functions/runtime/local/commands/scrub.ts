import { Command, InvalidArgumentError, Option } from 'commander';
import { Graves } from '../../../../shared/metadata/graves.ts';
import { Manifests } from '../../../../shared/metadata/manifests.ts';
import { Release } from '../../../../shared/metadata/release.ts';
import {
  findingKinds,
  type Finding,
  type FindingKind,
  type ScrubReport,
} from '../../../../shared/metadata/scrub/findings.ts';
import { scrub } from '../../../../shared/metadata/scrub/scrub.ts';
import { Uploads } from '../../../../shared/metadata/uploads.ts';
import { Usage } from '../../../../shared/metadata/usage.ts';
import { Log } from '../../log.ts';
import { FeedRunner } from '../feed-runner.ts';
import { grace } from '../local-server.ts';
import { setting } from '../setting.ts';
import { defaultOptions } from '../settings.ts';
import { withRooms, type Rooms } from './command.ts';
import { count } from './report.ts';

interface ScrubCommandOptions {
  readonly data: string;
  readonly repair?: boolean;
  readonly minAge: number;
  readonly json?: true;
}

/** Milliseconds between two lines of progress. */
const progressEvery = 5000;

/** `stillage scrub`. Ends with 1 if something was found, mended or not. */
export function scrubCommand(): Command {
  return new Command('scrub')
    .description('Compare table and blobs, and tell what does not fit together. Works while the service runs, too.')
    .addOption(setting('--data <dir>', 'data directory of the service, running or not', 'DATA', defaultOptions.data))
    .option('--repair', 'mend what can be mended; without it nothing is changed')
    .addOption(
      new Option('--min-age <time>', 'leave alone what is younger: it may be work in progress (90s, 30m, 12h, 7d)')
        .default(duration('7d'), '7d')
        .argParser(duration),
    )
    .option('--json', 'print JSON')
    .addHelpText('after', '\nExamples:\n  stillage scrub\n  stillage scrub --repair --json')
    .action(async (options: ScrubCommandOptions) => {
      const output = options.json ? jsonOutput() : textOutput;
      const report = await withRooms(options.data, (rooms) => run(rooms, options, output));
      process.stdout.write(output.end(report, options.repair === true));
      process.exitCode = isClean(report) ? 0 : 1;
    });
}

async function run(
  opened: Rooms,
  { repair = false, minAge }: ScrubCommandOptions,
  output: Output,
): Promise<ScrubReport> {
  const manifests = new Manifests(opened);
  const uploads = new Uploads({ ...opened, manifests });
  const usage = new Usage(opened);
  const release = new Release({ ...opened, manifests, uploads, grace });
  const graves = new Graves({ ...opened, uploads });
  const followers = [usage.follow.bind(usage), release.follow.bind(release)];
  const feed = new FeedRunner(opened.table, followers, new Log(process.stderr));
  let shownAt = Date.now();
  process.stdout.write(output.begin);
  try {
    return await scrub(
      { ...opened, manifests, uploads, release, graves, drain: () => feed.drain() },
      {
        repair,
        minAge,
        onFinding: (finding) => process.stdout.write(output.finding(finding)),
        onProgress: (stage, { items, blobs }) => {
          if (Date.now() - shownAt < progressEvery) return;
          shownAt = Date.now();
          process.stderr.write(`looking at ${stage}: ${count(items, 'item')}, ${count(blobs, 'blob')} so far\n`);
        },
      },
    );
  } finally {
    await feed.stop();
  }
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

/** A key may hold any character; none of them may end the line or move the cursor. */
function printable(text: string): string {
  return text.replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu, (character) => `\\u{${character.codePointAt(0)!.toString(16)}}`);
}

const unitOf: Readonly<Record<string, number>> = { s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000 };

/** `7d` in milliseconds. */
function duration(text: string): number {
  if (text === '0') return 0;
  const [, number, unit] = /^(\d{1,6})([smhd])$/.exec(text) ?? [];
  if (number === undefined) {
    throw new InvalidArgumentError('A time is a number with a unit: 90s, 30m, 12h, 7d; or 0.');
  }
  return Number(number) * unitOf[unit!]!;
}
