import { Command } from 'commander';
import type { ScrubReport } from '../../../../shared/metadata/scrub/findings.ts';
import type { ScrubRooms } from '../../../../shared/metadata/scrub/rooms.ts';
import { Log } from '../../telemetry/log.ts';
import { feedFollowers } from '../../compose/feed-followers.ts';
import { scrubRooms } from '../../compose/scrub.ts';
import { FeedRunner } from '../../local/feed-runner.ts';
import { setting } from '../setting.ts';
import { defaultOptions } from '../../local/settings.ts';
import { withRooms, type Rooms } from '../data-deps.ts';
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
        withRooms(options.data, async (opened) => {
          const [other] = opened.otherProcesses();
          if (other !== undefined) refuseHastyRepair(options, `process ${other} works on ${options.data}, and`);
          return followingTheFeed(opened, work);
        }),
      ),
    );
}

async function followingTheFeed(
  opened: Rooms,
  work: (rooms: ScrubRooms) => Promise<ScrubReport>,
): Promise<ScrubReport> {
  const rooms = scrubRooms(opened);
  const feed = new FeedRunner(opened.table, feedFollowers(rooms), new Log(process.stderr));
  try {
    return await work({ ...rooms, drain: () => feed.drain() });
  } finally {
    await feed.stop();
  }
}
