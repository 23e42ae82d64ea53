import * as z from 'zod';
import { AccountRefusal } from '../../shared/access/account-names.ts';
import { S3Error } from '../../shared/errors/s3-error.ts';
import { Refusal, type AdministrationCommand, type AdministrationDeps } from './command.ts';
import { administrationCommands } from './commands.ts';

/** A command, and what is given with it: `{"command": "key create", "user": "shop:ci@acme"}`. */
export type AdministrationRequest = { readonly command: string } & Readonly<Record<string, unknown>>;

/** What came of a command, or why it cannot be done. */
export type AdministrationAnswer =
  { readonly ok: true; readonly result: unknown } | { readonly ok: false; readonly error: string };

const commands: Readonly<Record<string, AdministrationCommand<z.ZodRawShape, unknown>>> = administrationCommands;

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
    return { ok: true, result: (await found.run(deps, given)) ?? null };
  } catch (error) {
    if (error instanceof z.ZodError) return { ok: false, error: argumentRefusal(request.command, error) };
    if (error instanceof AccountRefusal || error instanceof Refusal) return { ok: false, error: error.message };
    if (error instanceof S3Error) return { ok: false, error: `${error.code}: ${error.message}` };
    throw error;
  }
}

/** The first argument that is missing, unknown or of another kind, in one line. */
function argumentRefusal(command: string, { issues: [issue] }: z.ZodError): string {
  if (issue?.code === 'unrecognized_keys') return `${command} does not take ${issue.keys.join(', ')}`;
  return `${command}: ${String(issue?.path[0])} must be ${issue?.message}`;
}
