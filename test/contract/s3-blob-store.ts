import { Agent } from 'node:http';
import type { S3ClientConfig } from '@aws-sdk/client-s3';
import { S3BlobStore } from '../../shared/adapters/cloud/s3/s3-blob-store.ts';
import { createBucket } from '../support/cloud/moto.ts';
import { describeBlobStore } from './blob-store.ts';

/**
 * Registers the blob store's tests for the S3 adapter over a server that speaks S3.
 * @param reach called once, before the tests: how to reach the server
 */
export function describeS3BlobStore(server: string, reach: () => Promise<S3ClientConfig>): void {
  describeBlobStore(`S3BlobStore over ${server}`, {
    effort: 0.1,
    timeout: 120_000,
    open: async () => {
      const httpAgent = new Agent({ keepAlive: true });
      const client = { ...(await reach()), requestHandler: { httpAgent } };
      const bucket = `contract-${process.pid}-${Date.now()}`;
      await createBucket(client, bucket);
      const store = new S3BlobStore({ bucket, client });
      const openHandles = () =>
        Object.values(httpAgent.sockets).reduce((sum, sockets) => sum + (sockets?.length ?? 0), 0);
      return { store, close: async () => store.close(), openHandles };
    },
  });
}
