import { beforeEach, expect, it } from 'vitest';
import { ProviderKeys } from '../../../../shared/signing/web-identity/provider-keys.ts';
import { SetClock } from '../../../support/storage/fixed-deps.ts';

const issuer = 'https://id.example.com';
const about = `${issuer}/.well-known/openid-configuration`;
const refused = expect.objectContaining({ code: 'IDPCommunicationError' }) as Error;
let documents: Record<string, string>;
let read: string[];
let clock: SetClock;
let keys: ProviderKeys;

beforeEach(() => {
  documents = {
    [about]: JSON.stringify({ issuer, jwks_uri: 'https://keys.example.com/set' }),
    'https://keys.example.com/set': JSON.stringify({ keys: [{ kid: 'one' }] }),
  };
  read = [];
  clock = new SetClock(1_000_000);
  const reader = {
    read: async (url: string) => {
      read.push(url);
      return documents[url];
    },
  };
  keys = new ProviderKeys({ reader, clock });
});

it('are read once, also by many at a time, and again after a while', async () => {
  const [one, other] = await Promise.all([keys.of(issuer), keys.of(issuer)]);
  expect(one).toBe(other);
  expect(one).toEqual({ keys: [{ kid: 'one' }] });
  expect(read).toEqual([about, 'https://keys.example.com/set']);
  clock.time += 299_000;
  expect(await keys.of(issuer)).toBe(one);
  clock.time += 2000;
  expect(await keys.of(issuer)).not.toBe(one);
});

it('are read again for a key that they lack, but not for each request', async () => {
  const before = await keys.of(issuer);
  documents['https://keys.example.com/set'] = JSON.stringify({ keys: [{ kid: 'one' }, { kid: 'two' }] });
  expect(await keys.of(issuer, before)).toBe(before);
  clock.time += 15_000;
  const after = await Promise.all([keys.of(issuer, before), keys.of(issuer, before)]);
  expect(after[0]).toEqual({ keys: [{ kid: 'one' }, { kid: 'two' }] });
  expect(after[1]).toBe(after[0]);
  expect(read).toHaveLength(4);
});

it('are not asked for again at once where there is no answer', async () => {
  const [text] = [documents[about]!];
  for (const wrong of [
    undefined,
    '[]',
    'x',
    JSON.stringify({ issuer: 'https://other.example.com', jwks_uri: 'https://keys.example.com/set' }),
    JSON.stringify({ issuer, jwks_uri: 'http://keys.example.com/set' }),
    JSON.stringify({ issuer, jwks_uri: 5 }),
    JSON.stringify({ issuer, jwks_uri: about }),
  ]) {
    clock.time += 15_000;
    if (wrong === undefined) delete documents[about];
    else documents[about] = wrong;
    await expect(keys.of(issuer), wrong).rejects.toEqual(refused);
  }
  const count = read.length;
  documents[about] = text;
  await expect(keys.of(issuer)).rejects.toEqual(refused);
  expect(read).toHaveLength(count);
  clock.time += 15_000;
  expect(await keys.of(issuer)).toEqual({ keys: [{ kid: 'one' }] });
});
