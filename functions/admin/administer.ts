import { AccountRefusal } from '../../shared/access/account-names.ts';
import { S3Error } from '../../shared/errors/s3-error.ts';
import { Refusal, type AdministrationCommand, type AdministrationDeps } from './command.ts';

/** A command with its arguments: `{"command": "key create", "user": "shop:ci@acme"}`. */
export type AdministrationRequest = { readonly command: string } & Readonly<Record<string, unknown>>;

/** The result of a command, or why it was refused. */
export type AdministrationAnswer<Result = unknown> =
  { readonly ok: true; readonly result: Result } | { readonly ok: false; readonly error: string };

/** Carries out the one of these commands that is asked for. Refusals are returned; only unexpected errors are thrown. */
export async function administer(
  commands: readonly AdministrationCommand<never, unknown>[],
  deps: AdministrationDeps,
  { command, ...given }: AdministrationRequest,
): Promise<AdministrationAnswer> {
  const found = commands.find(({ name }) => name === command);
  if (found !== undefined) return answer(() => found.run(deps, given as never));
  const known = commands.map(({ name }) => name).join(', ');
  return { ok: false, error: `unknown command ${JSON.stringify(command)}; the commands are ${known}` };
}

/** Returns the result of a command, or why it was refused. */
export async function answer<Result>(run: () => Promise<Result>): Promise<AdministrationAnswer<Result>> {
  try {
    return { ok: true, result: ((await run()) ?? null) as Result };
  } catch (error) {
    if (error instanceof AccountRefusal || error instanceof Refusal) return { ok: false, error: error.message };
    if (error instanceof S3Error) return { ok: false, error: `${error.code}: ${error.message}` };
    throw error;
  }
}
