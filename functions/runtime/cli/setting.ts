import { Option } from 'commander';

/** An option of the command line that is a variable of the environment as well, `STILLAGE_<name>`. */
export function setting(flags: string, description: string, name: string, value?: unknown): Option {
  const option = new Option(flags, description).env(`STILLAGE_${name}`);
  return value === undefined ? option : option.default(value);
}
