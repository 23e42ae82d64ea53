import {
  DeleteBucketCommand,
  HeadObjectCommand,
  ListObjectsV2Command,
  ListObjectVersionsCommand,
} from '@aws-sdk/client-s3';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { putAll } from '../support/storage/objects.ts';
import { isExternal, serviceUnderTest } from '../support/programs/service-under-test.ts';
import { quiet, storedKey, whileFlipped } from '../support/disks/table-bytes.ts';

/** A bit of a key in the table flips, which moves an item out of its bucket or out of order: nothing that is stored may seem missing. */

const service = serviceUnderTest({ alone: true });
const keys = ['a/1', 'a/2', 'b/1', 'b/2', 'c', 'd/1', 'd/2', 'e/1', 'f'];

/** Returns what a request tells, or the status of its error. */
async function told<T>(request: Promise<T>): Promise<T | number | undefined> {
  try {
    return await request;
  } catch (error) {
    return (error as { $metadata?: { httpStatusCode?: number } }).$metadata?.httpStatusCode;
  }
}

describe.runIf(!isExternal)('a flipped bit in a key of the table', () => {
  const table = (): string => join(service.started!.data, 'table', 'data.mdb');
  const buckets: string[] = [];

  beforeAll(async () => {
    for (let index = 0; index < 3; index += 1) {
      const bucket = await service.lastingBucket();
      await putAll(
        service.client,
        bucket,
        keys.map((key) => `${key}.${index}`),
      );
      buckets.push(bucket);
    }
    await quiet(table());
  });

  it.each(keys)('at %s leaves every listing whole or fails it, and hides no object', async (flipped) => {
    const { client } = service;
    const key = await storedKey(table(), Buffer.from(`\0${flipped}.1`));
    const separator = key.indexOf(0);
    // The first bytes of both parts, their last, and the byte between them.
    const bytes = [0, 4, 5, separator - 1, separator, separator + 1, key.length - 3, key.length - 1];
    let failures = 0;
    for (const byte of bytes) {
      for (const bit of [0x01, 0x08, 0x40]) {
        await whileFlipped(table(), key, { byte, bit }, async () => {
          for (const [index, Bucket] of buckets.entries()) {
            const all = keys.map((one) => `${one}.${index}`);
            const listed = await told(
              client.send(new ListObjectsV2Command({ Bucket })).then(({ Contents }) => Contents?.map(({ Key }) => Key)),
            );
            if (listed === 500) failures += 1;
            else expect(listed).toEqual(all);
            const folded = await told(
              client
                .send(new ListObjectsV2Command({ Bucket, Delimiter: '/' }))
                .then(({ CommonPrefixes, Contents }) => [CommonPrefixes, Contents].map((rows) => rows?.length)),
            );
            if (folded !== 500) expect(folded).toEqual([4, 2]);
            const versions = await told(
              client
                .send(new ListObjectVersionsCommand({ Bucket, KeyMarker: 'b' }))
                .then(({ Versions }) => Versions?.map(({ Key }) => Key)),
            );
            if (versions !== 500) expect(versions).toEqual(all.filter((one) => one > 'b'));
            for (const Key of [`${flipped}.${index}`, all[0], all.at(-1)]) {
              const found = await told(client.send(new HeadObjectCommand({ Bucket, Key })).then(() => 200));
              expect([200, 500]).toContain(found);
            }
          }
        });
      }
    }
    expect(failures).toBeGreaterThanOrEqual(bytes.length * 3);
  });

  it.each([0x08, 0x10, 0x40])('does not let a bucket with objects be removed (bit %i)', async (bit) => {
    const { client } = service;
    const bucket = await service.bucket();
    const name = `only-${bit}`;
    await putAll(client, bucket, [name]);
    await quiet(table());
    const key = await storedKey(table(), Buffer.from(`\0${name}`));
    const removed = await whileFlipped(table(), key, { byte: 0, bit }, () =>
      told(client.send(new DeleteBucketCommand({ Bucket: bucket })).then(() => 204)),
    );
    expect(removed).toBe(500);
  });
});
