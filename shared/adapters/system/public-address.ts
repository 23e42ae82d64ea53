import { isIP } from 'node:net';
import ipaddr from 'ipaddr.js';

/** Addresses in public ranges at which cloud providers offer services to their own machines. */
const platformAddresses: ReadonlySet<string> = new Set([
  '168.63.129.16', // Azure's wire server
]);

/** The IPv6 addresses that are assigned on the Internet: https://www.iana.org/assignments/ipv6-address-space */
const globalUnicast = ipaddr.parseCIDR('2000::/3') as [ipaddr.IPv6, number];

/**
 * Tells whether an address is public: not of this machine, a private network, a link or a provider's internal network,
 * not multicast, not a metadata service, not another form of an IPv4 address, and not reserved.
 */
export function isPublicAddress(text: string): boolean {
  // Only link-local addresses have a zone.
  if (isIP(text) === 0 || text.includes('%')) return false;
  const address = ipaddr.parse(text);
  if (address.range() !== 'unicast' || platformAddresses.has(address.toString())) return false;
  return address.kind() === 'ipv4' || (address as ipaddr.IPv6).match(globalUnicast);
}
