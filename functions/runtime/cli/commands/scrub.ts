import { Command } from 'commander';
import type { ScrubReport } from '../../../../shared/metadata/scrub/findings.ts';
import type { ScrubDeps } from '../../../../shared/metadata/scrub/deps.ts';
import { ItemDamaged } from '../../../../shared/ports/key-value-table.ts';
import { Log } from '../../telemetry/log.ts';
import { feedFollowers } from '../../compose/feed-followers.ts';
import { scrubDeps } from '../../compose/scrub.ts';
import { FeedRunner } from '../../local/feed-runner.ts';
import { dataOption } from '../command.ts';
import { examplesHelp } from '../help.ts';
import { withDeps, type Deps } from '../data-deps.ts';
import {
  refuseHastyRepair,
  runScrub,
  withScrubOptions,
  type ScrubCommandOptions,
} from '../../command-line/scrub-run.ts';

/** Returns `stillage scrub`. It exits with 1 if there are findings, repaired or not. */
export function scrubCommand(): Command {
  const command = new Command('scrub').description(
    'Check that table and blobs are consistent, also while the service runs',
  );
  return withScrubOptions(command.addOption(dataOption()))
    .option('--content', 'read and verify the bytes of all objects, too')
    .addHelpText('after', examplesHelp(['scrub', 'scrub --content', 'scrub --repair --json']))
    .action(async (options: ScrubCommandOptions & { readonly data: string }) => {
      await runScrub(options, (work) =>
        withDeps(options.data, async (opened) => {
          const [other] = opened.otherProcesses();
          if (other !== undefined) refuseHastyRepair(options, `process ${other} uses ${options.data}, and`);
          return followingTheFeed(opened, work);
        }),
      );
    });
}

async function followingTheFeed(opened: Deps, work: (deps: ScrubDeps) => Promise<ScrubReport>): Promise<ScrubReport> {
  const deps = scrubDeps(opened);
  const feed = new FeedRunner(opened.table, feedFollowers(deps), new Log(process.stderr));
  try {
    return await work({ ...deps, drain: () => feed.drain() });
  } finally {
    // A record that cannot be read is a finding of the scrub.
    await feed.stop().catch((error: unknown) => {
      if (!(error instanceof ItemDamaged)) throw error;
      feed.abandon();
    });
  }
}
