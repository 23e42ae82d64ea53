import { CreateBucketCommand, PutBucketVersioningCommand, type S3Client } from '@aws-sdk/client-s3';
import { sdk } from '../clients/clients.ts';
import { startLyingProxy, type LyingProxy } from './lying-proxy.ts';
import { alice, bob, startService, type Service } from './server.ts';

/** The environment of commands that copy from the store, or to it. */
export const storeEnvironment = { AWS_ACCESS_KEY_ID: bob.accessKeyId, AWS_SECRET_ACCESS_KEY: bob.secretAccessKey };

/** Two services, between which buckets are copied. */
export interface TwoStores {
  /** Whose operator copies, and a client of it. */
  readonly service: Service;
  readonly here: S3Client;
  /** The other one, a proxy before it, and a client of it. */
  readonly store: Service;
  readonly proxy: LyingProxy;
  readonly there: S3Client;
  /** Stops both, and removes what they hold. */
  stop(): Promise<void>;
}

export async function startTwoStores(): Promise<TwoStores> {
  const [service, store] = await Promise.all([startService(), startService()]);
  const [here, there] = [sdk(service, alice), sdk(store, bob)];
  const proxy = await startLyingProxy(store);
  return {
    ...{ service, here, store, proxy, there },
    stop: async () => {
      here.destroy();
      there.destroy();
      proxy.stop();
      await Promise.all([service.stop(), store.stop()]);
    },
  };
}

/** Creates a bucket that keeps versions. */
export async function createVersioned(client: S3Client, Bucket: string): Promise<void> {
  await client.send(new CreateBucketCommand({ Bucket }));
  await client.send(new PutBucketVersioningCommand({ Bucket, VersioningConfiguration: { Status: 'Enabled' } }));
}
