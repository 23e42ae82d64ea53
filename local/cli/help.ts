import { Help, type Command, type Option } from 'commander';

/** Columns of a help text; a narrower terminal wraps it earlier. */
const helpColumns = 100;

/** Headings of the options that commands share. */
export const headings = {
  machine: 'Service on this machine:',
  many: 'Service on many machines:',
  cloud: 'Service in the cloud:',
  remote: 'Service over HTTP:',
} as const;

/** Prints the help of a command and of its subcommands in one style, at most `helpColumns` wide. */
export function withHelpStyle(command: Command): Command {
  const width = (columns: number | undefined): number => Math.min(columns ?? helpColumns, helpColumns);
  command
    .helpOption('-h, --help', 'print this help')
    .configureOutput({
      getOutHelpWidth: () => width(process.stdout.columns),
      getErrHelpWidth: () => width(process.stderr.columns),
    })
    .configureHelp({ optionDescription, boxWrap });
  command.commands.forEach(withHelpStyle);
  return command;
}

/** `port of the console (default: 9001, env: STILLAGE_CONSOLE_PORT)` */
function optionDescription(option: Option): string {
  const { argChoices, envVar } = option;
  const description = option.description.replace(/ \(repeatable\)$/, '');
  const notes = [
    ...(argChoices ? [`one of: ${argChoices.join(', ')}`] : []),
    ...(description === option.description ? [] : ['repeatable']),
    ...defaultOf(option),
    ...(envVar === undefined ? [] : [`env: ${envVar}`]),
  ];
  return notes.length === 0 ? description : `${description} (${notes.join('; ')})`;
}

/** Flags are off, and lists empty, unless given: their defaults are omitted. */
function defaultOf(option: Option): readonly string[] {
  const value = option.defaultValue as unknown;
  if (option.defaultValueDescription !== undefined) return [`default: ${option.defaultValueDescription}`];
  return typeof value === 'string' || typeof value === 'number' ? [`default: ${value}`] : [];
}

/** Wraps a text. Notes of an option that do not fit beside its description go below it, and on a line each if they are long. */
function boxWrap(text: string, width: number): string {
  const [, description, notes = ''] = /^(.*) (\((?:one of|repeatable|default|env)\b[^()]*\))$/.exec(text) ?? [];
  if (description === undefined || text.length <= width) return new Help().boxWrap(text, width);
  const lines = notes.length <= width ? notes : notes.replaceAll('; ', ';\n');
  return new Help().boxWrap(`${description}\n${lines}`, width);
}

/** Returns the examples at the end of a help text. @param examples command lines without the leading `stillage` */
export function examplesHelp(examples: readonly string[]): string {
  return ['\nExamples:', ...examples.map((example) => `  stillage ${example}`)].join('\n');
}
