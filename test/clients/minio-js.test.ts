import { PutBucketVersioningCommand } from '@aws-sdk/client-s3';
import { Client, CopyDestinationOptions, CopySourceOptions, type BucketItem } from 'minio';
import { join } from 'node:path';
import { buffer } from 'node:stream/consumers';
import { Readable } from 'node:stream';
import { readFile } from 'node:fs/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { bucketName } from '../support/clients/clients.ts';
import { awkwardNames, long, md5, MiB, randomFile } from '../support/storage/contents.ts';
import { agents, sdkAt, send, startEndpoint, type Endpoint, ways } from '../support/programs/endpoint.ts';
import { alice } from '../support/programs/server.ts';

describe.each(ways)('minio over $scheme, buckets in the $style', ({ scheme, style }) => {
  const bucket = bucketName('minio');
  let endpoint: Endpoint;
  let client: Client;

  beforeAll(async () => {
    endpoint = await startEndpoint(scheme);
    client = new Client({
      endPoint: style === 'path' ? '127.0.0.1' : new URL(endpoint.hostStyleUrl).hostname,
      port: endpoint.port,
      useSSL: scheme === 'https',
      accessKey: alice.accessKeyId,
      secretKey: alice.secretAccessKey,
      pathStyle: style === 'path',
      transportAgent: agents(endpoint).agent,
    });
    await client.makeBucket(bucket);
  });
  afterAll(() => endpoint.stop());

  it('finds its buckets', async () => {
    // A deployment in the cloud has those of other tests as well.
    const own = (await client.listBuckets()).filter(({ name }) => name === bucket);
    expect(own).toEqual([{ name: bucket, creationDate: expect.any(Date) as Date }]);
    expect(await client.bucketExists(bucket)).toBe(true);
    expect(await client.bucketExists(bucketName('none'))).toBe(false);
  });

  it.each(awkwardNames)('puts %s, and gets it', async (name) => {
    const put = await client.putObject(bucket, name, `content of ${name}`, undefined, { 'X-Amz-Meta-Colour': 'blue' });
    expect(put.etag).toBe(md5(`content of ${name}`));
    expect((await buffer(await client.getObject(bucket, name))).toString()).toBe(`content of ${name}`);
    expect(await client.statObject(bucket, name)).toMatchObject({ etag: put.etag, metaData: { colour: 'blue' } });
  });

  it('gets a piece of an object', async () => {
    await client.putObject(bucket, 'pieces', '0123456789');
    expect((await buffer(await client.getPartialObject(bucket, 'pieces', 3, 4))).toString()).toBe('3456');
    await expect(client.getObject(bucket, 'none')).rejects.toMatchObject({ code: 'NoSuchKey' });
    await expect(client.statObject(bucket, 'none')).rejects.toMatchObject({ code: 'NotFound' });
  });

  it('puts a stream of known length, and one of unknown length in parts', async () => {
    const content = Buffer.alloc(3 * MiB, 'stream');
    await client.putObject(bucket, 'known', Readable.from([content]), content.length);
    expect(md5(await buffer(await client.getObject(bucket, 'known')))).toBe(md5(content));
    await client.putObject(bucket, 'unknown', Readable.from([content, content]));
    expect(md5(await buffer(await client.getObject(bucket, 'unknown')))).toBe(md5(Buffer.concat([content, content])));
  });

  it('lists a level, and everything', async () => {
    await client.putObject(bucket, 'list/a', 'a');
    await client.putObject(bucket, 'list/b/c', 'c');
    const level = await client.listObjectsV2(bucket, 'list/').toArray();
    expect(level.map((item: BucketItem) => item.name ?? item.prefix).sort()).toEqual(['list/a', 'list/b/']);
    const all = await client.listObjects(bucket, 'list/', true).toArray();
    expect(all).toMatchObject([
      { name: 'list/a', size: 1, etag: md5('a') },
      { name: 'list/b/c', size: 1, etag: md5('c') },
    ]);
  });

  it('copies, with other metadata', async () => {
    await client.putObject(bucket, 'copied', 'copied');
    const from = new CopySourceOptions({ Bucket: bucket, Object: 'copied' });
    const UserMetadata = { colour: 'green' };
    const to = new CopyDestinationOptions({
      Bucket: bucket,
      Object: 'ü copy',
      UserMetadata,
      MetadataDirective: 'REPLACE',
    });
    await client.copyObject(from, to);
    expect((await client.statObject(bucket, 'ü copy')).metaData).toMatchObject({ colour: 'green' });
  });

  it('composes an object of others', async () => {
    const parts = ['one', 'two'].map((name) => ({ name, content: Buffer.alloc(5 * MiB, name) }));
    for (const { name, content } of parts) await client.putObject(bucket, name, content);
    const sources = parts.map(({ name }) => new CopySourceOptions({ Bucket: bucket, Object: name }));
    await client.composeObject(new CopyDestinationOptions({ Bucket: bucket, Object: 'composed' }), sources);
    const composed = await buffer(await client.getObject(bucket, 'composed'));
    expect(md5(composed)).toBe(md5(Buffer.concat(parts.map(({ content }) => content))));
  });

  it('puts and gets by presigned URLs', async () => {
    const putUrl = await client.presignedPutObject(bucket, 'pre signed/é');
    expect((await send(endpoint, putUrl, { method: 'PUT', body: 'presigned' })).status).toBe(200);
    const getUrl = await client.presignedGetObject(bucket, 'pre signed/é', 60, { 'response-content-type': 'text/x' });
    const got = await send(endpoint, getUrl);
    expect(got).toMatchObject({ status: 200, text: 'presigned', headers: { 'content-type': 'text/x' } });
  });

  it('makes a form that uploads', async () => {
    const policy = client.newPostPolicy();
    policy.setBucket(bucket);
    policy.setKey('form upload');
    policy.setExpires(new Date(Date.now() + 60_000));
    policy.setContentLengthRange(1, 100);
    const { postURL, formData } = await client.presignedPostPolicy(policy);
    const form = new FormData();
    for (const [name, value] of Object.entries(formData)) form.append(name, String(value));
    form.append('file', new Blob(['from a form']));
    const request = new Request('http://form.test', { method: 'POST', body: form });
    const headers = { 'content-type': request.headers.get('content-type')! };
    const body = Buffer.from(await request.arrayBuffer());
    const posted = await send(endpoint, postURL, { method: 'POST', headers, body });
    expect(posted).toMatchObject({ status: 204, text: '' });
    expect((await buffer(await client.getObject(bucket, 'form upload'))).toString()).toBe('from a form');
  });

  it('tags objects and buckets', async () => {
    await client.putObject(bucket, 'tagged', '');
    await client.setObjectTagging(bucket, 'tagged', { colour: 'blue' });
    expect(await client.getObjectTagging(bucket, 'tagged')).toEqual([{ Key: 'colour', Value: 'blue' }]);
    await client.removeObjectTagging(bucket, 'tagged', { versionId: '' });
    expect(await client.getObjectTagging(bucket, 'tagged')).toEqual([]);
    await client.setBucketTagging(bucket, { team: 'red' });
    expect(await client.getBucketTagging(bucket)).toEqual([{ Key: 'team', Value: 'red' }]);
    await client.removeBucketTagging(bucket);
  });

  it('lists versions and removes them', async () => {
    const VersioningConfiguration = { Status: 'Enabled' } as const;
    const versioned = await endpoint.newBucket();
    await sdkAt(endpoint).send(new PutBucketVersioningCommand({ Bucket: versioned, VersioningConfiguration }));
    expect(await client.getBucketVersioning(versioned)).toMatchObject({ Status: 'Enabled' });
    const first = await client.putObject(versioned, 'k', 'first');
    await client.putObject(versioned, 'k', 'second');
    await client.removeObject(versioned, 'k');
    const versions = await client.listObjects(versioned, '', true, { IncludeVersion: true }).toArray();
    expect(versions).toHaveLength(3);
    const old = await client.getObject(versioned, 'k', { versionId: first.versionId! });
    expect((await buffer(old)).toString()).toBe('first');
  });

  it('drops unfinished uploads', async () => {
    await client.initiateNewMultipartUpload(bucket, 'unfinished', {});
    const uploads = await client.listIncompleteUploads(bucket, '', true).toArray();
    expect(uploads).toMatchObject([{ key: 'unfinished' }]);
    await client.removeIncompleteUpload(bucket, 'unfinished');
    expect(await client.listIncompleteUploads(bucket, '', true).toArray()).toEqual([]);
  });

  // Its parts are of 64 MiB at least, if it knows the length.
  if (style === 'path' || long) {
    it('puts a big file in parts, and gets it', async () => {
      const [file, back] = [join(endpoint.folder, 'big'), join(endpoint.folder, 'back')];
      const content = await randomFile(file, (long ? 200 : 65) * MiB);
      const put = await client.fPutObject(bucket, 'big', file);
      expect(put.etag).toMatch(/-\d$/);
      await client.fGetObject(bucket, 'big', back);
      expect(md5(await readFile(back))).toBe(md5(content));
    });
  }

  it('removes many objects, and the bucket', async () => {
    const objects = await client.listObjectsV2(bucket, '', true).toArray();
    await client.removeObjects(
      bucket,
      objects.map((item: BucketItem) => item.name!),
    );
    expect(await client.listObjectsV2(bucket, '', true).toArray()).toEqual([]);
    await client.removeBucket(bucket);
  });
});
