import type * as z from 'zod/mini';
import { AccountRefusal } from '../../shared/access/account-names.ts';
import { S3Error } from '../../shared/errors/s3-error.ts';
import { Refusal, type AdministrationCommand, type AdministrationDeps } from './command.ts';
import { administrationCommands } from './commands.ts';

/** A command with its arguments: `{"command": "key create", "user": "shop:ci@acme"}`. */
export type AdministrationRequest = { readonly command: string } & Readonly<Record<string, unknown>>;

/** The result of a command, or why it was refused. */
export type AdministrationAnswer =
  { readonly ok: true; readonly result: unknown } | { readonly ok: false; readonly error: string };

const commands: Readonly<Record<string, AdministrationCommand<z.core.$ZodShape, unknown>>> = administrationCommands;

/** Carries out a command. Refusals are returned; only unexpected errors are thrown. */
export async function administer(
  deps: AdministrationDeps,
  request: AdministrationRequest,
): Promise<AdministrationAnswer> {
  try {
    const { command, ...given } = request;
    const found = Object.hasOwn(commands, command) ? commands[command] : undefined;
    if (found === undefined) {
      throw new Refusal(
        `unknown command ${JSON.stringify(command)}; the commands are ${Object.keys(commands).join(', ')}`,
      );
    }
    return { ok: true, result: (await found.run(command, deps, given)) ?? null };
  } catch (error) {
    if (error instanceof AccountRefusal || error instanceof Refusal) return { ok: false, error: error.message };
    if (error instanceof S3Error) return { ok: false, error: `${error.code}: ${error.message}` };
    throw error;
  }
}
