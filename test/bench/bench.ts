import { Command, InvalidArgumentError } from 'commander';
import { benchFoldedListing } from './folded-listing.ts';
import { benchLifecycle } from './lifecycle.ts';
import { benchRequests, type RequestBenchOptions } from './requests.ts';
import { benchSignatures } from './signatures.ts';
import { benchStalls } from './stalls.ts';

/** What may differ in a bench of requests. */
function withRequestOptions(command: Command): Command {
  return command
    .option('--only <pattern>', 'the pieces of work whose names match', toPattern)
    .option('--rounds <n>', 'rounds, after one that is not counted', toCount, 3)
    .option('--endpoint <url>', 'another store beside, which runs already')
    .option('--access-key <id>', 'its access key', 'test')
    .option('--secret-key <key>', 'its secret key', 'test')
    .option('--pid <pid>', 'a process of it, for the processor time (repeatable)', toCounts, [])
    .option('--json', 'the results as JSON', false);
}

function toPattern(text: string): RegExp {
  try {
    return new RegExp(text);
  } catch {
    throw new InvalidArgumentError('It must be a regular expression.');
  }
}

function toCount(text: string): number {
  const count = Number(text);
  if (!Number.isSafeInteger(count) || count < 1) throw new InvalidArgumentError('It must be a whole number above 0.');
  return count;
}

function toCounts(text: string, before: readonly number[]): readonly number[] {
  return [...before, toCount(text)];
}

function toShare(text: string): number {
  const share = Number(text);
  if (!(share >= 0 && share <= 1)) throw new InvalidArgumentError('It must be a number from 0 to 1.');
  return share;
}

/** Only where it is wanted is the bundler loaded, which takes seconds. */
async function coldStarts(rounds: number): Promise<void> {
  const { benchColdStarts } = await import('./cold-starts.ts');
  await benchColdStarts(rounds);
}

/** Only where it is wanted is the driver of the browser loaded. */
async function benchInBrowser(keys: number): Promise<void> {
  const { benchConsole } = await import('./console.ts');
  await benchConsole(keys);
}

const program = withRequestOptions(new Command('npm run bench --'))
  .description('How fast the service is. Without a command: signatures, cold starts and requests, one after the other.')
  .enablePositionalOptions()
  .action(async (options: RequestBenchOptions) => {
    if (!options.json) {
      benchSignatures();
      await coldStarts(3);
    }
    await benchRequests(options);
  });
withRequestOptions(program.command('requests'))
  .description('rates and processor time, beside a bare node:http server that does the least a store must do')
  .action(benchRequests);
program
  .command('signatures')
  .description('processor time of verifying a signature, with a key used before')
  .action(benchSignatures);
program
  .command('cold-starts')
  .description('bundle and import of each function of the cloud, as the page docs/cold-starts.md')
  .option('--rounds <n>', 'processes of which the median is taken', toCount, 5)
  .action(({ rounds }: { readonly rounds: number }) => coldStarts(rounds));
program
  .command('folded-listing')
  .description('a listing of few prefixes over many keys')
  .argument('[keys]', 'keys in the bucket', toCount, 100_000)
  .argument('[prefixes]', 'prefixes they are under', toCount, 10)
  .action(benchFoldedListing);
program
  .command('lifecycle')
  .description('lifecycle rules over many objects, killed in the middle and gone on')
  .argument('[objects]', 'objects in the bucket', toCount, 50_000)
  .argument('[due]', 'the share of them that is due', toShare, 0.1)
  .action(benchLifecycle);
program
  .command('console')
  .description(
    'how long the console takes to show the buckets, and to answer keys, clicks and scrolling in a large folder',
  )
  .argument('[keys]', 'keys in the folder', toCount, 100_000)
  .action(benchInBrowser);

program.command('stalls').description('the longest that reading anything which clients send takes').action(benchStalls);

await program.parseAsync();
