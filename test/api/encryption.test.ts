import {
  CompleteMultipartUploadCommand,
  CopyObjectCommand,
  CreateMultipartUploadCommand,
  GetObjectAttributesCommand,
  GetObjectCommand,
  HeadObjectCommand,
  PutObjectCommand,
  UploadPartCommand,
  UploadPartCopyCommand,
} from '@aws-sdk/client-s3';
import { createHash, randomBytes } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { expectError, s3Error } from '../support/clients/expect-error.ts';
import { md5Tag, put } from '../support/storage/objects.ts';
import { isInspectable, serviceUnderTest } from '../support/programs/service-under-test.ts';

const service = serviceUnderTest({ alone: true });

/** The three parameters of SSE-C, as the SDK names them. */
function customer(key: Buffer) {
  return {
    SSECustomerAlgorithm: 'AES256',
    SSECustomerKey: key.toString('base64'),
    SSECustomerKeyMD5: createHash('md5').update(key).digest('base64'),
  };
}

function copySource(key: Buffer) {
  const { SSECustomerAlgorithm, SSECustomerKey, SSECustomerKeyMD5 } = customer(key);
  return {
    CopySourceSSECustomerAlgorithm: SSECustomerAlgorithm,
    CopySourceSSECustomerKey: SSECustomerKey,
    CopySourceSSECustomerKeyMD5: SSECustomerKeyMD5,
  };
}

const key = randomBytes(32);
const otherKey = randomBytes(32);
const sse = customer(key);

async function bytesOf(input: ConstructorParameters<typeof GetObjectCommand>[0]): Promise<Buffer> {
  const { Body } = await service.client.send(new GetObjectCommand(input));
  return Buffer.from(await Body!.transformToByteArray());
}

/** Which of these something that the service keeps holds. */
async function found(needles: readonly (Buffer | string)[]): Promise<readonly (Buffer | string)[]> {
  const kept = await service.kept();
  return needles.filter((needle) => kept.some((bytes) => bytes.includes(needle)));
}

/** https://docs.aws.amazon.com/AmazonS3/latest/userguide/ServerSideEncryptionCustomerKeys.html */
describe('encryption with a key of the customer (SSE-C)', () => {
  const plain = Buffer.from('nobody else shall read this sentence. '.repeat(6000));

  it('gives the bytes back to the key, with the facts of the plaintext', async () => {
    const bucket = await service.bucket();
    const stored = await service.client.send(new PutObjectCommand({ Bucket: bucket, Key: 'k', Body: plain, ...sse }));
    expect(stored.SSECustomerAlgorithm).toBe('AES256');
    expect(stored.SSECustomerKeyMD5).toBe(sse.SSECustomerKeyMD5);
    expect(stored.ETag).toBe(md5Tag(plain));
    const head = await service.client.send(new HeadObjectCommand({ Bucket: bucket, Key: 'k', ...sse }));
    expect(head.ContentLength).toBe(plain.length);
    expect(head.SSECustomerKeyMD5).toBe(sse.SSECustomerKeyMD5);
    expect((await bytesOf({ Bucket: bucket, Key: 'k', ...sse })).equals(plain)).toBe(true);
  });

  it.each([
    ['bytes=0-0', 0, 0],
    ['bytes=65530-65545', 65_530, 65_545],
    ['bytes=131072-200000', 131_072, 200_000],
    ['bytes=-7', plain.length - 7, plain.length - 1],
  ])('reads %s of it', async (range, first, last) => {
    const bucket = await service.bucket();
    await put(service.client, bucket, 'k', plain, sse);
    const bytes = await bytesOf({ Bucket: bucket, Key: 'k', Range: range, ...sse });
    expect(bytes.equals(plain.subarray(first, last + 1))).toBe(true);
  });

  it('leaves neither the plaintext nor the key where bytes are kept, or in the log', async ({ skip }) => {
    if (!isInspectable) skip('the service was not started here: what it keeps cannot be looked at');
    const bucket = await service.bucket();
    const sentence = 'this very sentence is found, and the other one is not';
    await put(service.client, bucket, 'plain', sentence);
    const secret = 'and this secret one even less';
    await put(service.client, bucket, 'k', secret, sse);
    expect(await found([sentence, secret, key, sse.SSECustomerKey])).toEqual([sentence]);
    expect(await service.log()).not.toContain(sse.SSECustomerKey);
  });

  it('keeps parts under the key of the upload, and reads across them', async () => {
    const bucket = await service.bucket();
    const target = { Bucket: bucket, Key: 'k' };
    const { UploadId } = await service.client.send(new CreateMultipartUploadCommand({ ...target, ...sse }));
    const parts = [randomBytes(5 * 1024 * 1024), randomBytes(100_000)] as const;
    const upload = { ...target, UploadId: UploadId! };
    const first = new UploadPartCommand({ ...upload, PartNumber: 1, Body: parts[0], ...sse });
    const done = [await service.client.send(first)];
    expect(done[0]!.SSECustomerKeyMD5).toBe(sse.SSECustomerKeyMD5);
    await expect(
      service.client.send(new UploadPartCommand({ ...upload, PartNumber: 2, Body: parts[1] })),
    ).rejects.toEqual(s3Error('InvalidRequest', 400));
    await expect(
      service.client.send(new UploadPartCommand({ ...upload, PartNumber: 2, Body: parts[1], ...customer(otherKey) })),
    ).rejects.toEqual(s3Error('InvalidRequest', 400));
    done.push(await service.client.send(new UploadPartCommand({ ...upload, PartNumber: 2, Body: parts[1], ...sse })));
    const Parts = done.map(({ ETag, ChecksumCRC32 }, at) => ({ ETag, ChecksumCRC32, PartNumber: at + 1 }));
    await service.client.send(new CompleteMultipartUploadCommand({ ...upload, MultipartUpload: { Parts } }));
    const whole = Buffer.concat(parts);
    expect((await bytesOf({ ...target, ...sse })).equals(whole)).toBe(true);
    const across = await bytesOf({ ...target, Range: 'bytes=5242870-5242890', ...sse });
    expect(across.equals(whole.subarray(5_242_870, 5_242_891))).toBe(true);
  });

  it('copies from key to key, to plain, and into parts', async () => {
    const bucket = await service.bucket();
    await put(service.client, bucket, 'k', plain, sse);
    const from = { Bucket: bucket, CopySource: `${bucket}/k`, ...copySource(key) };
    await service.client.send(new CopyObjectCommand({ ...from, Key: 'rekeyed', ...customer(otherKey) }));
    expect((await bytesOf({ Bucket: bucket, Key: 'rekeyed', ...customer(otherKey) })).equals(plain)).toBe(true);
    await service.client.send(new CopyObjectCommand({ ...from, Key: 'plain' }));
    expect((await bytesOf({ Bucket: bucket, Key: 'plain' })).equals(plain)).toBe(true);

    const target = { Bucket: bucket, Key: 'parts' };
    const { UploadId } = await service.client.send(new CreateMultipartUploadCommand(target));
    const copied = await service.client.send(
      new UploadPartCopyCommand({
        ...target,
        UploadId: UploadId!,
        PartNumber: 1,
        ...from,
        CopySourceRange: 'bytes=70000-70009',
      }),
    );
    expect(copied.CopyPartResult?.ETag).toBe(md5Tag(plain.subarray(70_000, 70_010)));
    await expect(
      service.client.send(new CopyObjectCommand({ Bucket: bucket, CopySource: `${bucket}/k`, Key: 'x' })),
    ).rejects.toEqual(s3Error('InvalidRequest', 400));
  });

  it('is renamed without its key, which alone still reads it', async () => {
    const bucket = await service.bucket();
    const key = randomBytes(32);
    await put(service.client, bucket, 'former', 'content', customer(key));
    const renamed = await service.send({
      method: 'PUT',
      path: `/${bucket}/present`,
      query: 'renameObject',
      headers: { 'x-amz-rename-source': 'former' },
    });
    expect([renamed.status, renamed.text]).toEqual([200, '']);
    const named = { Bucket: bucket, Key: 'present' };
    await expect(service.client.send(new GetObjectCommand(named))).rejects.toMatchObject({ name: 'InvalidRequest' });
    const got = await service.client.send(new GetObjectCommand({ ...named, ...customer(key) }));
    expect(await got.Body!.transformToString()).toBe('content');
  });

  it('refuses a caller with no key, another key, or a key where none is needed', async () => {
    const bucket = await service.bucket();
    await put(service.client, bucket, 'k', plain, sse);
    await put(service.client, bucket, 'plain', 'x');
    const read = (Key: string, keyed = {}) =>
      service.client.send(new GetObjectCommand({ Bucket: bucket, Key, ...keyed }));
    await expect(read('k')).rejects.toEqual(s3Error('InvalidRequest', 400));
    await expect(read('k', customer(otherKey))).rejects.toEqual(s3Error('InvalidRequest', 400));
    await expect(read('plain', sse)).rejects.toEqual(s3Error('InvalidRequest', 400));
    const attributes = { Bucket: bucket, Key: 'k', ObjectAttributes: ['ObjectSize' as const] };
    await expect(service.client.send(new GetObjectAttributesCommand(attributes))).rejects.toEqual(
      s3Error('InvalidRequest', 400),
    );
    const { ObjectSize } = await service.client.send(new GetObjectAttributesCommand({ ...attributes, ...sse }));
    expect(ObjectSize).toBe(plain.length);
  });

  const prefix = 'x-amz-server-side-encryption-customer-';
  const whole = {
    [`${prefix}algorithm`]: 'AES256',
    [`${prefix}key`]: sse.SSECustomerKey,
    [`${prefix}key-MD5`]: sse.SSECustomerKeyMD5,
  };
  const without = (name: string) => Object.fromEntries(Object.entries(whole).filter(([one]) => one !== prefix + name));
  const short = randomBytes(16);

  it.each<[string, Record<string, string>, number, string]>([
    ['another algorithm', { ...whole, [`${prefix}algorithm`]: 'AES128' }, 400, 'InvalidEncryptionAlgorithmError'],
    ['no algorithm', without('algorithm'), 400, 'InvalidArgument'],
    ['no key', without('key'), 400, 'InvalidArgument'],
    ['no MD5', without('key-MD5'), 400, 'InvalidArgument'],
    ['a wrong MD5', { ...whole, [`${prefix}key-MD5`]: customer(otherKey).SSECustomerKeyMD5 }, 400, 'InvalidArgument'],
    [
      'a short key',
      { ...whole, [`${prefix}key`]: short.toString('base64'), [`${prefix}key-MD5`]: customer(short).SSECustomerKeyMD5 },
      400,
      'InvalidArgument',
    ],
    ['SSE-S3 besides', { ...whole, 'x-amz-server-side-encryption': 'AES256' }, 400, 'InvalidArgument'],
    ['KMS', { 'x-amz-server-side-encryption': 'aws:kms' }, 501, 'NotImplemented'],
    ['what is no encryption', { 'x-amz-server-side-encryption': 'ROT13' }, 400, 'InvalidArgument'],
  ])('refuses %s, and stores nothing', async (_, headers, status, code) => {
    const bucket = await service.bucket();
    const answer = await service.send({ method: 'PUT', path: `/${bucket}/k`, headers, body: 'x' });
    expectError(answer, status, code);
    await expect(service.client.send(new GetObjectCommand({ Bucket: bucket, Key: 'k' }))).rejects.toEqual(
      s3Error('NoSuchKey', 404),
    );
  });
});

/** https://docs.aws.amazon.com/AmazonS3/latest/userguide/UsingServerSideEncryption.html */
describe('encryption with a key of the service (SSE-S3)', () => {
  it('is told, and read back without a key', async () => {
    const bucket = await service.bucket();
    const stored = await put(service.client, bucket, 'k', 'content', { ServerSideEncryption: 'AES256' });
    expect(stored.ServerSideEncryption).toBe('AES256');
    const head = await service.client.send(new HeadObjectCommand({ Bucket: bucket, Key: 'k' }));
    expect(head.ServerSideEncryption).toBe('AES256');
    expect((await bytesOf({ Bucket: bucket, Key: 'k' })).toString()).toBe('content');
    await service.client.send(new CopyObjectCommand({ Bucket: bucket, Key: 'copy', CopySource: `${bucket}/k` }));
    expect((await bytesOf({ Bucket: bucket, Key: 'copy' })).toString()).toBe('content');
  });

  it('is told by every step of an upload in parts, repeated ones too', async () => {
    const { client } = service;
    const upload = { Bucket: await service.bucket(), Key: 'k' };
    const created = await client.send(new CreateMultipartUploadCommand({ ...upload, ServerSideEncryption: 'AES256' }));
    const { UploadId } = created;
    const part = await client.send(new UploadPartCommand({ ...upload, UploadId, PartNumber: 1, Body: 'content' }));
    const MultipartUpload = { Parts: [{ PartNumber: 1, ETag: part.ETag, ChecksumCRC32: part.ChecksumCRC32 }] };
    const complete = () => client.send(new CompleteMultipartUploadCommand({ ...upload, UploadId, MultipartUpload }));
    const told = [created, part, await complete(), await complete()];
    expect(told.map(({ ServerSideEncryption }) => ServerSideEncryption)).toEqual(Array(4).fill('AES256'));
  });

  it('keeps ciphertext', async ({ skip }) => {
    if (!isInspectable) skip('the service was not started here: what it keeps cannot be looked at');
    const bucket = await service.bucket();
    const secret = 'a sentence that the service keeps for itself';
    await put(service.client, bucket, 'k', secret, { ServerSideEncryption: 'AES256' });
    expect(await found([secret])).toEqual([]);
  });

  it('encrypts a plain object by copying it onto itself', async () => {
    const bucket = await service.bucket();
    await put(service.client, bucket, 'k', 'content');
    const copy = { Bucket: bucket, Key: 'k', CopySource: `${bucket}/k`, ServerSideEncryption: 'AES256' as const };
    expect((await service.client.send(new CopyObjectCommand(copy))).ServerSideEncryption).toBe('AES256');
    expect((await bytesOf({ Bucket: bucket, Key: 'k' })).toString()).toBe('content');
  });
});
