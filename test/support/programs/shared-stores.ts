import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import type { Place } from '../storage/administration.ts';

/** Names what test/many-machines/suite-setup.ts has started, as JSON. */
export const sharedStoresVariable = 'TEST_SHARED_STORES';

/** A database and a bucket that services of tests share, each with a schema of its own. */
export interface SharedStores {
  /** `postgres://stillage@127.0.0.1:54321/postgres` */
  readonly database: string;
  /** `s3://blobs?endpoint=http://127.0.0.1:54322&region=us-east-1` */
  readonly blobs: string;
  /** The variables with its credentials. */
  readonly credentials: Readonly<Record<string, string>>;
}

/** Where a service of many machines has its data. */
interface SharedPlace extends Pick<SharedStores, 'credentials'> {
  readonly place: Place;
  /** The options that name its bucket. */
  readonly blobs: readonly string[];
}

/** Returns a new place for a service; undefined if services of tests have data directories. */
export function sharedPlaceIn(folder: string): SharedPlace | undefined {
  const started = process.env[sharedStoresVariable];
  if (started === undefined) return undefined;
  const { database, blobs, credentials } = JSON.parse(started) as SharedStores;
  const schema = `test_${randomBytes(6).toString('hex')}`;
  const args = ['--table', `${database}?schema=${schema}`, '--key-file', join(folder, 'key')];
  return { place: { args, env: {} }, blobs: ['--blobs', blobs], credentials };
}
