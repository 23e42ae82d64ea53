import { Command } from 'commander';
import { compact } from '../../server/doctor/compaction.ts';
import { dataOption, type Named } from '../command.ts';
import { examplesHelp } from '../help.ts';
import { count } from '../../../shared/command-line/report.ts';
import { sizeText } from '../../../shared/command-line/sizes.ts';

interface CompactOptions {
  readonly data: string;
  readonly itemChecksums?: true;
  readonly json?: true;
}

/** The interval between two lines of progress, in milliseconds. */
const progressEvery = 5000;

/** Returns `stillage compact`. */
export function commandLine({ name, does }: Named): Command {
  return new Command(name)
    .description(does)
    .addOption(dataOption())
    .option(
      '--item-checksums',
      'store items with checksums from now on, as in data directories that this version began; earlier versions then refuse the directory',
    )
    .option('--json', 'print JSON')
    .addHelpText('after', examplesHelp(['compact', 'compact --data /var/lib/stillage --item-checksums']))
    .action(async ({ data, itemChecksums, json }: CompactOptions) => {
      let shownAt = Date.now();
      const onProgress = (pages: number): void => {
        if (Date.now() - shownAt < progressEvery) return;
        shownAt = Date.now();
        process.stderr.write(`${count(pages, 'page')} copied\n`);
      };
      const compacted = await compact(data, onProgress, { seals: itemChecksums ?? false });
      const { sizeBefore, sizeAfter } = compacted;
      const text = `table: ${sizeText(sizeBefore)} before, ${sizeText(sizeAfter)} now`;
      process.stdout.write(`${json ? JSON.stringify(compacted, undefined, 2) : text}\n`);
    });
}
