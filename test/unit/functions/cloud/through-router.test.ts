import { describe, expect, it } from 'vitest';
import { originalsOf, refusalOfOthers, type Originals } from '../../../../functions/cloud/through-router.ts';
import { Fields } from '../../../../shared/http/message.ts';
import { edgeWith } from './edge-with.ts';

const kept = {
  'x-stillage-target': '/bucket/a+b?prefix=a+b|c&acl',
  'x-stillage-host': 'bucket.s3.example.com',
  'x-stillage-authorization': 'AWS4-HMAC-SHA256 original',
  'x-stillage-content-length': '7',
  'x-stillage-address': '198.51.100.9',
};

const arrived = (headers: Record<string, string>): Promise<Originals | undefined> =>
  originalsOf(
    new Fields(Object.entries({ host: 'origin', authorization: 'stale', 'content-length': '9', ...headers })),
    edgeWith('s3cret'),
  );

describe('the originals that the router keeps', () => {
  it('are taken where the proof holds', async () => {
    const sent = await arrived({ ...kept, 'X-Stillage-Edge': 's3cret', accept: '*/*' });
    const { target, fields, remoteAddress, secure } = sent!;
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

  it('say what the client did not send, too', async () => {
    const { 'x-stillage-authorization': _a, 'x-stillage-content-length': _l, ...others } = kept;
    const { fields } = (await arrived({ ...others, 'x-stillage-edge': 's3cret' }))!;
    expect([...fields.names()]).toEqual(['host']);
  });

  it('are those of a request without TLS where the distribution says so', async () => {
    const came = async (protocol: string): Promise<boolean> =>
      (await arrived({ ...kept, 'x-stillage-edge': 's3cret', 'cloudfront-forwarded-proto': protocol }))!.secure;
    expect([await came('http'), await came('https')]).toEqual([false, true]);
  });

  it.each([
    ['without a proof', {}],
    ['with a wrong one', { 'x-stillage-edge': 'guess' }],
    ['with an empty one', { 'x-stillage-edge': '' }],
    ['with two', { 'x-stillage-edge': 's3cret', 'X-Stillage-Edge': 'guess' }],
  ])('are none %s', async (_, proof) => {
    expect(await arrived({ ...kept, ...proof })).toBeUndefined();
  });

  it('must be whole', async () => {
    const { 'x-stillage-host': _, ...others } = kept;
    await expect(arrived({ ...others, 'x-stillage-edge': 's3cret' })).rejects.toThrow('x-stillage-host');
  });
});

it('a request that bypasses the distribution is told that access is denied, and no more', () => {
  const { status, fields, body } = refusalOfOthers('tx1');
  expect({ status, type: fields.get('content-type') }).toEqual({ status: 403, type: 'application/xml' });
  expect(body).toContain('<Code>AccessDenied</Code>');
  expect(body).toContain('<RequestId>tx1</RequestId>');
});
