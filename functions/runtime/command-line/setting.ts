import { Option } from 'commander';

/**
 * An option of the command line that is also an environment variable, `STILLAGE_<name>`.
 * @param defaultText the default as the help shows it, if not the value
 */
export function setting(
  flags: string,
  description: string,
  name: string,
  value?: unknown,
  defaultText?: string,
): Option {
  const option = new Option(flags, description).env(`STILLAGE_${name}`);
  return value === undefined && defaultText === undefined ? option : option.default(value, defaultText);
}

/** Puts options under a heading of the help. */
export function group(heading: string, options: readonly Option[]): readonly Option[] {
  for (const option of options) option.helpGroup(heading);
  return options;
}
