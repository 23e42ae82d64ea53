import { CopyObjectCommand, UploadPartCopyCommand } from '@aws-sdk/client-s3';
import { createHash, randomBytes } from 'node:crypto';
import { open, readFile, truncate } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { expectError } from '../support/clients/expect-error.ts';
import { formBody, formType, signedV4 } from '../support/clients/form.ts';
import { put } from '../support/storage/objects.ts';
import { isExternal, isInspectable, serviceUnderTest } from '../support/programs/service-under-test.ts';
import { TestUpload, leastPart } from '../support/storage/uploads.ts';
import { filesKept } from '../support/disks/kept-bytes.ts';

/** The traces of an encrypted object in the service's data, and the responses after its files were modified. */

const service = serviceUnderTest({ alone: true });
const prefix = 'x-amz-server-side-encryption-customer-';

/** The headers of SSE-C, and the same as the SDK names it. */
function customer(key: Buffer) {
  const [text, md5] = [key.toString('base64'), createHash('md5').update(key).digest('base64')];
  return {
    headers: { [`${prefix}algorithm`]: 'AES256', [`${prefix}key`]: text, [`${prefix}key-md5`]: md5 },
    input: { SSECustomerAlgorithm: 'AES256', SSECustomerKey: text, SSECustomerKeyMD5: md5 },
    source: {
      CopySourceSSECustomerAlgorithm: 'AES256',
      CopySourceSSECustomerKey: text,
      CopySourceSSECustomerKeyMD5: md5,
    },
  };
}

/** Which of these are in anything that the service keeps. */
async function foundKept<Name extends string>(needles: Readonly<Record<Name, Buffer | string>>): Promise<Name[]> {
  const found = new Set<Name>();
  for (const content of await service.kept()) {
    for (const name of Object.keys(needles) as Name[]) if (content.includes(needles[name])) found.add(name);
  }
  return [...found].sort();
}

/** Returns a text of this size that repeats one sentence. */
const sentence = (word: string, size: number): Buffer => Buffer.alloc(size, `nobody shall find ${word} here. `);

describe.runIf(isInspectable)('an object under a key of the customer', () => {
  const [key, other] = [randomBytes(32), randomBytes(32)];
  const [sse, rekeyed] = [customer(key), customer(other)];

  it('is ciphertext wherever it lies, and its key lies nowhere', async () => {
    const bucket = await service.bucket();
    await put(service.client, bucket, 'plain-small', sentence('a small control', 100));
    await put(service.client, bucket, 'plain-large', sentence('a large control', 100_000));
    await put(service.client, bucket, 'small', sentence('what is small', 100), sse.input);
    await put(service.client, bucket, 'large', sentence('what is large', 100_000), sse.input);
    const upload = await TestUpload.begin(service.client, bucket, 'parts', sse.input);
    const part = await upload.part(1, sentence('a part', leastPart), sse.input);
    const copied = new UploadPartCopyCommand({
      ...{ ...upload.target, PartNumber: 2, CopySource: `${bucket}/large` },
      ...{ ...sse.input, ...sse.source },
    });
    const { CopyPartResult } = await service.client.send(copied);
    await upload.complete([part, { PartNumber: 2, ETag: CopyPartResult!.ETag }]);
    const copy = { Bucket: bucket, Key: 'copy', CopySource: `${bucket}/large`, ...rekeyed.input, ...sse.source };
    await service.client.send(new CopyObjectCommand(copy));
    const fields: [string, string][] = [
      ['key', 'form'],
      ...Object.entries(sse.headers),
      ...signedV4(service.alice, [{ bucket }, ['starts-with', '$key', ''], ...entriesAsConditions(sse.headers)]),
    ] as [string, string][];
    const form = await service.sendUnsigned({
      ...{ method: 'POST', path: `/${bucket}`, headers: { 'content-type': formType } },
      body: formBody(fields, { content: sentence('a form', 50_000) }),
    });
    expect(form.status, form.text).toBe(204);

    const read = await service.send({ path: `/${bucket}/large`, headers: sse.headers });
    expect(read.body.equals(sentence('what is large', 100_000))).toBe(true);
    // Refused requests contain a key, too.
    for (const request of [
      { path: `/${bucket}/large`, headers: rekeyed.headers },
      { path: `/${bucket}/plain-small`, headers: sse.headers },
      { method: 'PUT', path: `/${bucket}/large`, headers: { ...sse.headers, [`${prefix}algorithm`]: 'x' }, body: 'x' },
    ]) {
      expect((await service.send(request)).status).toBe(400);
    }

    const keys: Record<string, Buffer | string> = {};
    for (const [at, one] of [key, other].entries()) {
      keys[`key ${at}`] = one;
      for (const form of ['base64', 'hex'] as const) keys[`key ${at} in ${form}`] = one.toString(form);
    }
    const found = await foundKept({
      ...keys,
      small: 'find what is small',
      large: 'find what is large',
      part: 'find a part',
      form: 'find a form',
      'a small control': 'find a small control',
      'a large control': 'find a large control',
    });
    expect(found).toEqual(['a large control', 'a small control']);
    const log = await service.log();
    for (const one of [key, other]) {
      for (const form of ['base64', 'base64url', 'hex'] as const) expect(log).not.toContain(one.toString(form));
    }
  });
});

function entriesAsConditions(headers: Readonly<Record<string, string>>): readonly unknown[] {
  return Object.entries(headers).map(([name, value]) => ({ [name]: value }));
}

describe.runIf(!isExternal)('ciphertext that somebody has changed', () => {
  const size = 300_000;
  const segment = 64 * 1024;
  const sse = customer(randomBytes(32));
  const content = randomBytes(size);

  /** A separate service, so that its only large blob can be identified. */
  const damaged = serviceUnderTest({ alone: true });
  let path: string;
  let file: string;
  let whole: Buffer;

  beforeAll(async () => {
    path = `/${await damaged.lastingBucket()}/key`;
    expect((await damaged.send({ method: 'PUT', path, headers: sse.headers, body: content })).status).toBe(200);
    const files = await filesKept(join(damaged.started!.data, 'blobs'));
    const contents = await Promise.all(files.map(async (one) => ({ file: one, bytes: await readFile(one) })));
    const large = contents.filter((one) => !one.file.includes('small') && one.bytes.length > size);
    expect(large).toHaveLength(1);
    [file, whole] = [large[0]!.file, large[0]!.bytes];
  });

  /** Writes bytes into the file of the blob; it is whole again before the next test. */
  async function write(bytes: Buffer, at: number): Promise<void> {
    const handle = await open(file, 'r+');
    await handle.write(bytes, 0, bytes.length, at);
    await handle.close();
  }

  const get = (headers: Record<string, string> = {}) => damaged.send({ path, headers: { ...sse.headers, ...headers } });

  /** Where the ciphertext begins in the file: behind it there is nothing. */
  const begin = (): number => whole.length - (size + 16 * Math.ceil(size / segment));
  const sealed = segment + 16;

  it('is answered with 500 and none of its content, if it is damaged at the beginning', async () => {
    expect((await get()).body.equals(content)).toBe(true);
    for (const at of [begin(), begin() + segment, begin() - 1]) {
      await write(Buffer.of(whole[at]! ^ 1), at);
      const response = await get();
      expectError(response, 500, 'InternalError');
      expect(response.header('etag')).toBeUndefined();
      await write(whole, 0);
    }
  });

  it('is answered as far as it is right, and never as if that were all', async () => {
    const at = begin() + 2 * sealed + 5;
    await write(Buffer.of(whole[at]! ^ 1), at);
    // The modified part is read before the first byte is sent.
    expectError(await get(), 500, 'InternalError');
    expectError(await get({ range: `bytes=${2 * segment}-${2 * segment + 10}` }), 500, 'InternalError');
    const before = await get({ range: `bytes=0-${segment - 1}` });
    expect(before.body.equals(content.subarray(0, segment))).toBe(true);
    await write(whole, 0);
  });

  it('is not read in another order', async () => {
    const [first, second] = [begin(), begin() + sealed];
    await write(whole.subarray(second, second + sealed), first);
    await write(whole.subarray(first, first + sealed), second);
    expectError(await get(), 500, 'InternalError');
    expectError(await get({ range: `bytes=${segment}-${segment + 10}` }), 500, 'InternalError');
    await write(whole, 0);
  });

  it('is not read where its end is missing', async () => {
    await truncate(file, begin() + 2 * sealed);
    expectError(await get(), 500, 'InternalError');
    expectError(await get({ range: 'bytes=-10' }), 500, 'InternalError');
    await write(whole, 0);
    expect((await get()).body.equals(content)).toBe(true);
  });
});
