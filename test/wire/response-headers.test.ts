import { describe, expect, it } from 'vitest';
import { put, setVersioning } from '../support/storage/objects.ts';
import type { RawResponse } from '../support/clients/raw-client.ts';
import { isCloud } from '../support/cloud/deployed.ts';
import { serviceUnderTest } from '../support/programs/service-under-test.ts';
import type { Unsigned } from '../support/clients/signer.ts';
import { TestUpload } from '../support/storage/uploads.ts';

const service = serviceUnderTest();

/** In every response; the last four are of HTTP itself. */
const always = ['x-amz-id-2', 'x-amz-request-id', 'date', 'server', 'connection', 'keep-alive'];

/** Headers that API Gateway and CloudFront set themselves. */
const ofCarriers = ['date', 'server', 'connection', 'keep-alive', 'content-length', 'transfer-encoding'];

/** Whether a header is that of a distribution or an API rather than of S3. */
function isCarriers(name: string): boolean {
  return ofCarriers.includes(name) || name.startsWith('x-amzn-') || name === 'x-amz-apigw-id';
}

/** Expects these headers, and no others, besides those of every response. */
function expectHeaders(response: RawResponse, status: number, names: readonly string[]): void {
  expect(response.status, response.text).toBe(status);
  const said = response.headers.map(([name]) => name);
  const expected = [...always, ...names];
  if (isCloud) {
    // API Gateway adds a type to a response without one.
    const own = said.filter((name) => !isCarriers(name) && (name !== 'content-type' || names.includes(name)));
    expect(own.toSorted()).toEqual(expected.filter((name) => !isCarriers(name)).toSorted());
  } else expect(said.toSorted()).toEqual(expected.toSorted());
}

const chunkedXml = ['content-type', 'transfer-encoding'];
const ofObject = [
  'accept-ranges',
  'content-length',
  'content-type',
  'etag',
  'last-modified',
  'x-amz-version-id',
  'x-rgw-object-type',
];

describe('every response', () => {
  const responses = async (): Promise<readonly RawResponse[]> => [
    await service.send({ path: '/' }),
    await service.sendUnsigned({ path: '/no-such-bucket-1' }),
  ];

  it('has its own request id, and the same host id', async () => {
    const all = await responses();
    const ids = all.map(({ header }) => header('x-amz-request-id')!);
    expect(new Set(ids).size).toBe(2);
    for (const { header } of all) {
      expect(header('x-amz-request-id')).toMatch(/^tx[0-9a-f]+$/);
      expect(header('x-amz-id-2')).toMatch(/./);
    }
  });

  it('has the date, and says what serves', async () => {
    for (const { header } of await responses()) {
      expect(header('server')).toBe('Stillage');
      const date = header('date')!;
      expect(new Date(date).toUTCString()).toBe(date);
      expect(Math.abs(Date.parse(date) - Date.now())).toBeLessThan(5000);
    }
  });
});

describe('the headers of', () => {
  it('PutObject', async () => {
    const bucket = await service.bucket();
    const response = await service.send({ method: 'PUT', path: `/${bucket}/key`, body: 'content' });
    const checksum = ['x-amz-checksum-crc64nvme', 'x-amz-checksum-type'];
    expectHeaders(response, 200, ['content-length', 'etag', 'x-amz-version-id', ...checksum]);
    expect(response.header('content-length')).toBe('0');
    expect(response.header('etag')).toMatch(/^"[0-9a-f]{32}"$/);
    expect(response.header('x-amz-version-id')).toBe('null');
  });

  it('GetObject and HeadObject, which has no body', async () => {
    const bucket = await service.bucket();
    await put(service.client, bucket, 'key', 'content', { Metadata: { a: 'b' } });
    await service.send({ method: 'PUT', path: `/${bucket}/key`, headers: { expires: 'tomorrow' }, body: 'content' });
    for (const method of ['GET', 'HEAD']) {
      const response = await service.send({ method, path: `/${bucket}/key` });
      expectHeaders(response, 200, [...ofObject, 'expires']);
      expect(response.header('content-length')).toBe('7');
      expect(response.header('accept-ranges')).toBe('bytes');
      expect(response.header('x-rgw-object-type')).toBe('Normal');
      expect(response.header('last-modified')).toMatch(/^\w{3}, \d{2} \w{3} \d{4} \d{2}:\d{2}:\d{2} GMT$/);
      expect(response.header('expires')).toBe('tomorrow');
      expect(response.body.length).toBe(method === 'GET' ? 7 : 0);
    }
  });

  it('a range of an object', async () => {
    const bucket = await service.bucket();
    await put(service.client, bucket, 'key', 'content');
    for (const method of ['GET', 'HEAD']) {
      const response = await service.send({ method, path: `/${bucket}/key`, headers: { range: 'bytes=0-2' } });
      expectHeaders(response, 206, [...ofObject, 'content-range']);
      expect(response.header('content-range')).toBe('bytes 0-2/7');
    }
  });

  it('304: neither a body nor its length', async () => {
    const bucket = await service.bucket();
    await put(service.client, bucket, 'key', 'content', { CacheControl: 'no-cache', Expires: new Date(0) });
    for (const method of ['GET', 'HEAD']) {
      const response = await service.send({ method, path: `/${bucket}/key`, headers: { 'if-none-match': '*' } });
      expectHeaders(response, 304, ['cache-control', 'etag', 'expires', 'last-modified']);
    }
  });

  it('an error, which HEAD answers without its body', async () => {
    const bucket = await service.bucket();
    const got = await service.send({ path: `/${bucket}/missing` });
    expectHeaders(got, 404, ['content-length', 'content-type']);
    const head = await service.send({ method: 'HEAD', path: `/${bucket}/missing` });
    expectHeaders(head, 404, ['content-length', 'content-type']);
    for (const name of ['content-length', 'content-type']) expect(head.header(name)).toBe(got.header(name));
    expect(head.body.length).toBe(0);
  });

  it.each<[string, Partial<Unsigned>]>([
    ['PutObject', { method: 'PUT', body: 'x' }],
    ['GetObject', {}],
    ['GetObject of versionId=null', { query: 'versionId=null' }],
    ['HeadObject', { method: 'HEAD' }],
    ['GetObjectAttributes', { query: 'attributes', headers: { 'x-amz-object-attributes': 'ETag' } }],
    ['GetObjectTagging', { query: 'tagging' }],
    ['PutObjectTagging', { method: 'PUT', query: 'tagging', body: '<Tagging><TagSet/></Tagging>' }],
    ['DeleteObjectTagging', { method: 'DELETE', query: 'tagging' }],
  ])('an object that was never versioned has the version id null: %s', async (_, request) => {
    const bucket = await service.bucket();
    const path = `/${bucket}/key`;
    await put(service.client, bucket, 'key', 'content');
    const response = await service.send({ path, ...request });
    expect(response.status, response.text).toBeLessThan(300);
    expect(response.header('x-amz-version-id')).toBe('null');
  });

  it('a copy, and an upload in parts, into a bucket that was never versioned: version id null', async () => {
    const bucket = await service.bucket();
    await put(service.client, bucket, 'key', 'content');
    const headers = { 'x-amz-copy-source': `/${bucket}/key` };
    const copied = await service.send({ method: 'PUT', path: `/${bucket}/copy`, headers });
    expect(copied.header('x-amz-version-id')).toBe('null');
    const upload = await TestUpload.begin(service.client, bucket, 'parts');
    expect((await upload.complete([await upload.part(1, 'content')])).VersionId).toBe('null');
  });

  it('DeleteObject: 204 without a length; of versions only where there are some', async () => {
    const bucket = await service.bucket();
    expectHeaders(await service.send({ method: 'DELETE', path: `/${bucket}/key` }), 204, []);
    await setVersioning(service.client, bucket, 'Enabled');
    const marker = await service.send({ method: 'DELETE', path: `/${bucket}/key` });
    expectHeaders(marker, 204, ['x-amz-delete-marker', 'x-amz-version-id']);
    expect(marker.header('x-amz-delete-marker')).toBe('true');
  });

  it.each([
    ['GET', '', undefined],
    ['HEAD', '', undefined],
    ['GET', 'attributes', undefined],
    ['GET', 'tagging', undefined],
    ['PUT', 'tagging', '<Tagging><TagSet/></Tagging>'],
    ['DELETE', 'tagging', undefined],
    ['GET', 'acl', undefined],
    ['PUT', 'acl', undefined],
  ])('a delete marker, current or asked for by its id: %s ?%s', async (method, query, body) => {
    const bucket = await service.bucket();
    await setVersioning(service.client, bucket, 'Enabled');
    const id = (await service.send({ method: 'DELETE', path: `/${bucket}/key` })).header('x-amz-version-id')!;
    const headers = {
      ...(query === 'attributes' && { 'x-amz-object-attributes': 'ETag' }),
      ...(method === 'PUT' && query === 'acl' && { 'x-amz-acl': 'private' }),
    };
    const request = { method, path: `/${bucket}/key`, headers, ...(body !== undefined && { body }) };
    const latest = await service.send({ ...request, query });
    expectHeaders(latest, 404, ['content-length', 'content-type', 'x-amz-delete-marker', 'x-amz-version-id']);
    const byId = await service.send({ ...request, query: `${query}&versionId=${id}` });
    const says = ['allow', 'last-modified', 'x-amz-delete-marker', 'x-amz-version-id'];
    expectHeaders(byId, 405, ['content-length', 'content-type', ...says]);
    expect(byId.header('allow')).toBe('DELETE');
    for (const answer of [latest, byId]) {
      expect(answer.header('x-amz-delete-marker')).toBe('true');
      expect(answer.header('x-amz-version-id')).toBe(id);
    }
  });

  it('CreateBucket, HeadBucket and DeleteBucket', async () => {
    const path = `/${service.freeName()}`;
    const created = await service.send({ method: 'PUT', path });
    expectHeaders(created, 200, ['content-length', 'location']);
    expect(created.header('content-length')).toBe('0');
    expect(created.header('location')).toBe(path);
    const head = await service.send({ method: 'HEAD', path });
    const counters = ['x-rgw-bytes-used', 'x-rgw-object-count'];
    expectHeaders(head, 200, ['content-length', 'x-amz-bucket-region', ...counters]);
    // API Gateway sends no length in the response to HEAD.
    if (!isCloud) expect(head.header('content-length')).toBe('0');
    expectHeaders(await service.send({ method: 'DELETE', path }), 204, []);
  });

  it.each([
    ['ListBuckets', 'GET', false, ''],
    ['ListObjects', 'GET', true, ''],
    ['ListObjectsV2', 'GET', true, 'list-type=2'],
    ['ListObjectVersions', 'GET', true, 'versions'],
    ['ListMultipartUploads', 'GET', true, 'uploads'],
    ['GetBucketVersioning', 'GET', true, 'versioning'],
    ['GetBucketLocation', 'GET', true, 'location'],
    ['DeleteObjects', 'POST', true, 'delete'],
  ])('%s: XML in chunks', async (_, method, ofBucket, query) => {
    const path = ofBucket ? `/${await service.bucket()}` : '/';
    const body = '<Delete><Object><Key>key</Key></Object></Delete>';
    const response = await service.send({ method, path, query, ...(method === 'POST' && { body }) });
    expectHeaders(response, 200, chunkedXml);
    expect(response.header('content-type')).toBe('application/xml');
    if (!isCloud) expect(response.header('transfer-encoding')).toBe('chunked');
    expect(response.text).toMatch(/^<\?xml version="1.0" encoding="UTF-8"\?>\n</);
  });

  it.each([
    ['versioning', '<VersioningConfiguration><Status>Enabled</Status></VersioningConfiguration>', false],
    ['tagging', '<Tagging><TagSet/></Tagging>', true],
  ])('PUT ?%s: empty, and says that it is XML', async (query, body, ofObject) => {
    const bucket = await service.bucket();
    if (ofObject) await put(service.client, bucket, 'key');
    const path = `/${bucket}${ofObject ? '/key' : ''}`;
    const response = await service.send({ method: 'PUT', path, query, body });
    expectHeaders(response, 200, ['content-length', 'content-type', ...(ofObject ? ['x-amz-version-id'] : [])]);
    expect(response.header('content-length')).toBe('0');
    expect(response.header('content-type')).toBe('application/xml');
  });

  it('UploadPart and AbortMultipartUpload', async () => {
    const bucket = await service.bucket();
    const created = await service.send({ method: 'POST', path: `/${bucket}/key`, query: 'uploads' });
    expectHeaders(created, 200, chunkedXml);
    const id = /<UploadId>([^<]+)</.exec(created.text)![1]!;
    const query = `partNumber=1&uploadId=${id}`;
    const part = await service.send({ method: 'PUT', path: `/${bucket}/key`, query, body: 'x' });
    expectHeaders(part, 200, ['content-length', 'etag', 'x-amz-checksum-crc64nvme']);
    const aborted = await service.send({ method: 'DELETE', path: `/${bucket}/key`, query: `uploadId=${id}` });
    expectHeaders(aborted, 204, []);
  });
});
