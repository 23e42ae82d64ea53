import { AccountRefusal } from '../../shared/access/account-names.ts';
import { S3Error } from '../../shared/errors/s3-error.ts';
import { kinds, Refusal, type AdministrationDeps, type Takes } from './command.ts';
import { administrationCommands } from './commands.ts';

/** A command, and what is given with it: `{"command": "key create", "user": "shop:ci@acme"}`. */
export type AdministrationRequest = { readonly command: string } & Readonly<Record<string, unknown>>;

/** What came of a command, or why it cannot be done. */
export type AdministrationAnswer =
  { readonly ok: true; readonly result: unknown } | { readonly ok: false; readonly error: string };

/** A command of which only the table knows what it takes: what it is given was checked by that. */
interface AnyCommand {
  readonly takes: Takes;
  readonly act: (deps: AdministrationDeps, given: object) => Promise<unknown>;
}

// What each command takes is checked against its own table before it acts: no type can say so of all of them.
const commands = administrationCommands as unknown as Readonly<Record<string, AnyCommand>>;

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
    check(command, found.takes, given);
    return { ok: true, result: (await found.act(deps, given)) ?? null };
  } catch (error) {
    if (error instanceof AccountRefusal || error instanceof Refusal) return { ok: false, error: error.message };
    if (error instanceof S3Error) return { ok: false, error: `${error.code}: ${error.message}` };
    throw error;
  }
}

/** @throws Refusal that names what is missing, too much or of another kind */
function check(command: string, takes: Takes, given: Readonly<Record<string, unknown>>): void {
  for (const [name, taken] of Object.entries(takes)) {
    const { is, means } = kinds[taken.replace('?', '') as keyof typeof kinds];
    const mayBeMissing = taken.endsWith('?') && given[name] === undefined;
    if (!mayBeMissing && !is(given[name])) throw new Refusal(`${command}: ${name} must be ${means}`);
  }
  const unknown = Object.keys(given).filter((name) => !Object.hasOwn(takes, name));
  if (unknown.length > 0) throw new Refusal(`${command} does not take ${unknown.join(', ')}`);
}
