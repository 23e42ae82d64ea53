import { Command, InvalidArgumentError } from 'commander';
import { withHelpStyle } from '../../local/cli/help.ts';
import { count } from '../../shared/command-line/report.ts';
import { sizeText } from '../../shared/command-line/sizes.ts';
import { isBack, soak, type SoakOptions, type SoakResult } from './run.ts';
import { slowUploads, type SlowUploadsOptions } from './slow-uploads.ts';
import type { Flatness } from './verdict.ts';

const program = withHelpStyle(
  new Command('soak')
    .description(
      'Run the service under a mixed load while its workers are killed, and tell whether memory, handles, space and latency stay flat',
    )
    .option('--minutes <n>', 'how long to run', toPositive, 60)
    .option('--rate <n>', 'requests per second', toPositive, 40)
    .option('--clients <n>', 'clients, each with keys of its own', toCount, 8)
    .option('--workers <n>', 'processes that serve requests, at least 3', toWorkers, 3)
    .option('--kill-every <seconds>', 'time between two kills of a worker; the oldest one stays', toPositive, 30)
    .option('--seed <n>', 'seed of the load', toCount, 1)
    .option('--json', 'print JSON, with all samples', false)
    .addHelpText(
      'after',
      '\nThe medians of the last third of the samples are compared with those of the second. It exits with 1 unless all are flat,\nevery answer is explained, and the space of deleted objects comes back.',
    )
    .action(async ({ json, ...options }: SoakOptions & { readonly json: boolean }) => {
      const result = await soak(options, (line) => process.stderr.write(`${line}\n`));
      process.stdout.write(json ? `${JSON.stringify(result, undefined, 2)}\n` : textOf(result));
      process.exitCode = result.isPassed ? 0 : 1;
    }),
);
withHelpStyle(program.enablePositionalOptions().command('slow-uploads'))
  .description('Run rounds of slow uploads, half of which are abandoned, and tell whether memory and handles stay flat')
  .option('--rounds <n>', 'how many, at least 9', toRounds, 20)
  .option('--uploads <n>', 'uploads in progress at once', toCount, 500)
  .option('--workers <n>', 'processes that serve requests, at least 2', toCount, 2)
  .action(async (options: SlowUploadsOptions) => {
    const flatness = await slowUploads(options, (line) => process.stderr.write(`${line}\n`));
    process.stdout.write(`${flatness.map(lineOf).join('\n')}\n`);
    process.exitCode = flatness.every(({ isFlat }) => isFlat) ? 0 : 1;
  });
await program.parseAsync();

function textOf({
  uploads,
  requests,
  unanswered,
  refused,
  kills,
  faults,
  flatness,
  space,
  isPassed,
}: SoakResult): string {
  const { whileRunning, whenEmpty, tableBeforeCompaction, tableAfterCompaction } = space;
  return [
    `${count(requests, 'request')} answered, ${unanswered} unanswered, ${refused} refused; ${count(kills, 'kill')} of workers`,
    ...faults.map((fault) => `fault: ${fault}`),
    ...flatness.map(lineOf),
    `${isBack(space, uploads) ? 'back' : 'NOT BACK'}  space: ${sizeText(whileRunning)} under load, ${sizeText(whenEmpty)} after everything was deleted;` +
      ` the table ${sizeText(tableBeforeCompaction)}, compacted ${sizeText(tableAfterCompaction)}`,
    isPassed ? 'passed' : 'FAILED',
    '',
  ].join('\n');
}

function lineOf({ measure, unit, before, after, bound, isFlat }: Flatness): string {
  const text = (value: number): string =>
    unit === 'bytes' ? sizeText(Math.round(value)) : `${value.toFixed(1)}${unit === 'milliseconds' ? ' ms' : ''}`;
  return `${isFlat ? 'flat' : 'NOT FLAT'}  ${measure}: ${text(before)}, then ${text(after)} (at most ${text(bound)})`;
}

function toCount(text: string): number {
  const number = Number(text);
  if (!Number.isSafeInteger(number) || number < 1) throw new InvalidArgumentError('It must be a whole number above 0.');
  return number;
}

function toRounds(text: string): number {
  if (toCount(text) < 9) throw new InvalidArgumentError('It must be at least 9: the median of a third needs three.');
  return toCount(text);
}

function toWorkers(text: string): number {
  if (toCount(text) < 3)
    throw new InvalidArgumentError('It must be at least 3: the primary and one worker are never killed.');
  return toCount(text);
}

function toPositive(text: string): number {
  const number = Number(text);
  if (!(number > 0)) throw new InvalidArgumentError('It must be a number above 0.');
  return number;
}
