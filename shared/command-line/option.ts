import { Option } from 'commander';
import { readAs, type ValueType } from './option-values.ts';
import { startOptions, type StartOption, type StartOptionName } from './start-options.ts';

/** Declares an option of a command. Given again, a list or a set of names grows; another value replaces the former. */
export function option(flags: string, description: string, type?: ValueType<unknown>): Option {
  const made = new Option(flags, description);
  return type === undefined ? made : made.argParser((text, previous) => grown(previous, readAs(type, text)));
}

/** Adds the value of an option that is given again. */
export function grown(previous: unknown, value: unknown): unknown {
  if (Array.isArray(value)) return [...((previous as readonly unknown[] | undefined) ?? []), ...(value as unknown[])];
  return value?.constructor === Object ? { ...(previous as object | undefined), ...value } : value;
}

/**
 * Returns an option of `stillage start`: for another command with its own description, as `--port` of `stillage env`.
 */
export function startOption(name: StartOptionName, description?: string): Option {
  const { takes, help, repeatable, read, defaultText, ...row }: StartOption<unknown> = startOptions[name];
  const words = `${row.default === true ? 'no-' : ''}${name.replace(/(?<=[a-z])[A-Z]/g, '-$&').toLowerCase()}`;
  const flags = takes === undefined ? `--${words}` : `--${words} <${takes}>`;
  const made = new Option(flags, `${description ?? help}${repeatable ? ' (repeatable)' : ''}`);
  made.env(`STILLAGE_${words.replaceAll('-', '_').toUpperCase()}`);
  if (takes !== undefined) made.argParser((text, previous) => grown(previous, read(text)));
  return row.default === undefined && defaultText === undefined ? made : made.default(row.default, defaultText);
}

/** Returns the options of `stillage start`, in the order of its help. */
export function allStartOptions(): readonly Option[] {
  return Object.entries(startOptions).map(([name, { group }]) =>
    startOption(name as StartOptionName).helpGroup(`${group}:`),
  );
}
