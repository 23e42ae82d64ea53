import { createHmac } from 'node:crypto';
import { beforeEach, describe, expect, it } from 'vitest';
import { IdentityProvider, newKey } from '../../../support/clients/identity-provider.ts';

const invalid = expect.objectContaining({ code: 'InvalidIdentityToken' }) as Error;
let provider: IdentityProvider;
beforeEach(() => {
  provider = new IdentityProvider();
});
const token = (header: object = {}, key = provider.key, claims: object = {}): string =>
  provider.token(JSON.stringify(provider.claims(claims)), header, key);
const publish = (...keys: readonly object[]): void => {
  provider.published = JSON.stringify({ keys });
};

describe('a token of an identity provider', () => {
  it('tells whom it speaks of', async () => {
    expect(await provider.verify(token({}, provider.key, { amr: ['mfa', 5], azp: 'shop' }))).toEqual({
      issuer: IdentityProvider.issuer,
      subject: 'job',
      audience: 'shop',
      token: {
        provider: 'arn:aws:iam::123456789012:oidc-provider/id.example.com',
        claims: new Map([
          ['id.example.com:sub', ['job']],
          ['id.example.com:aud', ['shop']],
          ['id.example.com:azp', ['shop']],
          ['id.example.com:amr', ['mfa']],
        ]),
      },
    });
  });

  it.each([
    ['none', { alg: 'none' }],
    ['None', { alg: 'None' }],
    ['no algorithm', { alg: undefined }],
    ['a list', { alg: ['ES256'] }],
    ['another curve', { alg: 'ES384' }],
    ['RSA with a key of a curve', { alg: 'RS256' }],
    ['a part that must be understood', { crit: ['x'], x: 1 }],
    ['a payload that is not encoded', { crit: ['b64'], b64: false }],
    ['a key that is not there', { kid: 'other' }],
  ])('is refused with %s in its header', async (_, header) => {
    await expect(provider.verify(token(header))).rejects.toEqual(invalid);
  });

  it('is refused where a secret is published, which is none', async () => {
    const k = Buffer.from('published for all').toString('base64url');
    publish({ kty: 'oct', k, kid: 'one', alg: 'HS256' }, { kty: 'oct', k, kid: 'two' });
    for (const kid of ['one', 'two']) {
      const signed = token({ alg: 'HS256', kid }).split('.').slice(0, 2).join('.');
      const signature = createHmac('sha256', 'published for all').update(signed).digest('base64url');
      await expect(provider.verify(`${signed}.${signature}`)).rejects.toEqual(invalid);
      await expect(provider.verify(token({ kid }))).rejects.toEqual(invalid);
    }
  });

  it('is refused with a key that is for something else, or that is one of two', async () => {
    publish({ ...provider.key.published, use: 'enc' });
    await expect(provider.verify(token())).rejects.toEqual(invalid);
    provider = new IdentityProvider();
    publish({ ...provider.key.published, key_ops: ['deriveKey'] });
    await expect(provider.verify(token())).rejects.toEqual(invalid);
    provider = new IdentityProvider();
    publish(provider.key.published, newKey('one').published);
    await expect(provider.verify(token())).rejects.toEqual(invalid);
  });

  it('is signed with the keys that there are: new ones count soon, old ones not for long', async () => {
    const before = token();
    await provider.verify(before);
    const next = newKey('two');
    const after = token({ kid: 'two' }, next);
    await expect(provider.verify(after)).rejects.toEqual(invalid);
    publish(next.published);
    // So often may strangers have the provider asked.
    await expect(provider.verify(after)).rejects.toEqual(invalid);
    await provider.verify(before);
    provider.clock.time += 15_000;
    await provider.verify(after);
    await expect(provider.verify(before)).rejects.toEqual(invalid);
    publish();
    provider.clock.time += 4 * 60_000;
    await provider.verify(after);
    provider.clock.time += 2 * 60_000;
    await expect(provider.verify(after)).rejects.toEqual(invalid);
  });

  it('is for a while, give or take a minute', async () => {
    const at = Math.floor(provider.clock.now() / 1000);
    const expired = expect.objectContaining({ code: 'ExpiredTokenException' }) as Error;
    await provider.verify(token({}, provider.key, { exp: at - 59 }));
    await expect(provider.verify(token({}, provider.key, { exp: at - 61 }))).rejects.toEqual(expired);
    await provider.verify(token({}, provider.key, { iat: at + 59, nbf: at + 59 }));
    await expect(provider.verify(token({}, provider.key, { iat: at + 61 }))).rejects.toEqual(invalid);
    await expect(provider.verify(token({}, provider.key, { nbf: at + 61 }))).rejects.toEqual(invalid);
    for (const wrong of [{ exp: 'x' }, { iat: 'x' }, { nbf: 'x' }, { exp: undefined }, { iat: undefined }])
      await expect(provider.verify(token({}, provider.key, wrong)), JSON.stringify(wrong)).rejects.toEqual(invalid);
  });

  it.each([
    [{ sub: undefined }],
    [{ sub: '' }],
    [{ sub: 5 }],
    [{ sub: ['job'] }],
    [{ sub: 'x'.repeat(256) }],
    [{ aud: undefined }],
    [{ aud: [] }],
    [{ aud: {} }],
    [{ aud: 'strangers' }],
    [{ aud: ['shop', 'strangers'] }],
    [{ azp: 'strangers' }],
    [{ azp: 5 }],
    [{ azp: ['shop'] }],
    [{ iss: `${IdentityProvider.issuer}/` }],
    [{ iss: [IdentityProvider.issuer] }],
    [{ iss: 'http://id.example.com' }],
  ])('is refused that says %j', async (claims) => {
    await expect(provider.verify(token({}, provider.key, claims))).rejects.toEqual(invalid);
  });

  it.each(['', '.', '..', 'a.b', 'a.b.c.d.e', '\ud800', 'e30.e30.', `${'a'.repeat(20_000)}`])(
    'is refused that is none: %j',
    async (text) => {
      await expect(provider.verify(text)).rejects.toEqual(invalid);
    },
  );
});
