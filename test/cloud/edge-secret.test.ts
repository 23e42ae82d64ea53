import { CreateBucketCommand, GetObjectCommand, ListObjectsV2Command, PutObjectCommand } from '@aws-sdk/client-s3';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { sdk } from '../support/clients/clients.ts';
import { noEngine } from '../support/cloud/moto.ts';
import { alice } from '../support/programs/server.ts';
import { CloudAccount } from './cloud-account.ts';

const served = ['CreateBucket', 'GetObject', 'HeadBucket', 'ListObjectsV2', 'PutObject'];
let account: CloudAccount | undefined;

beforeAll(async () => {
  account = await CloudAccount.open({ served });
});
beforeEach((context) => {
  if (account === undefined) context.skip(noEngine);
});
afterAll(async () => {
  await account?.close();
});

describe('the secret of the distribution', () => {
  it('is renewed, and no request is refused', async () => {
    const deployment = await account!.deploy({});
    const client = sdk(deployment, alice, { maxAttempts: 1 });
    const [Bucket, Key] = ['renewed', 'key'];
    await client.send(new CreateBucketCommand({ Bucket }));
    let [asked, isOver] = [0, false];
    /** Both lanes, without a pause. */
    const load = async (): Promise<void> => {
      for (; !isOver; asked += 1) {
        await client.send(new PutObjectCommand({ Bucket, Key, Body: 'bytes' }));
        await (await client.send(new GetObjectCommand({ Bucket, Key }))).Body!.transformToString();
        // Its function starts with the value of that moment.
        await client.send(new ListObjectsV2Command({ Bucket }));
      }
    };
    const rounds = async (): Promise<void> => {
      for (const until = asked + 3; asked < until && !isOver;) await sleep(20);
    };
    const operate = async (): Promise<void> => {
      try {
        await deployment.renewEdgeSecret('renewed'.repeat(8));
        await rounds();
        await deployment.deployEdge();
        await rounds();
      } finally {
        isOver = true;
      }
    };
    const stopped = (error: unknown): never => {
      isOver = true;
      throw error;
    };
    await Promise.all([operate(), load().catch(stopped), load().catch(stopped)]);
    client.destroy();
    expect(asked).toBeGreaterThan(5);
    expect(account!.denied).toEqual([]);
  });
});
