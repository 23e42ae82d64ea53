import { describe, expect, it } from 'vitest';
import { isPublicAddress } from '../../../../shared/adapters/system/public-address.ts';

describe('an address that a webhook may have', () => {
  it.each([
    '93.184.215.14',
    '1.1.1.1',
    '8.8.8.8',
    '172.15.255.255',
    '172.32.0.1',
    '2606:4700:4700::1111',
    '2a00:1450::1',
  ])('is a public one: %s', (address) => {
    expect(isPublicAddress(address)).toBe(true);
  });

  it.each([
    ['this machine', ['127.0.0.1', '127.255.255.254', '::1', '0.0.0.0', '0.1.2.3', '::']],
    ['a private network', ['10.0.0.1', '172.16.0.1', '172.31.255.255', '192.168.1.1', 'fd00::1', 'fc00::1', 'fec0::1']],
    ['a link', ['169.254.1.1', 'fe80::1', 'fe80::1%eth0']],
    ['a metadata service', ['169.254.169.254', '169.254.170.2', 'fd00:ec2::254', '100.100.100.200', '168.63.129.16']],
    ['the inside of a provider', ['100.64.0.1', '100.127.255.255']],
    ['many at once', ['224.0.0.1', '239.255.255.255', 'ff02::1', 'ff0e::1', '255.255.255.255']],
    ['IPv4 in IPv6', ['::ffff:127.0.0.1', '::ffff:8.8.8.8', '::ffff:7f00:1', '::127.0.0.1', '::ffff:0:127.0.0.1']],
    [
      'behind a translator',
      ['64:ff9b::7f00:1', '64:ff9b::808:808', '64:ff9b:1::a00:1', '2002:7f00:1::', '2001:0:1::1'],
    ],
    [
      'reserved',
      ['192.0.2.1', '198.51.100.1', '203.0.113.1', '198.18.0.1', '240.0.0.1', '192.0.0.8', '2001:db8::1', '100::1'],
    ],
    ['no address', ['', 'localhost', '1.2.3', '0x7f000001', '8.8.8.8:80', '256.1.1.1', '4000::1', '1::1']],
  ] as const)('is not %s', (_, addresses) => {
    expect(addresses.filter((address) => isPublicAddress(address))).toEqual([]);
  });
});
