import type * as z from 'zod/mini';
import { AccountRefusal } from '../../shared/access/account-names.ts';
import { S3Error } from '../../shared/errors/s3-error.ts';
import { Refusal, type AdministrationCommand, type AdministrationDeps } from './command.ts';
import { administrationCommands } from './commands.ts';

/** A command, and what is given with it: `{"command": "key create", "user": "shop:ci@acme"}`. */
export type AdministrationRequest = { readonly command: string } & Readonly<Record<string, unknown>>;

/** What came of a command, or why it cannot be done. */
export type AdministrationAnswer =
  { readonly ok: true; readonly result: unknown } | { readonly ok: false; readonly error: string };

const commands: Readonly<Record<string, AdministrationCommand<z.core.$ZodShape, unknown>>> = administrationCommands;

/** Does what a command says. A refusal is an answer; only what nobody foresaw is thrown. */
export async function administer(
  deps: AdministrationDeps,
  request: AdministrationRequest,
): Promise<AdministrationAnswer> {
  try {
    const { command, ...given } = request;
    const found = Object.hasOwn(commands, command) ? commands[command] : undefined;
    if (found === undefined) {
      throw new Refusal(`there is no command ${JSON.stringify(command)}; there is ${Object.keys(commands).join(', ')}`);
    }
    return { ok: true, result: (await found.run(command, deps, given)) ?? null };
  } catch (error) {
    if (error instanceof AccountRefusal || error instanceof Refusal) return { ok: false, error: error.message };
    if (error instanceof S3Error) return { ok: false, error: `${error.code}: ${error.message}` };
    throw error;
  }
}
