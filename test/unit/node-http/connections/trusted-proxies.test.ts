import { describe, expect, it } from 'vitest';
import { TrustedProxies } from '../../../../shared/node-http/connections/trusted-proxies.ts';
import { Fields } from '../../../../shared/http/message.ts';

const proxies = new TrustedProxies(['127.0.0.0/8', '10.0.0.0/8']);
const clientOf = (peer: string, ...forwarded: readonly string[]): string =>
  proxies.client(peer, false, new Fields(forwarded.map((value) => ['x-forwarded-for', value] as const))).remoteAddress;

describe('the client of a trusted proxy', () => {
  it.each([
    ['192.0.2.1', '192.0.2.1'],
    ['192.0.2.1:4711', '192.0.2.1'],
    ['2001:db8::1', '2001:db8::1'],
    ['[2001:db8::1]', '2001:db8::1'],
    ['[2001:db8::1]:4711', '2001:db8::1'],
    ['::ffff:192.0.2.1', '192.0.2.1'],
    ['198.51.100.9, 192.0.2.1:4711, 10.1.2.3:80', '192.0.2.1'],
    ['10.1.2.3', '10.1.2.3'],
  ])('is the last hop that is not trusted: %s', (forwarded, expected) => {
    expect(clientOf('127.0.0.1', forwarded)).toBe(expected);
  });

  it.each([
    'unknown',
    '_hidden',
    'example.test',
    '192.0.2.1:',
    '192.0.2.1:http',
    '192.0.2.256',
    '010.0.0.1',
    '1',
    '',
    ' ',
    ',',
    'x, 10.0.0.1',
    '[::1',
  ])('is unknown, and not the proxy, if the hop cannot be read: %j', (forwarded) => {
    expect(clientOf('127.0.0.1', forwarded)).toBe('unknown');
  });

  it('is the proxy itself if it forwards for nobody', () => {
    expect(clientOf('127.0.0.1')).toBe('127.0.0.1');
  });

  it('is the peer if that is nobody’s proxy', () => {
    expect(clientOf('192.0.2.7', '127.0.0.1')).toBe('192.0.2.7');
  });
});
