import {
  GetObjectCommand,
  GetObjectTaggingCommand,
  HeadObjectCommand,
  ListObjectVersionsCommand,
  type HeadObjectCommandOutput,
  PutBucketAclCommand,
} from '@aws-sdk/client-s3';
import { createPresignedPost } from '@aws-sdk/s3-presigned-post';
import S3 from 'aws-sdk/clients/s3.js';
import { Client as MinioClient } from 'minio';
import { createHash, randomBytes } from 'node:crypto';
import { request as startRequest } from 'node:http';
import { Readable } from 'node:stream';
import { describe, expect, it } from 'vitest';
import { newBlobs } from '../support/disks/blobs-on-disk.ts';
import { expectError, textOf } from '../support/clients/expect-error.ts';
import {
  boundary,
  formBody,
  formEnd,
  formStart,
  formType,
  policyText,
  signedV2,
  signedV4,
  type FormField,
  type FormFile,
} from '../support/clients/form.ts';
import { expectKeystream, keystream } from '../support/bytes/keystream.ts';
import { MemoryWatch } from '../support/runs/memory.ts';
import { md5Tag, put, read, setVersioning } from '../support/storage/objects.ts';
import { RawConnection, requestBytes, type RawResponse } from '../support/clients/raw-client.ts';
import { serviceUnderTest } from '../support/programs/service-under-test.ts';
import { anonymous, chunked, chunkedAndSigned, neutralWords, signed } from '../support/clients/signer.ts';
import { eventually } from '../support/runs/eventually.ts';

const service = serviceUnderTest({ alone: true });
const MiB = 1024 * 1024;

interface Posting {
  readonly file?: FormFile | null;
  readonly after?: readonly FormField[];
  readonly headers?: Readonly<Record<string, string | null>>;
  readonly path?: string;
}

/** Posts fields and a file. */
function post(bucket: string, fields: readonly FormField[], posting: Posting = {}): Promise<RawResponse> {
  const { file = { content: 'content' }, after, headers, path = `/${bucket}` } = posting;
  return service.sendUnsigned({
    method: 'POST',
    path,
    headers: { 'content-type': formType, ...headers },
    body: formBody(fields, file ?? undefined, after),
  });
}

/** Signs a policy that asks for just these fields, and posts them. */
function postSigned(bucket: string, fields: readonly FormField[], posting?: Posting): Promise<RawResponse> {
  const conditions = fields.map(([name, value]) => ['eq', `$${name}`, Buffer.from(value).toString()]);
  return post(bucket, [...fields, ...signedV4(service.alice, [{ bucket }, ...conditions])], posting);
}

/** Signs a policy with these conditions, and posts the form with it. */
function postUnder(
  bucket: string,
  conditions: readonly unknown[],
  fields: readonly FormField[],
  posting?: Posting,
): Promise<RawResponse> {
  return post(bucket, [...fields, ...signedV4(service.alice, conditions)], posting);
}

async function head(bucket: string, key: string): Promise<HeadObjectCommandOutput> {
  return service.client.send(new HeadObjectCommand({ Bucket: bucket, Key: key, ChecksumMode: 'ENABLED' }));
}

async function expectEmpty(bucket: string): Promise<void> {
  const { Versions = [], DeleteMarkers = [] } = await service.client.send(
    new ListObjectVersionsCommand({ Bucket: bucket }),
  );
  expect([...Versions, ...DeleteMarkers]).toEqual([]);
}

/** Expects an error, and that nothing was stored. */
async function expectRefused(
  bucket: string,
  answer: Promise<RawResponse>,
  status: number,
  code: string,
): Promise<string> {
  const response = await answer;
  expectError(response, status, code);
  await expectEmpty(bucket);
  return response.text;
}

/** https://docs.aws.amazon.com/AmazonS3/latest/API/RESTObjectPOST.html */
describe('PostObject', () => {
  it('stores the file of a form, and answers 204 with where and what it is', async () => {
    const bucket = await service.bucket();
    const response = await postSigned(bucket, [['key', 'folder/a b+ü.txt']]);
    expect(response).toMatchObject({ status: 204, text: '' });
    expect(response.header('etag')).toBe(md5Tag('content'));
    expect(response.header('location')).toBe(`${service.ownUrl}/${bucket}/folder/a%20b%2B%C3%BC.txt`);
    expect(response.header('x-amz-version-id')).toBe('null');
    expect(await read(service.client, bucket, 'folder/a b+ü.txt')).toBe('content');
  });

  it('takes the form that the official SDK signs, as a browser sends it', async () => {
    const Bucket = await service.bucket();
    const { url, fields } = await createPresignedPost(service.client, {
      Bucket,
      Key: 'uploads/${filename}',
      Conditions: [
        ['content-length-range', 1, 1024],
        ['starts-with', '$Content-Type', 'text/'],
        { 'x-amz-meta-colour': 'red' },
      ],
      Fields: { 'x-amz-meta-colour': 'red', 'Content-Type': 'text/plain' },
    });
    const form = new FormData();
    for (const [name, value] of Object.entries(fields)) form.append(name, value);
    form.append('file', new Blob(['content']), 'ünï.txt');
    const response = await fetch(url, { method: 'POST', body: form });
    expect({ status: response.status, text: await response.text() }).toEqual({ status: 204, text: '' });
    const { ContentType, Metadata } = await head(Bucket, 'uploads/ünï.txt');
    expect({ ContentType, Metadata }).toEqual({ ContentType: 'text/plain', Metadata: { colour: 'red' } });
  });

  it('takes the forms that other clients sign', async () => {
    const bucket = await service.bucket();
    const { accessKeyId, secretAccessKey } = service.alice;
    const { hostname, port } = new URL(service.url);
    const minio = new MinioClient({
      endPoint: hostname,
      port: Number(port),
      useSSL: false,
      accessKey: accessKeyId,
      secretKey: secretAccessKey,
    });
    const policy = minio.newPostPolicy();
    policy.setBucket(bucket);
    policy.setKeyStartsWith('minio/');
    policy.setExpires(new Date(Date.now() + 60_000));
    policy.setContentType('text/plain');
    policy.setContentLengthRange(1, 1024);
    policy.setUserMetaData({ colour: 'red' });
    const { postURL, formData } = await minio.presignedPostPolicy(policy);
    const old = new S3({
      endpoint: service.url,
      s3ForcePathStyle: true,
      region: 'us-east-1',
      credentials: { accessKeyId, secretAccessKey },
    });
    const conditions = [['starts-with', '$key', 'old/']];
    const { url, fields } = old.createPresignedPost({ Bucket: bucket, Conditions: conditions });

    for (const [to, key, data] of [
      [postURL, 'minio/k', formData],
      [url, 'old/k', fields],
    ] as const) {
      const form = new FormData();
      for (const [name, value] of Object.entries({ ...data, key })) form.append(name, String(value));
      form.append('file', new Blob([key]), 'f.txt');
      const response = await fetch(to, { method: 'POST', body: form });
      expect({ status: response.status, text: await response.text() }).toEqual({ status: 204, text: '' });
      expect(await read(service.client, bucket, key)).toBe(key);
    }
    expect((await head(bucket, 'minio/k')).Metadata).toEqual({ colour: 'red' });
  });

  it.each(['AWSAccessKeyId', 'SVCAccessKeyId'])(
    'takes a form signed with version 2, naming the key in %s',
    async (name) => {
      const bucket = await service.bucket();
      const conditions = [
        { bucket },
        ['starts-with', '$key', 'f'],
        { acl: 'private' },
        ['content-length-range', 0, 100],
      ];
      const fields: FormField[] = [
        ['key', 'foo'],
        ['acl', 'private'],
        ...signedV2(service.alice, policyText(conditions), name),
      ];
      expect((await post(bucket, fields)).status).toBe(204);
      expect(await read(service.client, bucket, 'foo')).toBe('content');
    },
  );

  it('takes a form signed with version 4 in the neutral words', async () => {
    const bucket = await service.bucket();
    const words = signedV4(service.alice, [{ bucket }, { key: 'k' }], { words: neutralWords });
    expect((await post(bucket, [['key', 'k'], ...words])).status).toBe(204);
  });

  it('knows the names of fields, and the file, in any case', async () => {
    const bucket = await service.bucket();
    const [algorithm, credential, date, policy, signature] = signedV4(service.alice, [
      { BUCKET: bucket },
      ['starts-with', '$KeY', 'k'],
      { 'Content-TYPE': 'text/plain' },
    ]);
    const upper = [algorithm!, credential!, date!].map(([name, value]) => [name.toUpperCase(), value] as const);
    const fields: FormField[] = [['kEY', 'k'], ['content-Type', 'text/plain'], ...upper];
    const all: FormField[] = [...fields, ['POLICY', policy![1]], ['X-Amz-Signature', signature![1]]];
    expect((await post(bucket, all, { file: { name: 'FILE', content: 'x' } })).status).toBe(204);
    expect((await head(bucket, 'k')).ContentType).toBe('text/plain');
  });

  it.each([
    ['photo.jpg', 'photo.jpg'],
    ['C:\\My Pictures\\photo.jpg', 'photo.jpg'],
    ['/home/me/photo.jpg', 'photo.jpg'],
    ['../../photo.jpg', 'photo.jpg'],
    ['$&.jpg', '$&.jpg'],
    ['', ''],
  ])('puts the base name of %s in the place of ${filename}, before the policy is looked at', async (fileName, base) => {
    const bucket = await service.bucket();
    const conditions = [{ bucket }, { key: `user/${base}!` }, ['starts-with', '$x-amz-meta-name', '']];
    const fields: FormField[] = [
      ['key', 'user/${filename}!'],
      ['x-amz-meta-name', '${filename}${filename}'],
    ];
    expect((await postUnder(bucket, conditions, fields, { file: { fileName, content: 'x' } })).status).toBe(204);
    expect((await head(bucket, `user/${base}!`)).Metadata).toEqual({ name: base + base });
  });

  it('takes a file without a name, and one without content', async () => {
    const bucket = await service.bucket();
    const response = await postSigned(bucket, [['key', 'empty']], { file: { fileName: null, content: '' } });
    expect({ status: response.status, etag: response.header('etag') }).toEqual({ status: 204, etag: md5Tag('') });
    expect(await read(service.client, bucket, 'empty')).toBe('');
  });

  it('keeps what the form says as PutObject keeps what headers say', async () => {
    const bucket = await service.bucket();
    const response = await postSigned(bucket, [
      ['key', 'k'],
      ['Content-Type', 'text/plain; charset=latin1'],
      ['Cache-Control', 'max-age=60'],
      ['Content-Encoding', 'gzip'],
      ['Content-Disposition', 'attachment; filename="a b"'],
      ['Content-Language', 'de'],
      ['Expires', 'Wed, 02 Jan 2030 03:04:05 GMT'],
      ['x-amz-meta-Colour', ' red '],
      ['x-amz-meta-umlaut', 'ü'],
      ['x-amz-website-redirect-location', '/elsewhere'],
      ['x-amz-storage-class', 'STANDARD'],
      ['acl', 'private'],
    ]);
    expect(response).toMatchObject({ status: 204 });
    const { Metadata, ...found } = await head(bucket, 'k');
    expect(found).toMatchObject({
      ContentType: 'text/plain; charset=latin1',
      CacheControl: 'max-age=60',
      ContentEncoding: 'gzip',
      ContentDisposition: 'attachment; filename="a b"',
      ContentLanguage: 'de',
      ExpiresString: 'Wed, 02 Jan 2030 03:04:05 GMT',
      WebsiteRedirectLocation: '/elsewhere',
    });
    expect(Metadata).toEqual({ colour: 'red', umlaut: Buffer.from('ü').toString('latin1') });
  });

  it('does not take the type of the part, or of the request, for that of the object', async () => {
    const bucket = await service.bucket();
    await postSigned(bucket, [['key', 'k']], { file: { type: 'text/html', content: 'x' } });
    expect((await head(bucket, 'k')).ContentType).toBe('binary/octet-stream');
  });

  it('takes tags in XML', async () => {
    const bucket = await service.bucket();
    const tagging =
      '<Tagging>\r\n<TagSet><Tag><Key>a</Key><Value>1</Value></Tag><Tag><Key>ü</Key><Value/></Tag></TagSet></Tagging>';
    expect(
      (
        await postSigned(bucket, [
          ['key', 'k'],
          ['tagging', tagging],
        ])
      ).status,
    ).toBe(204);
    const { TagSet } = await service.client.send(new GetObjectTaggingCommand({ Bucket: bucket, Key: 'k' }));
    expect(TagSet).toEqual([
      { Key: 'a', Value: '1' },
      { Key: 'ü', Value: '' },
    ]);
  });

  it('ignores fields after the file, and x-ignore- fields before it', async () => {
    const bucket = await service.bucket();
    const { alice } = service;
    const fields: FormField[] = [
      ['key', 'k'],
      ['x-ignore-this', '1'],
      ['X-Ignore-This', '2'],
      ...signedV4(alice, [{ bucket }, { key: 'k' }]),
    ];
    const after: FormField[] = [
      ['key', 'late'],
      ['acl', 'public-read'],
      ['x-amz-meta-late', '1'],
      ['submit', 'Upload'],
    ];
    expect((await post(bucket, fields, { after })).status).toBe(204);
    expect(await read(service.client, bucket, 'k')).toBe('content');
    expect((await head(bucket, 'k')).Metadata).toEqual({});
  });

  it('verifies the digests that the form announces', async () => {
    const bucket = await service.bucket();
    const md5 = createHash('md5').update('content').digest('base64');
    const sha256 = createHash('sha256').update('content').digest('base64');
    const response = await postSigned(bucket, [
      ['key', 'k'],
      ['Content-MD5', md5],
      ['x-amz-checksum-algorithm', 'SHA256'],
      ['x-amz-checksum-sha256', sha256],
    ]);
    expect(response.status).toBe(204);
    expect(response.header('x-amz-checksum-sha256')).toBe(sha256);
    expect((await head(bucket, 'k')).ChecksumSHA256).toBe(sha256);
    await postSigned(bucket, [['key', 'own']]);
    expect((await head(bucket, 'own')).ChecksumCRC64NVME).toMatch(/^[A-Za-z0-9+/]{11}=$/);
  });

  it.each([
    ['Content-MD5', createHash('md5').update('other').digest('base64'), 'BadDigest'],
    ['Content-MD5', 'no digest', 'InvalidDigest'],
    ['x-amz-checksum-sha256', createHash('sha256').update('other').digest('base64'), 'BadDigest'],
    ['x-amz-checksum-crc32', 'AAAAAA==', 'BadDigest'],
    ['x-amz-checksum-crc32', 'no digest', 'InvalidRequest'],
    ['x-amz-checksum-md6', 'AAAA', 'InvalidRequest'],
    ['x-amz-sdk-checksum-algorithm', 'CRC32', 'InvalidRequest'],
  ])('stores nothing under a %s of %s', async (name, value, code) => {
    const bucket = await service.bucket();
    const blobs = await newBlobs(service);
    await expectRefused(
      bucket,
      postSigned(bucket, [
        ['key', 'k'],
        [name, value],
      ]),
      400,
      code,
    );
    await blobs.expectCount(0);
  });

  it('adds a version while versioning is enabled, and replaces the object otherwise', async () => {
    const bucket = await service.bucket();
    await put(service.client, bucket, 'k', 'old', { Metadata: { old: '1' } });
    await postSigned(bucket, [['key', 'k']]);
    expect((await head(bucket, 'k')).Metadata).toEqual({});
    await setVersioning(service.client, bucket, 'Enabled');
    const id = (await postSigned(bucket, [['key', 'k']], { file: { content: 'new' } })).header('x-amz-version-id');
    expect(id).toMatch(/^[A-Za-z0-9._-]{32}$/);
    expect(await read(service.client, bucket, 'k', id)).toBe('new');
    expect(await read(service.client, bucket, 'k', 'null')).toBe('content');
  });

  it('writes only if the condition in the form, or in the head of the request, holds', async () => {
    const bucket = await service.bucket();
    const inHead = (name: string, value: string): Promise<RawResponse> =>
      postSigned(bucket, [['key', 'k']], { headers: { [name]: value } });
    const inForm = (name: string, value: string): Promise<RawResponse> =>
      postSigned(bucket, [
        ['key', 'k'],
        [name, value],
      ]);
    for (const when of [inHead, inForm]) {
      expectError(await when('if-match', '*'), 404, 'NoSuchKey');
    }
    expect((await inForm('if-none-match', '*')).status).toBe(204);
    for (const when of [inHead, inForm]) {
      expectError(await when('if-none-match', '*'), 412, 'PreconditionFailed');
      expectError(await when('if-match', md5Tag('other')), 412, 'PreconditionFailed');
      expect((await when('if-match', md5Tag('content'))).status).toBe(204);
    }
  });

  it('sends 100 Continue before it reads a form', async () => {
    const bucket = await service.bucket();
    const body = formBody([['key', 'k'], ...signedV4(service.alice, [{ bucket }, { key: 'k' }])], { content: 'x' });
    const connection = await RawConnection.open(service.url);
    const headers = { 'content-type': formType, expect: '100-continue', 'content-length': String(body.length) };
    connection.write(requestBytes(anonymous(service.host, { method: 'POST', path: `/${bucket}`, headers })));
    expect(await connection.interim()).toBe(100);
    connection.write(body);
    expect((await connection.response('POST')).status).toBe(204);
    connection.close();
  });

  it('takes a form of unknown length, in whatever pieces', async () => {
    const bucket = await service.bucket();
    const body = formBody([['key', 'k'], ...signedV4(service.alice, [{ bucket }, { key: 'k' }])], {
      content: 'content',
    });
    const frames = chunked(
      Array.from({ length: Math.ceil(body.length / 7) }, (_, at) => body.subarray(at * 7, at * 7 + 7)),
    );
    const headers = { 'content-type': formType, 'transfer-encoding': 'chunked' };
    expect((await service.sendUnsigned({ method: 'POST', path: `/${bucket}`, headers, body: frames })).status).toBe(
      204,
    );
    expect(await read(service.client, bucket, 'k')).toBe('content');
  });
});

describe('the answer of PostObject', () => {
  it('is an empty 200 if the form asks for it', async () => {
    const bucket = await service.bucket();
    const response = await postSigned(bucket, [
      ['key', 'k'],
      ['success_action_status', '200'],
    ]);
    expect(response).toMatchObject({ status: 200, text: '' });
    expect(response.header('etag')).toBe(md5Tag('content'));
    expect(response.header('location')).toBe(`${service.ownUrl}/${bucket}/k`);
  });

  it('is a 201 with a document if the form asks for it', async () => {
    const bucket = await service.bucket();
    const response = await postSigned(bucket, [
      ['key', 'a&b'],
      ['success_action_status', '201'],
    ]);
    expect(response.status).toBe(201);
    expect(response.header('content-type')).toBe('application/xml');
    expect(response.text).toMatch(/<PostResponse><Location>/);
    const texts = ['Location', 'Bucket', 'Key', 'ETag'].map((name) => textOf(response.text, name));
    const location = `${service.ownUrl}/${bucket}/a%26b`;
    expect(texts).toEqual([location, bucket, 'a&b', md5Tag('content')]);
    expect(response.header('location')).toBe(location);
    expect(response.header('etag')).toBe(md5Tag('content'));
  });

  it.each(['204', '404', '302', 'nonsense', ''])('is 204 if the form asks for %s', async (status) => {
    const bucket = await service.bucket();
    expect(
      (
        await postSigned(bucket, [
          ['key', 'k'],
          ['success_action_status', status],
        ])
      ).status,
    ).toBe(204);
  });

  const added = (bucket: string): string =>
    `bucket=${bucket}&key=a%20b%26c&etag=%22${createHash('md5').update('content').digest('hex')}%22`;

  it.each([
    ['success_action_redirect', 'http://example.com/done', 'http://example.com/done?'],
    ['success_action_redirect', 'HTTPS://example.com', 'https://example.com/?'],
    ['success_action_redirect', 'https://example.com/done?user=1&x=%20', 'https://example.com/done?user=1&x=%20&'],
    ['success_action_redirect', 'https://example.com/ü', 'https://example.com/%C3%BC?'],
    ['redirect', 'http://example.com/old', 'http://example.com/old?'],
  ])('is a 303 to what %s says: %s', async (name, url, beginning) => {
    const bucket = await service.bucket();
    const response = await postSigned(bucket, [
      ['key', 'a b&c'],
      [name, url],
      ['success_action_status', '201'],
    ]);
    expect(response).toMatchObject({ status: 303, text: '' });
    expect(response.header('location')).toBe(beginning + added(bucket));
    expect(response.header('etag')).toBe(md5Tag('content'));
  });

  it('is a 303 to success_action_redirect rather than to redirect, and keeps a fragment at its end', async () => {
    const bucket = await service.bucket();
    const response = await postSigned(bucket, [
      ['key', 'a b&c'],
      ['redirect', 'http://example.com/old'],
      ['success_action_redirect', 'http://example.com/new#top'],
    ]);
    expect(response.header('location')).toBe(`http://example.com/new?${added(bucket)}#top`);
  });

  it.each([
    '/done',
    'example.com',
    'ftp://example.com/',
    'javascript:alert(1)',
    '//example.com/',
    'http://',
    'http:example.com',
    '',
  ])('redirects nobody to "%s"', async (url) => {
    const bucket = await service.bucket();
    const fields: FormField[] = [
      ['key', 'k'],
      ['success_action_redirect', url],
      ['success_action_status', '200'],
    ];
    const response = await postSigned(bucket, fields);
    expect(response.status).toBe(200);
    expect(response.header('location')).toBe(`${service.ownUrl}/${bucket}/k`);
  });

  it('names the bucket where the request did', async () => {
    const bucket = await service.bucket();
    const { protocol, port } = new URL(service.ownUrl);
    const host = `${bucket}.${service.domain}:${port}`;
    const response = await postSigned(bucket, [['key', 'a/b']], { path: '/', headers: { host } });
    expect({ status: response.status, location: response.header('location') }).toEqual({
      status: 204,
      location: `${protocol}//${host}/a/b`,
    });
    expect(await read(service.client, bucket, 'a/b')).toBe('content');
  });

  it('is the same with or without a slash after the bucket', async () => {
    const bucket = await service.bucket();
    expect((await postSigned(bucket, [['key', 'k']], { path: `/${bucket}/` })).status).toBe(204);
  });
});

/** Returns a policy with one of its two properties in capitals. */
function inCapitals(name: string): string {
  const parts = { expiration: '2040-01-01T00:00:00Z', conditions: [{ key: 'k' }] };
  const renamed = Object.entries(parts).map(([one, value]) => [one === name ? one.toUpperCase() : one, value]);
  return Buffer.from(JSON.stringify(Object.fromEntries(renamed))).toString('base64');
}

describe('the policy of a form', () => {
  it.each([
    ['a key outside it', [['starts-with', '$key', 'user/']], [['key', 'other/k']]],
    ['a key that climbs out of it', [['eq', '$key', 'user/k']], [['key', 'user/../k']]],
    ['a file name that climbs out of it', [['eq', '$key', 'user/f']], [['key', 'user/${filename}']]],
    [
      'an acl outside it',
      [{ key: 'k' }, { acl: 'private' }],
      [
        ['key', 'k'],
        ['acl', 'public-read'],
      ],
    ],
    [
      'a type outside it',
      [{ key: 'k' }, ['starts-with', '$Content-Type', 'image/']],
      [
        ['key', 'k'],
        ['Content-Type', 'text/html'],
      ],
    ],
    [
      'one type of a list outside it',
      [{ key: 'k' }, ['starts-with', '$Content-Type', 'image/']],
      [
        ['key', 'k'],
        ['Content-Type', 'image/png,text/html'],
      ],
    ],
    [
      'a field that it does not mention',
      [{ key: 'k' }],
      [
        ['key', 'k'],
        ['x-amz-meta-more', '1'],
      ],
    ],
    [
      'an acl that it does not mention',
      [{ key: 'k' }],
      [
        ['key', 'k'],
        ['acl', 'private'],
      ],
    ],
    [
      'a redirect that it does not mention',
      [{ key: 'k' }],
      [
        ['key', 'k'],
        ['success_action_redirect', 'http://example.com/'],
      ],
    ],
    [
      'a key that it does not mention',
      [{ acl: 'private' }],
      [
        ['key', 'k'],
        ['acl', 'private'],
      ],
    ],
    ['a field missing that it asks for', [{ key: 'k' }, { 'x-amz-meta-colour': 'red' }], [['key', 'k']]],
    [
      'an empty field that must not be',
      [{ key: 'k' }, { 'x-amz-meta-colour': 'red' }],
      [
        ['key', 'k'],
        ['x-amz-meta-colour', ''],
      ],
    ],
  ] as const)('denies %s', async (_, conditions, fields) => {
    const bucket = await service.bucket();
    const text = await expectRefused(
      bucket,
      postUnder(bucket, [{ bucket }, ...conditions], fields),
      403,
      'AccessDenied',
    );
    expect(text).toContain('Invalid according to Policy');
  });

  it('is not asked about a form without a key', async () => {
    const bucket = await service.bucket();
    const keyless = postUnder(bucket, [{ bucket }, ['starts-with', '$key', 'k']], []);
    const text = await expectRefused(bucket, keyless, 400, 'InvalidArgument');
    expect(text).toContain("a field named 'key'");
  });

  it('is not asked about a field of the same name with another case or a second value', async () => {
    const bucket = await service.bucket();
    const fields: FormField[] = [
      ['key', 'k'],
      ['KEY', 'other'],
    ];
    await expectRefused(bucket, postUnder(bucket, [{ bucket }, { key: 'k' }], fields), 400, 'InvalidArgument');
  });

  it('is of one bucket: that of the URL, whatever the form says', async () => {
    const bucket = await service.bucket();
    const other = await service.bucket();
    const forOther = signedV4(service.alice, [{ bucket: other }, { key: 'k' }]);
    const key: FormField = ['key', 'k'];
    await expectRefused(bucket, post(bucket, [key, ...forOther]), 403, 'AccessDenied');
    await expectRefused(bucket, post(bucket, [key, ['bucket', other], ...forOther]), 403, 'AccessDenied');
    await expectEmpty(other);
  });

  it('is for one bucket, which the form may repeat and not contradict', async () => {
    const bucket = await service.bucket();
    const other = await service.bucket();
    const right = signedV4(service.alice, [{ bucket }, { key: 'k' }]);
    const contradiction = post(bucket, [['key', 'k'], ['bucket', other], ...right]);
    await expectRefused(bucket, contradiction, 400, 'InvalidArgument');
    await expectEmpty(other);
    expect((await post(bucket, [['key', 'k'], ['bucket', bucket], ...right])).status).toBe(204);
  });

  it('has its operators in any case, and means the same by them', async () => {
    const bucket = await service.bucket();
    const conditions = [
      ['EQ', '$bucket', bucket],
      ['Eq', '$key', 'k'],
      ['Starts-With', '$Content-Type', 'image/'],
      ['CONTENT-LENGTH-RANGE', 1, 7],
    ];
    const send = (key: string, type: string, content: string): Promise<RawResponse> => {
      const fields: FormField[] = [
        ['key', key],
        ['Content-Type', type],
      ];
      return postUnder(bucket, conditions, fields, { file: { content } });
    };
    await expectRefused(bucket, send('other', 'image/png', 'content'), 403, 'AccessDenied');
    await expectRefused(bucket, send('k', 'text/html', 'content'), 403, 'AccessDenied');
    await expectRefused(bucket, send('k', 'image/png', 'contents'), 400, 'EntityTooLarge');
    expect((await send('k', 'image/png', 'content')).status).toBe(204);
  });

  it('must say for which bucket it is', async () => {
    const bucket = await service.bucket();
    await expectRefused(bucket, postUnder(bucket, [{ key: 'k' }], [['key', 'k']]), 403, 'AccessDenied');
  });

  it.each([
    ['base64', 'no base64!', 400, 'InvalidPolicyDocument'],
    ['JSON', Buffer.from('{').toString('base64'), 400, 'InvalidPolicyDocument'],
    ['without conditions', policyText(undefined), 400, 'InvalidPolicyDocument'],
    ['with empty conditions', policyText([]), 400, 'InvalidPolicyDocument'],
    ['with an empty condition', policyText([{}]), 400, 'InvalidPolicyDocument'],
    ['without an expiration', policyText([{ key: 'k' }], null), 400, 'InvalidPolicyDocument'],
    ['with an empty expiration', policyText([{ key: 'k' }], ''), 400, 'InvalidPolicyDocument'],
    ['with a bad date', policyText([{ key: 'k' }], '2040-01-01 00:00:00'), 400, 'InvalidPolicyDocument'],
    ['with expiration in capitals', inCapitals('expiration'), 400, 'InvalidPolicyDocument'],
    ['with conditions in capitals', inCapitals('conditions'), 400, 'InvalidPolicyDocument'],
    ['with an operator there is not', policyText([['ENDS-WITH', '$key', 'k']]), 400, 'InvalidPolicyDocument'],
    ['with half a range', policyText([['content-length-range', 0]]), 400, 'InvalidPolicyDocument'],
    ['that has expired', policyText([{ key: 'k' }], '2020-01-01T00:00:00Z'), 403, 'AccessDenied'],
  ])('must be one: %s', async (what, policy, status, code) => {
    const bucket = await service.bucket();
    const answer = post(bucket, [['key', 'k'], ...signedV2(service.alice, policy)]);
    const text = await expectRefused(bucket, answer, status, code);
    if (what === 'that has expired') expect(text).toContain('Policy expired');
  });

  it.each([
    ['EntityTooSmall', 6],
    ['EntityTooLarge', 11],
  ])('holds the file to its size: %s', async (code, size) => {
    const bucket = await service.bucket();
    const blobs = await newBlobs(service);
    const conditions = [{ bucket }, { key: 'k' }, ['content-length-range', 7, 10]];
    const send = (count: number): Promise<RawResponse> =>
      postUnder(bucket, conditions, [['key', 'k']], { file: { content: 'x'.repeat(count) } });
    const text = await expectRefused(bucket, send(size), 400, code);
    expect(textOf(text, 'ProposedSize')).toBe(String(size));
    await blobs.expectCount(0);
    for (const within of [7, 10]) expect((await send(within)).status).toBe(204);
  });

  it('says how large a file was meant to be that is too large, not how much of it was read', async () => {
    const bucket = await service.bucket();
    const conditions = [{ bucket }, { key: 'k' }, ['content-length-range', 0, 10]];
    const size = 3 * 1024 * 1024;
    const answer = postUnder(bucket, conditions, [['key', 'k']], { file: { content: 'x'.repeat(size) } });
    const text = await expectRefused(bucket, answer, 400, 'EntityTooLarge');
    expect(textOf(text, 'ProposedSize')).toBe(String(size));
    expect(textOf(text, 'MaxSizeAllowed')).toBe('10');
  });
});

describe('metadata that no header can hold', () => {
  it.each([
    ['x-amz-meta-a b', '1'],
    ['x-amz-meta-a:b', '1'],
    ['x-amz-meta-é', '1'],
    ['x-amz-meta-a', 'one\ntwo'],
    ['x-amz-meta-a', 'one\0two'],
  ])('is refused: %j %j', async (name, value) => {
    const bucket = await service.bucket();
    await expectRefused(
      bucket,
      postSigned(bucket, [
        ['key', 'k'],
        [name, value],
      ]),
      400,
      'InvalidArgument',
    );
  });
});

describe('the signature of a form', () => {
  const withField = (fields: readonly FormField[], name: string, value: string | undefined): FormField[] => [
    ...fields.filter(([other]) => other !== name),
    ...(value === undefined ? [] : [[name, value] as const]),
  ];

  it.each([
    ['x-amz-signature', 'f'.repeat(64), 403, 'SignatureDoesNotMatch'],
    ['x-amz-signature', 'forged', 403, 'SignatureDoesNotMatch'],
    ['x-amz-signature', undefined, 400, 'InvalidArgument'],
    ['x-amz-credential', undefined, 400, 'InvalidArgument'],
    ['x-amz-credential', 'AKALICE', 400, 'InvalidArgument'],
    ['x-amz-credential', 'NOBODY/20261120/us-east-1/s3/aws4_request', 403, 'InvalidAccessKeyId'],
    ['x-amz-algorithm', undefined, 400, 'InvalidArgument'],
    ['x-amz-date', undefined, 400, 'InvalidArgument'],
    ['policy', undefined, 400, 'InvalidArgument'],
    ['x-amz-security-token', 'token', 400, 'InvalidToken'],
    ['AWSAccessKeyId', 'AKALICE', 400, 'InvalidArgument'],
  ])('of version 4 is refused if %s is %s', async (name, value, status, code) => {
    const bucket = await service.bucket();
    const time = name === 'x-amz-credential' ? Date.parse('2026-11-20T00:00:00Z') : Date.now();
    const fields = signedV4(service.alice, [{ bucket }, { key: 'k' }], { time });
    await expectRefused(bucket, post(bucket, [['key', 'k'], ...withField(fields, name, value)]), status, code);
  });

  it.each([
    ['signature', 'forged', 403, 'SignatureDoesNotMatch'],
    ['signature', undefined, 400, 'InvalidArgument'],
    ['AWSAccessKeyId', 'NOBODY', 403, 'InvalidAccessKeyId'],
    ['AWSAccessKeyId', undefined, 400, 'InvalidArgument'],
    ['policy', undefined, 400, 'InvalidArgument'],
    ['SVCAccessKeyId', 'AKALICE', 400, 'InvalidArgument'],
  ])('of version 2 is refused if %s is %s', async (name, value, status, code) => {
    const bucket = await service.bucket();
    const fields = withField(signedV2(service.alice, policyText([{ bucket }, { key: 'k' }])), name, value);
    await expectRefused(bucket, post(bucket, [['key', 'k'], ...fields]), status, code);
  });

  it('is of the text of the policy, not of its meaning', async () => {
    const bucket = await service.bucket();
    const signature = signedV2(service.alice, policyText([{ bucket }, { key: 'k' }]));
    const wider = policyText([{ bucket }, ['starts-with', '$key', '']]);
    const fields = withField(signature, 'policy', wider);
    await expectRefused(bucket, post(bucket, [['key', 'k'], ...fields]), 403, 'SignatureDoesNotMatch');
  });

  it('is of a user with rights on the bucket', async () => {
    const bucket = await service.bucket();
    const fields = signedV4(service.bob, [{ bucket }, { key: 'k' }]);
    await expectRefused(bucket, post(bucket, [['key', 'k'], ...fields]), 403, 'AccessDenied');
  });

  it('may be missing only where everybody may write', async () => {
    const bucket = await service.bucket();
    await expectRefused(bucket, post(bucket, [['key', 'k']]), 403, 'AccessDenied');
    await expectRefused(
      bucket,
      post(bucket, [
        ['key', 'k'],
        ['policy', policyText([{ bucket }])],
      ]),
      400,
      'InvalidArgument',
    );
  });

  it('does not help where there is no bucket', async () => {
    const bucket = service.freeName();
    expectError(await postSigned(bucket, [['key', 'k']]), 404, 'NoSuchBucket');
  });

  it('may be that of the request instead, if that covers the form', async () => {
    const bucket = await service.bucket();
    const request = {
      method: 'POST',
      path: `/${bucket}`,
      headers: { 'content-type': formType },
      body: formBody([['key', 'k']], { content: 'content' }),
    };
    expectError(await service.send(request, { payloadHash: 'UNSIGNED-PAYLOAD' }), 403, 'AccessDenied');
    expectError(await service.sendPresigned(request), 403, 'AccessDenied');
    expectError(await service.send(request, { payloadHash: 'a'.repeat(64) }), 400, 'XAmzContentSHA256Mismatch');
    const wrongKey = { key: { ...service.alice, secretAccessKey: 'wrong' } };
    expectError(await service.send(request, wrongKey), 403, 'SignatureDoesNotMatch');
    await expectEmpty(bucket);
    expect((await service.send(request)).status).toBe(204);
    expect(await read(service.client, bucket, 'k')).toBe('content');
  });

  it('may be that of the chunks of the request', async () => {
    const bucket = await service.bucket();
    const body = formBody([['key', 'k']], { content: 'content' });
    const send = async (change: (framed: Buffer) => Buffer, payloadHash: string): Promise<RawResponse> => {
      const headers = {
        'content-type': formType,
        'x-amz-decoded-content-length': String(body.length),
        'transfer-encoding': 'chunked',
      };
      const { seed, ...request } = signed(
        service.host,
        { method: 'POST', path: `/${bucket}`, headers },
        { key: service.alice, payloadHash },
      );
      const framed = payloadHash.includes('UNSIGNED')
        ? chunked([body])
        : chunkedAndSigned(seed, [body.subarray(0, 50), body.subarray(50)]);
      const connection = await RawConnection.open(service.url);
      connection.write(requestBytes({ ...request, body: chunked([change(framed)]) }));
      return connection.response('POST').finally(() => connection.close());
    };
    const same = (framed: Buffer): Buffer => framed;
    const altered = (framed: Buffer): Buffer => Buffer.from(framed.toString().replace('content\r\n', 'CONTENT\r\n'));
    const signedChunks = 'STREAMING-AWS4-HMAC-SHA256-PAYLOAD';
    await expectRefused(bucket, send(altered, signedChunks), 403, 'SignatureDoesNotMatch');
    await expectRefused(bucket, send(same, 'STREAMING-UNSIGNED-PAYLOAD-TRAILER'), 403, 'AccessDenied');
    expect((await send(same, signedChunks)).status).toBe(204);
  });

  it('is forged in vain whatever the framing of the body', async () => {
    const bucket = await service.bucket();
    const body = formBody([['key', 'k']], { content: 'content' });
    const framed = chunked([body]);
    const headers = { 'content-type': formType, 'x-amz-decoded-content-length': String(body.length) };
    const request = { method: 'POST', path: `/${bucket}`, headers, body: framed };
    const forged = {
      key: { ...service.alice, secretAccessKey: 'wrong' },
      payloadHash: 'STREAMING-UNSIGNED-PAYLOAD-TRAILER',
    };
    await expectRefused(bucket, service.send(request, forged), 403, 'SignatureDoesNotMatch');
    await expectRefused(bucket, service.sendPresigned(request, forged), 403, 'SignatureDoesNotMatch');
  });

  it('is the only one', async () => {
    const bucket = await service.bucket();
    const request = {
      method: 'POST',
      path: `/${bucket}`,
      headers: { 'content-type': formType },
      body: formBody([['key', 'k'], ...signedV4(service.alice, [{ bucket }, { key: 'k' }])], { content: 'content' }),
    };
    await expectRefused(bucket, service.send(request), 400, 'InvalidArgument');
  });
});

describe('a form', () => {
  it.each([
    ['no key', []],
    ['an empty key', [['key', '']]],
    ['a key made of no file name', [['key', '${filename}']]],
  ] as [string, FormField[]][])('is refused with %s', async (_, fields) => {
    const bucket = await service.bucket();
    const file = { fileName: 'folder/', content: 'x' };
    await expectRefused(
      bucket,
      postUnder(bucket, [{ bucket }, ...fields.map(() => ['starts-with', '$key', ''])], fields, { file }),
      400,
      'InvalidArgument',
    );
  });

  it.each([
    ['1,025 bytes', 'ü'.repeat(512) + 'x', 'InvalidObjectName'],
    ['invalid UTF-8', Buffer.from([0x6b, 0xff]), 'InvalidObjectName'],
    ['NUL', 'a\0b', 'InvalidRequest'],
  ])('is refused with a key of %s', async (_, key, code) => {
    const bucket = await service.bucket();
    const conditions = [{ bucket }, ['starts-with', '$key', '']];
    await expectRefused(bucket, postUnder(bucket, conditions, [['key', key]]), 400, code);
  });

  it.each(['../other/x', '..%2f', '/etc/passwd', 'a//b', '\\..\\', 'con', '.', 'line\nbreak'])(
    'takes the key %s literally',
    async (key) => {
      const bucket = await service.bucket();
      expect((await postSigned(bucket, [['key', key]])).status).toBe(204);
      const { Versions } = await service.client.send(
        new ListObjectVersionsCommand({ Bucket: bucket, EncodingType: 'url' }),
      );
      expect(Versions!.map((version) => decodeURIComponent(version.Key!))).toEqual([key]);
    },
  );

  it.each([
    ['no file', null, []],
    ['two files', { content: 'a' }, [['file', 'b']]],
    ['a file under another name', { name: 'upload', content: 'a' }, []],
  ] as [string, FormFile | null, FormField[]][])('is refused with %s', async (_, file, after) => {
    const bucket = await service.bucket();
    const blobs = await newBlobs(service);
    const fields: FormField[] = [['key', 'k'], ...signedV4(service.alice, [{ bucket }, { key: 'k' }])];
    const text = await expectRefused(bucket, post(bucket, fields, { file, after }), 400, 'InvalidArgument');
    expect(textOf(text, 'Message')).toBe('POST requires exactly one file upload per request.');
    await blobs.expectCount(0);
  });

  it.each([
    ['not well-formed', formType, (body: Buffer) => Buffer.from(body.toString().replaceAll('form-data; ', ''))],
    ['of another boundary', 'multipart/form-data; boundary=other', (body: Buffer) => body],
    ['without a boundary', 'multipart/form-data', (body: Buffer) => body],
    ['cut', formType, (body: Buffer) => body.subarray(0, -6)],
    ['cut within its fields', formType, (body: Buffer) => body.subarray(0, 100)],
    ['nothing', formType, () => Buffer.alloc(0)],
  ])('is refused if it is %s', async (_, type, change) => {
    const bucket = await service.bucket();
    const blobs = await newBlobs(service);
    const body = change(
      formBody([['key', 'k'], ...signedV4(service.alice, [{ bucket }, { key: 'k' }])], { content: 'x' }),
    );
    const answer = service.sendUnsigned({
      method: 'POST',
      path: `/${bucket}`,
      headers: { 'content-type': type },
      body,
    });
    await expectRefused(bucket, answer, 400, 'MalformedPOSTRequest');
    await blobs.expectCount(0);
  });

  it.each(['application/x-www-form-urlencoded', 'text/plain', null])('is refused as %s', async (type) => {
    const bucket = await service.bucket();
    await expectRefused(
      bucket,
      postSigned(bucket, [['key', 'k']], { headers: { 'content-type': type } }),
      400,
      'InvalidArgument',
    );
  });

  it('is refused without a length', async () => {
    const bucket = await service.bucket();
    const answer = service.sendUnsigned({ method: 'POST', path: `/${bucket}`, headers: { 'content-type': formType } });
    await expectRefused(bucket, answer, 411, 'MissingContentLength');
  });

  it('may have 20 KB beside its file, before or after it, and no more', async () => {
    const bucket = await service.bucket();
    const filler = (length: number): FormField => ['x-ignore-filler', 'x'.repeat(length)];
    const signature = signedV4(service.alice, [{ bucket }, { key: 'k' }]);
    const file = { content: 'x'.repeat(100_000) };
    const before = (length: number): Promise<RawResponse> =>
      post(bucket, [['key', 'k'], filler(length), ...signature], { file });
    const after = (length: number): Promise<RawResponse> =>
      post(bucket, [['key', 'k'], ...signature], { file, after: [filler(length)] });
    const rest = formBody([['key', 'k'], filler(0), ...signature], { content: '' }).length;
    for (const send of [before, after]) {
      await expectRefused(bucket, send(20 * 1024 - rest + 1), 400, 'MaxPostPreDataLengthExceeded');
    }
    for (const send of [before, after]) expect((await send(20 * 1024 - rest)).status).toBe(204);
  });

  it.each([
    ['acl', 'public', 400, 'InvalidArgument'],
    ['x-amz-acl', 'public', 400, 'InvalidArgument'],
    ['x-amz-grant-read', 'uri="x"', 400, 'InvalidArgument'],
    ['x-amz-grant-read', 'emailAddress="no@body"', 400, 'UnresolvableGrantByEmailAddress'],
    ['x-amz-object-lock-mode', 'GOVERNANCE', 400, 'InvalidArgument'],
    ['x-amz-object-lock-legal-hold', 'ON', 400, 'InvalidRequest'],
    ['x-amz-server-side-encryption', 'aws:kms', 501, 'NotImplemented'],
    ['x-amz-storage-class', 'GLACIER', 400, 'InvalidStorageClass'],
    ['x-amz-website-redirect-location', 'elsewhere', 400, 'InvalidRedirectLocation'],
    ['x-amz-meta-large', 'x'.repeat(2049), 400, 'MetadataTooLarge'],
    ['x-amz-expected-bucket-owner', 'somebody', 403, 'AccessDenied'],
    ['tagging', '<Tagging>', 400, 'MalformedXML'],
    ['tagging', '', 400, 'MalformedXML'],
    ['tagging', 'a=b', 400, 'MalformedXML'],
    ['tagging', '<!DOCTYPE x><Tagging><TagSet/></Tagging>', 400, 'MalformedXML'],
    ['tagging', '<Tagging><TagSet><Tag><Key>aws:x</Key><Value/></Tag></TagSet></Tagging>', 400, 'InvalidTag'],
    ['x-amz-meta-a', 'b\r\nx-injected: 1', 400, 'InvalidArgument'],
    ['x-amz-meta-a', 'b\0', 400, 'InvalidArgument'],
    ['x-amz-meta-a: b', 'c', 400, 'InvalidArgument'],
    ['x-amz-meta-ü', 'c', 400, 'InvalidArgument'],
    ['Content-Type', 'text/html\r\nx-injected: 1', 400, 'InvalidArgument'],
    ['Content-Disposition', 'a\nb', 400, 'InvalidArgument'],
  ])('is refused whose field %s is %s', async (name, value, status, code) => {
    const bucket = await service.bucket();
    await expectRefused(
      bucket,
      postSigned(bucket, [
        ['key', 'k'],
        [name, value],
      ]),
      status,
      code,
    );
  });

  it('is refused if the head of its request asks for what only the form can', async () => {
    const bucket = await service.bucket();
    const send = (headers: Record<string, string>): Promise<RawResponse> =>
      postSigned(bucket, [['key', 'k']], { headers });
    await expectRefused(bucket, send({ 'x-amz-acl': 'public-read' }), 400, 'InvalidRequest');
    await expectRefused(bucket, send({ 'x-amz-grant-read': 'id="x"' }), 400, 'InvalidRequest');
    await expectRefused(bucket, send({ 'x-amz-server-side-encryption': 'AES256' }), 400, 'InvalidRequest');
    await expectRefused(bucket, send({ 'x-amz-expected-bucket-owner': 'somebody' }), 403, 'AccessDenied');
    await expectRefused(bucket, send({ 'content-md5': createHash('md5').digest('base64') }), 400, 'BadDigest');
  });

  it('may open the object, and what it does not say is private', async () => {
    const bucket = await service.bucket();
    for (const field of ['acl', 'x-amz-acl']) {
      const fields: FormField[] = [
        ['key', 'open'],
        [field, 'public-read'],
      ];
      expect((await postSigned(bucket, fields)).status).toBe(204);
      expect((await service.sendUnsigned({ path: `/${bucket}/open` })).text).toBe('content');
      expect((await postSigned(bucket, [['key', 'open']])).status).toBe(204);
      expectError(await service.sendUnsigned({ path: `/${bucket}/open` }), 403, 'AccessDenied');
    }
  });

  it('needs no policy where everybody may write, and the object is the owner of the bucket’s', async () => {
    const bucket = await service.bucket();
    expectError(await post(bucket, [['key', 'k']]), 403, 'AccessDenied');
    await service.client.send(new PutBucketAclCommand({ Bucket: bucket, ACL: 'public-read-write' }));
    expect((await post(bucket, [['key', 'k']])).status).toBe(204);
    expect(await read(service.client, bucket, 'k')).toBe('content');
    expectError(await service.sendUnsigned({ path: `/${bucket}/k` }), 403, 'AccessDenied');
  });

  it('may bring the key that its file is encrypted with', async () => {
    const bucket = await service.bucket();
    const key = randomBytes(32);
    const SSECustomerKey = key.toString('base64');
    const SSECustomerKeyMD5 = createHash('md5').update(key).digest('base64');
    const start = 'x-amz-server-side-encryption-customer-';
    const encryption: FormField[] = [
      [`${start}algorithm`, 'AES256'],
      [`${start}key`, SSECustomerKey],
      [`${start}key-MD5`, SSECustomerKeyMD5],
    ];
    await expectRefused(bucket, postSigned(bucket, [['key', 'k'], ...encryption.slice(0, 2)]), 400, 'InvalidArgument');
    const response = await postSigned(bucket, [['key', 'k'], ...encryption]);
    expect(response.status).toBe(204);
    expect(response.header(`${start}algorithm`)).toBe('AES256');
    expect(response.header(`${start}key-md5`)).toBe(SSECustomerKeyMD5);
    await expect(read(service.client, bucket, 'k')).rejects.toMatchObject({ name: 'InvalidRequest' });
    const request = { Bucket: bucket, Key: 'k', SSECustomerAlgorithm: 'AES256', SSECustomerKey, SSECustomerKeyMD5 };
    const { Body } = await service.client.send(new GetObjectCommand(request));
    expect(await Body!.transformToString()).toBe('content');
    await postSigned(bucket, [
      ['key', 'managed'],
      ['x-amz-server-side-encryption', 'AES256'],
    ]);
    expect((await head(bucket, 'managed')).ServerSideEncryption).toBe('AES256');
  });
});

describe('a large form', () => {
  const size = 200 * MiB;

  /** Sends a form as fast as it is taken; how much of the file had to be sent until the answer came. */
  async function upload(
    bucket: string,
    fields: readonly FormField[],
  ): Promise<{ status: number; text: string; sent: number }> {
    const start = formStart(fields);
    const file = keystream(0, size);
    let sent = 0;
    return new Promise((resolve, reject) => {
      const request = startRequest(`${service.url}/${bucket}`, {
        method: 'POST',
        headers: { 'content-type': formType, 'content-length': start.length + size + formEnd.length },
      });
      request.once('response', (response) => {
        const atAnswer = sent;
        let text = '';
        response.setEncoding('utf8').on('data', (more: string) => (text += more));
        response.once('end', () => resolve({ status: response.statusCode!, text, sent: atAnswer }));
      });
      // The service closes the connection once it has answered and does not want the rest.
      request.once('error', reject);
      Readable.from(
        (async function* () {
          yield start;
          for await (const chunk of file as AsyncIterable<Buffer>) {
            sent += chunk.length;
            yield chunk;
          }
          yield formEnd;
        })(),
      ).pipe(request);
    });
  }

  it('streams: the service never holds the file', async () => {
    const bucket = await service.bucket();
    const memory = service.started && MemoryWatch.isPossible ? new MemoryWatch(service.started.pid) : undefined;
    const fields = signedV4(service.alice, [{ bucket }, { key: 'k' }, ['content-length-range', size, size]]);
    expect((await upload(bucket, [['key', 'k'], ...fields])).status).toBe(204);
    if (memory) expect(memory.highWaterMark()).toBeLessThan(size / MiB);
    memory?.stop();
    const { Body } = await service.client.send(new GetObjectCommand({ Bucket: bucket, Key: 'k' }));
    expect(await expectKeystream(Body as Readable)).toBe(size);
  });

  it('is not read to its end once its file is larger than the policy allows', async () => {
    const bucket = await service.bucket();
    const blobs = await newBlobs(service);
    const fields = signedV4(service.alice, [{ bucket }, { key: 'k' }, ['content-length-range', 0, MiB]]);
    const { status, text, sent } = await upload(bucket, [['key', 'k'], ...fields]);
    expect({ status, code: textOf(text, 'Code') }).toEqual({ status: 400, code: 'EntityTooLarge' });
    expect(sent).toBeLessThan(size / 2);
    await expectEmpty(bucket);
    await blobs.expectCount(0);
  });

  it('leaves nothing behind if the client goes away', async () => {
    const bucket = await service.bucket();
    const blobs = await newBlobs(service);
    const start = formStart([['key', 'k'], ...signedV4(service.alice, [{ bucket }, { key: 'k' }])]);
    const connection = await RawConnection.open(service.url);
    const headers = { 'content-type': `multipart/form-data; boundary=${boundary}`, 'content-length': String(size) };
    connection.write(requestBytes(anonymous(service.host, { method: 'POST', path: `/${bucket}`, headers })));
    connection.write(Buffer.concat([start, Buffer.alloc(MiB)]));
    await eventually(() => blobs.expectCount(1));
    connection.close();
    await eventually(() => blobs.expectCount(0));
    await expectEmpty(bucket);
  });
});
