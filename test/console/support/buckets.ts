import { CreateBucketCommand } from '@aws-sdk/client-s3';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Locator, Page } from 'playwright-core';
import { onTestFinished, type TestContext } from 'vitest';
import type { ConsoleUnderTest } from './console.ts';
import { bucketName } from '../../support/clients/clients.ts';
import { isCloud } from '../../support/cloud/deployed.ts';
import { put } from '../../support/storage/objects.ts';
import { removeBucket } from '../../support/programs/service-under-test.ts';

/** A new bucket of alice's with these keys, each with a content of its own. */
export async function makeBucket(under: ConsoleUnderTest, keys: readonly string[]): Promise<string> {
  const client = under.sdk();
  const bucket = nameForBucket(under);
  await client.send(new CreateBucketCommand({ Bucket: bucket }));
  await Promise.all(keys.map((key) => put(client, bucket, key, `content of ${key}`)));
  return bucket;
}

/** A name for a new bucket of alice's. */
export function nameForBucket(under: ConsoleUnderTest): string {
  const name = bucketName();
  // Files share a deployment, and a project has few buckets.
  if (isCloud) onTestFinished(() => removeBucket(under.sdk(), name));
  return name;
}

/** The row of a name in the list of objects. */
export function row(page: Page, name: string): Locator {
  return page.getByRole('row').filter({ has: page.locator('.name').getByText(name, { exact: true }) });
}

/** A file to upload. */
export const file = (name: string, content: string): { name: string; mimeType: string; buffer: Buffer } => ({
  name,
  mimeType: '',
  buffer: Buffer.from(content),
});

/** The path of a file `large.bin`, which is uploaded in parts. */
export async function largeFile(test: TestContext, size = 17 * 1024 ** 2): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'stillage-large-'));
  test.onTestFinished(() => rm(folder, { recursive: true }));
  const path = join(folder, 'large.bin');
  await writeFile(path, Buffer.alloc(size, 'large '));
  return path;
}
