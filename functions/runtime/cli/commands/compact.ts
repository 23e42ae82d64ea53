import { Command } from 'commander';
import { compact } from '../../local/doctor/compaction.ts';
import { dataOption } from '../command.ts';
import { examplesHelp } from '../help.ts';
import { count } from '../../command-line/report.ts';
import { sizeText } from '../../command-line/sizes.ts';

interface CompactOptions {
  readonly data: string;
  readonly json?: true;
}

/** The interval between two lines of progress, in milliseconds. */
const progressEvery = 5000;

/** Returns `stillage compact`. */
export function compactCommand(): Command {
  return new Command('compact')
    .description('Give the free space of the table back to the disk, while no service runs on the data directory')
    .addOption(dataOption())
    .option('--json', 'print JSON')
    .addHelpText('after', examplesHelp(['compact', 'compact --data /var/lib/stillage']))
    .action(async ({ data, json }: CompactOptions) => {
      let shownAt = Date.now();
      const compacted = await compact(data, (pages) => {
        if (Date.now() - shownAt < progressEvery) return;
        shownAt = Date.now();
        process.stderr.write(`${count(pages, 'page')} copied\n`);
      });
      const { sizeBefore, sizeAfter } = compacted;
      const text = `table: ${sizeText(sizeBefore)} before, ${sizeText(sizeAfter)} now`;
      process.stdout.write(`${json ? JSON.stringify(compacted, undefined, 2) : text}\n`);
    });
}
