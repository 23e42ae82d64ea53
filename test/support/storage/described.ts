import * as z from 'zod/mini';
import { expect } from 'vitest';
import { administrationCommands } from '../../../local/cli/commands/administration-commands.ts';

/** Expects that a result, as JSON has it, is what the description of the API says of its command, and nothing besides. */
export function expectDescribed(command: string, answer: unknown): void {
  const { gives } = administrationCommands.find(({ name }) => name === command)!;
  // Parsing leaves out what a schema does not name.
  const given: unknown = answer === null ? undefined : JSON.parse(JSON.stringify(answer));
  expect(z.parse(gives, given), command).toEqual(given);
}
