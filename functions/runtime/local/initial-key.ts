import { randomUUID } from 'node:crypto';
import type { Accounts, ProjectDeclaration } from '../../../shared/metadata/accounts/accounts.ts';
import { OperatorError } from '../operator-error.ts';
import { accessKeySchema } from './accounts-file.ts';
import type { InitialKey } from './settings.ts';

/** The project of those who declare none. */
export const firstProject = 'main@local';
const mainUser = 'admin';

/**
 * Reads the access key that the environment asks for: of STILLAGE_ACCESS_KEY and STILLAGE_SECRET_KEY, or else, if that is wanted, of AWS's
 * variables. Undefined if there is none.
 * @throws OperatorError if half of it is missing
 */
export function keyOfEnvironment(
  environment: Readonly<Record<string, string | undefined>>,
  { awsCredentials }: { readonly awsCredentials: boolean },
): InitialKey | undefined {
  const own = keyOf(environment, 'STILLAGE_ACCESS_KEY', 'STILLAGE_SECRET_KEY');
  if (own || !awsCredentials) return own;
  const key = keyOf(environment, 'AWS_ACCESS_KEY_ID', 'AWS_SECRET_ACCESS_KEY');
  if (key) return key;
  throw new OperatorError('--aws-credentials: set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY');
}

function keyOf(
  environment: Readonly<Record<string, string | undefined>>,
  idName: string,
  secretName: string,
): InitialKey | undefined {
  const accessKeyId = environment[idName] ?? '';
  const secretAccessKey = environment[secretName] ?? '';
  if (accessKeyId === '' && secretAccessKey === '') return undefined;
  if (accessKeyId === '') throw new OperatorError(`${secretName} needs ${idName} as well: the id of the access key`);
  if (secretAccessKey === '') throw new OperatorError(`${idName} needs ${secretName} as well: the secret of the key`);
  return checkedKey({ accessKeyId, secretAccessKey }, idName);
}

/** @param name of what was set, for the message @throws OperatorError if no key can be like this */
export function checkedKey(key: InitialKey, name: string): InitialKey {
  const { error } = accessKeySchema.safeParse(key);
  if (error) throw new OperatorError(`${name}: ${error.issues[0]!.path.join('.')}: ${error.issues[0]!.message}`);
  return key;
}

/** The declaration of the project of those who declare none, which may be there already. */
export async function firstProjectOf(accounts: Accounts, keys: readonly InitialKey[]): Promise<ProjectDeclaration> {
  const existing = await accounts.byEmail(firstProject);
  const users = keys.length === 0 ? [] : [{ name: mainUser, keys }];
  return { project: firstProject, id: existing?.id ?? randomUUID(), displayName: 'main', users };
}

/**
 * Creates the key if it is missing: for the user `admin` of the project `main@local`.
 * @returns the id of the project whose key it is
 * @throws OperatorError if the key is known with another secret, or has ended
 */
export async function ensureInitialKey(accounts: Accounts, key: InitialKey): Promise<string> {
  const { accessKeyId, secretAccessKey } = key;
  if ((await accounts.find(accessKeyId, 'read')) === undefined) {
    await accounts.ensure(await firstProjectOf(accounts, [key]));
  }
  const found = await accounts.find(accessKeyId, 'read');
  if (found === undefined) throw new OperatorError(`the access key ${accessKeyId} has ended; choose another one`);
  if (found.secret === secretAccessKey) return found.user.project.id;
  throw new OperatorError(
    `the data directory knows the access key ${accessKeyId} with another secret; set that one, or choose another id`,
  );
}
