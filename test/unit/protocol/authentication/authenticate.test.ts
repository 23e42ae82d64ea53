import { fullRights } from '../../../../shared/access/identity-rights.ts';
import { createHash } from 'node:crypto';
import { PutObjectCommand, S3Client } from '@aws-sdk/client-s3';
import { getSignedUrl } from '@aws-sdk/s3-request-presigner';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { AccessKeys, User } from '../../../../shared/access/identity.ts';
import { checksumAlgorithms } from '../../../../shared/checksums/algorithms.ts';
import { loadDigest, startDigest, type DigestAlgorithm } from '../../../../shared/checksums/running-digest.ts';
import { S3Error } from '../../../../shared/errors/s3-error.ts';
import { Fields, type RequestMessage } from '../../../../shared/http/message.ts';
import { authenticateBody, authenticateHead } from '../../../../shared/protocol/authentication/authenticate.ts';
import type { Authenticated, SigningSettings } from '../../../../shared/protocol/authentication/authenticated.ts';
import { defaultLimits } from '../../../../shared/protocol/limits.ts';
import type { PayloadDigests } from '../../../../shared/protocol/bodies/payload.ts';
import type { BodyWants } from '../../../../shared/protocol/bodies/verified-body.ts';
import {
  awsWords,
  credentials,
  frame,
  frameSigned,
  message,
  neutralWords,
  presign,
  presignByTheBook,
  signatureOf,
  signByTheBook,
  signHeader,
  signingDate,
  stream,
  targetOf,
  uriEncode,
  type Chunked,
} from '../../signing/reference-signer.ts';

const user: User = {
  kind: 'user',
  id: 'user-id',
  accessKeyId: credentials.accessKeyId,
  name: 'user',
  project: { id: 'b5c3…', email: 'project@customer', displayName: 'project' },
  privileges: [],
  rights: fullRights,
};

function keysWith(suspended = false): AccessKeys {
  const key = { secret: credentials.secretAccessKey, user, suspended, unchanged: [] };
  return {
    find: async (id, _, token) => {
      if (token !== undefined && token !== 'right') throw new S3Error('InvalidToken');
      return id === credentials.accessKeyId ? key : undefined;
    },
  };
}

interface Circumstances {
  readonly now?: number;
  readonly settings?: SigningSettings;
  readonly keys?: AccessKeys;
  readonly wants?: BodyWants;
}

async function pass(request: RequestMessage, circumstances: Circumstances = {}): Promise<Authenticated> {
  const { now = +signingDate, settings = {}, keys = keysWith(), wants = { digestBody: true } } = circumstances;
  const clock = { now: () => now, sleep: () => Promise.resolve() };
  const deps = { keys, clock, settings, limits: defaultLimits };
  return authenticateBody(await authenticateHead(request, targetOf(request), false, deps), wants, deps);
}

/** Authenticates a request and reads its body to the end. */
async function receive(
  request: RequestMessage,
  circumstances?: Circumstances,
): Promise<Authenticated & { text: string; digests: PayloadDigests }> {
  const authenticated = await pass(request, circumstances);
  const pieces: Uint8Array[] = [];
  for await (const piece of authenticated.payload.bytes) pieces.push(piece);
  return { ...authenticated, text: Buffer.concat(pieces).toString(), digests: authenticated.payload.digests() };
}

const refused = (code: string, rest: object = {}) => ({ code, name: 'S3Error', ...rest });

for (const algorithm of checksumAlgorithms) await loadDigest(algorithm);

function digest(algorithm: DigestAlgorithm, data: string): Uint8Array {
  const running = startDigest(algorithm);
  running.update(Buffer.from(data));
  return running.digest();
}

const base64 = (algorithm: DigestAlgorithm, data: string) => Buffer.from(digest(algorithm, data)).toString('base64');

/** An anonymous PUT of `hello`. */
function put(headers: Record<string, string> = {}, ...body: string[]): RequestMessage {
  const sent = { host: 's3.example.com', 'content-length': '5', ...headers };
  return message(
    'PUT',
    '/bucket/key',
    Object.entries(sent).filter(([, value]) => value !== 'none'),
    ...(body.length ? body : ['hello']),
  );
}

function withField(request: RequestMessage, name: string, value: string | undefined): RequestMessage {
  const others = [...request.fields].filter(([other]) => other !== name);
  return { ...request, fields: new Fields(value === undefined ? others : [...others, [name, value]]) };
}

describe('authenticate', () => {
  it('takes a request without credentials for anonymous', async () => {
    expect(await receive(put())).toMatchObject({ caller: { kind: 'anonymous' }, scheme: 'anonymous', text: 'hello' });
  });

  it('takes a signed header', async () => {
    const request = await signHeader({ method: 'PUT', body: 'hello' });
    expect(await receive(request)).toMatchObject({ caller: user, scheme: 'v4-header', text: 'hello' });
  });

  it('takes a presigned URL', async () => {
    const request = await presign({ method: 'PUT', body: 'hello' });
    expect(await receive(request)).toMatchObject({ caller: user, scheme: 'v4-presigned', text: 'hello' });
  });

  it('takes the neutral words', async () => {
    expect(await receive(signByTheBook({ body: 'hello' }, neutralWords))).toMatchObject({
      caller: user,
      text: 'hello',
    });
    expect(await receive(presignByTheBook({}, neutralWords))).toMatchObject({ caller: user });
  });

  it('takes the URL that the official presigner makes, with its checksum of an empty body', async () => {
    const client = new S3Client({
      endpoint: 'http://s3.example.com:9000',
      region: 'eu-west-9',
      forcePathStyle: true,
      credentials,
    });
    const url = new URL(
      await getSignedUrl(client, new PutObjectCommand({ Bucket: 'bucket', Key: "a b/ü+%!'()*" }), { signingDate }),
    );
    expect(url.search).toContain('x-amz-checksum-crc32=AAAAAA');
    expect(url.search).toContain('x-amz-sdk-checksum-algorithm=CRC32');
    const request = message('PUT', url.pathname + url.search, [['host', url.host]], 'hello');
    const { text, caller, digests } = await receive(request);
    expect({ text, caller, algorithm: digests.checksum?.algorithm }).toEqual({
      text: 'hello',
      caller: user,
      algorithm: 'CRC64NVME',
    });
  });

  it('does not read the body', async () => {
    let reads = 0;
    const body = {
      [Symbol.asyncIterator]: () => ({
        next: () => Promise.resolve({ done: ++reads > 1, value: Buffer.from('hello') }),
      }),
    } as AsyncIterable<Uint8Array>;
    const { payload } = await pass({ ...put(), body });
    const reader = payload.bytes[Symbol.asyncIterator]();
    expect(reads).toBe(0);
    await reader.next();
    expect(reads).toBe(1);
  });

  it.each<[string, string | undefined, string, string, number]>([
    ['undated V2', 'AWS AKID:c2ln', '', 'AccessDenied', 403],
    ['undated neutral V2', 'SVC AKID:c2ln', '', 'AccessDenied', 403],
    ['undated bare V2', 'AKID:c2ln', '', 'AccessDenied', 403],
    ['expired V2', undefined, '?AWSAccessKeyId=A&Expires=1&Signature=x', 'AccessDenied', 403],
    ['presigned and incomplete V2', undefined, '?Signature=x', 'AccessDenied', 403],
    ['public key', 'AWS4-ECDSA-P256-SHA256 Credential=…', '', 'NotImplemented', 501],
    ['no V2', 'AWS garbage', '', 'InvalidArgument', 400],
    ['unknown', 'Basic dTpw', '', 'InvalidArgument', 400],
    ['empty', '', '', 'AccessDenied', 403],
    ['malformed', 'AWS4-HMAC-SHA256 garbage', '', 'AuthorizationHeaderMalformed', 400],
    ['presigned and incomplete', undefined, '?X-Amz-Signature=x', 'AuthorizationQueryParametersError', 400],
    ['double', 'AWS4-HMAC-SHA256 garbage', '?X-Amz-Signature=x', 'InvalidArgument', 400],
  ])('never takes %s credentials for none', async (_, authorization, query, code, status) => {
    const headers: [string, string][] = authorization === undefined ? [] : [['authorization', authorization]];
    await expect(pass(message('GET', `/bucket/key${query}`, headers))).rejects.toMatchObject(refused(code, { status }));
  });

  it('does not know a key that is not there', async () => {
    const keys = { find: () => Promise.resolve(undefined) };
    await expect(pass(await signHeader({}), { keys })).rejects.toMatchObject(
      refused('InvalidAccessKeyId', { status: 403, details: { AWSAccessKeyId: credentials.accessKeyId } }),
    );
    await expect(pass(await presign({}), { keys })).rejects.toMatchObject(refused('InvalidAccessKeyId'));
  });

  it('tells a client that holds the secret, and no other, that a key is suspended', async () => {
    const keys = keysWith(true);
    await expect(pass(await signHeader({}), { keys })).rejects.toMatchObject(refused('UserSuspended', { status: 403 }));
    await expect(pass(await signHeader({}, 'wrong'), { keys })).rejects.toMatchObject(refused('SignatureDoesNotMatch'));
  });

  it('refuses a wrong signature', async () => {
    await expect(pass(await signHeader({}, 'wrong'))).rejects.toMatchObject(
      refused('SignatureDoesNotMatch', { status: 403 }),
    );
  });

  it('takes any region, or one', async () => {
    const elsewhere = signByTheBook({ region: 'mars-north-1' });
    expect((await pass(elsewhere)).caller).toBe(user);
    expect((await pass(elsewhere, { settings: { strictRegion: 'mars-north-1' } })).caller).toBe(user);
    await expect(pass(elsewhere, { settings: { strictRegion: 'us-east-1' } })).rejects.toMatchObject(
      refused('AuthorizationHeaderMalformed', { status: 400, details: { Region: 'us-east-1' } }),
    );
    await expect(pass(await presign({}), { settings: { strictRegion: 'mars-north-1' } })).rejects.toMatchObject(
      refused('AuthorizationQueryParametersError', { status: 400, details: { Region: 'mars-north-1' } }),
    );
  });

  it('hands on a raw plus in the query as what it was signed for', async () => {
    const prefix = async (canonicalQuery: string) =>
      (await pass(signByTheBook({ rawQuery: 'prefix=a+b', canonicalQuery }))).request.query.get('prefix');
    expect(await prefix('prefix=a%20b')).toBe('a b');
    expect(await prefix('prefix=a%2Bb')).toBe('a+b');
    expect((await pass(message('GET', '/bucket?prefix=a+b', []))).request.query.get('prefix')).toBe('a b');
  });

  it('takes a session token from where the signature is, and from nowhere else', async () => {
    const token = { 'x-amz-security-token': 'right' };
    const invalid = refused('InvalidToken', { status: 400 });
    expect((await pass(await signHeader({ headers: token }))).caller).toBe(user);
    expect((await pass(presignByTheBook({ query: { 'X-Amz-Security-Token': 'right' } }))).caller).toBe(user);
    const kept = { unhoistableHeaders: new Set(Object.keys(token)) };
    await expect(pass(await presign({ headers: token }, kept))).rejects.toMatchObject(invalid);
    const added = signByTheBook({ method: 'PUT', headers: token, unsigned: Object.keys(token) });
    await expect(pass(added)).rejects.toMatchObject(refused('AccessDenied', { status: 403 }));
    const elsewhere = await signHeader({ query: { 'X-Amz-Security-Token': 'right' } });
    await expect(pass(elsewhere)).rejects.toMatchObject(invalid);
    const both = presignByTheBook({ query: { 'X-Amz-Security-Token': 'right', 'x-amz-security-token': 'right' } });
    await expect(pass(both)).rejects.toMatchObject(invalid);
  });

  it('refuses session tokens that are not right', async () => {
    const token = { 'x-amz-security-token': 'token' };
    const invalid = refused('InvalidToken', { status: 400 });
    await expect(pass(await signHeader({ headers: token }))).rejects.toMatchObject(invalid);
    await expect(pass(await presign({ headers: token }))).rejects.toMatchObject(invalid);
    await expect(pass(presignByTheBook({ query: { 'X-Amz-Security-Token': '' } }))).rejects.toMatchObject(invalid);
  });

  it.each(['x-amz-copy-source', 'x-amz-acl', 'x-amz-tagging', 'x-amz-meta-a', 'x-amz-content-sha256'])(
    'refuses an %s that was added to a signed request',
    async (name) => {
      const details = { HeadersNotSigned: name };
      const signed = signByTheBook({ method: 'PUT', headers: { [name]: 'UNSIGNED-PAYLOAD' }, unsigned: [name] });
      await expect(pass(signed)).rejects.toMatchObject(refused('AccessDenied', { status: 403, details }));
      const presigned = withField(await presign({ method: 'PUT' }), name, 'UNSIGNED-PAYLOAD');
      await expect(pass(presigned)).rejects.toMatchObject(refused('AccessDenied', { status: 403, details }));
    },
  );

  it('tells the time apart: skew, expiry, not yet', async () => {
    const hour = 60 * 60 * 1000;
    const header = await signHeader({});
    const url = await presign({});
    await expect(pass(header, { now: +signingDate + hour })).rejects.toMatchObject(
      refused('RequestTimeTooSkewed', { status: 403 }),
    );
    await expect(pass(url, { now: +signingDate + 2 * hour })).rejects.toMatchObject(
      refused('AccessDenied', { message: 'Request has expired' }),
    );
    await expect(pass(url, { now: +signingDate - hour })).rejects.toMatchObject(
      refused('AccessDenied', { message: 'Request is not valid yet' }),
    );
  });

  it.each([
    ['nothing', undefined, 'InvalidRequest', 400],
    ['nonsense', 'nonsense', 'InvalidArgument', 400],
    ['the words of another dialect', 'STREAMING-SVC4-HMAC-SHA256-PAYLOAD', 'InvalidArgument', 400],
    ['signatures of public keys', 'STREAMING-AWS4-ECDSA-P256-SHA256-PAYLOAD', 'NotImplemented', 501],
  ])('refuses an x-amz-content-sha256 of %s', async (_, value, code, status) => {
    const request = signByTheBook({ headers: { 'x-amz-content-sha256': value ?? 'x' } });
    const sent = value === undefined ? withField(request, 'x-amz-content-sha256', undefined) : request;
    await expect(pass(sent)).rejects.toMatchObject(refused(code, { status }));
  });

  it.each([
    'STREAMING-AWS4-HMAC-SHA256-PAYLOAD',
    'STREAMING-AWS4-HMAC-SHA256-PAYLOAD-TRAILER',
    'STREAMING-SVC4-HMAC-SHA256-PAYLOAD',
  ])('refuses %s from nobody', async (hash) => {
    await expect(pass(put({ 'x-amz-content-sha256': hash }))).rejects.toMatchObject(
      refused('InvalidRequest', { status: 400 }),
    );
  });

  it('refuses unsigned chunks with a forged signature before anything is read', async () => {
    const headers = {
      'x-amz-content-sha256': 'STREAMING-UNSIGNED-PAYLOAD-TRAILER',
      'x-amz-decoded-content-length': '5',
    };
    const forged = signByTheBook({ method: 'PUT', headers, body: 'x' }, { ...awsWords, prefix: 'forged' });
    await expect(pass(forged)).rejects.toMatchObject(refused('SignatureDoesNotMatch'));
    const url = presignByTheBook({ method: 'PUT', headers });
    const target = url.target.replace(/Signature=.{8}/, 'Signature=00000000');
    await expect(pass({ ...url, target })).rejects.toMatchObject(refused('SignatureDoesNotMatch'));
  });
});

describe('the verified body', () => {
  it('is measured', async () => {
    const { payload, digests } = await receive(put());
    expect(payload.length).toBe(5);
    expect(digests).toEqual({
      size: 5,
      md5: digest('MD5', 'hello'),
      checksum: { algorithm: 'CRC64NVME', value: digest('CRC64NVME', 'hello'), type: 'FULL_OBJECT' },
    });
  });

  it('is measured only as far as it is wanted', async () => {
    const wants = { digestBody: false };
    expect((await receive(put(), { wants })).digests).toEqual({ size: 5, md5: undefined, checksum: undefined });
    const declared = put({ 'x-amz-checksum-sha1': base64('SHA1', 'hello'), 'content-md5': base64('MD5', 'hello') });
    expect((await receive(declared, { wants })).digests).toMatchObject({
      md5: digest('MD5', 'hello'),
      checksum: { algorithm: 'SHA1' },
    });
  });

  it('keeps its digests until it was read to the end', async () => {
    const { payload } = await pass(put({}, 'hel', 'lo'));
    expect(() => payload.digests()).toThrow('not read to its end');
    for await (const piece of payload.bytes) if (piece.length === 3) break;
    expect(() => payload.digests()).toThrow('not read to its end');
  });

  it('is read once', async () => {
    const { payload } = await receive(put());
    expect(() => payload.bytes[Symbol.asyncIterator]()).toThrow('only once');
  });

  it('lets go of the transport when its reader gives up', async () => {
    let released = false;
    const body = (async function* () {
      try {
        yield* stream('hel', 'lo');
      } finally {
        released = true;
      }
    })();
    const { payload } = await pass({ ...put(), body });
    for await (const piece of payload.bytes) if (piece.length > 0) break;
    expect(released).toBe(true);
  });

  it('passes what breaks in the transport', async () => {
    const body = (async function* () {
      yield* stream('hel');
      throw new Error('connection reset');
    })();
    await expect(receive({ ...put(), body })).rejects.toThrow('connection reset');
  });

  it.each([
    ['shorter', '6', 'hello'],
    ['longer', '4', 'hello'],
    ['empty', '5', ''],
  ])('is not %s than its Content-Length', async (_, length, body) => {
    await expect(receive(put({ 'content-length': length }, body))).rejects.toMatchObject(
      refused('IncompleteBody', { status: 400 }),
    );
  });

  it('may come without a length', async () => {
    const { payload, text } = await receive(put({ 'content-length': 'none', 'transfer-encoding': 'chunked' }));
    expect({ length: payload.length, text }).toEqual({ length: undefined, text: 'hello' });
  });

  it.each(['-5', '5,5', '+5', '0x5', '', '5.0', '9'.repeat(20)])('has no Content-Length of %j', async (length) => {
    await expect(receive(put({ 'content-length': length }))).rejects.toMatchObject(
      refused('InvalidArgument', { status: 400 }),
    );
  });

  describe('hashed by x-amz-content-sha256', () => {
    const hash = (text: string) => createHash('sha256').update(text).digest('hex');

    it('holds for nobody too', async () => {
      expect((await receive(put({ 'x-amz-content-sha256': hash('hello') }))).text).toBe('hello');
      expect((await receive(put({ 'x-amz-content-sha256': hash('hello').toUpperCase() }))).text).toBe('hello');
    });

    it.each([
      ['another body', 'hellO'],
      ['no body', ''],
    ])('does not pass for %s', async (_, body) => {
      const signed = signByTheBook({ method: 'PUT', body: 'hello' });
      await expect(receive({ ...signed, body: stream(body) })).rejects.toMatchObject(
        refused('XAmzContentSHA256Mismatch', {
          status: 400,
          details: { ClientComputedContentSHA256: hash('hello'), S3ComputedContentSHA256: hash(body) },
        }),
      );
    });

    it('must be that of nothing if there is no body', async () => {
      expect((await receive(signByTheBook({}))).digests.size).toBe(0);
      const wrong = signByTheBook({ headers: { 'x-amz-content-sha256': hash('hello') } });
      await expect(receive(wrong)).rejects.toMatchObject(refused('XAmzContentSHA256Mismatch'));
    });

    it('is looked at in a presigned query and its header', async () => {
      const value = hash('hello');
      const inQuery = await presign({ method: 'PUT', headers: { 'x-amz-content-sha256': value }, body: 'hello' });
      const inHeader = presignByTheBook({ method: 'PUT', headers: { 'x-amz-content-sha256': value }, body: 'hello' });
      for (const request of [inQuery, inHeader]) {
        const broken = { ...request, body: stream('hellO') };
        expect((await receive(request)).text).toBe('hello');
        await expect(receive(broken)).rejects.toMatchObject(refused('XAmzContentSHA256Mismatch'));
      }
    });
  });

  describe('with a Content-MD5', () => {
    it('has it', async () => {
      expect((await receive(put({ 'content-md5': base64('MD5', 'hello') }))).text).toBe('hello');
    });

    it('or is refused at its end', async () => {
      await expect(receive(put({ 'content-md5': base64('MD5', 'other') }))).rejects.toMatchObject(
        refused('BadDigest', {
          status: 400,
          details: { ExpectedDigest: base64('MD5', 'other'), CalculatedDigest: base64('MD5', 'hello') },
        }),
      );
    });

    it.each(['', 'nonsense', 'AAAA', Buffer.from(digest('MD5', 'hello')).toString('hex'), base64('SHA1', 'hello')])(
      'that is none, %j, is refused before a byte is read',
      async (md5) => {
        let read = false;
        const body = (async function* () {
          read = true;
          yield* stream('hello');
        })();
        const request = put({ 'content-md5': md5 });
        await expect(receive({ ...request, body })).rejects.toMatchObject(refused('InvalidDigest', { status: 400 }));
        expect(read).toBe(false);
      },
    );
  });

  describe.each(['CRC32', 'CRC32C', 'CRC64NVME', 'SHA1', 'SHA256'] as const)('with a %s', (algorithm) => {
    const name = `x-amz-checksum-${algorithm.toLowerCase()}`;

    it('has it', async () => {
      const { digests } = await receive(
        put({ [name]: base64(algorithm, 'hello'), 'x-amz-sdk-checksum-algorithm': algorithm }),
      );
      expect(digests.checksum).toEqual({ algorithm, value: digest(algorithm, 'hello'), type: 'FULL_OBJECT' });
      expect(digests.md5).toEqual(digest('MD5', 'hello'));
    });

    it('or is refused at its end', async () => {
      await expect(receive(put({ [name]: base64(algorithm, 'other') }))).rejects.toMatchObject(
        refused('BadDigest', { status: 400 }),
      );
    });

    it.each([
      '',
      'nonsense',
      'AAAA',
      `${base64(algorithm, 'hello')},${base64(algorithm, 'hello')}`,
      Buffer.from(digest(algorithm, 'hello')).toString('hex'),
    ])('of no meaning, %j, is refused', async (value) => {
      await expect(receive(put({ [name]: value }))).rejects.toMatchObject(
        refused('InvalidRequest', { status: 400, message: `Value for ${name} header is invalid.` }),
      );
    });

    it('in a trailer has it', async () => {
      const wire = frame({ chunks: ['he', 'llo'], trailers: [`${name}:${base64(algorithm, 'hello')}`] });
      const { digests, text } = await receive(unsignedChunks(wire, { 'x-amz-trailer': name }));
      expect(text).toBe('hello');
      expect(digests.checksum).toEqual({ algorithm, value: digest(algorithm, 'hello'), type: 'FULL_OBJECT' });
    });

    it('in a trailer or is refused', async () => {
      const trailer = { 'x-amz-trailer': name, 'x-amz-sdk-checksum-algorithm': algorithm };
      const refuse = (code: string, ...trailers: string[]) =>
        expect(receive(unsignedChunks(frame({ chunks: ['hello'], trailers }), trailer))).rejects.toMatchObject(
          refused(code, { status: 400 }),
        );
      await refuse('BadDigest', `${name}:${base64(algorithm, 'other')}`);
      await refuse('MalformedTrailerError', `${name}:nonsense`);
      await refuse('MalformedTrailerError', `${name}:`);
      await refuse('MalformedTrailerError');
      await refuse(
        'MalformedTrailerError',
        `${name}:${base64(algorithm, 'hello')}`,
        `${name}:${base64(algorithm, 'hello')}`,
      );
      await refuse('MalformedTrailerError', `${name}:${base64(algorithm, 'hello')}`, 'x-amz-meta-a:b');
    });
  });

  it.each([
    'x-amz-checksum-sha512',
    'x-amz-checksum-md5',
    'x-amz-checksum-xxhash64',
    'x-amz-checksum-',
    'x-amz-checksum-crc-32',
  ])('does not ignore %s', async (name) => {
    await expect(receive(put({ [name]: 'AAAAAA==' }))).rejects.toMatchObject(
      refused('InvalidRequest', { status: 400 }),
    );
    const trailing = unsignedChunks(frame({ chunks: ['hello'], trailers: [`${name}:AAAAAA==`] }), {
      'x-amz-trailer': name,
    });
    await expect(receive(trailing)).rejects.toMatchObject(refused('InvalidRequest', { status: 400 }));
  });

  it.each<Record<string, string>>([
    { 'x-amz-checksum-crc32': base64('CRC32', 'hello'), 'x-amz-checksum-sha1': base64('SHA1', 'hello') },
    { 'x-amz-sdk-checksum-algorithm': 'CRC32' },
    { 'x-amz-sdk-checksum-algorithm': 'SHA512', 'content-md5': base64('MD5', 'hello') },
  ])('is refused with %j', async (headers) => {
    await expect(receive(put(headers))).rejects.toMatchObject(refused('InvalidRequest', { status: 400 }));
  });

  it('has the checksum whose value was sent, which is of the algorithm that is named besides', async () => {
    const named = (name: string) =>
      receive(put({ 'x-amz-sdk-checksum-algorithm': name, 'x-amz-checksum-sha1': base64('SHA1', 'hello') }));
    expect((await named('SHA1')).digests.checksum?.algorithm).toBe('SHA1');
    await expect(named('CRC32')).rejects.toMatchObject({ code: 'InvalidRequest' });
  });

  it('does not take settings for checksums', async () => {
    const headers = {
      'x-amz-checksum-mode': 'ENABLED',
      'x-amz-checksum-algorithm': 'CRC32',
      'x-amz-checksum-type': 'COMPOSITE',
    };
    expect((await receive(put(headers))).digests.checksum?.algorithm).toBe('CRC64NVME');
  });

  it('is not what checksums of the finished object are of', async () => {
    const wants = { digestBody: false, checksumsDescribe: 'object' } as const;
    const headers = { 'x-amz-checksum-crc32': `${base64('CRC32', 'object')}-2`, 'content-md5': base64('MD5', 'hello') };
    expect((await receive(put(headers), { wants })).digests.checksum).toBeUndefined();
    const wrong = receive(put({ ...headers, 'content-md5': base64('MD5', 'x') }), { wants });
    await expect(wrong).rejects.toMatchObject(refused('BadDigest'));
  });
});

/** An anonymous PUT of unsigned chunks; of `hello` unless a length is given. */
function unsignedChunks(wire: Uint8Array | string, headers: Record<string, string> = {}): RequestMessage {
  const sent = {
    'x-amz-content-sha256': 'STREAMING-UNSIGNED-PAYLOAD-TRAILER',
    'x-amz-decoded-content-length': '5',
    'content-encoding': 'aws-chunked',
    'transfer-encoding': 'chunked',
    ...headers,
  };
  return message(
    'PUT',
    '/bucket/key',
    Object.entries(sent).filter(([, value]) => value !== 'none'),
    wire,
  );
}

describe('unsigned chunks', () => {
  const hello = frame({ chunks: ['hel', 'lo'] });

  it('are taken apart', async () => {
    const { payload, text, digests } = await receive(unsignedChunks(hello));
    expect({ length: payload.length, text, size: digests.size }).toEqual({ length: 5, text: 'hello', size: 5 });
    expect(digests.checksum?.algorithm).toBe('CRC64NVME');
  });

  it.each<[string, Record<string, string>]>([
    ['x-amz-content-sha256', { 'content-encoding': 'none' }],
    ['Content-Encoding and a decoded length', { 'x-amz-content-sha256': 'none' }],
    [
      'a decoded length alone',
      { 'x-amz-content-sha256': 'UNSIGNED-PAYLOAD', 'content-encoding': 'none', 'transfer-encoding': 'none' },
    ],
    [
      'a hash of the frames',
      {
        'x-amz-content-sha256': createHash('sha256').update(hello).digest('hex'),
        'content-encoding': 'gzip, AWS-Chunked',
      },
    ],
  ])('are recognised by %s', async (_, headers) => {
    expect((await receive(unsignedChunks(hello, headers))).text).toBe('hello');
  });

  it('have signatures that nobody asked for', async () => {
    const wire = frameSigned({ chunks: ['hello'] }, '0'.repeat(64));
    expect((await receive(unsignedChunks(wire))).text).toBe('hello');
  });

  it('may be none', async () => {
    const empty = { 'x-amz-decoded-content-length': '0' };
    expect((await receive(unsignedChunks('0\r\n\r\n', empty))).digests.size).toBe(0);
    expect((await receive(unsignedChunks('', { ...empty, 'content-length': '0' }))).digests.size).toBe(0);
    await expect(
      receive(unsignedChunks('', { ...empty, 'x-amz-trailer': 'x-amz-checksum-crc32' })),
    ).rejects.toMatchObject(refused('IncompleteBody'));
    await expect(receive(unsignedChunks(''))).rejects.toMatchObject(refused('IncompleteBody'));
  });

  it('need a decoded length', async () => {
    const missing = refused('MissingContentLength', { status: 411 });
    const none = { 'x-amz-decoded-content-length': 'none' };
    await expect(receive(unsignedChunks(hello, none))).rejects.toMatchObject(missing);
    await expect(
      receive(unsignedChunks(hello, { ...none, 'x-amz-content-sha256': 'UNSIGNED-PAYLOAD' })),
    ).rejects.toMatchObject(missing);
    await expect(receive(unsignedChunks(hello, { 'x-amz-decoded-content-length': '-5' }))).rejects.toMatchObject(
      refused('InvalidArgument'),
    );
  });

  it('are not looked for in a body of nothing whose encoding is only a word', async () => {
    const bare = {
      'x-amz-decoded-content-length': 'none',
      'x-amz-content-sha256': 'none',
      'transfer-encoding': 'none',
    };
    expect((await receive(unsignedChunks('', bare))).digests.size).toBe(0);
  });

  it.each([
    ['shorter than the decoded length', frame({ chunks: ['hell'] }), {}],
    ['longer than the decoded length', frame({ chunks: ['hello', '!'] }), {}],
    ['shorter than the Content-Length', hello, { 'content-length': String(hello.length + 1) }],
    ['longer than the Content-Length', hello, { 'content-length': String(hello.length - 1) }],
    ['cut off', hello.subarray(0, -1), {}],
    ['without frames', Buffer.from('hello'), {}],
    ['with more to come', Buffer.concat([hello, Buffer.from('x')]), {}],
  ])('are IncompleteBody when they are %s', async (_, wire, headers) => {
    await expect(receive(unsignedChunks(wire, headers))).rejects.toMatchObject(
      refused('IncompleteBody', { status: 400 }),
    );
  });

  it('stop at the first byte too many', async () => {
    let pieces = 0;
    const body = (async function* () {
      for (; pieces < 1000; pieces++) yield* stream(`5\r\nhello\r\n`);
    })();
    await expect(receive({ ...unsignedChunks(''), body })).rejects.toMatchObject(refused('IncompleteBody'));
    expect(pieces).toBeLessThan(3);
  });

  it('have no trailers that were not announced', async () => {
    const wire = frame({ chunks: ['hello'], trailers: [`x-amz-checksum-crc32:${base64('CRC32', 'hello')}`] });
    const malformed = refused('MalformedTrailerError', { status: 400 });
    await expect(receive(unsignedChunks(wire))).rejects.toMatchObject(malformed);
    await expect(receive(unsignedChunks(wire, { 'x-amz-trailer': 'x-amz-checksum-sha1' }))).rejects.toMatchObject(
      malformed,
    );
  });

  it.each([
    ['x-amz-meta-a', 'InvalidRequest'],
    ['x-amz-checksum-mode', 'InvalidRequest'],
    ['x-amz-checksum-crc32, x-amz-checksum-sha1', 'InvalidRequest'],
  ])('have no trailers such as %s', async (name, code) => {
    await expect(receive(unsignedChunks(hello, { 'x-amz-trailer': name }))).rejects.toMatchObject(
      refused(code, { status: 400 }),
    );
  });

  it('have a checksum either before or after them', async () => {
    const headers = { 'x-amz-trailer': 'x-amz-checksum-crc32', 'x-amz-checksum-sha1': base64('SHA1', 'hello') };
    await expect(receive(unsignedChunks(hello, headers))).rejects.toMatchObject(refused('InvalidRequest'));
  });

  it('must be there for a trailer to be announced', async () => {
    await expect(receive(put({ 'x-amz-trailer': 'x-amz-checksum-crc32' }))).rejects.toMatchObject(
      refused('MalformedTrailerError'),
    );
  });

  it('follow a signed request', async () => {
    const trailers = [`x-amz-checksum-crc32:${base64('CRC32', 'hello')}`];
    const request = signByTheBook({
      method: 'PUT',
      headers: {
        'x-amz-content-sha256': 'STREAMING-UNSIGNED-PAYLOAD-TRAILER',
        'x-amz-decoded-content-length': '5',
        'x-amz-trailer': 'x-amz-checksum-crc32',
      },
    });
    const received = await receive({ ...request, body: stream(frame({ chunks: ['hello'], trailers })) });
    expect(received).toMatchObject({ caller: user, text: 'hello', digests: { checksum: { algorithm: 'CRC32' } } });
  });
});

/** A signed PUT of the given signed chunks. */
function signedChunks(
  body: Chunked,
  words = awsWords,
  headers: Record<string, string> = {},
): RequestMessage & { wire: Buffer } {
  const size = body.chunks.reduce((sum, chunk) => sum + Buffer.byteLength(chunk), 0);
  const request = signByTheBook(
    {
      method: 'PUT',
      headers: {
        'x-amz-content-sha256': `STREAMING-${words.algorithm}-PAYLOAD${body.trailers ? '-TRAILER' : ''}`,
        'x-amz-decoded-content-length': String(size),
        ...(body.trailers && { 'x-amz-trailer': body.trailers[0]!.split(':')[0]! }),
        ...headers,
      },
    },
    words,
  );
  const wire = frameSigned(body, signatureOf(request), { words });
  return { ...request, body: stream(wire), wire };
}

describe('signed chunks', () => {
  const trailers = [`x-amz-checksum-crc32c:${base64('CRC32C', 'hello')}`];

  it.each([
    ['in Amazon’s words', awsWords],
    ['in neutral words', neutralWords],
  ])('hold %s', async (_, words) => {
    expect((await receive(signedChunks({ chunks: ['hel', 'lo'] }, words))).text).toBe('hello');
    const { text, digests } = await receive(signedChunks({ chunks: ['hel', 'lo'], trailers }, words));
    expect({ text, algorithm: digests.checksum?.algorithm }).toEqual({ text: 'hello', algorithm: 'CRC32C' });
  });

  it('hold as minio-go sends them', async () => {
    expect((await receive(signedChunks({ chunks: ['hello'], trailers, lineFeeds: true }))).text).toBe('hello');
  });

  it('hold for an object of no bytes', async () => {
    expect((await receive(signedChunks({ chunks: [] }))).digests.size).toBe(0);
  });

  it('hold after a presigned URL', async () => {
    const headers = {
      'x-amz-content-sha256': 'STREAMING-AWS4-HMAC-SHA256-PAYLOAD',
      'x-amz-decoded-content-length': '5',
    };
    const request = presignByTheBook({ method: 'PUT', headers });
    const wire = frameSigned({ chunks: ['hello'] }, signatureOf(request));
    expect((await receive({ ...request, body: stream(wire) })).text).toBe('hello');
  });

  it('go on before their signature is known, and fail at its end', async () => {
    const { wire, ...request } = signedChunks({ chunks: ['hello'] });
    const forged = Buffer.from(wire.toString('latin1').replace('hello', 'hellO'), 'latin1');
    const { payload } = await pass({ ...request, body: stream(forged.subarray(0, -89), forged.subarray(-89)) });
    const reader = payload.bytes[Symbol.asyncIterator]();
    expect(Buffer.from((await reader.next()).value as Uint8Array).toString()).toBe('hell');
    await expect(
      (async () => {
        for (;;) if ((await reader.next()).done) return;
      })(),
    ).rejects.toMatchObject(refused('SignatureDoesNotMatch', { status: 403 }));
    expect(() => payload.digests()).toThrow();
  });

  it('are read the same whatever the pieces are', async () => {
    const chunk = fc.string({ minLength: 1, maxLength: 50 });
    await fc.assert(
      fc.asyncProperty(
        fc.array(chunk, { maxLength: 4 }),
        fc.boolean(),
        fc.array(fc.nat(1000), { maxLength: 9 }),
        async (chunks, trailing, cuts) => {
          const all = chunks.join('');
          const { wire, ...request } = signedChunks({
            chunks,
            ...(trailing && { trailers: [`x-amz-checksum-sha256:${base64('SHA256', all)}`] }),
          });
          const bounds = [0, ...cuts.filter((at) => at < wire.length).sort((a, b) => a - b), wire.length];
          const pieces = bounds.slice(1).map((end, at) => wire.subarray(bounds[at], end));
          const { text, digests } = await receive({ ...request, body: stream(...pieces) });
          expect(text).toBe(all);
          expect(digests.checksum?.value).toEqual(digest(trailing ? 'SHA256' : 'CRC64NVME', all));
        },
      ),
    );
  });

  it('need their signatures', async () => {
    const { wire, ...request } = signedChunks({ chunks: ['hello'], trailers });
    const stripped = (pattern: RegExp) => stream(Buffer.from(wire.toString('latin1').replace(pattern, ''), 'latin1'));
    await expect(receive({ ...request, body: stripped(/;chunk-signature=\w+/) })).rejects.toMatchObject(
      refused('IncompleteBody'),
    );
    await expect(receive({ ...request, body: stripped(/x-amz-trailer-signature:\w+\r\n/) })).rejects.toMatchObject(
      refused('MalformedTrailerError'),
    );
    await expect(receive({ ...request, body: stripped(/x-amz-checksum-crc32c:.*\r\n/) })).rejects.toMatchObject(
      refused('SignatureDoesNotMatch'),
    );
    await expect(receive({ ...request, body: stripped(/x-amz-(?:.*\r\n)+/) })).rejects.toMatchObject(
      refused('IncompleteBody'),
    );
    await expect(receive({ ...request, body: stripped(/x-amz-.*\r\nx-amz-.*\r\n/) })).rejects.toMatchObject(
      refused('MalformedTrailerError'),
    );
  });

  it('do not become unsigned by a header', async () => {
    const { wire, ...request } = signedChunks({ chunks: ['hello'] });
    const unsigned = withField(request, 'x-amz-content-sha256', 'STREAMING-UNSIGNED-PAYLOAD-TRAILER');
    await expect(receive({ ...unsigned, body: stream(wire) })).rejects.toMatchObject(refused('SignatureDoesNotMatch'));
  });

  it('announce trailers only in the form that has them', async () => {
    const request = signedChunks({ chunks: ['hello'], trailers }, awsWords, {
      'x-amz-content-sha256': 'STREAMING-AWS4-HMAC-SHA256-PAYLOAD',
    });
    await expect(receive(request)).rejects.toMatchObject(refused('MalformedTrailerError'));
  });

  it('in the wrong order, dropped or repeated are refused', async () => {
    const { wire, ...request } = signedChunks({ chunks: ['aa', 'bb', 'cc'] });
    const text = wire.toString('latin1');
    const [a, b, c, end] = [0, 88, 176, 264].map((at) => text.slice(at, at + 88)) as [string, string, string, string];
    const body = (...parts: string[]) => ({ ...request, body: stream(...parts) });
    expect((await receive(body(a, b, c, end))).text).toBe('aabbcc');
    for (const parts of [
      [a, c, b, end],
      [a, b, b, end],
      [b, a, c, end],
      [a, b, end],
    ]) {
      await expect(receive(body(...parts))).rejects.toMatchObject(refused('SignatureDoesNotMatch'));
    }
  });
});

/** Changes one element that a signature covers; undefined if the result is equivalent. */
type Tampering = (
  request: RequestMessage & { wire?: Buffer },
  random: (below: number) => number,
) => RequestMessage | undefined;

const characters =
  Array.from({ length: 0x100 - 0x21 }, (_, at) => String.fromCharCode(0x21 + at)).join('') + '%%%++++////..';

function changeText(text: string, random: (below: number) => number, alphabet = characters): string {
  const at = random(text.length + 1);
  const character = alphabet[random(alphabet.length)]!;
  const way = random(3);
  if (way === 0) return text.slice(0, at) + character + text.slice(at);
  return text.slice(0, at) + (way === 1 ? character : '') + text.slice(at + 1);
}

/** Returns a canonical form, equal for equivalent targets. */
function meaning(target: string): string {
  const [path = '', query = ''] = target.split(/\?(.*)/s);
  const decode = (text: string) => {
    try {
      return decodeURIComponent(text);
    } catch {
      return `undecodable ${text}`;
    }
  };
  const pairs = query
    .split('&')
    .filter((pair) => pair !== '')
    .map((pair) =>
      pair
        .split(/=(.*)/s)
        .slice(0, 2)
        .map((text) => decode(text.replaceAll('+', ' '))),
    )
    // The signature covers the case of every name but its own.
    .map(([name = '', value = '']) => JSON.stringify([name.replace(/^x-amz-signature$/i, 'X-Amz-Signature'), value]));
  return JSON.stringify([path.split('/').map(decode), pairs.sort()]);
}

const plain = (text: string) => text.replace(/[ \t]+/g, ' ').trim();

const tamperings: Record<string, Tampering> = {
  method: (request, random) => {
    const method = ['GET', 'PUT', 'HEAD', 'DELETE', 'POST', 'get'][random(6)]!;
    return method === request.method ? undefined : { ...request, method };
  },
  target: (request, random) => {
    const target = `/${changeText(request.target.slice(1), random)}`;
    // A URL without its query is an anonymous request, not a forged one.
    if (!target.includes('?') && request.target.includes('?')) return undefined;
    return meaning(target) === meaning(request.target) ? undefined : { ...request, target };
  },
  header: (request, random) => {
    const signed = [...request.fields].filter(([name]) => name !== 'authorization');
    const [name, value] = signed[random(signed.length)]!;
    const changed = changeText(value, random);
    return plain(changed) === plain(value) ? undefined : withField(request, name, changed);
  },
  'missing header': (request, random) => {
    const signed = [...request.fields].filter(([name, value]) => name !== 'authorization' && value !== '');
    return withField(request, signed[random(signed.length)]![0], undefined);
  },
  'added header': (request, random) => {
    const name = ['x-amz-acl', 'x-amz-copy-source', 'x-amz-meta-b', 'x-amz-grant-read', 'x-amz-tagging'][random(5)]!;
    return request.fields.has(name) ? undefined : withField(request, name, 'value');
  },
  'repeated header': (request, random) => {
    const signed = [...request.fields].filter(([name]) => name !== 'authorization');
    const [name, value] = signed[random(signed.length)]!;
    return { ...request, fields: new Fields([...request.fields, [name, value]]) };
  },
  authorization: (request, random) => {
    const authorization = request.fields.get('authorization');
    if (authorization === undefined) return undefined;
    const changed = changeText(authorization, random);
    return changed.replaceAll(' ', '') === authorization.replaceAll(' ', '')
      ? undefined
      : withField(request, 'authorization', changed);
  },
  body: (request, random) => {
    if (!request.wire || request.wire.length === 0) return undefined;
    const body = Buffer.from(request.wire);
    const at = random(body.length);
    body[at] = random(256);
    const [before, after] = [request.wire, body].map((bytes) => bytes.toString('latin1')) as [string, string];
    // The name of a trailer is the same in either case; that of this one is not signed.
    const same = before === after || before === after.replace(/x-amz-trailer-signature/i, 'x-amz-trailer-signature');
    return same ? undefined : { ...request, body: stream(body.subarray(0, at), body.subarray(at)) };
  },
};

/** Numbers that look random and are the same every time. */
function pseudoRandom(seed: number): (below: number) => number {
  let state = seed;
  return (below) => {
    state = (Math.imul(state, 1664525) + 1013904223) | 0;
    return ((state >>> 8) * below) >>> 24;
  };
}

describe('a request that was tampered with', () => {
  const long = process.env['TEST_LONG'] !== undefined;
  const trials = long ? 1_000_000 : 5_000;

  it('is never accepted, and always answered with an S3 error', { timeout: long ? 3_600_000 : 60_000 }, async () => {
    const weird = `/bucket/${["a//b c+%'!", '../..😀', '.'].map(uriEncode).join('/')}`;
    const parameters = { query: { versionId: 'null', prefix: 'a+b c/%', list: ['2', '1'] } };
    const withBody = (request: RequestMessage, body: string) => ({ ...request, wire: Buffer.from(body) });
    const originals: (RequestMessage & { wire?: Buffer })[] = [
      await signHeader({}),
      await signHeader({
        path: weird,
        ...parameters,
        headers: { 'x-amz-meta-a': 'some  value', 'content-type': 'text/plain' },
      }),
      withBody(await signHeader({ method: 'PUT', path: weird, body: 'the body' }), 'the body'),
      signByTheBook({ path: '/bucket/a%20b', query: { acl: '' } }, neutralWords),
      await presign({}),
      await presign({ path: weird, ...parameters, headers: { 'content-type': 'text/plain', 'x-amz-acl': 'private' } }),
      presignByTheBook({ method: 'PUT', path: weird }, neutralWords),
      signedChunks({ chunks: ['hello', 'world'] }),
      signedChunks({ chunks: ['hello'], trailers: [`x-amz-checksum-crc32:${base64('CRC32', 'hello')}`] }, neutralWords),
    ];
    for (const original of originals) {
      const body = stream(original.wire ?? '');
      expect((await receive({ ...original, body })).caller).toBe(user);
    }

    const random = pseudoRandom(20261120);
    const ways = Object.entries(tamperings);
    const tried = new Map<string, number>();
    for (let trial = 0; trial < trials; trial++) {
      const original = originals[random(originals.length)]!;
      const [name, tamper] = ways[random(ways.length)]!;
      const request = tamper({ ...original, body: stream(original.wire ?? '') }, random);
      if (request === undefined) continue;
      tried.set(name, (tried.get(name) ?? 0) + 1);
      const outcome: unknown = await receive(request).catch((error: unknown) => error);
      if (outcome instanceof S3Error && outcome.status >= 400 && outcome.status !== 500) continue;
      throw new Error(
        `Trial ${trial}, ${name}: ${request.method} ${request.target} ${JSON.stringify([...request.fields])}`,
        { cause: outcome },
      );
    }
    for (const [name] of ways) expect(tried.get(name), name).toBeGreaterThan(trials / 100);
  });
});
