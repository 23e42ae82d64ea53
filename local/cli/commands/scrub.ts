import { Command } from 'commander';
import { scrubDeps } from '../../../functions/compose/scrub.ts';
import { scrubState } from '../../server/schedules/scrub-state.ts';
import { damageOfTable } from '../../server/doctor/table-check.ts';
import { isServed } from '../../server/data-directory/service-lock.ts';
import { OperatorError } from '../../../shared/errors/operator-error.ts';
import { OutsideRelease } from '../../server/release/outside-release.ts';
import { dataOption, type Named } from '../command.ts';
import { followingTheFeed } from '../following-the-feed.ts';
import { examplesHelp } from '../help.ts';
import { withDeps } from '../data-deps.ts';
import { scrubStatusText } from '../scrub-status.ts';
import {
  refuseHastyRepair,
  runScrub,
  withScrubOptions,
  type ScrubCommandOptions,
} from '../../../shared/command-line/scrub-run.ts';

/** Returns `stillage scrub`. It exits with 1 if there are findings, repaired or not. */
export function commandLine({ name, does }: Named): Command {
  const command = new Command(name).description(does);
  return withScrubOptions(command.addOption(dataOption()))
    .option('--content', 'read and verify the bytes of all objects, too')
    .option('--status', 'only show what the background scrub of the service has read and found')
    .addHelpText('after', examplesHelp(['scrub', 'scrub --content', 'scrub --repair --json', 'scrub --status']))
    .action(async (options: ScrubCommandOptions & { readonly data: string; readonly status?: true }) => {
      if (options.status) {
        const state = await withDeps(options.data, ({ table }) => scrubState(table));
        process.stdout.write(options.json ? `${JSON.stringify(state)}\n` : scrubStatusText(state));
        return;
      }
      await refuseIfDamaged(options.data);
      await runScrub(options, (work) =>
        withDeps(options.data, async (opened) => {
          const [other] = opened.otherProcesses();
          if (other !== undefined) refuseHastyRepair(options, `process ${other} uses ${options.data}, and`);
          const deps = scrubDeps(opened);
          const release = new OutsideRelease(options.data, deps);
          return followingTheFeed(opened, deps.uploads, (drain) => work({ ...deps, release, drain }));
        }),
      );
    });
}

/** Refuses a table that no service uses, and that the engine could not read: it would end the scrub without a word. @throws OperatorError */
async function refuseIfDamaged(data: string): Promise<void> {
  const isQuiet = await isServed(data).then(
    (served) => !served,
    () => false,
  );
  const damage = isQuiet ? await damageOfTable(data) : undefined;
  if (damage !== undefined) throw new OperatorError(`--data: ${damage}`);
}
