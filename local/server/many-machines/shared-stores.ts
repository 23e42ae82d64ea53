import { S3BlobStore, type S3BlobStoreOptions } from '../../../shared/adapters/cloud/s3/s3-blob-store.ts';
import { KeyFileSecrets } from '../../../shared/adapters/embedded/key-file-secrets.ts';
import { PostgresTable } from '../../../shared/adapters/postgres/postgres-table.ts';
import { SystemClock } from '../../../shared/adapters/system/system-clock.ts';
import { CryptoRandomness } from '../../../shared/adapters/system/crypto-randomness.ts';
import type { StartOptions } from '../../../shared/command-line/start-options.ts';
import type { S3Place } from '../../../shared/ports/backup-target.ts';
import { OperatorError, UsageError } from '../../../shared/errors/operator-error.ts';
import { claimLayout } from '../../../shared/storage/table/layout.ts';
import { RecentTable } from '../../../shared/storage/table/recent-table.ts';
import { isFollowed, isRemembered } from '../../../shared/storage/table/keys/keys.ts';
import type { Stores } from '../embedded-service.ts';
import { isKeyOf } from '../first-start/managed-key.ts';
import { refuseUnfinished } from '../migration/migration-state.ts';

/** The options that say where the data of a service of many machines is. */
export type SharedPlace = Pick<StartOptions, 'table' | 'blobs' | 'keyFile'>;

/** The same, if all of them are given. */
export type SharedPlaces = { readonly [Name in keyof SharedPlace]-?: NonNullable<SharedPlace[Name]> };

/** The table of a service of many machines, and what opens the secrets in it. */
export type SharedTable = Pick<Stores, 'secrets'> & { readonly table: PostgresTable };

/**
 * Opens the stores that servers on many machines share: a table in PostgreSQL, and a bucket in an S3.
 * @throws OperatorError, also if the key is not that of the table: before anything is written
 */
export async function openSharedStores({ table: url, blobs: place, keyFile }: SharedPlace): Promise<Stores> {
  if (url === undefined || place === undefined || keyFile === undefined) {
    throw new UsageError('--table, --blobs and --key-file are needed together');
  }
  const { table, secrets } = await openSharedTable(url, keyFile);
  try {
    await claimLayout({ table, randomness: new CryptoRandomness() });
    const blobs = await openBlobs(place);
    // A service reads the same few items with each request; a command, which only opens the table, reads everything as it is.
    return { secrets, table: new RecentTable(table, new SystemClock()), blobs };
  } catch (error) {
    await table.close();
    throw error;
  }
}

/** Opens the table alone. @throws OperatorError, also if a migration into it has not ended */
export async function openSharedTable(url: string, keyFile: string): Promise<SharedTable> {
  const opened = await openAnyTable(url, keyFile);
  try {
    await refuseUnfinished(opened.table);
  } catch (error) {
    await opened.table.close();
    throw new OperatorError(`--table: ${(error as Error).message}`);
  }
  return opened;
}

/**
 * Opens the stores for a migration.
 * @param isTarget whether it writes into them what another table has followed already; otherwise the bytes that are read are verified
 * @throws OperatorError
 */
export async function openToMigrate(
  { table: url, blobs: place, keyFile }: SharedPlaces,
  isTarget: boolean,
): Promise<SharedTable & { readonly blobs: S3BlobStore }> {
  const { table, secrets } = await openAnyTable(url, keyFile, isTarget);
  try {
    return { table, secrets, blobs: await openBlobs(place, { responseChecksumValidation: 'WHEN_SUPPORTED' }) };
  } catch (error) {
    await table.close();
    throw error;
  }
}

async function openAnyTable(url: string, keyFile: string, isTarget = false): Promise<SharedTable> {
  const secrets = await KeyFileSecrets.open(keyFile).catch((cause: unknown) => {
    throw new OperatorError(`--key-file: ${(cause as Error).message}`);
  });
  const table = await openTable(url, isTarget);
  if (await isKeyOf(table, secrets)) return { table, secrets };
  await table.close();
  throw new OperatorError(`--key-file: the table was encrypted with another key than that in ${keyFile}`);
}

async function openBlobs(
  { bucket, prefix, endpoint, region }: S3Place,
  settings: S3BlobStoreOptions['client'] = {},
): Promise<S3BlobStore> {
  const client = {
    ...settings,
    ...(region !== undefined && { region }),
    ...(endpoint !== undefined && { endpoint, forcePathStyle: true }),
  };
  const blobs = new S3BlobStore({ bucket, prefix: `${prefix}blobs/`, client });
  await blobs.check().catch((cause: unknown) => {
    throw new OperatorError(`--blobs: cannot use the bucket ${bucket}: ${reasonOf(cause)}`);
  });
  return blobs;
}

/** @throws OperatorError */
async function openTable(text: string, isTarget: boolean): Promise<PostgresTable> {
  const url = new URL(text);
  const schema = url.searchParams.get('schema') ?? undefined;
  // The client of PostgreSQL would send it as a setting of the server.
  url.searchParams.delete('schema');
  const options = {
    url: url.href,
    isFollowed: isTarget ? () => false : isFollowed,
    isRemembered,
    ...(schema !== undefined && { schema }),
  };
  return PostgresTable.open(options).catch((cause: unknown) => {
    if (cause instanceof OperatorError) throw cause;
    throw new OperatorError(`--table: cannot use the database at ${url.host}: ${(cause as Error).message}`);
  });
}

/** Returns what failed, of an error that stands for it. */
function reasonOf(error: unknown): string {
  const { name, message, cause } = error as Error;
  return cause === undefined ? `${name}: ${message}` : reasonOf(cause);
}
