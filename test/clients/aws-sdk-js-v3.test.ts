import {
  ChecksumAlgorithm,
  CopyObjectCommand,
  CreateBucketCommand,
  DeleteObjectsCommand,
  GetObjectCommand,
  HeadBucketCommand,
  HeadObjectCommand,
  ListBucketsCommand,
  paginateListObjectsV2,
  PutObjectCommand,
  waitUntilBucketExists,
  type GetObjectCommandInput,
  type S3Client,
  type S3ClientConfig,
} from '@aws-sdk/client-s3';
import { Upload } from '@aws-sdk/lib-storage';
import { getSignedUrl } from '@aws-sdk/s3-request-presigner';
import { createReadStream } from 'node:fs';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { bucketName } from '../support/clients/clients.ts';
import { awkwardNames, long, md5, MiB, randomFile } from '../support/storage/contents.ts';
import { sdkAt, send, startEndpoint, type Endpoint, ways } from '../support/programs/endpoint.ts';

describe.each(ways)('@aws-sdk/client-s3 over $scheme, buckets in the $style', ({ scheme, style }) => {
  const bucket = bucketName('js3');
  let endpoint: Endpoint;
  let client: S3Client;

  beforeAll(async () => {
    endpoint = await startEndpoint(scheme);
    client = connect();
    await client.send(new CreateBucketCommand({ Bucket: bucket }));
  });
  afterAll(() => endpoint.stop());

  function connect(config: S3ClientConfig = {}): S3Client {
    const hostStyle = { endpoint: endpoint.hostStyleUrl, forcePathStyle: false };
    return sdkAt(endpoint, { ...config, ...(style === 'path' ? {} : hostStyle) });
  }

  it('finds its buckets', async () => {
    const { Buckets } = await client.send(new ListBucketsCommand());
    // A deployment in the cloud has those of other tests as well.
    const own = (Buckets ?? []).filter(({ Name }) => Name === bucket);
    expect(own).toEqual([expect.objectContaining({ CreationDate: expect.any(Date) as Date })]);
    const waited = await waitUntilBucketExists({ client, maxWaitTime: 10 }, { Bucket: bucket });
    expect(waited.state).toBe('SUCCESS');
    await expect(client.send(new HeadBucketCommand({ Bucket: bucketName('none') }))).rejects.toMatchObject({
      name: 'NotFound',
    });
  });

  it.each(awkwardNames)('puts a buffer at %s and gets it', async (Key) => {
    const content = Buffer.from(`content of ${Key}`);
    const put = await client.send(new PutObjectCommand({ Bucket: bucket, Key, Body: content }));
    expect(put).toMatchObject({ ETag: `"${md5(content)}"`, ChecksumCRC32: expect.any(String) as string });
    const head = await client.send(new HeadObjectCommand({ Bucket: bucket, Key }));
    expect(head).toMatchObject({ ETag: put.ETag, ContentLength: content.length });
    expect(head.LastModified).toBeInstanceOf(Date);
    expect(await stored({ Bucket: bucket, Key })).toEqual(content);
  });

  it('puts a string and nothing', async () => {
    await client.send(new PutObjectCommand({ Bucket: bucket, Key: 'text', Body: 'ünïcode' }));
    expect((await stored({ Bucket: bucket, Key: 'text' })).toString()).toBe('ünïcode');
    await client.send(new PutObjectCommand({ Bucket: bucket, Key: 'dir/' }));
    expect(await stored({ Bucket: bucket, Key: 'dir/' })).toHaveLength(0);
  });

  it('puts a file stream', async () => {
    const file = join(endpoint.folder, 'streamed');
    const content = await randomFile(file, 2 * MiB);
    await client.send(new PutObjectCommand({ Bucket: bucket, Key: 'file', Body: createReadStream(file) }));
    expect(md5(await stored({ Bucket: bucket, Key: 'file' }))).toBe(md5(content));
  });

  it('puts a stream of pieces, whose length it is told', async () => {
    const [pieces, content] = somePieces();
    const where = { Bucket: bucket, Key: 'pieces' };
    await client.send(new PutObjectCommand({ ...where, Body: pieces, ContentLength: content.length }));
    expect(md5(await stored(where))).toBe(md5(content));
  });

  // With its checksum it wants to know the length, and throws before it sends anything.
  it('puts a stream of unknown length, if it need not add a checksum', async () => {
    const [pieces, content] = somePieces();
    const where = { Bucket: bucket, Key: 'unknown length' };
    await connect({ requestChecksumCalculation: 'WHEN_REQUIRED' }).send(
      new PutObjectCommand({ ...where, Body: pieces }),
    );
    expect(md5(await stored(where))).toBe(md5(content));
  });

  it.each(Object.values(ChecksumAlgorithm).filter((name) => !/MD5|XXHASH|SHA512/.test(name)))(
    'puts with a checksum of %s, and checks it when it gets',
    async (algorithm) => {
      const where = { Bucket: bucket, Key: `sum-${algorithm}` };
      await client.send(new PutObjectCommand({ ...where, Body: '123456789', ChecksumAlgorithm: algorithm }));
      const got = await client.send(new GetObjectCommand({ ...where, ChecksumMode: 'ENABLED' }));
      expect(got).toHaveProperty(`Checksum${algorithm}`, expect.any(String));
      expect(await got.Body!.transformToString()).toBe('123456789');
    },
  );

  it('gets ranges', async () => {
    await client.send(new PutObjectCommand({ Bucket: bucket, Key: 'ranges', Body: '0123456789' }));
    const where = { Bucket: bucket, Key: 'ranges' };
    expect((await stored({ ...where, Range: 'bytes=2-4' })).toString()).toBe('234');
    expect((await stored({ ...where, Range: 'bytes=-3' })).toString()).toBe('789');
    await expect(stored({ ...where, Range: 'bytes=10-' })).rejects.toMatchObject({ name: 'InvalidRange' });
  });

  it('tells one error from another', async () => {
    await expect(stored({ Bucket: bucket, Key: 'none' })).rejects.toMatchObject({ name: 'NoSuchKey' });
    await expect(stored({ Bucket: bucketName('none'), Key: 'none' })).rejects.toMatchObject({ name: 'NoSuchBucket' });
    const put = new PutObjectCommand({ Bucket: bucket, Key: 'text', Body: 'x', IfNoneMatch: '*' });
    await expect(client.send(put)).rejects.toMatchObject({ name: 'PreconditionFailed' });
  });

  it('copies inside the service', async () => {
    const Metadata = { colour: 'blue' };
    const where = { Bucket: bucket, Key: 'copied from ü' };
    await client.send(new PutObjectCommand({ ...where, Body: 'copied', Metadata }));
    const CopySource = `${bucket}/${encodeURIComponent('copied from ü')}`;
    const copy = await client.send(new CopyObjectCommand({ Bucket: bucket, Key: 'copied to', CopySource }));
    expect(copy.CopyObjectResult).toMatchObject({ ETag: `"${md5('copied')}"` });
    const got = await client.send(new GetObjectCommand({ Bucket: bucket, Key: 'copied to' }));
    expect(await got.Body!.transformToString()).toBe('copied');
    expect(got.Metadata).toEqual(Metadata);
  });

  it('puts, gets and is refused by presigned URLs', async () => {
    const where = { Bucket: bucket, Key: 'pre signed/é+&' };
    const putUrl = await getSignedUrl(client, new PutObjectCommand(where), { expiresIn: 60 });
    expect((await send(endpoint, putUrl, { method: 'PUT', body: 'presigned' })).status).toBe(200);
    const getUrl = await getSignedUrl(client, new GetObjectCommand(where), { expiresIn: 60 });
    expect(await send(endpoint, getUrl)).toMatchObject({ status: 200, text: 'presigned' });
    expect((await send(endpoint, getUrl, { method: 'PUT', body: 'other' })).status).toBe(403);
    expect((await send(endpoint, getUrl.replace('pre', 'post'))).status).toBe(403);
  });

  it('presigns a download under another name', async () => {
    const where = { Bucket: bucket, Key: 'text' };
    const attachment = { ResponseContentDisposition: 'attachment; filename="a b.txt"', ResponseContentType: 'text/x' };
    const url = await getSignedUrl(client, new GetObjectCommand({ ...where, ...attachment }));
    expect((await send(endpoint, url)).headers).toMatchObject({
      'content-disposition': attachment.ResponseContentDisposition,
      'content-type': attachment.ResponseContentType,
    });
  });

  it.each([5, 8])('uploads a stream in parts of %i MiB', async (part) => {
    const size = (long ? 100 : 17) * MiB;
    const Key = `parts-${part}`;
    const content = await randomFile(join(endpoint.folder, Key), size);
    const Body = createReadStream(join(endpoint.folder, Key));
    const upload = new Upload({ client, params: { Bucket: bucket, Key, Body }, partSize: part * MiB });
    const { ETag } = await upload.done();
    expect(ETag).toMatch(new RegExp(`^"[0-9a-f]{32}-${Math.ceil(size / (part * MiB))}"$`));
    expect(md5(await stored({ Bucket: bucket, Key }))).toBe(md5(content));
  });

  it('lists in pages and deletes what it has listed', async () => {
    const keys: string[] = [];
    for await (const page of paginateListObjectsV2({ client, pageSize: 3 }, { Bucket: bucket })) {
      expect(page.KeyCount).toBe(page.Contents!.length);
      keys.push(...page.Contents!.map((object) => object.Key!));
    }
    expect(keys).toEqual(expect.arrayContaining(awkwardNames));
    const Objects = keys.map((Key) => ({ Key }));
    const { Deleted, Errors } = await client.send(new DeleteObjectsCommand({ Bucket: bucket, Delete: { Objects } }));
    expect(Errors).toBeUndefined();
    expect(Deleted!.map((object) => object.Key).sort()).toEqual([...keys].sort());
  });

  async function stored(input: GetObjectCommandInput): Promise<Buffer> {
    const { Body } = await client.send(new GetObjectCommand(input));
    return Buffer.from(await Body!.transformToByteArray());
  }
});

function somePieces(): [Readable, Buffer] {
  const pieces = Array.from({ length: 50 }, (_, index) => Buffer.alloc(1000 + index * 700, index));
  return [Readable.from(pieces), Buffer.concat(pieces)];
}
