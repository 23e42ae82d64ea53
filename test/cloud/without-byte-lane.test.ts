import {
  CreateBucketCommand,
  GetObjectCommand,
  HeadObjectCommand,
  PutObjectCommand,
  type S3Client,
} from '@aws-sdk/client-s3';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { sdk } from '../support/clients/clients.ts';
import { MiB } from '../support/storage/contents.ts';
import { bodilessError } from '../support/clients/expect-error.ts';
import { noEngine } from '../support/cloud/moto.ts';
import { alice } from '../support/programs/server.ts';
import { CloudAccount } from './cloud-account.ts';
import type { DeploymentUnderTest } from './deployment-under-test.ts';

const served = ['CreateBucket', 'GetObject', 'HeadObject', 'PutObject'];
let account: CloudAccount | undefined;
let deployment: DeploymentUnderTest | undefined;
let client: S3Client | undefined;

beforeAll(async () => {
  account = await CloudAccount.open({ served });
  if (account === undefined) {
    console.warn(`SKIPPED, a deployment without a byte lane: ${noEngine}`);
    return;
  }
  deployment = await account.deploy({ byteLane: 'functions' });
  client = sdk(deployment, alice, { maxAttempts: 1 });
});
beforeEach((context) => {
  if (deployment === undefined) context.skip(noEngine);
});
afterAll(async () => {
  client?.destroy();
  await account?.close();
});

describe('a deployment without a byte lane', () => {
  const Bucket = 'functions-alone';
  const Body = Buffer.alloc(4 * MiB, 'x');

  it('keeps objects of up to 4 MiB', async () => {
    await client!.send(new CreateBucketCommand({ Bucket }));
    await client!.send(new PutObjectCommand({ Bucket, Key: 'small', Body }));
    const { Body: stored } = await client!.send(new GetObjectCommand({ Bucket, Key: 'small' }));
    expect(Body.equals(await stored!.transformToByteArray())).toBe(true);
    expect(deployment!.invoked).toEqual(expect.arrayContaining(['PutObject', 'GetObject']));
  });

  it('takes no larger ones, and leaves nothing of them', async () => {
    const larger = new PutObjectCommand({ Bucket, Key: 'larger', Body: Buffer.alloc(5 * MiB) });
    await expect(client!.send(larger)).rejects.toThrow();
    const missing = client!.send(new HeadObjectCommand({ Bucket, Key: 'larger' }));
    await expect(missing).rejects.toEqual(bodilessError(404));
  });

  it('answers HEAD, though API Gateway keeps the length to itself', async () => {
    const head = await client!.send(new HeadObjectCommand({ Bucket, Key: 'small' }));
    expect(head.ETag).toMatch(/^"[0-9a-f]{32}"$/);
    expect(head.ContentLength).toBeUndefined();
  });
});
