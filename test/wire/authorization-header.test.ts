import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { CreateBucketCommand, DeleteBucketCommand } from '@aws-sdk/client-s3';
import { bucketName } from '../support/clients/clients.ts';
import { expectError, textOf } from '../support/clients/expect-error.ts';
import { put, read, versionsOf } from '../support/storage/objects.ts';
import { exchange, type RawRequest, type RawResponse } from '../support/clients/raw-client.ts';
import { serviceUnderTest } from '../support/programs/service-under-test.ts';
import { basicTime, neutralWords, sha256, signed, type Signing, type Unsigned } from '../support/clients/signer.ts';

/** https://docs.aws.amazon.com/AmazonS3/latest/API/sig-v4-header-based-auth.html */

const service = serviceUnderTest();
const minute = 60_000;

/** An upload of `content` to `key`, to be signed. */
const upload = (more: Partial<Unsigned> = {}): Unsigned => ({
  method: 'PUT',
  path: `/${bucket}/key`,
  body: 'content',
  ...more,
});

/** Every fault is tried with an upload, which must leave nothing behind. */
let bucket: string;
beforeEach(async () => {
  bucket = bucketName();
  await service.client.send(new CreateBucketCommand({ Bucket: bucket }));
});
afterEach(async () => {
  expect(await versionsOf(service.client, bucket)).toEqual([]);
  await service.client.send(new DeleteBucketCommand({ Bucket: bucket }));
});

/** Signs the upload, and changes signed parts before it is sent. */
function changed(
  change: (request: RawRequest) => Partial<RawRequest>,
  signing: Partial<Signing> = {},
): Promise<RawResponse> {
  const request = signed(service.host, upload(), { key: service.alice, ...signing });
  return exchange(service.url, { ...request, ...change(request) });
}

/** Sends the upload with this Authorization header, or with a modification of the right one. */
function authorized(authorization: string | ((right: string) => string)): Promise<RawResponse> {
  return changed(({ headers }) => ({
    headers: headers.map(([name, value]) =>
      name !== 'authorization'
        ? [name, value]
        : [name, typeof authorization === 'string' ? authorization : authorization(value)],
    ),
  }));
}

async function expectUploaded(response: RawResponse): Promise<void> {
  expect(response.status, response.text).toBe(200);
  expect(await read(service.client, bucket, 'key')).toBe('content');
  expect((await service.send({ method: 'DELETE', path: `/${bucket}/key` })).status).toBe(204);
}

describe('a signature', () => {
  it('is verified', async () => {
    await expectUploaded(await service.send(upload()));
  });

  it('that is wrong is refused, with what was signed here, and without the secret', async () => {
    const response = await authorized((right) => right.replace(/.$/, (digit) => (digit === '0' ? '1' : '0')));
    expectError(response, 403, 'SignatureDoesNotMatch');
    expect(textOf(response.text, 'AWSAccessKeyId')).toBe(service.alice.accessKeyId);
    expect(textOf(response.text, 'SignatureProvided')).toMatch(/^[0-9a-f]{64}$/);
    expect(textOf(response.text, 'StringToSign')).toMatch(
      /^AWS4-HMAC-SHA256\n\d{8}T\d{6}Z\n\d{8}\/us-east-1\/s3\/aws4_request\n/,
    );
    expect(textOf(response.text, 'CanonicalRequest')).toMatch(new RegExp(`^PUT\n/${bucket}/key\n\nhost:`));
    expect(response.text).not.toContain(service.alice.secretAccessKey);
  });

  it('with another secret is refused', async () => {
    const key = { ...service.alice, secretAccessKey: 'guessed' };
    expectError(await service.send(upload(), { key }), 403, 'SignatureDoesNotMatch');
  });

  it('of a key that nobody has is refused', async () => {
    const key = { ...service.alice, accessKeyId: 'AKNOBODY' };
    const response = await service.send(upload(), { key });
    expectError(response, 403, 'InvalidAccessKeyId');
    expect(textOf(response.text, 'AWSAccessKeyId')).toBe('AKNOBODY');
  });

  it.each<[string, Partial<RawRequest>]>([
    ['method', { method: 'DELETE' }],
    ['key', { target: '/another-bucket/other' }],
    ['query', { target: '/another-bucket/key?acl' }],
  ])('does not hold for another %s', async (_, change) => {
    const target = change.target?.replace('another-bucket', bucket);
    expectError(await changed(() => ({ ...change, ...(target && { target }) })), 403, 'SignatureDoesNotMatch');
  });

  it.each(['host', 'x-amz-date', 'x-amz-meta-a'])('does not hold for another %s', async (name) => {
    const request = signed(service.host, upload({ headers: { 'x-amz-meta-a': '1' } }), { key: service.alice });
    const other = name === 'x-amz-date' ? basicTime(Date.now() - 2 * minute) : 'other.example.com';
    const headers = request.headers.map(([one, value]) => [one, one === name ? other : value] as const);
    expectError(await exchange(service.url, { ...request, headers }), 403, 'SignatureDoesNotMatch');
  });

  it('covers repeated headers as one, and values without the blanks around and within', async () => {
    const request = signed(service.host, upload({ headers: { 'x-amz-meta-a': 'one two,three' } }), {
      key: service.alice,
    });
    const headers = request.headers.flatMap(([name, value]): (readonly [string, string])[] =>
      name === 'x-amz-meta-a'
        ? [
            [name, '  one    two '],
            [name, 'three'],
          ]
        : [[name, value]],
    );
    const response = await exchange(service.url, { ...request, headers });
    expect(response.status, response.text).toBe(200);
    const head = await service.send({ method: 'HEAD', path: `/${bucket}/key` });
    expect(head.header('x-amz-meta-a')).toMatch(/^one +two,three$/);
    await expectUploaded(response);
  });

  it('may cover more than it must, and the user agent need not be in it', async () => {
    const headers = { 'content-type': 'text/plain', 'user-agent': 'test' };
    await expectUploaded(await service.send(upload({ headers }), { alsoSigned: ['content-type'] }));
    await expectUploaded(await service.send(upload({ headers })));
  });

  it('is of a key whose id has colons, an at sign and slashes', async () => {
    expect(service.bob.accessKeyId).toMatch(/[:@/]/);
    const response = await service.send({ path: '/' }, { key: service.bob });
    expect(response.status).toBe(200);
  });

  it('needs no blanks between its parts', async () => {
    await expectUploaded(await authorized((right) => right.replaceAll(', ', ',')));
  });

  it('is of the path as it was sent, or as it is written in its normal form', async () => {
    for (const path of ["/!'()*", '/a%2Fb', '/a//b/../c', '/a+b', '/%c3%a4', '/~.-_']) {
      const response = await service.send(upload({ path: `/${bucket}${path}` }));
      expect(response.status, `${path}: ${response.text}`).toBe(200);
      const deletion = await service.send({ method: 'DELETE', path: `/${bucket}${path}` });
      expect(deletion.status).toBe(204);
    }
  });

  it('is of a plus in the query as a blank or as itself, which is what it means then', async () => {
    const query = 'list-type=2&prefix=a+b';
    for (const [prefix, meaning] of [
      ['a%20b', 'a b'],
      ['a%2Bb', 'a+b'],
    ]) {
      const unsigned = { path: `/${bucket}`, query: `list-type=2&prefix=${prefix}` };
      const request = signed(service.host, unsigned, { key: service.alice });
      const response = await exchange(service.url, { ...request, target: `/${bucket}?${query}` });
      expect(response.status, response.text).toBe(200);
      expect(textOf(response.text, 'Prefix')).toBe(meaning);
    }
  });
});

describe('the words of a signature', () => {
  it('may be the neutral ones', async () => {
    await expectUploaded(await service.send(upload(), { words: neutralWords }));
  });

  it.each([
    ['AWS4 with svc4_request', { terminator: 'svc4_request' }],
    ['AWS4 with the service svc', { service: 'svc' }],
    ['SVC4 with aws4_request', { ...neutralWords, terminator: 'aws4_request' }],
    ['SVC4 with the service s3', { ...neutralWords, service: 's3' }],
    ['another service', { service: 'ec2' }],
    ['another end', { terminator: 'aws5_request' }],
  ])('are not mixed: %s', async (_, words) => {
    expectError(await service.send(upload(), { words }), 400, 'AuthorizationHeaderMalformed');
  });

  it('are not mixed within the secret', async () => {
    expectError(await service.send(upload(), { words: { prefix: 'SVC4' } }), 403, 'SignatureDoesNotMatch');
    const neutral = { ...neutralWords, prefix: 'AWS4' };
    expectError(await service.send(upload(), { words: neutral }), 403, 'SignatureDoesNotMatch');
  });

  it.each(['us-east-1', 'eu-central-1', 'anywhere', ''])('name any region: "%s"', async (region) => {
    await expectUploaded(await service.send(upload(), { region }));
  });
});

describe('an Authorization header', () => {
  it('that is empty is no anonymity', async () => {
    expectError(await authorized(''), 403, 'AccessDenied');
  });

  it.each(['AWS garbage', 'Bearer abc', 'Basic YTpi', 'garbage', 'AWS5-HMAC-SHA256 Credential=a'])(
    'of no known form is refused: %s',
    async (value) => {
      expectError(await authorized(value), 400, 'InvalidArgument');
    },
  );

  it.each([
    ['no Credential', (right: string) => right.replace(/Credential=[^,]+, /, '')],
    ['no SignedHeaders', (right: string) => right.replace(/SignedHeaders=[^,]+, /, '')],
    ['no Signature', (right: string) => right.replace(/, Signature=.*/, '')],
    ['a Signature of 63 digits', (right: string) => right.slice(0, -1)],
    ['a Signature in upper case', (right: string) => right.replace(/Signature=\S+$/, `Signature=${'A'.repeat(64)}`)],
    ['a Signature that is not hexadecimal', (right: string) => right.replace(/.$/, 'x')],
    ['two Signatures', (right: string) => `${right}, Signature=${'0'.repeat(64)}`],
    ['another part', (right: string) => `${right}, Other=1`],
    ['SignedHeaders in upper case', (right: string) => right.replace('host;', 'Host;')],
    ['SignedHeaders twice over', (right: string) => right.replace('host;', 'host;host;')],
    ['empty SignedHeaders', (right: string) => right.replace(/SignedHeaders=[^,]+/, 'SignedHeaders=')],
    ['a Credential without scope', (right: string) => right.replace(/Credential=[^/]+[^,]+/, 'Credential=AKALICE')],
    ['a Credential without key', (right: string) => right.replace(/Credential=[^/]+\//, 'Credential=')],
    ['a date in the Credential that is none', (right: string) => right.replace(/\/\d{8}\//, '/2026111/')],
    ['nothing but the algorithm', () => 'AWS4-HMAC-SHA256'],
  ])('with %s is malformed', async (_, change) => {
    expectError(await authorized(change), 400, 'AuthorizationHeaderMalformed');
  });

  it('and a signature in the query are one too many', async () => {
    const query = 'X-Amz-Signature=abc';
    expectError(await service.send(upload({ query })), 400, 'InvalidArgument');
    expectError(await service.send(upload({ query: 'X-Amz-Algorithm=AWS4-HMAC-SHA256' })), 400, 'InvalidArgument');
    expectError(await service.send(upload({ query: 'AWSAccessKeyId=AKALICE&Signature=a' })), 400, 'InvalidArgument');
  });

  it('of public-key signatures asks for what is not there', async () => {
    const response = await authorized((right) => right.replace('AWS4-HMAC-SHA256', 'AWS4-ECDSA-P256-SHA256'));
    expectError(response, 501, 'NotImplemented');
  });

  it('does not go with a session token', async () => {
    expectError(await service.send(upload({ headers: { 'x-amz-security-token': 'token' } })), 400, 'InvalidToken');
  });
});

describe('the time of a request', () => {
  it.each([-16, 16])('must not be %i minutes off', async (minutes) => {
    const response = await service.send(upload(), { time: Date.now() + minutes * minute });
    expectError(response, 403, 'RequestTimeTooSkewed');
    expect(textOf(response.text, 'RequestTime')).toMatch(/^\d{8}T\d{6}Z$/);
    expect(Math.abs(Date.parse(textOf(response.text, 'ServerTime')!) - Date.now())).toBeLessThan(5000);
    expect(textOf(response.text, 'MaxAllowedSkewMilliseconds')).toBe('900000');
    expect(Math.abs(Date.parse(response.header('date')!) - Date.now())).toBeLessThan(5000);
  });

  it.each([-14, 14])('may be %i minutes off', async (minutes) => {
    await expectUploaded(await service.send(upload(), { time: Date.now() + minutes * minute }));
  });

  it('must be said', async () => {
    expectError(await service.send(upload({ headers: { 'x-amz-date': null } })), 403, 'AccessDenied');
  });

  it.each(['', 'yesterday', '2026-11-20T10:00:00Z', '20261399T000000Z'])('must be a time: "%s"', async (date) => {
    expectError(await service.send(upload({ headers: { 'x-amz-date': date } })), 403, 'AccessDenied');
  });

  it('may stand in the Date header', async () => {
    const date = new Date().toUTCString();
    const headers = { 'x-amz-date': null, date };
    await expectUploaded(await service.send(upload({ headers }), { time: Date.parse(date), alsoSigned: ['date'] }));
  });

  it('must be of the day of the Credential', async () => {
    const response = await service.send(upload(), { day: basicTime(Date.now() - 24 * 60 * minute).slice(0, 8) });
    expectError(response, 400, 'AuthorizationHeaderMalformed');
  });
});

describe('what is not signed', () => {
  it.each([
    'x-amz-copy-source',
    'x-amz-acl',
    'x-amz-tagging',
    'x-amz-meta-a',
    'x-amz-storage-class',
    'x-amz-checksum-crc32',
    'x-amz-anything',
  ])('must not begin with x-amz-: %s', async (name) => {
    const response = await service.send(upload({ headers: { [name]: 'private' } }), { unsigned: [name] });
    expectError(response, 403, 'AccessDenied');
    expect(textOf(response.text, 'Message')).toBe('There were headers present in the request which were not signed');
    expect(textOf(response.text, 'HeadersNotSigned')).toBe(name);
  });

  it.each(['host', 'x-amz-date', 'x-amz-content-sha256'])('must not be %s', async (name) => {
    const response = await service.send(upload(), { unsigned: [name] });
    expectError(response, 403, 'AccessDenied');
    expect(textOf(response.text, 'HeadersNotSigned')).toBe(name);
  });

  it.each(['x-amz-cf-id', 'x-amzn-trace-id', 'x-amz-request-id', 'x-amz-id-2', 'content-type', 'range', 'via'])(
    'may be what proxies add: %s',
    async (name) => {
      await expectUploaded(await service.send(upload({ headers: { [name]: 'value' } }), { unsigned: [name] }));
    },
  );

  it('must be there if it was said to be signed', async () => {
    const response = await changed(({ headers }) => ({ headers: headers.filter(([name]) => name !== 'x-amz-meta-a') }));
    await expectUploaded(response);
    const request = signed(service.host, upload({ headers: { 'x-amz-meta-a': '1' } }), { key: service.alice });
    const headers = request.headers.filter(([name]) => name !== 'x-amz-meta-a');
    expectError(await exchange(service.url, { ...request, headers }), 403, 'SignatureDoesNotMatch');
  });
});

describe('x-amz-content-sha256', () => {
  it('must be there', async () => {
    const response = await service.send(upload(), { payloadHash: null });
    expectError(response, 400, 'InvalidRequest');
    expect(textOf(response.text, 'Message')).toBe('Missing required header for this request: x-amz-content-sha256');
  });

  it.each(['garbage', 'unsigned-payload', `${sha256('content')}0`, 'STREAMING-AWS5-HMAC-SHA256-PAYLOAD'])(
    'must be of a known form: %s',
    async (payloadHash) => {
      expectError(await service.send(upload(), { payloadHash }), 400, 'InvalidArgument');
    },
  );

  it.each(['STREAMING-AWS4-ECDSA-P256-SHA256-PAYLOAD', 'STREAMING-AWS4-ECDSA-P256-SHA256-PAYLOAD-TRAILER'])(
    'of %s is not there',
    async (payloadHash) => {
      expectError(await service.send(upload(), { payloadHash }), 501, 'NotImplemented');
    },
  );

  it('must be in the words of the signature', async () => {
    const payloadHash = 'STREAMING-SVC4-HMAC-SHA256-PAYLOAD';
    expectError(await service.send(upload(), { payloadHash }), 400, 'InvalidArgument');
  });

  it('must be the hash of the body', async () => {
    const response = await service.send(upload(), { payloadHash: sha256('other') });
    expectError(response, 400, 'XAmzContentSHA256Mismatch');
    expect(textOf(response.text, 'ClientComputedContentSHA256')).toBe(sha256('other'));
    expect(textOf(response.text, 'S3ComputedContentSHA256')).toBe(sha256('content'));
  });

  it('may be in upper case', async () => {
    await expectUploaded(await service.send(upload(), { payloadHash: sha256('content').toUpperCase() }));
  });

  it('must be right where there is no body', async () => {
    await put(service.client, bucket, 'key', 'content');
    const faults: Unsigned[] = [
      { path: `/${bucket}/key` },
      { method: 'HEAD', path: `/${bucket}/key` },
      { method: 'DELETE', path: `/${bucket}/key` },
      { method: 'PUT', path: `/${bucket}/empty`, headers: { 'content-length': '0' } },
      { path: `/${bucket}`, query: 'list-type=2' },
    ];
    for (const request of faults) {
      const response = await service.send(request, { payloadHash: sha256('other') });
      expect(response.status, JSON.stringify(request)).toBe(400);
      if (request.method !== 'HEAD') expectError(response, 400, 'XAmzContentSHA256Mismatch');
    }
    expect(await read(service.client, bucket, 'key')).toBe('content');
    await service.send({ method: 'DELETE', path: `/${bucket}/key` });
  });

  it('must be right for a document', async () => {
    const body = '<VersioningConfiguration><Status>Enabled</Status></VersioningConfiguration>';
    const request = { method: 'PUT', path: `/${bucket}`, query: 'versioning', body };
    const response = await service.send(request, { payloadHash: sha256('other') });
    expectError(response, 400, 'XAmzContentSHA256Mismatch');
    const { text } = await service.send({ path: `/${bucket}`, query: 'versioning' });
    expect(textOf(text, 'Status')).toBeUndefined();
  });

  it('may leave the body unsigned', async () => {
    await expectUploaded(await service.send(upload(), { payloadHash: 'UNSIGNED-PAYLOAD' }));
  });
});
