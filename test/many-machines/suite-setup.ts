import setUpPrograms from '../support/programs/build-once.ts';
import { alice, startService } from '../support/programs/server.ts';
import { sharedStoresVariable, type SharedStores } from '../support/programs/shared-stores.ts';
import { startPostgres } from '../support/storage/postgres.ts';

/** Starts a database, and a service in whose bucket the services of tests keep the bytes of objects. */
export default async function setup(): Promise<() => Promise<void>> {
  await setUpPrograms();
  const [postgres, blobs] = await Promise.all([startPostgres(), startService({ args: ['--buckets', 'blobs'] })]);
  const stores: SharedStores = {
    database: postgres.url,
    blobs: `s3://blobs?endpoint=${blobs.url}&region=us-east-1`,
    credentials: { AWS_ACCESS_KEY_ID: alice.accessKeyId, AWS_SECRET_ACCESS_KEY: alice.secretAccessKey },
  };
  process.env[sharedStoresVariable] = JSON.stringify(stores);
  return async () => {
    await Promise.all([postgres.stop(), blobs.stop()]);
  };
}
