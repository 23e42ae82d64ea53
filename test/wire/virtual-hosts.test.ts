import { describe, expect, it } from 'vitest';
import { expectError, textsOf } from '../support/clients/expect-error.ts';
import { put, read, versionsOf } from '../support/storage/objects.ts';
import { exchange } from '../support/clients/raw-client.ts';
import { serviceUnderTest, takesSettings } from '../support/programs/service-under-test.ts';
import { presigned, signed, type Unsigned } from '../support/clients/signer.ts';
import { TestUpload } from '../support/storage/uploads.ts';

/** https://docs.aws.amazon.com/AmazonS3/latest/userguide/VirtualHosting.html */
describe.runIf(takesSettings)('a bucket in the Host header', () => {
  const service = serviceUnderTest({ args: ['--domain', 'storage.example.com'] });
  const domain = 'storage.example.com';

  const send = (host: string, unsigned: Unsigned) =>
    exchange(service.url, signed(host, unsigned, { key: service.alice }));

  it('is the one that the request is about', async () => {
    const bucket = await service.bucket();
    const host = `${bucket}.${domain}`;
    expect((await send(host, { method: 'PUT', path: '/a/key', body: 'content' })).status).toBe(200);
    expect((await send(host, { path: '/a/key' })).text).toBe('content');
    expect(await read(service.client, bucket, 'a/key')).toBe('content');
    expect(textsOf((await send(host, { path: '/', query: 'list-type=2' })).text, 'Key')).toEqual(['a/key']);
    expect((await exchange(service.url, presigned(host, { path: '/a/key' }, { key: service.alice }))).text).toBe(
      'content',
    );
    expect((await send(host, { method: 'DELETE', path: '/a/key' })).status).toBe(204);
    expect((await send(host, { method: 'HEAD', path: '/' })).status).toBe(200);
    expect((await send(host, { method: 'DELETE', path: '/' })).status).toBe(204);
    expectError(await send(host, { path: '/' }), 404, 'NoSuchBucket');
  });

  it('is in the location of an object that was uploaded in parts', async () => {
    const bucket = await service.bucket();
    const upload = await TestUpload.begin(service.client, bucket, 'a key');
    const { ETag } = await upload.part(1, 'content');
    const body = `<CompleteMultipartUpload><Part><PartNumber>1</PartNumber><ETag>${ETag}</ETag></Part></CompleteMultipartUpload>`;
    const host = `${bucket}.${domain}`;
    const completed = await send(host, { method: 'POST', path: '/a%20key', query: `uploadId=${upload.id}`, body });
    expect(textsOf(completed.text, 'Location')).toEqual([`${new URL(service.ownUrl).protocol}//${host}/a%20key`]);
  });

  it('can be created', async () => {
    const bucket = service.freeName();
    const response = await send(`${bucket}.${domain}`, { method: 'PUT', path: '/' });
    expect([response.status, response.header('location')]).toEqual([200, `/${bucket}`]);
  });

  it.each([
    ['in any case', (bucket: string) => `${bucket.toUpperCase()}.Storage.Example.COM`],
    ['with a port', (bucket: string) => `${bucket}.${domain}:9000`],
    ['with a dot at the end', (bucket: string) => `${bucket}.${domain}.`],
    ['with both', (bucket: string) => `${bucket}.${domain}.:443`],
  ])('is found %s', async (_, hostOf) => {
    const bucket = await service.bucket();
    await put(service.client, bucket, 'key', 'content');
    expect((await send(hostOf(bucket), { path: '/key' })).text).toBe('content');
  });

  it('may have dots', async () => {
    const bucket = `with.dots.${service.freeName()}`;
    const host = `${bucket}.${domain}`;
    expect((await send(host, { method: 'PUT', path: '/' })).status).toBe(200);
    expect((await send(host, { method: 'PUT', path: '/key', body: 'x' })).status).toBe(200);
    expect((await versionsOf(service.client, bucket)).map(({ key }) => key)).toEqual(['key']);
    await send(host, { method: 'DELETE', path: '/key' });
    await send(host, { method: 'DELETE', path: '/' });
  });

  it.each(['_public/token', '_stillage/health', '_stillage/live', '_stillage/metrics', '_stillage', '_public'])(
    'has no reserved paths: %s',
    async (key) => {
      const bucket = await service.bucket();
      const host = `${bucket}.${domain}`;
      const path = `/${key}`;
      expect((await send(host, { method: 'PUT', path, body: 'content' })).status).toBe(200);
      expect(await read(service.client, bucket, key)).toBe('content');
      expect((await send(host, { path })).text).toBe('content');
      expect((await send(host, { method: 'DELETE', path })).status).toBe(204);
      expectError(await send(host, { path }), 404, 'NoSuchKey');
    },
  );

  it('leaves the path to the key, slashes and all', async () => {
    const bucket = await service.bucket();
    for (const [path, key] of [
      ['//key', '/key'],
      [`/${bucket}/key`, `${bucket}/key`],
      ['/../key', '../key'],
    ] as const) {
      expect((await send(`${bucket}.${domain}`, { method: 'PUT', path, body: key })).status).toBe(200);
      expect(await read(service.client, bucket, key)).toBe(key);
    }
  });

  it.each([
    'storage.example.com',
    'other.example.com',
    '127.0.0.1:9000',
    '[::1]:9000',
    'localhost',
    'xstorage.example.com',
  ])('is none of %s, where it stands in the path', async (host) => {
    const bucket = await service.bucket();
    await put(service.client, bucket, 'key', 'content');
    expect((await send(host, { path: `/${bucket}/key` })).text).toBe('content');
    expect((await send(host, { path: '/' })).text).toContain('<ListAllMyBucketsResult');
  });
});
