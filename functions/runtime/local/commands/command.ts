import { Command, type Option } from 'commander';
import { AccountRefusal } from '../../../../shared/access/account-names.ts';
import { Administration } from '../../../../shared/access/administration.ts';
import { KeyAdministration } from '../../../../shared/access/key-administration.ts';
import { CryptoRandomness } from '../../../../shared/adapters/system/crypto-randomness.ts';
import { SystemClock } from '../../../../shared/adapters/system/system-clock.ts';
import { S3Error } from '../../../../shared/errors/s3-error.ts';
import type { Clock } from '../../../../shared/ports/clock.ts';
import type { Randomness } from '../../../../shared/ports/randomness.ts';
import { OperatorError } from '../../operator-error.ts';
import { openExistingData, type DataDirectory } from '../data-directory.ts';
import { setting } from '../setting.ts';
import { defaultOptions } from '../settings.ts';
import type { Report } from './report.ts';

/** What a command of administration works with. The service may be running on the same data directory. */
export interface Rooms extends DataDirectory {
  readonly accounts: Administration;
  readonly keys: KeyAdministration;
  readonly clock: Clock;
  readonly randomness: Randomness;
}

/** One command of a family: `stillage <family> <verb>`. */
export interface Verb<Options> {
  readonly name: string;
  readonly does: string;
  /** `['<name>', 'what it is']`; `[name]` may be left out. */
  readonly operands?: readonly (readonly [syntax: string, description: string])[];
  readonly options?: readonly Option[];
  /** What one would type behind `stillage`. */
  readonly examples: readonly string[];
  /** @throws OperatorError, S3Error and what the rooms refuse: each is shown as one line */
  readonly act: (rooms: Rooms, operands: readonly string[], options: Options) => Promise<Report | string>;
}

interface Shared {
  readonly data: string;
  readonly json?: true;
}

/** `stillage <name>` with its verbs. */
export function family(name: string, description: string, verbs: readonly Command[]): Command {
  const command = new Command(name).description(description).helpCommand(false);
  for (const verb of verbs) command.addCommand(verb);
  return command;
}

/** A command that opens the data directory, does its work and prints what came of it, with `--json` as JSON. */
export function verb<Options = object>({
  name,
  does,
  operands = [],
  options = [],
  examples,
  act,
}: Verb<Options>): Command {
  const command = new Command(name).description(does);
  for (const [syntax, description] of operands) command.argument(syntax, description);
  for (const option of options) command.addOption(option);
  return command
    .addOption(setting('--data <dir>', 'data directory of the service, running or not', 'DATA', defaultOptions.data))
    .option('--json', 'print JSON')
    .addHelpText('after', `\nExamples:\n${examples.map((example) => `  stillage ${example}`).join('\n')}`)
    .action(async () => {
      const given = command.opts<Options & Shared>();
      const report = await withRooms(given.data, (rooms) => act(rooms, command.args, given));
      process.stdout.write(printed(report, given.json === true));
    });
}

/** Opens the data directory for so long. What its rooms refuse becomes one line for whoever runs it. */
export async function withRooms<Result>(data: string, work: (rooms: Rooms) => Promise<Result>): Promise<Result> {
  const opened = await openExistingData(data);
  const system = { clock: new SystemClock(), randomness: new CryptoRandomness() };
  const accounts = new Administration({ ...opened, ...system });
  try {
    return await work({
      ...opened,
      ...system,
      accounts,
      keys: new KeyAdministration({ ...opened, ...system }, accounts),
    });
  } catch (error) {
    if (error instanceof S3Error) throw new OperatorError(`${error.code}: ${error.message}`);
    if (error instanceof AccountRefusal) throw new OperatorError(error.message);
    throw error;
  } finally {
    await Promise.all([opened.table.close(), opened.blobs.close()]);
  }
}

function printed(report: Report | string, json: boolean): string {
  const { data, text } = typeof report === 'string' ? { data: { message: report }, text: report } : report;
  return `${json ? JSON.stringify(data, undefined, 2) : text}\n`;
}
