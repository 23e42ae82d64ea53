import { describe, expect, it } from 'vitest';
import { expectError, textOf } from '../support/clients/expect-error.ts';
import { formBody, formType, signedV4 } from '../support/clients/form.ts';
import type { RawResponse } from '../support/clients/raw-client.ts';
import { md5Tag, put, versionsOf } from '../support/storage/objects.ts';
import { serviceUnderTest } from '../support/programs/service-under-test.ts';

/** A condition is never dropped: what an operation does not evaluate is refused before anything happens. */

const service = serviceUnderTest();
const tag = md5Tag('old');

type Headers = Readonly<Record<string, string>>;
type Write = (bucket: string, headers: Headers) => Promise<RawResponse>;

const past = 'Thu, 01 Jan 1970 00:00:00 GMT';

/** Every condition that a client may send. All of them fail, or would. */
const conditions: readonly (readonly [name: string, value: string])[] = [
  ['If-Match', '"other"'],
  ['If-None-Match', '*'],
  ['If-None-Match', tag],
  ['If-Modified-Since', 'Fri, 31 Dec 2060 23:59:59 GMT'],
  ['If-Modified-Since', 'no date'],
  ['If-Unmodified-Since', past],
  ['x-amz-if-match-last-modified-time', past],
  ['x-amz-if-match-size', '4'],
  ['x-amz-if-match-initiated-time', past],
  ['x-amz-copy-source-if-match', '"other"'],
  ['x-amz-copy-source-if-none-match', tag],
  ['x-amz-copy-source-if-modified-since', 'Fri, 31 Dec 2060 23:59:59 GMT'],
  ['x-amz-copy-source-if-unmodified-since', past],
  ['x-amz-rename-source-if-match', '"other"'],
  ['x-amz-rename-source-if-none-match', tag],
  ['x-amz-rename-source-if-modified-since', 'Fri, 31 Dec 2060 23:59:59 GMT'],
  ['x-amz-rename-source-if-unmodified-since', past],
];

const sends =
  (method: string, path: string, query = '', body?: string, more: Headers = {}): Write =>
  (bucket, headers) =>
    service.send({
      ...{ method, path: `/${bucket}${path}`, query, headers: { ...more, ...headers } },
      ...(body !== undefined && { body }),
    });

/** A request of an upload that is open, after its part was sent. */
const ofUpload =
  (method: string, query = '', body?: string, more?: Headers): Write =>
  async (bucket, headers) => {
    const created = await service.send({ method: 'POST', path: `/${bucket}/key`, query: 'uploads' });
    const id = textOf(created.text, 'UploadId')!;
    await service.send({ method: 'PUT', path: `/${bucket}/key`, query: `partNumber=1&uploadId=${id}`, body: 'new' });
    return sends(method, '/key', `${query}uploadId=${id}`, body, more)(bucket, headers);
  };

const form = (bucket: string, fields: Headers, headers: Headers): Promise<RawResponse> => {
  const named = Object.entries({ bucket, key: 'key', ...fields });
  const signed = signedV4(
    service.alice,
    named.map(([name, value]) => ['eq', `$${name}`, value]),
  );
  const body = formBody([...named, ...signed], { content: 'new' });
  const type = { 'content-type': formType };
  return service.sendUnsigned({ method: 'POST', path: `/${bucket}`, headers: { ...headers, ...type }, body });
};

const tags = '<Tagging><TagSet><Tag><Key>a</Key><Value>b</Value></Tag></TagSet></Tagging>';
const copySource = 'x-amz-copy-source-';
const renameSource = 'x-amz-rename-source-';
const isWrite = (name: string, value: string): boolean =>
  name === 'If-Match' || (name === 'If-None-Match' && value === '*');
const isAny = (prefix: string) => (name: string) => name.startsWith(`${prefix}if-`);
const none = (): boolean => false;

/** Every kind of write, and the conditions that it evaluates. */
const writes: readonly (readonly [string, Write, evaluates: (name: string, value: string) => boolean])[] = [
  ['PutObject', sends('PUT', '/key', '', 'new'), isWrite],
  ['PostObject, as fields', (bucket, headers) => form(bucket, headers, {}), isWrite],
  ['PostObject, as headers', (bucket, headers) => form(bucket, {}, headers), isWrite],
  [
    'CopyObject',
    (bucket, headers) =>
      sends('PUT', '/key', '', undefined, { 'x-amz-copy-source': `/${bucket}/other` })(bucket, headers),
    (name, value) => isWrite(name, value) || isAny(copySource)(name),
  ],
  [
    'RenameObject',
    sends('PUT', '/key', 'renameObject', undefined, { 'x-amz-rename-source': 'other' }),
    (name, value) => isWrite(name, value) || /^If-(?:Unm|M)odified-Since$/.test(name) || isAny(renameSource)(name),
  ],
  ['CreateMultipartUpload', sends('POST', '/key', 'uploads'), isWrite],
  ['UploadPart', ofUpload('PUT', 'partNumber=2&', 'new'), none],
  [
    'UploadPartCopy',
    (bucket, headers) =>
      ofUpload('PUT', 'partNumber=2&', undefined, { 'x-amz-copy-source': `/${bucket}/other` })(bucket, headers),
    isAny(copySource),
  ],
  [
    'CompleteMultipartUpload',
    ofUpload(
      'POST',
      '',
      `<CompleteMultipartUpload><Part><PartNumber>1</PartNumber><ETag>${md5Tag('new')}</ETag></Part></CompleteMultipartUpload>`,
    ),
    isWrite,
  ],
  ['AbortMultipartUpload', ofUpload('DELETE'), none],
  [
    'DeleteObject',
    sends('DELETE', '/key'),
    (name) => ['If-Match', 'x-amz-if-match-last-modified-time', 'x-amz-if-match-size'].includes(name),
  ],
  ['DeleteObjects', sends('POST', '', 'delete', '<Delete><Object><Key>key</Key></Object></Delete>'), none],
  ['PutObjectTagging', sends('PUT', '/key', 'tagging', tags), none],
  ['DeleteObjectTagging', sends('DELETE', '/key', 'tagging'), none],
  ['PutObjectAcl', sends('PUT', '/key', 'acl', undefined, { 'x-amz-acl': 'public-read' }), none],
  ['CreatePublicLink', sends('POST', '/key', 'public-link'), none],
  ['PutBucketAcl', sends('PUT', '', 'acl', undefined, { 'x-amz-acl': 'public-read' }), none],
  ['PutBucketTagging', sends('PUT', '', 'tagging', tags), none],
  ['DeleteBucketTagging', sends('DELETE', '', 'tagging'), none],
  ['PutBucketRequestPayment', sends('PUT', '', 'requestPayment', '<RequestPaymentConfiguration/>'), none],
  ['DeleteBucket', sends('DELETE', ''), none],
  ['CreateBucket', sends('PUT', ''), none],
];

describe.each(writes)('%s', (_, write, evaluates) => {
  it('refuses each condition that it does not evaluate', async () => {
    const bucket = await service.bucket();
    await put(service.client, bucket, 'key', 'old');
    await put(service.client, bucket, 'other', 'else');
    for (const [name, value] of conditions.filter((one) => !evaluates(...one))) {
      const response = await write(bucket, { [name]: value });
      expect({ name, value, status: response.status }, response.text).toEqual({ name, value, status: 501 });
      expectError(response, 501, 'NotImplemented');
      expect(textOf(response.text, 'Header')).toBe(name);
    }
    expect((await service.send({ path: `/${bucket}/key` })).text).toBe('old');
    expect((await service.send({ path: `/${bucket}/key`, query: 'tagging' })).text).not.toContain('<Tag>');
    expect(await versionsOf(service.client, bucket)).toHaveLength(2);
  });

  it('carries out none that fails', async () => {
    const bucket = await service.bucket();
    await put(service.client, bucket, 'key', 'old');
    await put(service.client, bucket, 'other', 'old');
    for (const [name, value] of conditions.filter((one) => evaluates(...one) && one[1] !== 'no date')) {
      const response = await write(bucket, { [name]: value });
      expect({ name, value, status: response.status }, response.text).toEqual({ name, value, status: 412 });
    }
    expect((await service.send({ path: `/${bucket}/key` })).text).toBe('old');
  });
});

it('a form with a condition both as a field and as a header is refused', async () => {
  const bucket = await service.bucket();
  await put(service.client, bucket, 'key', 'old');
  expectError(await form(bucket, { 'If-Match': tag }, { 'If-Match': '"other"' }), 400, 'InvalidRequest');
  expectError(await form(bucket, { 'If-Match': tag }, { 'If-None-Match': '*' }), 412, 'PreconditionFailed');
});

it('reads go on as they are', async () => {
  const bucket = await service.bucket();
  await put(service.client, bucket, 'key', 'old');
  for (const query of ['tagging', 'acl', 'attributes'])
    for (const headers of [{ 'if-match': '"other"' }, { 'if-none-match': '*' }, { 'if-unmodified-since': past }]) {
      const all = { ...headers, 'x-amz-object-attributes': 'ETag' };
      expect((await service.send({ path: `/${bucket}/key`, query, headers: all })).status).toBe(200);
    }
});
