import { describe, expect, it } from 'vitest';
import type { RequestMessage } from '../../../../shared/http/message.ts';
import { readPresignedQuery } from '../../../../shared/signing/v4/presigned.ts';
import { verifySignature } from '../../../../shared/signing/v4/sigv4.ts';
import {
  credentials,
  neutralWords,
  presign,
  presignByTheBook,
  signingDate,
  targetOf,
  uriEncode,
  type Unsigned,
} from '../reference-signer.ts';
import { timingAt } from '../timing.ts';

function verify(request: RequestMessage, now = +signingDate) {
  const target = targetOf(request);
  return verifySignature(
    request,
    target,
    readPresignedQuery(target.query, request.fields, timingAt(now)),
    credentials.secretAccessKey,
  );
}

const refusal = (code: string, rest: object = {}) => expect.objectContaining({ code, ...rest }) as Error;
const key = (text: string) => `/bucket/${text.split('/').map(uriEncode).join('/')}`;

describe('a URL presigned by Amazon’s own code', () => {
  it.each<[string, Unsigned]>([
    ['a GET', {}],
    ['a PUT', { method: 'PUT', body: 'hello' }],
    ['a key of many kinds', { path: key("a//../b c/%2F+😀!'()*/") }],
    ['queries', { query: { versionId: 'null', 'response-content-type': 'text/html; charset="utf-8"', a: ['2', '1'] } }],
    ['headers in the query', { method: 'PUT', headers: { 'x-amz-acl': 'public-read', 'x-amz-meta-a': 'b + c' } }],
    ['signed headers', { method: 'PUT', headers: { 'content-type': 'text/plain' } }],
    [
      'a known body',
      {
        method: 'PUT',
        body: 'hello',
        headers: { 'x-amz-content-sha256': '2cf24dba5fb0a30e26e83b2ac5b9e29e1b161e5c1fa7425e73043362938b9824' },
      },
    ],
  ])('holds for %s', async (_, unsigned) => {
    verify(await presign(unsigned));
  });

  it('holds with x-amz- headers that stay headers', async () => {
    const request = await presign(
      { method: 'PUT', headers: { 'x-amz-content-sha256': 'UNSIGNED-PAYLOAD', 'x-amz-acl': 'private' } },
      { unhoistableHeaders: new Set(['x-amz-content-sha256', 'x-amz-acl']) },
    );
    expect(request.fields.get('x-amz-acl')).toBe('private');
    verify(request);
  });

  it('agrees with the second signer of these tests', async () => {
    const smithy = await presign({ query: { a: 'b' } });
    const book = presignByTheBook({ query: { a: 'b', 'x-amz-content-sha256': 'UNSIGNED-PAYLOAD' } });
    const sorted = ({ target }: RequestMessage) => target.split('?')[1]!.split('&').sort();
    expect(sorted(book)).toEqual(sorted(smithy));
  });
});

describe('readPresignedQuery', () => {
  it('takes the neutral words', () => {
    verify(presignByTheBook({ query: { acl: '' } }, neutralWords));
  });

  it('finds names in any case, as they were signed', () => {
    const names = ['Algorithm', 'Credential', 'Date', 'Expires', 'SignedHeaders'];
    const request = presignByTheBook({});
    const lower = names.reduce(
      (target, name) => target.replace(`X-Amz-${name}`, `x-amz-${name.toLowerCase()}`),
      request.target,
    );
    expect(() => verify({ ...request, target: lower })).toThrow(refusal('SignatureDoesNotMatch'));
    expect(
      readPresignedQuery(targetOf({ ...request, target: lower }).query, request.fields, timingAt(+signingDate)),
    ).toMatchObject({
      accessKeyId: credentials.accessKeyId,
      signedHeaders: ['host'],
    });
    verify({ ...request, target: request.target.replace('X-Amz-Signature', 'x-amz-signature') });
  });

  it.each(['Algorithm', 'Credential', 'Date', 'Expires', 'SignedHeaders'])('demands X-Amz-%s', (name) => {
    const malformed = refusal('AuthorizationQueryParametersError', { status: 400 });
    expect(() => verify(presignByTheBook({ parameters: { [`X-Amz-${name}`]: undefined } }))).toThrow(malformed);
    expect(() => verify(presignByTheBook({ parameters: { [`X-Amz-${name}`]: '' } }))).toThrow(malformed);
  });

  it('demands X-Amz-Signature', () => {
    const request = presignByTheBook({});
    for (const target of [
      request.target.replace(/&X-Amz-Signature=.*/, ''),
      request.target.replace(/Signature=.*/, 'Signature='),
    ]) {
      expect(() => verify({ ...request, target })).toThrow(
        refusal('AuthorizationQueryParametersError', { status: 400 }),
      );
    }
  });

  it.each([
    ['X-Amz-Algorithm', 'AWS4-HMAC-SHA1'],
    ['X-Amz-Algorithm', 'SVC4-HMAC-SHA256'],
    ['X-Amz-Credential', 'AKID'],
    ['X-Amz-Credential', 'AKID/20261119/us-east-1/s3/aws4_request'],
    ['X-Amz-Credential', 'AKID/20261120/us-east-1/s3/svc4_request'],
    ['X-Amz-Date', '2026-11-20T10:11:12Z'],
    ['X-Amz-Date', '20261120T101160Z'],
    ['X-Amz-SignedHeaders', 'Host'],
    ['X-Amz-SignedHeaders', 'host\n'],
  ])('answers AuthorizationQueryParametersError to %s=%j', (name, value) => {
    expect(() => verify(presignByTheBook({ parameters: { [name]: value } }))).toThrow(
      refusal('AuthorizationQueryParametersError', { status: 400 }),
    );
  });

  it('answers NotImplemented to signatures of public keys', () => {
    expect(() => verify(presignByTheBook({ parameters: { 'X-Amz-Algorithm': 'AWS4-ECDSA-P256-SHA256' } }))).toThrow(
      refusal('NotImplemented'),
    );
  });

  it.each([
    '0',
    '-1',
    '604801',
    '1e99',
    '1e3',
    '3600.5',
    '+3600',
    ' 3600',
    '0x10',
    'NaN',
    'Infinity',
    'forever',
    '99999999999999999999',
  ])('answers AccessDenied to X-Amz-Expires=%s', (expires) => {
    expect(() => verify(presignByTheBook({ parameters: { 'X-Amz-Expires': expires } }))).toThrow(
      refusal('AccessDenied', { status: 403 }),
    );
  });

  it('takes a URL from a quarter of an hour before it was signed until it expires', () => {
    const request = presignByTheBook({ parameters: { 'X-Amz-Expires': '604800' } });
    const minute = 60_000;
    const week = 7 * 24 * 60 * minute;
    for (const late of [-15 * minute, 0, week]) verify(request, +signingDate + late);
    expect(() => verify(request, +signingDate - 15 * minute - 1)).toThrow(
      refusal('AccessDenied', { message: 'Request is not valid yet', status: 403 }),
    );
    expect(() => verify(request, +signingDate + week + 1)).toThrow(
      refusal('AccessDenied', {
        message: 'Request has expired',
        status: 403,
        details: { 'X-Amz-Expires': '604800', Expires: '2026-11-27T10:11:12Z', ServerTime: '2026-11-27T10:11:12Z' },
      }),
    );
  });

  it.each([
    ['another method', (request: RequestMessage) => ({ ...request, method: 'HEAD' })],
    ['another key', (request: RequestMessage) => ({ ...request, target: request.target.replace('/key', '/kez') })],
    ['one more parameter', (request: RequestMessage) => ({ ...request, target: `${request.target}&versionId=1` })],
    [
      'one more response header',
      (request: RequestMessage) => ({ ...request, target: `${request.target}&response-content-type=text/html` }),
    ],
    [
      'a repeated parameter',
      (request: RequestMessage) => ({ ...request, target: `${request.target}&X-Amz-Expires=604800` }),
    ],
    [
      'a repeated signature',
      (request: RequestMessage) => ({ ...request, target: `${request.target}&X-Amz-Signature=${'0'.repeat(64)}` }),
    ],
    [
      'a longer validity',
      (request: RequestMessage) => ({ ...request, target: request.target.replace('Expires=3600', 'Expires=7200') }),
    ],
    [
      'a signature that is none',
      (request: RequestMessage) => ({ ...request, target: request.target.replace(/Signature=.*/, 'Signature=x') }),
    ],
  ])('does not hold with %s', (_, change) => {
    const request = presignByTheBook({});
    verify(request);
    expect(() => verify(change(request))).toThrow(refusal('SignatureDoesNotMatch', { status: 403 }));
  });
});
