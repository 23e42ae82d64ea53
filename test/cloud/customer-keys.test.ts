import { CreateBucketCommand, GetObjectCommand, PutObjectCommand, type S3Client } from '@aws-sdk/client-s3';
import { randomBytes } from 'node:crypto';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { sdk } from '../support/clients/clients.ts';
import { s3Error } from '../support/clients/expect-error.ts';
import { noEngine } from '../support/cloud/moto.ts';
import { alice } from '../support/programs/server.ts';
import { CloudAccount } from './cloud-account.ts';
import type { DeploymentUnderTest } from './deployment-under-test.ts';

const served = ['CreateBucket', 'GetObject', 'PutObject'];
let account: CloudAccount | undefined;
let deployment: DeploymentUnderTest | undefined;
let client: S3Client | undefined;

beforeAll(async () => {
  account = await CloudAccount.open({ served });
  if (account === undefined) {
    console.warn(`SKIPPED, a deployment that takes no keys of customers: ${noEngine}`);
    return;
  }
  deployment = await account.deploy({ customerKeys: 'false', requestLog: 'all' });
  client = sdk(deployment, alice, { maxAttempts: 1 });
});
beforeEach((context) => {
  if (deployment === undefined) context.skip(noEngine);
});
afterAll(async () => {
  client?.destroy();
  await account?.close();
});

/** Without a domain, the byte lane is reached over plain HTTP: docs/cloud.md. */
describe('a deployment that takes no keys of customers', () => {
  const Bucket = 'no-keys-here';
  const key = { SSECustomerAlgorithm: 'AES256', SSECustomerKey: randomBytes(32).toString('base64') };
  const refused = s3Error('InvalidRequest', 400);

  it('takes requests without one by the byte lane', async () => {
    await client!.send(new CreateBucketCommand({ Bucket }));
    await client!.send(new PutObjectCommand({ Bucket, Key: 'k', Body: 'open' }));
    await expect.poll(() => deployment!.requests('byte-lane')).toMatchObject([{ operation: 'PutObject', status: 200 }]);
    expect(deployment!.invoked).not.toContain('PutObject');
  });

  it('refuses those that carry one, as S3 does over an insecure connection, before a key reaches the byte lane', async () => {
    const put = client!.send(new PutObjectCommand({ Bucket, Key: 'k', Body: 'secret', ...key }));
    await expect(put).rejects.toEqual(refused);
    await expect(put).rejects.toThrow('must be made over a secure connection.');
    await expect(client!.send(new GetObjectCommand({ Bucket, Key: 'k', ...key }))).rejects.toEqual(refused);
    expect(await deployment!.requests('byte-lane')).toHaveLength(1);
    expect(deployment!.invoked).toEqual(expect.arrayContaining(['PutObject', 'GetObject']));
  });
});
