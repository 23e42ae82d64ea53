import { fullRights } from '../../../../shared/access/identity-rights.ts';
import { createHash } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { S3Error } from '../../../../shared/errors/s3-error.ts';
import type { AccessKeys, User } from '../../../../shared/access/identity.ts';
import { authenticateBody, authenticateHead } from '../../../../shared/protocol/authentication/authenticate.ts';
import type { Authenticated, SigningSettings } from '../../../../shared/protocol/authentication/authenticated.ts';
import { defaultLimits } from '../../../../shared/protocol/limits.ts';
import { routes, type Route } from '../../../../shared/protocol/operation-table.ts';
import { isSignedByV2, mayBeUnsignedByV2 } from '../../../../shared/signing/v2/sigv2-resource.ts';
import type { RawRequest } from '../../../support/clients/raw-client.ts';
import type { Unsigned } from '../../../support/clients/signer.ts';
import { presignedV2, signedV2 } from '../../../support/clients/signer-v2.ts';
import { credentials, host, message, signingDate, targetOf } from '../../signing/reference-signer.ts';

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

async function pass(
  { method, target, headers, body }: RawRequest,
  { keys = keysWith(), settings = {} }: { keys?: AccessKeys; settings?: SigningSettings } = {},
): Promise<Authenticated> {
  const request = message(method, target, headers, ...(body === undefined ? [] : [body]));
  const clock = { now: () => +signingDate, sleep: () => Promise.resolve() };
  const deps = { keys, clock, settings, limits: defaultLimits };
  const head = await authenticateHead(request, targetOf(request), false, deps);
  return authenticateBody(head, { digestBody: true }, deps);
}

async function textOf({ payload }: Authenticated): Promise<string> {
  const pieces: Uint8Array[] = [];
  for await (const piece of payload.bytes) pieces.push(piece);
  return Buffer.concat(pieces).toString();
}

const upload: Unsigned = { method: 'PUT', path: '/bucket/key', body: 'hello' };
const inHeader = (more: Partial<Unsigned> = {}, key = credentials): RawRequest =>
  signedV2(host, { ...upload, ...more }, { key, date: signingDate.toUTCString() });
const inQuery = (more: Partial<Unsigned> = {}, key = credentials): RawRequest =>
  presignedV2(host, { ...upload, ...more }, { key, expires: String(+signingDate / 1000 + 60) });
const forms = [
  ['header', inHeader, 'v2-header'],
  ['query', inQuery, 'v2-presigned'],
] as const;

const refused = (code: string, rest: object = {}) => ({ code, name: 'S3Error', ...rest });
const sha256 = (text: string) => createHash('sha256').update(text).digest('hex');

describe.each(forms)('a signature of version 2 in the %s', (_, sign, scheme) => {
  it('proves who sent a request', async () => {
    const authenticated = await pass(sign());
    expect(authenticated).toMatchObject({ caller: user, scheme });
    expect(await textOf(authenticated)).toBe('hello');
  });

  it('meets the same errors as version 4', async () => {
    const unknown = { ...credentials, accessKeyId: 'unknown' };
    const wrong = { ...credentials, secretAccessKey: 'wrong' };
    await expect(pass(sign({}, unknown))).rejects.toMatchObject(refused('InvalidAccessKeyId', { status: 403 }));
    await expect(pass(sign({}, wrong))).rejects.toMatchObject(refused('SignatureDoesNotMatch', { status: 403 }));
    const suspended = { keys: keysWith(true) };
    await expect(pass(sign(), suspended)).rejects.toMatchObject(refused('UserSuspended', { status: 403 }));
    await expect(pass(sign({}, wrong), suspended)).rejects.toMatchObject(refused('SignatureDoesNotMatch'));
    const token = sign({ headers: { 'x-amz-security-token': 'token' } });
    await expect(pass(token)).rejects.toMatchObject(refused('InvalidToken', { status: 400 }));
  });

  it('is refused where the deployment says so', async () => {
    const off = { settings: { version2: false } };
    await expect(pass(sign(), off)).rejects.toMatchObject(
      refused('InvalidRequest', {
        status: 400,
        message: 'The authorization mechanism you have provided is not supported. Please use AWS4-HMAC-SHA256.',
      }),
    );
    await pass(sign(), { settings: { version2: true } });
  });

  it('cannot be replayed for a sub-resource that it does not cover', async () => {
    const all: readonly Route[] = routes;
    const uncovered = new Set(all.flatMap(({ query }) => query ?? []).filter((name) => !isSignedByV2(name)));
    expect(uncovered).toContain('renameObject');
    for (const name of uncovered) {
      const request = sign();
      const target = `${request.target}${request.target.includes('?') ? '&' : '?'}${name}`;
      await expect(pass({ ...request, target })).rejects.toMatchObject(refused('InvalidRequest', { status: 400 }));
    }
  });

  it('leaves out parameters that are read by listings only, and by nothing that writes', async () => {
    const all = [...mayBeUnsignedByV2, 'anything', 'expires-in'];
    for (const method of ['GET', 'HEAD', 'PUT', 'POST', 'DELETE']) {
      const request = sign({ method, query: 'versionId=1' });
      const { query } = (await pass({ ...request, target: `${request.target}&${all.join('=2&')}` })).request;
      expect(query.get('versionId')).toBe('1');
      expect(query.get('uploadId')).toBeUndefined();
      expect(query.has('something')).toBe(false);
      for (const name of all) {
        const isRead = ['GET', 'HEAD'].includes(method) && mayBeUnsignedByV2.has(name);
        const ask = () => [query.has(name), query.get(name)?.slice(0, 1)];
        if (isRead) expect(ask()).toEqual([true, name === all.at(-1) ? '' : '2']);
        else expect(ask, `${method} ${name}`).toThrow(expect.objectContaining(refused('InvalidRequest')) as Error);
      }
    }
  });

  it.each([
    'STREAMING-AWS4-HMAC-SHA256-PAYLOAD',
    'STREAMING-AWS4-HMAC-SHA256-PAYLOAD-TRAILER',
    'STREAMING-SVC4-HMAC-SHA256-PAYLOAD',
    'STREAMING-UNSIGNED-PAYLOAD-TRAILER',
  ])('cannot announce %s', async (hash) => {
    await expect(pass(sign({ headers: { 'x-amz-content-sha256': hash } }))).rejects.toMatchObject(
      refused('InvalidRequest', { status: 400 }),
    );
  });

  it('covers the body as far as it has its hash', async () => {
    const hashed = (text: string) => sign({ headers: { 'x-amz-content-sha256': sha256(text) } });
    expect(await textOf(await pass(hashed('hello')))).toBe('hello');
    await expect(pass(hashed('other')).then(textOf)).rejects.toMatchObject(refused('XAmzContentSHA256Mismatch'));
    const nonsense = sign({ headers: { 'x-amz-content-sha256': 'nonsense' } });
    await expect(pass(nonsense)).rejects.toMatchObject(refused('InvalidArgument'));
  });

  it('does not excuse a bad Content-MD5', async () => {
    const withMd5 = (text: string) => pass(sign({ headers: { 'content-md5': text } })).then(textOf);
    expect(await withMd5(createHash('md5').update('hello').digest('base64'))).toBe('hello');
    for (const text of ['', 'bad', 'bQ==']) {
      await expect(withMd5(text)).rejects.toMatchObject(refused('InvalidDigest', { status: 400 }));
    }
    const other = createHash('md5').update('other').digest('base64');
    await expect(withMd5(other)).rejects.toMatchObject(refused('BadDigest', { status: 400 }));
  });

  it('may come with a body in unsigned chunks', async () => {
    const headers = { 'content-encoding': 'aws-chunked', 'x-amz-decoded-content-length': '5' };
    expect(await textOf(await pass(sign({ headers, body: '5\r\nhello\r\n0\r\n\r\n' })))).toBe('hello');
  });
});

describe('a session token under version 2', () => {
  it('is where the signature is', async () => {
    const token = { headers: { 'x-amz-security-token': 'right' } };
    expect((await pass(inHeader(token))).caller).toBe(user);
    await expect(pass(inQuery(token))).rejects.toMatchObject(refused('InvalidToken', { status: 400 }));
  });
});

describe('signatures of versions 2 and 4', () => {
  it('are not mixed', async () => {
    const both = inHeader({ query: 'X-Amz-Algorithm=AWS4-HMAC-SHA256' });
    await expect(pass(both)).rejects.toMatchObject(refused('InvalidArgument', { status: 400 }));
    const authorization = inHeader().headers.at(-1)!;
    const twice = inQuery();
    await expect(pass({ ...twice, headers: [...twice.headers, authorization] })).rejects.toMatchObject(
      refused('InvalidArgument', { status: 400 }),
    );
  });
});
