import { CreateBucketCommand } from '@aws-sdk/client-s3';
import type { Locator, Page } from 'playwright-core';
import { onTestFinished } from 'vitest';
import type { ConsoleUnderTest } from './console.ts';
import { bucketName } from '../../support/clients.ts';
import { isCloud } from '../../support/deployed.ts';
import { put } from '../../support/objects.ts';
import { removeBucket } from '../../support/service-under-test.ts';

/** A new bucket of alice's with these keys, each with a content of its own. */
export async function makeBucket(under: ConsoleUnderTest, keys: readonly string[]): Promise<string> {
  const client = under.sdk();
  const bucket = bucketName();
  await client.send(new CreateBucketCommand({ Bucket: bucket }));
  // Files share a deployment, and a project has few buckets.
  if (isCloud) onTestFinished(() => removeBucket(client, bucket));
  await Promise.all(keys.map((key) => put(client, bucket, key, `content of ${key}`)));
  return bucket;
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
