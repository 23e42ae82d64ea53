import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { S3Error } from '../../../../shared/errors/s3-error.ts';
import type { RequestMessage } from '../../../../shared/http/message.ts';
import { readAuthorizationHeader } from '../../../../shared/signing/v4/authorization-header.ts';
import { verifySignature } from '../../../../shared/signing/v4/sigv4.ts';
import { runs } from '../../../support/runs/runs.ts';
import {
  credentials,
  message,
  neutralWords,
  signByTheBook,
  signHeader,
  signingDate,
  targetOf,
  uriEncode,
  type Unsigned,
} from '../reference-signer.ts';
import { timingAt } from '../timing.ts';

function verify(request: RequestMessage, secret = credentials.secretAccessKey) {
  return verifySignature(
    request,
    targetOf(request),
    readAuthorizationHeader(request.fields, timingAt(+signingDate)),
    secret,
  );
}

function refusal(request: RequestMessage): S3Error {
  try {
    verify(request);
  } catch (error) {
    if (error instanceof S3Error) return error;
    throw error;
  }
  throw new Error('The signature was accepted.');
}

const weirdKeys = [
  'plain',
  'a//b',
  '/leading',
  'trailing/',
  '//',
  '.',
  '../..',
  '../../etc/passwd',
  'a/../b/./c',
  'a b',
  'a+b',
  'a%b',
  'a%20b',
  'a%2Fb',
  "!'()*",
  '~-._',
  'ключ',
  '😀/🦙',
  'é',
  'e\u0301',
  '"<>\\^`{|}',
  '?#[]@$&,;=:',
  '\u0001\u007f\u0080',
  '\u{10ffff}',
];

const pathOf = (key: string) => `/bucket/${key.split('/').map(uriEncode).join('/')}`;

describe('the header signature of Amazon’s own code', () => {
  it.each(weirdKeys)('holds for the key %j', async (key) => {
    verify(await signHeader({ path: pathOf(key) }));
  });

  it('holds for any key, query and metadata', async () => {
    const unit = fc.oneof(
      fc.constantFrom(..."/.%+ &=~!*'()😀é\t"),
      fc.string({ unit: 'binary', minLength: 1, maxLength: 1 }),
    );
    const words = fc.string({ unit, maxLength: 12 }).filter((one) => !one.includes('\0'));
    const ascii = fc.stringMatching(/^[ -~\t]{0,20}$/);
    await fc.assert(
      fc.asyncProperty(
        words,
        fc.dictionary(words, fc.oneof(words, fc.array(words, { minLength: 1, maxLength: 3 })), { maxKeys: 4 }),
        ascii,
        async (key, query, value) => {
          // Amazon's code loses this one.
          fc.pre(!Object.keys(query).includes('__proto__'));
          verify(await signHeader({ path: pathOf(key), query, headers: { 'x-amz-meta-a': value } }));
        },
      ),
      { numRuns: runs(300) },
    );
  });

  it.each<[string, Unsigned]>([
    ['the root', { path: '/' }],
    ['a sub-resource without a value', { query: { acl: '' } }],
    ['values of one name', { query: { a: ['2', '1', '10'], 'a-b': '0', A: 'x' } }],
    ['names that sort by their escapes', { query: { 'a/': '1', 'a-': '2', a0: '3', 'a b': '4' } }],
    ['a plus, a space and a slash', { query: { prefix: 'a+b c/d', 'con+t': '%20' } }],
    ['names that are nearly alike', { query: { a: 'b', 'a=': '', 'a=b': '' } }],
    ['runs of spaces', { headers: { 'x-amz-meta-a': '  a   b  "c   d"  ' } }],
    ['an empty header', { headers: { 'x-amz-meta-a': '' } }],
    ['a body', { method: 'PUT', body: 'hello', headers: { 'content-type': 'text/plain', 'content-length': '5' } }],
    ['an unsigned body', { method: 'PUT', body: 'hello', headers: { 'x-amz-content-sha256': 'UNSIGNED-PAYLOAD' } }],
  ])('holds for %s', async (_, unsigned) => {
    verify(await signHeader(unsigned));
  });

  it('agrees with the second signer of these tests', async () => {
    const unsigned = { path: pathOf('a b'), query: { prefix: 'x+y', acl: '' }, headers: { 'x-amz-acl': 'private' } };
    const [amazon, book] = [await signHeader(unsigned), signByTheBook(unsigned)];
    expect(book.fields.get('authorization')).toBe(amazon.fields.get('authorization'));
  });
});

describe('verifySignature', () => {
  it('accepts the neutral words', () => {
    verify(signByTheBook({ path: pathOf('a b'), query: { acl: '' } }, neutralWords));
  });

  it.each([
    ['s3', 'svc'],
    ['aws4_request', 'svc4_request'],
    ['AWS4-HMAC-SHA256 ', 'SVC4-HMAC-SHA256 '],
  ])('does not accept both spellings in one request: %s for %s', (from, to) => {
    const { fields, ...request } = signByTheBook({});
    const authorization = fields.get('authorization')!.replace(from, to);
    const mixed = message(
      request.method,
      request.target,
      [...fields].map(([name, value]) => [name, name === 'authorization' ? authorization : value]),
    );
    expect(() => verify(mixed)).toThrow(expect.objectContaining({ code: 'AuthorizationHeaderMalformed' }) as Error);
  });

  it('takes the words from the client, not only the names: a neutral signature made with Amazon’s prefix fails', () => {
    expect(refusal(signByTheBook({}, { ...neutralWords, prefix: 'AWS4' })).code).toBe('SignatureDoesNotMatch');
  });

  it('accepts bytes in headers as they are', () => {
    // U+00E0 is C3 A0 in UTF-8, and A0 is a blank in latin1.
    const value = Buffer.from('a à\u00a0  \u0085 b').toString('latin1');
    const canonical = Buffer.from('a à\u00a0 \u0085 b').toString('latin1');
    const request = signByTheBook({ headers: { 'x-amz-meta-a': canonical } });
    const spaced = message(
      request.method,
      request.target,
      [...request.fields].map(([name, text]) => [name, text === canonical ? value : text]),
    );
    verify(spaced);
  });

  it('joins repeated fields in the order received', () => {
    const request = signByTheBook({ headers: { 'x-amz-meta-a': 'one,two' } });
    const others = [...request.fields].filter(([name]) => name !== 'x-amz-meta-a');
    verify(message('GET', request.target, [...others, ['X-Amz-Meta-A', ' one '], ['x-amz-meta-a', 'two']]));
    expect(
      refusal(message('GET', request.target, [...others, ['x-amz-meta-a', 'two'], ['x-amz-meta-a', 'one']])).code,
    ).toBe('SignatureDoesNotMatch');
  });

  it('signs the host as sent, port and case included', () => {
    verify(signByTheBook({ headers: { host: 'S3.Example.com:8080' } }));
  });

  it('follows the order of SignedHeaders', () => {
    const { fields, ...request } = signByTheBook({});
    const authorization = fields
      .get('authorization')!
      .replace('host;x-amz-content-sha256', 'x-amz-content-sha256;host');
    const reordered = message(
      'GET',
      request.target,
      [...fields].map(([name, value]) => [name, name === 'authorization' ? authorization : value]),
    );
    expect(refusal(reordered).code).toBe('SignatureDoesNotMatch');
  });

  it('accepts escapes that a client left out or wrote in lower case, signed as they should be', () => {
    verify(signByTheBook({ path: "/bucket/a!'()*é%c3%a9%41", canonicalUri: '/bucket/a%21%27%28%29%2A%C3%A9%C3%A9A' }));
    verify(signByTheBook({ rawQuery: 'prefix=%c3%a9*', canonicalQuery: 'prefix=%C3%A9%2A' }));
  });

  it('accepts a path that was signed just as it was sent', () => {
    verify(signByTheBook({ path: "/bucket/a!'()*" }));
    verify(signByTheBook({ path: '/bucket/%7efoo' }));
  });

  it('accepts a slash of the key that was sent escaped and signed bare, which is how S3 writes the key down', () => {
    verify(signByTheBook({ path: '/bucket/a%2Fb%2fc', canonicalUri: '/bucket/a/b/c' }));
    verify(signByTheBook({ path: '/bucket/a%2Fb', canonicalUri: '/bucket/a%2Fb' }));
  });

  it('does not accept a path that was normalised', () => {
    expect(refusal(signByTheBook({ path: '/bucket/a/../b', canonicalUri: '/bucket/b' })).code).toBe(
      'SignatureDoesNotMatch',
    );
    expect(refusal(signByTheBook({ path: '/bucket//b', canonicalUri: '/bucket/b' })).code).toBe(
      'SignatureDoesNotMatch',
    );
    expect(refusal(signByTheBook({ path: '/bucket/a/b', canonicalUri: '/bucket/a%2Fb' })).code).toBe(
      'SignatureDoesNotMatch',
    );
    expect(refusal(signByTheBook({ path: '/bucket/a%252Fb', canonicalUri: '/bucket/a/b' })).code).toBe(
      'SignatureDoesNotMatch',
    );
    expect(refusal(signByTheBook({ path: '/bucket/a%20b', canonicalUri: '/bucket/a%2520b' })).code).toBe(
      'SignatureDoesNotMatch',
    );
  });

  it('does not take a character for the byte it ends in', () => {
    const honest = signByTheBook({ path: '/bucket/key' });
    expect(refusal({ ...honest, target: '/bucket/\u016bey' }).code).toBe('SignatureDoesNotMatch');
  });

  it('takes a raw plus in the query for a space, or else for a plus', () => {
    verify(signByTheBook({ rawQuery: 'prefix=a+b', canonicalQuery: 'prefix=a%20b' }));
    verify(signByTheBook({ rawQuery: 'prefix=a+b', canonicalQuery: 'prefix=a%2Bb' }));
    expect(refusal(signByTheBook({ rawQuery: 'prefix=a+b', canonicalQuery: 'prefix=a+b' })).code).toBe(
      'SignatureDoesNotMatch',
    );
  });

  it('counts parameters without a value or a name, and no empty pairs', () => {
    verify(signByTheBook({ rawQuery: 'acl&&x=1&', canonicalQuery: 'acl=&x=1' }));
    verify(signByTheBook({ rawQuery: '=1', canonicalQuery: '=1' }));
  });

  it('signs a header that is not there as empty', () => {
    const request = signByTheBook({ headers: { 'content-length': '' } });
    verify(
      message(
        'GET',
        request.target,
        [...request.fields].filter(([name]) => name !== 'content-length'),
      ),
    );
  });

  it('tells what it signed, and neither the key nor what customers encrypt with', () => {
    const request = signByTheBook({
      headers: {
        'x-amz-server-side-encryption-customer-key': 'c2VjcmV0LWN1c3RvbWVyLWtleQ==',
        'x-amz-copy-source-server-side-encryption-customer-key': 'c2VjcmV0LWN1c3RvbWVyLWtleQ==',
      },
    });
    const error = refusal({ ...request, method: 'PUT' });
    const { AWSAccessKeyId, StringToSign, SignatureProvided, CanonicalRequest } = error.details;
    expect(error).toMatchObject({ code: 'SignatureDoesNotMatch', status: 403 });
    expect(AWSAccessKeyId).toBe(credentials.accessKeyId);
    expect(StringToSign).toMatch(
      /^AWS4-HMAC-SHA256\n20261120T101112Z\n20261120\/us-east-1\/s3\/aws4_request\n[0-9a-f]{64}$/,
    );
    expect(SignatureProvided).toMatch(/^[0-9a-f]{64}$/);
    expect(CanonicalRequest).toMatch(/^PUT\n\/bucket\/key\n\nhost:s3\.example\.com:9000\n/);
    expect(CanonicalRequest).toContain('customer-key:…\n');
    expect(JSON.stringify(error.details)).not.toContain('c2VjcmV0');
    expect(JSON.stringify(error.details)).not.toContain(credentials.secretAccessKey);
  });

  it('knows one secret from another, from the cache too', async () => {
    const request = await signHeader({});
    verify(request);
    expect(() => verify(request, 'another')).toThrow(S3Error);
    verify(await signHeader({}, 'another'), 'another');
    verify(request);
  });

  it('keeps no more keys than it should and still verifies', () => {
    for (let at = 0; at < 1200; at++) verify(signByTheBook({ region: `region-${at}` }));
    verify(signByTheBook({ region: 'region-0' }));
    verify(signByTheBook({ region: 'r'.repeat(500) }));
    verify(signByTheBook({ region: '' }));
  });
});
