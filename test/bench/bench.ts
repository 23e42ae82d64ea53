import { Command, InvalidArgumentError } from 'commander';
import { withHelpStyle } from '../../local/cli/help.ts';
import { benchBackup, type BackupBenchOptions } from './backup.ts';
import { benchCompare, type CompareOptions } from './compare.ts';
import { benchEphemeral } from './ephemeral.ts';
import { benchEvents } from './events.ts';
import { benchFairness, type FairnessBenchOptions } from './fairness.ts';
import { benchFoldedListing } from './folded-listing.ts';
import { benchLifecycle } from './lifecycle.ts';
import { benchRequests, type RequestBenchOptions } from './requests.ts';
import { cases } from './requests/cases.ts';
import { checkoutOf } from './requests/checkout.ts';
import { benchSignatures } from './signatures.ts';
import { benchStalls } from './stalls.ts';

/** Adds the options of how cases are measured. */
function withMeasuring(command: Command, keys: number): Command {
  return command
    .option('--rounds <n>', 'rounds to measure, after a short one to warm up', toCount, 3)
    .option('--seconds <n>', 'seconds of each measurement', toPositive, 1.5)
    .option('--requests <n>', 'requests of each measurement, instead of seconds', toCount)
    .option('--keys <n>', 'number of keys in the bucket that is listed', toCount, keys)
    .option('--workers <n>', 'processes of Stillage that serve requests', toCount, 1)
    .option('--json', 'print JSON', false);
}

/** Adds the option that chooses cases. */
function withCases(command: Command, keys: number): Command {
  return withMeasuring(
    command.option('--only <pattern>', 'run only cases whose name matches this regular expression', toPattern),
    keys,
  );
}

/** Adds the options of a benchmark of requests. */
function withRequestOptions(command: Command): Command {
  return withCases(command, 100_000)
    .optionsGroup('Another running store to compare with:')
    .option('--endpoint <url>', 'its endpoint')
    .option('--access-key <id>', 'its access key id', 'test')
    .option('--secret-key <key>', 'its secret access key', 'test')
    .option('--pid <pid>', 'a process of it, to measure processor time (repeatable)', toCounts, [])
    .optionsGroup('Options:');
}

function toPattern(text: string): RegExp {
  let pattern: RegExp;
  try {
    pattern = new RegExp(text);
  } catch {
    throw new InvalidArgumentError('It must be a regular expression.');
  }
  if (cases.some(({ name }) => pattern.test(name))) return pattern;
  throw new InvalidArgumentError(`No case has such a name. The cases: ${cases.map(({ name }) => name).join('; ')}.`);
}

function toCount(text: string): number {
  const count = Number(text);
  if (!Number.isSafeInteger(count) || count < 1) throw new InvalidArgumentError('It must be a whole number above 0.');
  return count;
}

function toPositive(text: string): number {
  const number = Number(text);
  if (!(number > 0)) throw new InvalidArgumentError('It must be a number above 0.');
  return number;
}

function toCounts(text: string, before: readonly number[]): readonly number[] {
  return [...before, toCount(text)];
}

function toShare(text: string): number {
  const share = Number(text);
  if (!(share >= 0 && share <= 1)) throw new InvalidArgumentError('It must be a number from 0 to 1.');
  return share;
}

/** Loads the bundler, which takes seconds, only if it is needed. */
async function coldStarts(rounds: number): Promise<void> {
  const { benchColdStarts } = await import('./cold-starts.ts');
  await benchColdStarts(rounds);
}

/** Loads the driver of the browser when it is needed. */
async function benchInBrowser(keys: number): Promise<void> {
  const { benchConsole } = await import('./console.ts');
  await benchConsole(keys);
}

const help = `
Examples:
  npm run bench
  npm run bench -- requests --only '^PUT' --rounds 5
  npm run bench -- compare HEAD~3 --only 'GET|HEAD'
  npm run bench -- requests --endpoint http://127.0.0.1:9100 --access-key a --secret-key s
  npm run bench -- ephemeral --s3rver ../a-project
  npm run --silent bench -- cold-starts > docs/cold-starts.md

Results and method: docs/performance.md`;

const program = withRequestOptions(new Command('npm run bench --'))
  .description(
    'Measure requests to the service, beside a minimal store on node:http, by a load generator in a process of its own. Without a command, as `requests`.',
  )
  .enablePositionalOptions()
  .action((options: RequestBenchOptions) => benchRequests(options));
withRequestOptions(program.command('requests'))
  .description('Measure requests, beside a minimal store on node:http')
  .action((options: RequestBenchOptions) => benchRequests(options));
withCases(program.command('compare'), 20_000)
  .description('Measure requests to another version of the service and to this one, in one run, in turns')
  .argument('<base>', 'the other version: a commit, or the directory of a checkout')
  .option(
    '--limit <ratio>',
    'end with code 1 if a case takes more than this multiple of the processor time of the base',
    toPositive,
  )
  .action(async (base: string, options: CompareOptions) => {
    const checkout = await checkoutOf(base).catch((error: Error) => program.error(error.message));
    await benchCompare(checkout, options);
  });
program
  .command('ephemeral')
  .description('Measure starts, PUT, GET and reset of servers for tests: Stillage, s3rver and moto')
  .option('--rounds <n>', 'rounds to measure, after one to warm up', toCount, 5)
  .option(
    '--s3rver <directory>',
    'where npm has installed s3rver; otherwise it is installed into a temporary directory',
  )
  .option('--json', 'print JSON', false)
  .action(benchEphemeral);
program
  .command('signatures')
  .description('Measure the processor time of verifying a signature')
  .action(benchSignatures);
program
  .command('cold-starts')
  .description('Measure the functions of the cloud; print docs/cold-starts.md')
  .option('--rounds <n>', 'processes per function, for the median', toCount, 5)
  .action(({ rounds }: { readonly rounds: number }) => coldStarts(rounds));
program
  .command('folded-listing')
  .description('Measure a listing of few prefixes over many keys')
  .argument('[keys]', 'number of keys in the bucket', toCount, 100_000)
  .argument('[prefixes]', 'number of prefixes', toCount, 10)
  .action(benchFoldedListing);
withMeasuring(program.command('fairness'), 20_000)
  .description('Measure a small GET, alone and while others list, upload and delete')
  .action((options: FairnessBenchOptions) => benchFairness(options));
program
  .command('lifecycle')
  .description('Measure a lifecycle pass that is interrupted and resumed')
  .argument('[objects]', 'number of objects in the bucket', toCount, 50_000)
  .argument('[due]', 'share of objects that are due, from 0 to 1', toShare, 0.1)
  .action(benchLifecycle);
program
  .command('backup')
  .description('Measure backups beside restic: the first, an incremental one, a restore, and PUT meanwhile')
  .option('--objects <n>', 'number of objects', toCount, 100_000)
  .option('--bytes <n>', 'size of all objects together, in bytes', toCount, 10_000_000_000)
  .option('--seconds <n>', 'seconds for which PUT is measured without a backup', toPositive, 20)
  .option('--small', 'the short form: 1,000 objects, 100 MB, 5 seconds', false)
  .option('--json', 'print JSON', false)
  .action(({ small, ...options }: BackupBenchOptions & { readonly small: boolean }) =>
    benchBackup({ ...options, ...(small && { objects: 1000, bytes: 100_000_000, seconds: 5 }) }),
  );
program
  .command('events')
  .description('Measure how long events take to a webhook, and what they cost the writer')
  .option('--rounds <n>', 'rounds to measure', toCount, 3)
  .option('--seconds <n>', 'seconds of each measurement', toPositive, 10)
  .option('--rate <n>', 'PUT requests a second', toCount, 200)
  .option('--json', 'print JSON', false)
  .action(benchEvents);
program
  .command('console')
  .description('Measure the console in Chromium: loading, and its answers to input in a large folder')
  .argument('[keys]', 'number of keys in the folder', toCount, 100_000)
  .action(benchInBrowser);

program.command('stalls').description('Measure the longest time of reading input of clients').action(benchStalls);

await withHelpStyle(program).addHelpText('after', help).parseAsync();
