import { Command, CommanderError, type Option } from 'commander';
import packageJson from '../../package.json' with { type: 'json' };
import { TableBusy } from '../../shared/ports/key-value-table.ts';
import { OperatorError, UsageError } from '../../shared/errors/operator-error.ts';
import { families } from './commands/families.ts';
import { withHelpStyle } from './help.ts';
import { endWithReader, quietEngine } from './standard-output.ts';

/** The exit code after a mistake in the command line; other failures exit with 1. */
const usageExitCode = 2;

/** Runs the program `stillage`. Every setting is also an environment variable; an empty variable counts as unset. */
export async function run(argv: readonly string[]): Promise<void> {
  endWithReader();
  quietEngine();
  for (const [name, value] of Object.entries(process.env)) {
    if (name.startsWith('STILLAGE_') && value === '') delete process.env[name];
  }
  try {
    const words = withCommand(argv);
    const [, , first] = words;
    const command = await program(first);
    const isSet = Object.keys(process.env).some((name) => name.startsWith('STILLAGE_'));
    if (isSet || isHelp(first)) await withSettings(command, process.env);
    await command.parseAsync(words);
  } catch (error) {
    if (error instanceof TableBusy) throw refusedTable(error);
    if (!(error instanceof CommanderError)) throw error;
    // Commander has printed it. Help and version exit with 0.
    process.exitCode = error.exitCode === 0 ? 0 : usageExitCode;
  }
}

function refusedTable({ cause }: TableBusy): OperatorError {
  const why = cause instanceof Error ? `: ${cause.message.split(':', 1)[0]!}` : '';
  return new OperatorError(`the table cannot be written${why}: make room on its disk, if that is full, and try again`);
}

/** Inserts `start` if no command is named: `stillage`, `stillage --port 9001`. Help and version belong to the program. */
function withCommand([node = '', file = '', ...rest]: readonly string[]): string[] {
  const [first] = rest;
  const isOfProgram = first !== undefined && (!first.startsWith('-') || /^(?:-h|--help|-V|--version)$/.test(first));
  return [node, file, ...(isOfProgram ? [] : ['start']), ...rest];
}

function isHelp(word: string | undefined): boolean {
  return word === '-h' || word === '--help';
}

/** Returns the program with the command that is named. Of the others it has what its help and its advice need: the code of all is large. */
async function program(named: string | undefined): Promise<Command> {
  const all = new Command('stillage')
    .description('S3-compatible object storage for your own tenants.')
    .version(packageJson.version, '-V, --version', 'print the version')
    .usage('[command] [options]');
  for (const { name, does, heading, load } of families) {
    all.addCommand(name === named ? (await load())() : new Command(name).description(does).helpGroup(heading));
  }
  prepare(all);
  withHelpStyle(all);
  const terms = new Map(families.map(({ name, term }) => [name, term]));
  return all.configureHelp({ ...all.configureHelp(), subcommandTerm: (one) => terms.get(one.name())! });
}

/** Reads what the environment says of options, and puts the variables of all commands into the help of the program. @throws UsageError */
async function withSettings(program: Command, environment: NodeJS.ProcessEnv): Promise<void> {
  const { settings } = await import('./settings.ts');
  const known = settings();
  const flags: Flags = new Map(known.map((one) => [one.envVar!, one.flags]));
  readFlags([...known, ...optionsOf(program)], environment);
  await warnOfUnknown(flags, environment);
  program.addHelpText('after', helpOnSettings(flags));
}

/** The flags of options by their environment variables. */
type Flags = ReadonlyMap<string, string>;

/** Returns the environment variable of each option, and where the documentation is. */
function helpOnSettings(flagsOf: Flags): string {
  const width = Math.max(...[...flagsOf.keys()].map((name) => name.length)) + 2;
  const lines = [...flagsOf].sort(([one], [other]) => (one < other ? -1 : 1));
  return `
Environment variables (an option on the command line takes precedence):
${lines.map(([name, flags]) => `  ${name.padEnd(width)}${flags}`).join('\n')}

Examples:
  stillage                                start the service on 127.0.0.1:9000, with its data in ./data
  stillage start --port 9100 --data /var/lib/stillage
  stillage customer create acme           create a customer, also while the service runs
  stillage key create --help              every command has help, with examples

Documentation: README.md and docs/; every setting: docs/configuration.md`;
}

/** Variables that are no options: the key of the first start, and the passphrase of backups. */
const otherVariables = /^STILLAGE_(?:(?:ACCESS|SECRET)_KEY|BACKUP_PASSPHRASE)$/;

/** Warns of variables that no option has: a misspelt setting would otherwise be ignored in silence. Workers leave it to their primary process. */
async function warnOfUnknown(known: Flags, environment: NodeJS.ProcessEnv): Promise<void> {
  const { default: cluster } = await import('node:cluster');
  if (cluster.isWorker) return;
  for (const name of Object.keys(environment)) {
    if (!name.startsWith('STILLAGE_') || known.has(name) || otherVariables.test(name)) continue;
    process.stderr.write(`stillage: warning: ${name} is no setting and has no effect; stillage --help lists them\n`);
  }
}

function optionsOf(command: Command): Option[] {
  return [...command.options, ...command.commands.flatMap(optionsOf)];
}

/** Makes commander throw instead of exiting, so that output still being written is not cut off. */
function prepare(command: Command): void {
  command.exitOverride().helpCommand(false);
  command.commands.forEach(prepare);
}

const meanings: Readonly<Record<string, boolean>> = {
  ...{ true: true, 1: true, yes: true, on: true },
  ...{ false: false, 0: false, no: false, off: false },
};

/**
 * Reads the environment variables of options without a value: `true`, `1`, `yes` and `on` set the option, `false`, `0`, `no` and `off` do not.
 * Commander takes any value for yes.
 * @throws OperatorError for any other value
 */
export function readFlags(options: readonly Option[], environment: NodeJS.ProcessEnv): void {
  for (const option of options) {
    const { envVar: variable } = option;
    if (option.required || option.optional || variable === undefined) continue;
    const value = environment[variable];
    if (value === undefined) continue;
    const meaning = meanings[value.trim().toLowerCase()];
    if (meaning === undefined) throw new UsageError(`${variable} must be true or false, not ${JSON.stringify(value)}`);
    // Commander falls back to the default if the option has no variable.
    if (!meaning) delete (option as { envVar?: string }).envVar;
  }
}
