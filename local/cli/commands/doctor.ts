import { Command } from 'commander';
import { examine, type DirectoryFinding, type Examined } from '../../server/doctor/examination.ts';
import { rescue, type Rescued } from '../../server/doctor/rescue.ts';
import { printable } from '../../../shared/telemetry/log.ts';
import { dataOption, type Named } from '../command.ts';
import { examplesHelp } from '../help.ts';
import { option } from '../../../shared/command-line/option.ts';
import { path } from '../../../shared/command-line/option-values.ts';
import { count } from '../../../shared/command-line/report.ts';
import { sizeText } from '../../../shared/command-line/sizes.ts';

interface DoctorOptions {
  readonly data: string;
  readonly rescue?: string;
  readonly json?: true;
}

/** The interval between two lines of progress, in milliseconds. */
const progressEvery = 5000;

/** Returns `stillage doctor`. It exits with 1 if there are findings. */
export function commandLine({ name, does }: Named): Command {
  return new Command(name)
    .description(does)
    .addOption(dataOption())
    .addOption(option('--rescue <directory>', 'copy what can be read into a new directory', path))
    .option('--json', 'print JSON')
    .addHelpText('after', examplesHelp(['doctor', 'doctor --data ./data --rescue ./rescued']))
    .action(async ({ data, rescue: target, json }: DoctorOptions) => {
      const output = json ? jsonOutput() : textOutput(data, target);
      let shownAt = Date.now();
      const report = {
        onFinding: (finding: DirectoryFinding) => process.stdout.write(output.finding(finding)),
        onProgress: (pages: number) => {
          if (Date.now() - shownAt < progressEvery) return;
          shownAt = Date.now();
          process.stderr.write(`${count(pages, 'page')} read\n`);
        },
      };
      const summary = target === undefined ? await examine(data, report) : await rescue(data, target, report);
      process.stdout.write(output.end(summary));
      process.exitCode = summary.findings === 0 ? 0 : 1;
    });
}

/** Prints findings one by one, since there may be more than fit into memory. */
interface Output {
  readonly finding: (finding: DirectoryFinding) => string;
  readonly end: (summary: Examined | Rescued) => string;
}

function textOutput(data: string, target: string | undefined): Output {
  let isDamaged = false;
  return {
    finding: ({ kind, where, what }) => {
      // Of the directory itself, there are findings about its disk alone.
      isDamaged ||= kind !== 'directory';
      return `${kind}  ${printable(`${where}: ${what}`)}\n`;
    },
    end: (summary) => textOf(summary, adviceOn(summary, isDamaged, data, target), target),
  };
}

function jsonOutput(): Output {
  let before = '{"findings":[';
  return {
    finding: (finding) => {
      const line = `${before}\n${JSON.stringify(finding)}`;
      before = ',';
      return line;
    },
    end: (summary) => `${before === ',' ? '' : before}\n],"summary":${JSON.stringify(summary)}}\n`,
  };
}

function textOf(summary: Examined | Rescued, advice: string, target: string | undefined): string {
  const { pages, items, smallBlobs, tableSize, usedSize, findings } = summary;
  const lines = [
    `examined ${count(pages, 'page')} with ${count(items, 'item')} and ${count(smallBlobs, 'small blob')}: ${findings === 0 ? 'sound' : count(findings, 'finding')}`,
    `table: ${sizeText(tableSize)}, of which ${sizeText(usedSize)} in use`,
  ];
  if ('files' in summary) lines.push(`copied the table and ${count(summary.files, 'file')} to ${target}`);
  return [...lines, advice, ''].join('\n');
}

/** Returns what to do next. */
function adviceOn({ findings }: Examined, isDamaged: boolean, data: string, target: string | undefined): string {
  if (target !== undefined) {
    return `next: stillage scrub --data ${target}, which says what is missing; then use ${target} instead of ${data}`;
  }
  if (findings === 0) return `next: stillage scrub --content --data ${data}, which compares what the files contain`;
  if (!isDamaged) return `next: make room on the disk of ${data}, or let it be written to; what is on it is sound`;
  return `next: restore a backup, or copy what can be read: stillage doctor --data ${data} --rescue <new directory>`;
}
