import { networkInterfaces } from 'node:os';
import { describe, expect, it } from 'vitest';
import { ownAddresses } from '../../../../local/server/webhook-caller.ts';

const isOwn = ownAddresses({
  ...{ domain: 'S3.example.com', websiteDomain: 'web.example.com', port: 9000, consolePort: 9001 },
  ...{ publicUrl: 'https://links.example.org', consoleUrl: 'https://console.example.org/', alarmWebhookAllow: [] },
});
const elsewhere = ['93.184.215.14'];
const here = Object.values(networkInterfaces()).flatMap((each) => each?.map(({ address }) => address) ?? []);

describe('a webhook leads to the service itself', () => {
  it.each([
    'https://s3.example.com/',
    'https://bucket.s3.example.com/',
    'https://bucket.web.example.com:8443/',
    'https://links.example.org/_public/x',
    'https://console.example.org/',
  ])('by a name: %s', (url) => {
    expect(isOwn(new URL(url), elsewhere)).toBe(true);
  });

  it('by an address of this machine and a port of the service, whatever the name', () => {
    expect(here.length).toBeGreaterThan(0);
    for (const port of [9000, 9001]) expect(isOwn(new URL(`https://other.test:${port}/`), here.slice(0, 1))).toBe(true);
    expect(isOwn(new URL('https://other.test/'), here)).toBe(false);
    expect(isOwn(new URL('https://other.test:9000/'), elsewhere)).toBe(false);
  });

  it.each(['https://example.com/', 'https://nots3.example.com/', 'https://hooks.example.org/'])(
    'and not by another: %s',
    (url) => {
      expect(isOwn(new URL(url), elsewhere)).toBe(false);
    },
  );
});
