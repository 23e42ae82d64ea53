import { access, readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { feedFollowers } from '../../../functions/compose/follow-changes.ts';
import { scrubDeps } from '../../../functions/compose/scrub.ts';
import { ensureDirectory } from '../../../shared/adapters/embedded/durable-directory.ts';
import { KeyFileSecrets } from '../../../shared/adapters/embedded/key-file-secrets.ts';
import { makePrivate } from '../../../shared/adapters/embedded/private-path.ts';
import { hasTableFile } from '../../../shared/adapters/embedded/table-file/table-file.ts';
import { CryptoRandomness } from '../../../shared/adapters/system/crypto-randomness.ts';
import { SystemClock } from '../../../shared/adapters/system/system-clock.ts';
import type { StartOptions } from '../../../shared/command-line/start-options.ts';
import { OperatorError } from '../../../shared/errors/operator-error.ts';
import { S3Error } from '../../../shared/errors/s3-error.ts';
import { BlobsBusy } from '../../../shared/ports/blob-store.ts';
import type { ChangeFeed } from '../../../shared/ports/key-value-table.ts';
import type { Secrets } from '../../../shared/ports/secrets.ts';
import { keyFile as ownKeyFile } from '../backup/small-files.ts';
import { openToServe } from '../data-directory/data-directory.ts';
import { refuseServed } from '../many-machines/duty.ts';
import { openToMigrate, type SharedPlaces } from '../many-machines/shared-stores.ts';
import { keptGrace } from '../release/release-grace.ts';
import { FeedRunner } from '../schedules/feed-runner.ts';
import { migrate, type End, type Migrated, type Migration } from './migrate.ts';

/** A data directory, and a table with its blobs. */
export interface Places extends SharedPlaces, Pick<StartOptions, 'data'> {
  /** Copies to the data directory. */
  readonly back: boolean;
}

/** How often the feed is followed to its end. Following it may add to it, and a transaction of another program may hide its end for a second. */
const drains = 10;

type Told = Pick<Migration, 'onProgress' | 'onDamage'>;

/** What a migration needs of what it has opened. */
interface Opened extends End {
  readonly table: End['table'] & ChangeFeed;
  readonly secrets: Secrets;
  isFeedEmpty(): Promise<boolean>;
  close(): Promise<void>;
}

/**
 * Copies what is in a data directory to a table in PostgreSQL and a bucket in an S3, or what is there back to a data directory. The key stays: its file
 * is copied, unless it is there.
 * @throws OperatorError
 */
export async function migratePlaces(places: Places, told: Told): Promise<Migrated> {
  if (places.back) return between(await openShared(places, false), () => openTarget(places), told);
  const source = await openDirectory(places.data, false);
  const target = async (): Promise<Opened> => {
    await copyKey(join(places.data, ownKeyFile), places.keyFile);
    return openShared(places, true);
  };
  return between(source, target, told);
}

async function between(source: Opened, openTarget: () => Promise<Opened>, told: Told): Promise<Migrated> {
  try {
    const target = await openTarget();
    try {
      const [clock, randomness] = [new SystemClock(), new CryptoRandomness()];
      return await migrate({ ...told, source, target, clock, randomness, drain: () => drain(source) });
    } finally {
      await target.close();
    }
  } catch (error) {
    throw refusalOf(error);
  } finally {
    await source.close();
  }
}

/** Opens a data directory that no service has. @throws OperatorError */
async function openDirectory(data: string, isTarget: boolean): Promise<Opened> {
  if (!isTarget && !(await hasTableFile(join(data, 'table')))) {
    throw new OperatorError(`--data: ${data} is not a data directory: name that of the service`);
  }
  const { lock, table, blobs, secrets } = await openToServe(data, undefined, undefined, { isTarget });
  return {
    ...{ table, blobs, secrets },
    isFeedEmpty: async () => (await table.read(undefined, 1)).length === 0,
    places: { table: `--data: ${data}`, blobs: `--data: ${data}` },
    close: async () => {
      await lock.release();
      await Promise.all([table.close(), blobs.close()]);
    },
  };
}

/** What an unfinished migration leaves in a directory. */
const ownNames = /^(?:master\.key(?:\.[0-9a-f]+\.draft)?|table|blobs|service-.+\.sock)$/;

/** Opens a data directory that is missing, empty or the target of a migration. @throws OperatorError */
async function openTarget({ data, keyFile }: Places): Promise<Opened> {
  await ensureDirectory(data).catch((error: unknown) => {
    throw new OperatorError(`--data: cannot create ${data}: ${(error as Error).message}`);
  });
  await makePrivate(data);
  if ((await readdir(data)).some((name) => !ownNames.test(name))) {
    throw notEmpty(data);
  }
  const isOther = (await hasTableFile(join(data, 'table'))) && !(await hasKey(data, keyFile));
  if (isOther) throw notEmpty(data);
  await copyKey(keyFile, join(data, ownKeyFile));
  return openDirectory(data, true);
}

async function openShared(places: Places, isTarget: boolean): Promise<Opened> {
  const { keyFile } = places;
  if (!isTarget) {
    await access(keyFile).catch((error: unknown) => {
      throw new OperatorError(`--key-file: ${(error as Error).message}`);
    });
  }
  const { table, blobs, secrets } = await openToMigrate(places, isTarget);
  const close = async (): Promise<void> => {
    blobs.close();
    await table.close();
  };
  try {
    // None has started on a target before the migration into it has ended.
    if (!isTarget) await refuseServed(table, new SystemClock());
  } catch (error) {
    await close();
    throw error;
  }
  return {
    ...{ table, blobs, secrets, close },
    isFeedEmpty: () => table.isFeedEmpty(),
    places: { table: '--table: the table', blobs: '--blobs: the bucket' },
  };
}

function notEmpty(data: string): OperatorError {
  return new OperatorError(`--data: ${data} is not empty: a migration needs an empty target, name another one`);
}

/** Tells whether the key of a data directory is the same as in another file. */
async function hasKey(data: string, file: string): Promise<boolean> {
  const [own, other] = await Promise.all([join(data, ownKeyFile), file].map((path) => readFile(path)));
  return own!.equals(other!);
}

async function copyKey(from: string, to: string): Promise<void> {
  const isSame = await KeyFileSecrets.copy(from, to).catch((error: unknown) => {
    throw new OperatorError(`--key-file: ${(error as Error).message}`);
  });
  if (isSame) return;
  throw new OperatorError(
    `--key-file: ${to} is not the key of ${from}, which what is migrated is encrypted with: name a file that is not there, or a copy of that one`,
  );
}

/** Follows the feed of a source to its end, also what following it adds. @throws OperatorError */
async function drain({ table, blobs, secrets, ...source }: Opened): Promise<void> {
  const deps = { table, blobs, secrets, clock: new SystemClock(), randomness: new CryptoRandomness() };
  const { uploads } = scrubDeps(deps);
  const followers = feedFollowers({ ...deps, uploads, grace: await keptGrace(table) });
  const feed = new FeedRunner(table, followers, { clock: deps.clock, telemetry: { problem: () => undefined } });
  try {
    for (let attempt = 1; ; attempt += 1) {
      await feed.drain();
      if (await source.isFeedEmpty()) break;
      if (attempt === drains) {
        throw new OperatorError(
          '--table: a transaction that was left open in the database holds up the changes: end it, and run the same command again',
        );
      }
    }
  } finally {
    await feed.stop();
  }
}

/** Returns an error that is shown as one line, for one of a store that does not answer. */
function refusalOf(error: unknown): unknown {
  if (!(error instanceof BlobsBusy || error instanceof S3Error)) return error;
  const { cause, message } = error;
  const why = cause instanceof Error ? cause.message : message;
  return new OperatorError(`a store did not answer: ${why}: run the same command again, it goes on`);
}
