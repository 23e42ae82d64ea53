import { afterEach, expect, it, vi } from 'vitest';
import type { ProxyEvent } from '../../../../functions/cloud/api-gateway.ts';
import { lambdaHandler } from '../../../../functions/cloud/lambda.ts';
import { headBucket } from '../../../../functions/bucket/head-bucket.ts';

afterEach(() => {
  vi.unstubAllEnvs();
});

it('a function that could not be composed says why, and tries again with the next request', async () => {
  vi.stubEnv('STILLAGE_TABLE', '');
  const handler = lambdaHandler({ name: 'HeadBucket', operations: [headBucket] });
  const event = {} as ProxyEvent;
  await expect(handler(event)).rejects.toThrow('STILLAGE_TABLE is missing');
  vi.stubEnv('STILLAGE_TABLE', 'table');
  await expect(handler(event)).rejects.toThrow('STILLAGE_BLOB_BUCKET is missing');
});
