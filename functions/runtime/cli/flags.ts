import type { Command } from 'commander';
import { UsageError } from '../operator-error.ts';

const meanings: Readonly<Record<string, boolean>> = {
  ...{ true: true, 1: true, yes: true, on: true },
  ...{ false: false, 0: false, no: false, off: false },
};

/**
 * Reads the environment variables of options without a value: `true`, `1`, `yes` and `on` set the option, `false`, `0`, `no` and `off` do not.
 * Commander takes any value for yes.
 * @throws OperatorError for any other value
 */
export function readFlags(command: Command, environment: NodeJS.ProcessEnv): void {
  for (const option of command.options) {
    const { envVar: variable } = option;
    if (option.required || option.optional || variable === undefined) continue;
    const value = environment[variable];
    if (value === undefined) continue;
    const meaning = meanings[value.trim().toLowerCase()];
    if (meaning === undefined) throw new UsageError(`${variable} must be true or false, not ${JSON.stringify(value)}`);
    // Commander falls back to the default if the option has no variable.
    if (!meaning) delete (option as { envVar?: string }).envVar;
  }
  for (const sub of command.commands) readFlags(sub, environment);
}
