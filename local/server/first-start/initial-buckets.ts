import type { Accounts, ProjectDeclaration } from '../../../shared/accounts/accounts.ts';
import { S3Error } from '../../../shared/errors/s3-error.ts';
import { checkBucketName } from '../../../shared/http/bucket-name.ts';
import type { Buckets } from '../../../shared/storage/buckets/buckets.ts';
import { byOperator } from '../../../shared/storage/version-changes/service-authorisation.ts';
import { OperatorError } from '../../../shared/errors/operator-error.ts';
import { ensureInitialKey, firstProjectOf } from './initial-key.ts';
import type { InitialKey } from '../../../shared/command-line/start-options.ts';

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
    checkBucketName(name);
    await buckets.create(byOperator, name, owner, Infinity);
  } catch (error) {
    if (!(error instanceof S3Error)) throw error;
    throw new OperatorError(`--buckets: ${name}: ${error.code}: ${error.message}`);
  }
}
