import { Command } from 'commander';
import type { ScrubReport } from '../../../../shared/metadata/scrub/findings.ts';
import type { ScrubDeps } from '../../../../shared/metadata/scrub/deps.ts';
import { Log } from '../../telemetry/log.ts';
import { feedFollowers } from '../../compose/feed-followers.ts';
import { scrubDeps } from '../../compose/scrub.ts';
import { FeedRunner } from '../../local/feed-runner.ts';
import { setting } from '../setting.ts';
import { defaultOptions } from '../../local/settings.ts';
import { withDeps, type Deps } from '../data-deps.ts';
import { refuseHastyRepair, runScrub, withScrubOptions, type ScrubCommandOptions } from '../scrub-run.ts';

/** `stillage scrub`. Ends with 1 if something was found, mended or not. */
export function scrubCommand(): Command {
  const command = new Command('scrub')
    .description('Compare table and blobs, and tell what does not fit together. Works while the service runs, too.')
    .addOption(setting('--data <dir>', 'data directory of the service, running or not', 'DATA', defaultOptions.data));
  return withScrubOptions(command)
    .addHelpText('after', '\nExamples:\n  stillage scrub\n  stillage scrub --repair --json')
    .action((options: ScrubCommandOptions & { readonly data: string }) =>
      runScrub(options, (work) =>
        withDeps(options.data, async (opened) => {
          const [other] = opened.otherProcesses();
          if (other !== undefined) refuseHastyRepair(options, `process ${other} works on ${options.data}, and`);
          return followingTheFeed(opened, work);
        }),
      ),
    );
}

async function followingTheFeed(opened: Deps, work: (deps: ScrubDeps) => Promise<ScrubReport>): Promise<ScrubReport> {
  const deps = scrubDeps(opened);
  const feed = new FeedRunner(opened.table, feedFollowers(deps), new Log(process.stderr));
  try {
    return await work({ ...deps, drain: () => feed.drain() });
  } finally {
    await feed.stop();
  }
}
