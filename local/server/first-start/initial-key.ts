import { randomUUID } from 'node:crypto';
import type { Accounts, ProjectDeclaration } from '../../../shared/accounts/accounts.ts';
import { OperatorError } from '../../../shared/errors/operator-error.ts';
import type { InitialKey } from '../../../shared/command-line/start-options.ts';

/** The project that is created if none is declared. */
export const firstProject = 'main@local';
const mainUser = 'admin';

/**
 * Reads the access key of STILLAGE_ACCESS_KEY and STILLAGE_SECRET_KEY or else, with `--aws-credentials`, of AWS_ACCESS_KEY_ID and
 * AWS_SECRET_ACCESS_KEY. Returns undefined if there is none.
 * @throws OperatorError if the id or the secret is missing
 */
export async function keyOfEnvironment(
  environment: Readonly<Record<string, string | undefined>>,
  { awsCredentials }: { readonly awsCredentials: boolean },
): Promise<InitialKey | undefined> {
  const own = await keyOf(environment, 'STILLAGE_ACCESS_KEY', 'STILLAGE_SECRET_KEY');
  if (own || !awsCredentials) return own;
  const key = await keyOf(environment, 'AWS_ACCESS_KEY_ID', 'AWS_SECRET_ACCESS_KEY');
  if (key) return key;
  throw new OperatorError('--aws-credentials: set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY');
}

async function keyOf(
  environment: Readonly<Record<string, string | undefined>>,
  idName: string,
  secretName: string,
): Promise<InitialKey | undefined> {
  const accessKeyId = environment[idName] ?? '';
  const secretAccessKey = environment[secretName] ?? '';
  if (accessKeyId === '' && secretAccessKey === '') return undefined;
  if (accessKeyId === '') throw new OperatorError(`${secretName} needs ${idName} as well: the id of the access key`);
  if (secretAccessKey === '') throw new OperatorError(`${idName} needs ${secretName} as well: the secret of the key`);
  const { checkedKey } = await import('./accounts-file.ts');
  return checkedKey({ accessKeyId, secretAccessKey }, idName);
}

/** Returns the declaration of the project `main@local`, which may exist already. */
export async function firstProjectOf(accounts: Accounts, keys: readonly InitialKey[]): Promise<ProjectDeclaration> {
  const existing = await accounts.byEmail(firstProject);
  const users = keys.length === 0 ? [] : [{ name: mainUser, keys }];
  return { project: firstProject, id: existing?.id ?? randomUUID(), displayName: 'main', users };
}

/**
 * Creates the key for the user `admin` of the project `main@local` if it is missing.
 * @returns the id of the key's project
 * @throws OperatorError if the key exists with another secret, or has expired
 */
export async function ensureInitialKey(accounts: Accounts, key: InitialKey): Promise<string> {
  const { accessKeyId, secretAccessKey } = key;
  if ((await accounts.find(accessKeyId, 'read')) === undefined) {
    await accounts.ensure(await firstProjectOf(accounts, [key]));
  }
  const found = await accounts.find(accessKeyId, 'read');
  if (found === undefined) throw new OperatorError(`the access key ${accessKeyId} has expired: choose another id`);
  if (found.secret === secretAccessKey) return found.user.project.id;
  throw new OperatorError(
    `the access key ${accessKeyId} exists with another secret: set that secret, or choose another id`,
  );
}
