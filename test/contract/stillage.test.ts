import { afterAll } from 'vitest';
import { alice, startService } from '../support/programs/server.ts';
import { describeS3BlobStore } from './s3-blob-store.ts';

/** The blob store of the cloud keeps its promises on Stillage, too: a server that speaks S3 as its adapter needs it. */
const service = await startService();
afterAll(() => service.stop());

const { accessKeyId, secretAccessKey } = alice;

describeS3BlobStore('Stillage', async () => ({
  endpoint: service.url,
  region: 'us-east-1',
  credentials: { accessKeyId, secretAccessKey },
  forcePathStyle: true,
}));
