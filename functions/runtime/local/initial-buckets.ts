import type { Accounts, ProjectDeclaration } from '../../../shared/metadata/accounts/accounts.ts';
import { S3Error } from '../../../shared/errors/s3-error.ts';
import type { Buckets } from '../../../shared/metadata/buckets/buckets.ts';
import { declareBucket } from '../../admin/buckets.ts';
import { OperatorError } from '../operator-error.ts';
import { ensureInitialKey, firstProjectOf } from './initial-key.ts';
import type { InitialKey } from './settings.ts';

/** The accounts and buckets to create before the first request. */
export interface InitialState {
  readonly key?: InitialKey | undefined;
  readonly buckets: readonly string[];
  readonly declared?: readonly ProjectDeclaration[] | undefined;
}

/**
 * Creates declared projects, the access key and the buckets that are missing. The buckets belong to the project of the key, else to
 * the first declared project, else to `main@local`.
 * @throws OperatorError
 */
export async function ensureInitialState(
  { accounts, buckets }: { readonly accounts: Accounts; readonly buckets: Buckets },
  { key, buckets: names, declared = [] }: InitialState,
): Promise<void> {
  for (const project of declared) await accounts.ensure(project);
  const ofKey = key && (await ensureInitialKey(accounts, key));
  if (names.length === 0) return;
  const owner = ofKey ?? declared[0]?.id ?? (await ensureMainProject(accounts));
  for (const name of names) await ensureBucket(buckets, name, owner);
}

async function ensureMainProject(accounts: Accounts): Promise<string> {
  const project = await firstProjectOf(accounts, []);
  await accounts.ensure(project);
  return project.id;
}

async function ensureBucket(buckets: Buckets, name: string, owner: string): Promise<void> {
  try {
    await declareBucket(buckets, name, owner);
  } catch (error) {
    if (!(error instanceof S3Error)) throw error;
    throw new OperatorError(`--buckets: ${name}: ${error.code}: ${error.message}`);
  }
}
