import { Command, CommanderError } from 'commander';
import packageJson from '../../../package.json' with { type: 'json' };
import { families } from './commands/families.ts';
import { readFlags } from './flags.ts';
import { endWithReader } from './standard-output.ts';

/** The exit code after a mistake in the command line itself; other failures end with 1. */
const usageExitCode = 2;

/** The program `stillage`. Every setting is also an environment variable; an empty one counts as unset. */
export async function run(argv: readonly string[]): Promise<void> {
  endWithReader();
  for (const [name, value] of Object.entries(process.env)) {
    if (name.startsWith('STILLAGE_') && value === '') delete process.env[name];
  }
  try {
    const command = program();
    readFlags(command, process.env);
    await command.parseAsync(withCommand(argv));
  } catch (error) {
    if (!(error instanceof CommanderError)) throw error;
    // It has been printed; help and version, asked for, end with 0.
    process.exitCode = error.exitCode === 0 ? 0 : usageExitCode;
  }
}

/** Starts the service where no command is named: `stillage`, `stillage --port 9001`. Help and version are asked of the program. */
function withCommand([node = '', file = '', ...rest]: readonly string[]): string[] {
  const [first] = rest;
  const isOfProgram = first !== undefined && (!first.startsWith('-') || /^(?:-h|--help|-V|--version)$/.test(first));
  return [node, file, ...(isOfProgram ? [] : ['start']), ...rest];
}

function program(): Command {
  const command = new Command('stillage')
    .description('S3-compatible object storage for your own tenants.')
    .version(packageJson.version)
    .configureHelp({ showGlobalOptions: false });
  for (const family of families) command.addCommand(family());
  command.addHelpText('after', helpOnSettings(command));
  prepare(command);
  return command;
}

/** Lists the environment variable of each option, and says where the documentation is. */
function helpOnSettings(command: Command): string {
  const variables = new Map<string, string>();
  for (const { options } of commandsOf(command)) {
    for (const { envVar, flags } of options) if (envVar !== undefined) variables.set(envVar, flags);
  }
  const width = Math.max(...[...variables.keys()].map((name) => name.length)) + 2;
  const lines = [...variables].sort(([one], [other]) => (one < other ? -1 : 1));
  return `
Environment variables (an option on the command line comes first):
${lines.map(([name, flags]) => `  ${name.padEnd(width)}${flags}`).join('\n')}

Each command has --help, with examples.
Documentation: README.md and docs/ in the repository; all settings: docs/configuration.md`;
}

function commandsOf(command: Command): Command[] {
  return [command, ...command.commands.flatMap(commandsOf)];
}

/** Lets mistakes be thrown rather than end the process, so that nothing is cut off that is still being written. */
function prepare(command: Command): void {
  command.exitOverride().helpCommand(false);
  command.commands.forEach(prepare);
}
