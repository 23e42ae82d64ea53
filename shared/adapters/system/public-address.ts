import { isIP } from 'node:net';
import ipaddr from 'ipaddr.js';

/** Single addresses of the ordinary ranges that are services of a cloud to its own machines. */
const platformAddresses: ReadonlySet<string> = new Set([
  '168.63.129.16', // Azure's wire server
]);

/** IPv6 addresses that belong to somebody on the Internet: https://www.iana.org/assignments/ipv6-address-space */
const globalUnicast = ipaddr.parseCIDR('2000::/3') as [ipaddr.IPv6, number];

/**
 * Whether an address is one of the Internet's: none of this machine, of a private network, of a link, of a provider's inside, no
 * multicast, no metadata service, none that stands for an IPv4 address in another guise, and none that is reserved.
 */
export function isPublicAddress(text: string): boolean {
  // A zone belongs to an address of a link.
  if (isIP(text) === 0 || text.includes('%')) return false;
  const address = ipaddr.parse(text);
  if (address.range() !== 'unicast' || platformAddresses.has(address.toString())) return false;
  return address.kind() === 'ipv4' || (address as ipaddr.IPv6).match(globalUnicast);
}
