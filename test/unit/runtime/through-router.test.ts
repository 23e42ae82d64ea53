import { describe, expect, it } from 'vitest';
import { originalsOf, refusalOfOthers, type Originals } from '../../../functions/runtime/through-router.ts';
import { Fields } from '../../../shared/http/message.ts';

const kept = {
  'x-stillage-target': '/bucket/a+b?prefix=a+b|c&acl',
  'x-stillage-host': 'bucket.s3.example.com',
  'x-stillage-authorization': 'AWS4-HMAC-SHA256 original',
  'x-stillage-content-length': '7',
  'x-stillage-address': '198.51.100.9',
};

const arrived = (headers: Record<string, string>): Originals | undefined =>
  originalsOf(
    new Fields(Object.entries({ host: 'origin', authorization: 'stale', 'content-length': '9', ...headers })),
    's3cret',
  );

describe('the originals that the router keeps', () => {
  it('are taken where the proof holds', () => {
    const { target, fields, remoteAddress, secure } = arrived({ ...kept, 'X-Stillage-Edge': 's3cret', accept: '*/*' })!;
    expect({ target, remoteAddress, secure }).toEqual({
      target: '/bucket/a+b?prefix=a+b|c&acl',
      remoteAddress: '198.51.100.9',
      secure: true,
    });
    expect([...fields].toSorted()).toEqual([
      ['accept', '*/*'],
      ['authorization', 'AWS4-HMAC-SHA256 original'],
      ['content-length', '7'],
      ['host', 'bucket.s3.example.com'],
    ]);
  });

  it('say what the client did not send, too', () => {
    const { 'x-stillage-authorization': _a, 'x-stillage-content-length': _l, ...others } = kept;
    const { fields } = arrived({ ...others, 'x-stillage-edge': 's3cret' })!;
    expect([...fields.names()]).toEqual(['host']);
  });

  it('are those of a request without TLS where the distribution says so', () => {
    const came = (protocol: string): boolean =>
      arrived({ ...kept, 'x-stillage-edge': 's3cret', 'cloudfront-forwarded-proto': protocol })!.secure;
    expect([came('http'), came('https')]).toEqual([false, true]);
  });

  it.each([
    ['without a proof', {}],
    ['with a wrong one', { 'x-stillage-edge': 'guess' }],
    ['with an empty one', { 'x-stillage-edge': '' }],
    ['with two', { 'x-stillage-edge': 's3cret', 'X-Stillage-Edge': 'guess' }],
  ])('are none %s', (_, proof) => {
    expect(arrived({ ...kept, ...proof })).toBeUndefined();
  });

  it('must be whole', () => {
    const { 'x-stillage-host': _, ...others } = kept;
    expect(() => arrived({ ...others, 'x-stillage-edge': 's3cret' })).toThrow('x-stillage-host');
  });
});

it('whoever passes the distribution by is told that access is denied, and no more', () => {
  const { status, fields, body } = refusalOfOthers('tx1');
  expect({ status, type: fields.get('content-type') }).toEqual({ status: 403, type: 'application/xml' });
  expect(body).toContain('<Code>AccessDenied</Code>');
  expect(body).toContain('<RequestId>tx1</RequestId>');
});
