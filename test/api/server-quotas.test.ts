import {
  AbortMultipartUploadCommand,
  CompleteMultipartUploadCommand,
  CopyObjectCommand,
  CreateBucketCommand,
  CreateMultipartUploadCommand,
  DeleteObjectCommand,
  DeleteObjectsCommand,
  HeadBucketCommand,
  PutObjectCommand,
  UploadPartCommand,
  UploadPartCopyCommand,
  type CompletedPart,
} from '@aws-sdk/client-s3';
import { describe, expect, it } from 'vitest';
import { administer, makeKey, runAt } from '../support/storage/administration.ts';
import { bucketName } from '../support/clients/clients.ts';
import { expectError, s3Error, textOf } from '../support/clients/expect-error.ts';
import { signedV4 } from '../support/clients/form.ts';
import { read, setVersioning, versionsOf } from '../support/storage/objects.ts';
import type { RawResponse } from '../support/clients/raw-client.ts';
import { isAdministered, serviceUnderTest } from '../support/programs/service-under-test.ts';
import { eventually } from '../support/runs/eventually.ts';

const service = serviceUnderTest({ alone: true });
// Each command is a process of its own.
const exceeded = s3Error('QuotaExceeded', 403);
const invalidPart = s3Error('InvalidPart', 400);

describe.runIf(isAdministered)('quotas', () => {
  const put = (Bucket: string, Key: string, size: number): Promise<unknown> =>
    service.client.send(new PutObjectCommand({ Bucket, Key, Body: Buffer.alloc(size) }));
  const used = async (bucket: string): Promise<number> => {
    // It waits until the counters have followed.
    await service.client.send(new HeadBucketCommand({ Bucket: bucket }));
    const shown = await administer(service.place, 'quota', 'show', bucket);
    return (shown as { used: { bytes: number } }).used.bytes;
  };
  /** Returns what is used once it is more: where many servers count, they do so a moment later. */
  const usedMoreThan = (bytes: number, bucket: string): Promise<number> =>
    eventually(async () => {
      const now = await used(bucket);
      expect(now).toBeGreaterThan(bytes);
      return now;
    });
  const quota = (bucket: string, ...options: string[]): Promise<unknown> =>
    administer(service.place, 'quota', 'set', bucket, ...options);

  it('of bytes are kept to the byte', async () => {
    const Bucket = await service.bucket();
    await quota(Bucket, '--bytes', '1000');
    await put(Bucket, 'a', 600);
    await expect(put(Bucket, 'b', 401)).rejects.toEqual(exceeded);
    await put(Bucket, 'b', 400);
    await expect(put(Bucket, 'c', 1)).rejects.toEqual(exceeded);
    await put(Bucket, 'empty', 0);
    expect(await administer(service.place, 'quota', 'show', Bucket)).toMatchObject({ quota: { bytes: 1000 } });
    await service.client.send(new DeleteObjectCommand({ Bucket, Key: 'b' }));
    await put(Bucket, 'c', 400);
  });

  it('of objects are kept to the object', async () => {
    const Bucket = await service.bucket();
    await quota(Bucket, '--objects', '2');
    await put(Bucket, 'a', 1);
    await put(Bucket, 'b', 1);
    await expect(put(Bucket, 'c', 0)).rejects.toEqual(exceeded);
    await quota(Bucket, '--objects', '3');
    await put(Bucket, 'c', 0);
    await quota(Bucket, '--objects', 'default');
    await put(Bucket, 'd', 0);
  });

  it('are not overshot by writes that arrive together', async () => {
    const Bucket = await service.bucket();
    await quota(Bucket, '--objects', '5');
    const outcomes = await Promise.allSettled(Array.from({ length: 20 }, (_, n) => put(Bucket, `k${n}`, 10)));
    const refused = outcomes.filter((one) => one.status === 'rejected');
    expect(refused.map(({ reason }) => reason as unknown)).toEqual(Array.from({ length: 15 }, () => exceeded));
  });

  it('refuse whatever adds something while a bucket is over, and nothing else', async () => {
    const Bucket = await service.bucket();
    const { client } = service;
    await put(Bucket, 'a', 500);
    const { UploadId } = await client.send(new CreateMultipartUploadCommand({ Bucket, Key: 'm' }));
    const part = { Bucket, Key: 'm', UploadId, PartNumber: 1 };
    const { ETag, ChecksumCRC32 } = await client.send(new UploadPartCommand({ ...part, Body: Buffer.alloc(100) }));
    const bytes = await used(Bucket);
    await quota(Bucket, '--bytes', String(bytes - 1));

    const MultipartUpload = { Parts: [{ ETag, ChecksumCRC32, PartNumber: 1 }] };
    const complete = new CompleteMultipartUploadCommand({ Bucket, Key: 'm', UploadId, MultipartUpload });
    const CopySource = `${Bucket}/a`;
    await expect(put(Bucket, 'b', 0)).rejects.toEqual(exceeded);
    await expect(client.send(new CopyObjectCommand({ Bucket, Key: 'c', CopySource }))).rejects.toEqual(exceeded);
    await expect(client.send(new UploadPartCommand({ ...part, Body: Buffer.alloc(1) }))).rejects.toEqual(exceeded);
    await expect(client.send(new UploadPartCopyCommand({ ...part, CopySource }))).rejects.toEqual(exceeded);
    await expect(client.send(complete)).rejects.toEqual(exceeded);

    await quota(Bucket, '--bytes', String(bytes));
    await client.send(complete);
    await quota(Bucket, '--bytes', '600');
    await expect(put(Bucket, 'b', 1)).rejects.toEqual(exceeded);
    await quota(Bucket, '--bytes', '1');
    await client.send(new DeleteObjectCommand({ Bucket, Key: 'a' }));
    await client.send(new DeleteObjectCommand({ Bucket, Key: 'm' }));
    await put(Bucket, 'b', 1);
  });

  it('count the parts of open uploads until they are aborted', async () => {
    const Bucket = await service.bucket();
    const { client } = service;
    const { UploadId } = await client.send(new CreateMultipartUploadCommand({ Bucket, Key: 'm' }));
    const opened = await used(Bucket);
    await client.send(new UploadPartCommand({ Bucket, Key: 'm', UploadId, PartNumber: 1, Body: Buffer.alloc(80) }));
    await quota(Bucket, '--bytes', String((await used(Bucket)) + 20));
    await expect(put(Bucket, 'a', 21)).rejects.toEqual(exceeded);
    await client.send(new AbortMultipartUploadCommand({ Bucket, Key: 'm', UploadId }));
    await put(Bucket, 'a', 100);
    expect(await used(Bucket)).toBeLessThan(opened);
  });

  it('count the items of parts, which may be empty', async () => {
    const Bucket = await service.bucket();
    const { client } = service;
    const { UploadId } = await client.send(new CreateMultipartUploadCommand({ Bucket, Key: 'm' }));
    await put(Bucket, 'empty', 0);
    const upload = { Bucket, Key: 'm', UploadId };
    const withUpload = await used(Bucket);
    await client.send(new UploadPartCommand({ ...upload, PartNumber: 1, Body: '' }));
    const withPart = await used(Bucket);
    expect(withPart).toBeGreaterThan(withUpload);
    await quota(Bucket, '--bytes', String(withPart));
    await expect(client.send(new UploadPartCommand({ ...upload, PartNumber: 2, Body: '' }))).rejects.toEqual(exceeded);
    const copy = new UploadPartCopyCommand({ ...upload, PartNumber: 2, CopySource: `${Bucket}/empty` });
    await expect(client.send(copy)).rejects.toEqual(exceeded);
    await client.send(new AbortMultipartUploadCommand(upload));
    await eventually(async () => expect(await used(Bucket)).toBe(0));
  });

  it('count the eight newest uploads of one part, and older ones no longer', async () => {
    const Bucket = await service.bucket();
    const { client } = service;
    const { UploadId } = await client.send(new CreateMultipartUploadCommand({ Bucket, Key: 'm' }));
    const opened = await used(Bucket);
    const upload = { Bucket, Key: 'm', UploadId };
    const tags: CompletedPart[] = [];
    let part = 0;
    for (let n = 0; n < 10; n += 1) {
      const sent = new UploadPartCommand({ ...upload, PartNumber: 1, Body: Buffer.alloc(100, String(n)) });
      const { ETag, ChecksumCRC32 } = await client.send(sent);
      tags.push({ ETag, ChecksumCRC32, PartNumber: 1 });
      if (n > 0) continue;
      part = (await used(Bucket)) - opened;
      await quota(Bucket, '--bytes', String(opened + 10 * part));
    }
    // The change feed releases the two oldest.
    await eventually(() => put(Bucket, 'a', 2 * part));
    await expect(put(Bucket, 'b', 1)).rejects.toEqual(exceeded);
    const complete = (uploaded: CompletedPart): Promise<unknown> =>
      client.send(new CompleteMultipartUploadCommand({ ...upload, MultipartUpload: { Parts: [uploaded] } }));
    for (const released of tags.slice(0, 2)) await expect(complete(released)).rejects.toEqual(invalidPart);
    await complete(tags[2]!);
    expect(await read(client, Bucket, 'm')).toBe('2'.repeat(100));
    // With the upload, the other seven are gone.
    await quota(Bucket, '--bytes', String(100 + 2 * part + 700));
    await eventually(() => put(Bucket, 'b', 700));
    await expect(put(Bucket, 'c', 1)).rejects.toEqual(exceeded);
  });

  /** Fills a bucket up to its last byte. */
  const full = async (...others: readonly string[]): Promise<string> => {
    const Bucket = await service.bucket();
    await setVersioning(service.client, Bucket, 'Enabled');
    for (const Key of ['a', ...others]) await put(Bucket, Key, 100);
    await quota(Bucket, '--bytes', String(100 * (1 + others.length)));
    return Bucket;
  };
  const link = (bucket: string, key: string): Promise<RawResponse> =>
    service.send({ method: 'POST', path: `/${bucket}/${key}`, query: 'public-link' });

  it('refuse uploads and public links, which are no objects, and let deletes through that hide or remove one', async () => {
    const { client } = service;
    const Bucket = await full('b', 'c');
    const create = new CreateMultipartUploadCommand({ Bucket, Key: 'm' });
    await expect(client.send(create)).rejects.toEqual(exceeded);
    expectError(await link(Bucket, 'a'), 403, 'QuotaExceeded');
    const remove = (Key: string): Promise<unknown> => client.send(new DeleteObjectCommand({ Bucket, Key }));
    const Objects = ['b', 'c', 'c', 'none'].map((Key) => ({ Key }));
    await remove('a');
    await expect(remove('a')).rejects.toEqual(exceeded);
    await expect(remove('none')).rejects.toEqual(exceeded);
    const deletes = await client.send(new DeleteObjectsCommand({ Bucket, Delete: { Objects } }));
    expect(deletes.Deleted!.map(({ Key }) => Key)).toEqual(['b', 'c']);
    expect(deletes.Errors!.map(({ Key, Code }) => [Key, Code])).toEqual([
      ['c', 'QuotaExceeded'],
      ['none', 'QuotaExceeded'],
    ]);
    for (const { key, id } of await versionsOf(client, Bucket))
      await client.send(new DeleteObjectCommand({ Bucket, Key: key, VersionId: id }));
    await put(Bucket, 'd', 300);
    await expect(put(Bucket, 'e', 1)).rejects.toEqual(exceeded);
  });

  it('count delete markers, open uploads and public links by their bytes, until they go', async () => {
    const { client } = service;
    const Bucket = await service.bucket();
    await setVersioning(client, Bucket, 'Enabled');
    await put(Bucket, 'a', 1000);
    const { UploadId } = await client.send(new CreateMultipartUploadCommand({ Bucket, Key: 'm' }));
    const withUpload = await usedMoreThan(1000, Bucket);
    const made = await link(Bucket, 'a');
    expect(made.status).toBe(201);
    const withLink = await usedMoreThan(withUpload, Bucket);
    await client.send(new DeleteObjectCommand({ Bucket, Key: 'none' }));
    await usedMoreThan(withLink, Bucket);
    await client.send(new AbortMultipartUploadCommand({ Bucket, Key: 'm', UploadId }));
    const id = textOf(made.text, 'Id')!;
    expect((await service.send({ method: 'DELETE', path: `/${Bucket}/a`, query: `public-link&id=${id}` })).status).toBe(
      204,
    );
    const [marker] = (await versionsOf(client, Bucket)).filter(({ key }) => key === 'none');
    await client.send(new DeleteObjectCommand({ Bucket, Key: 'none', VersionId: marker!.id }));
    await eventually(async () => expect(await used(Bucket)).toBe(1000));
  });

  it('hold for forms, whose length is not known before', async () => {
    const Bucket = await service.bucket();
    await quota(Bucket, '--bytes', '100');
    const post = async (size: number): Promise<number> => {
      const form = new FormData();
      const fields = signedV4(service.alice, [{ bucket: Bucket }, { key: 'posted' }]);
      for (const [name, value] of [['key', 'posted'] as const, ...fields]) form.append(name, String(value));
      form.append('file', new Blob([Buffer.alloc(size)]));
      return (await fetch(`${service.url}/${Bucket}`, { method: 'POST', body: form })).status;
    };
    expect(await post(101)).toBe(403);
    expect(await post(100)).toBe(204);
    expect(await post(1)).toBe(403);
  });

  it('of buckets are those of the project', async () => {
    const key = await makeKey(service.place, 'shop:ci@few');
    const client = service.sdk(key);
    const create = (): Promise<unknown> => client.send(new CreateBucketCommand({ Bucket: bucketName() }));
    await quota('shop@few', '--buckets', '2');
    await create();
    await create();
    await expect(create()).rejects.toEqual(s3Error('TooManyBuckets', 400));
    await quota('shop@few', '--buckets', '3');
    await eventually(create);
    await expect(create()).rejects.toEqual(s3Error('TooManyBuckets', 400));

    const { code, stdout, stderr } = await runAt(service.place, ['project', 'remove', 'shop@few']);
    expect({ code, stdout }).toEqual({ code: 1, stdout: '' });
    expect(stderr).toBe('stillage: shop@few still has the users shop:ci@few; remove them first\n');
    await administer(service.place, 'user', 'remove', 'shop:ci@few');
    const again = await runAt(service.place, ['project', 'remove', 'shop@few']);
    expect(again.stderr).toBe('stillage: shop@few still owns buckets; remove them first\n');
  });
});
