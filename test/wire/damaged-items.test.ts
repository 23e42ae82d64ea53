import { DeleteObjectCommand, GetObjectCommand, HeadObjectCommand, ListObjectsV2Command } from '@aws-sdk/client-s3';
import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { LmdbEnvironment } from '../../shared/adapters/embedded/table/lmdb-environment.ts';
import { s3Error } from '../support/clients/expect-error.ts';
import { put, read } from '../support/storage/objects.ts';
import { runProgram } from '../support/programs/program.ts';
import { isExternal, serviceUnderTest } from '../support/programs/service-under-test.ts';

/** The responses to clients and the reports to operators if an item of the table is damaged. */

const service = serviceUnderTest({ alone: true });

/** Changes the stored item of the current version of a key. */
async function changeItem(key: string, change: (value: Buffer) => Buffer): Promise<void> {
  const environment = await LmdbEnvironment.open(join(service.started!.data, 'table'));
  const items = environment.database<Buffer, Buffer>('items', { encoding: 'binary', keyEncoding: 'binary' });
  const head = Buffer.from('head/').map((byte) => byte + 1);
  const end = Buffer.concat([head.subarray(0, -1), Buffer.of(0xff)]);
  const found = [...items.getRange({ start: Buffer.from(head), end })].filter(({ key: stored }) =>
    stored.toString().endsWith(`\0${key}`),
  );
  expect(found).toHaveLength(1);
  await environment.run(() => void items.put(found[0]!.key, change(Buffer.from(found[0]!.value))));
  await environment.close();
}

function flipped(value: Buffer, part: number): Buffer {
  value[Math.floor(value.length * part)]! ^= 0x01;
  return value;
}

describe.runIf(!isExternal)('an item of the table that is damaged', () => {
  let bucket: string;

  beforeAll(async () => {
    bucket = await service.lastingBucket();
    await put(service.client, bucket, 'other', 'another object');
  });

  it.each<readonly [string, (value: Buffer) => Buffer]>([
    ['empty', () => Buffer.alloc(0)],
    ['cut', (value: Buffer) => value.subarray(0, -1)],
    ['cut to half', (value: Buffer) => value.subarray(0, value.length / 2)],
    ['longer', (value: Buffer) => Buffer.concat([value, Buffer.alloc(3)])],
    ['of zeros', (value: Buffer) => Buffer.alloc(value.length)],
    ['of ones', (value: Buffer) => Buffer.alloc(value.length, 0xff)],
    ...[0.1, 0.3, 0.5, 0.7, 0.9].map(
      (part) => [`changed in one bit after ${part} of it`, (value: Buffer) => flipped(value, part)] as const,
    ),
  ])('is a 500 and a line in the log, not a 404, if it is %s', async (_, change) => {
    const target = { Bucket: bucket, Key: randomUUID() };
    const { client } = service;
    await put(client, target.Bucket, target.Key, 'content');
    await changeItem(target.Key, change);
    const internalError = s3Error('InternalError', 500);
    await expect(client.send(new GetObjectCommand(target))).rejects.toEqual(internalError);
    await expect(client.send(new HeadObjectCommand(target))).rejects.toMatchObject({
      $metadata: { httpStatusCode: 500 },
    });
    await expect(put(client, target.Bucket, target.Key, 'new content')).rejects.toEqual(internalError);
    await expect(client.send(new DeleteObjectCommand(target))).rejects.toEqual(internalError);
    await expect(client.send(new ListObjectsV2Command({ Bucket: bucket, Prefix: target.Key }))).rejects.toEqual(
      internalError,
    );
    await expect.poll(() => service.log()).toMatch(new RegExp(`item head/\\S+ ${target.Key} of the table is damaged`));
    expect(await read(client, bucket, 'other')).toBe('another object');

    const scrub = ['scrub', '--data', service.started!.data, '--min-age', '0s'];
    const { code, stdout, stderr } = await runProgram(scrub, { killAfter: 120_000 });
    expect(code).toBe(1);
    expect(stdout).toMatch(new RegExp(`^lost {2}unreadable {2}item head/\\S+ ${target.Key}: .*damaged`, 'm'));
    expect(stdout).toContain('not checked: orphans were not looked for');
    expect(stdout).not.toContain('orphan-');
    expect(stderr).not.toMatch(/^ +at /m);
  });

  it('does not fail the writes that share a transaction with one to it', async () => {
    const { client } = service;
    const keys = Array.from({ length: 40 }, () => randomUUID());
    await put(client, bucket, 'damaged', 'content');
    await changeItem('damaged', (value) => value.subarray(0, -1));
    const writes = keys.flatMap((key) => [put(client, bucket, key, key), put(client, bucket, 'damaged', 'content')]);
    const outcomes = (await Promise.allSettled(writes)).map(({ status }) => status);
    expect(outcomes).toEqual(keys.flatMap(() => ['fulfilled', 'rejected']));
  });
});
