import ipaddr from 'ipaddr.js';
import { unknownAddress, type Fields } from '../../http/message.ts';
import { UsageError } from '../../errors/operator-error.ts';

type Network = [address: ipaddr.IPv4 | ipaddr.IPv6, bits: number];

const maxKnown = 1000;

/** The address of the client, and whether it used TLS. */
export interface Client {
  readonly remoteAddress: string;
  readonly secure: boolean;
}

/** Reads an address, or a range of addresses. Returns undefined if it is neither. */
export function networkOf(cidr: string): Network | undefined {
  try {
    return ipaddr.parseCIDR(cidr.includes('/') ? cidr : `${cidr}/${ipaddr.parse(cidr).kind() === 'ipv4' ? 32 : 128}`);
  } catch {
    return undefined;
  }
}

/** The peers whose X-Forwarded-For and X-Forwarded-Proto are trusted. Nobody else can set an address or claim TLS. */
export class TrustedProxies {
  readonly #networks: readonly Network[];
  /** Cached canonical addresses of peers, as each request on a connection looks up the same one. */
  readonly #known = new Map<string, string>();

  /** @throws OperatorError for an invalid CIDR */
  constructor(cidrs: readonly string[]) {
    this.#networks = cidrs.map((cidr) => {
      const network = networkOf(cidr);
      if (network) return network;
      throw new UsageError(`--trust-proxy: "${cidr}" is not an address range such as 10.0.0.0/8`);
    });
  }

  /** Walks the forwarding chain from the nearest hop outwards while the hops are trusted. */
  client(peer: string, encrypted: boolean, fields: Fields): Client {
    let remoteAddress = this.#known.get(peer) ?? this.#know(peer);
    if (this.#networks.length === 0 || !this.#trusts(remoteAddress)) return { remoteAddress, secure: encrypted };
    // An empty field is a hop that cannot be read; only without the field is the proxy the client.
    for (const hop of fields.get('x-forwarded-for')?.split(',').reverse() ?? []) {
      remoteAddress = addressOf(hop.trim());
      if (!this.#trusts(remoteAddress)) break;
    }
    const protocols = (fields.get('x-forwarded-proto') ?? '').split(',').map((one) => one.trim().toLowerCase());
    return { remoteAddress, secure: encrypted || protocols.at(-1) === 'https' };
  }

  #know(peer: string): string {
    const form = canonical(peer);
    if (this.#known.size >= maxKnown) this.#known.clear();
    this.#known.set(peer, form);
    return form;
  }

  #trusts(address: string): boolean {
    if (!ipaddr.isValid(address)) return false;
    const parsed = ipaddr.process(address);
    return this.#networks.some((network) => parsed.kind() === network[0].kind() && parsed.match(network));
  }
}

/** Returns the address of a hop, without its port: `192.0.2.1:443`, `[2001:db8::1]:443`. */
function addressOf(hop: string): string {
  const [, bracketed, plain] = /^(?:\[([\da-f:.]+)\](?::\d{1,5})?|([\d.]+):\d{1,5})$/i.exec(hop) ?? [];
  const address = bracketed ?? plain ?? hop;
  const isUsual = address.includes(':') ? ipaddr.IPv6.isValid(address) : ipaddr.IPv4.isValidFourPartDecimal(address);
  return isUsual ? canonical(address) : unknownAddress;
}

/** Converts IPv4-mapped IPv6 addresses, as IPv6 sockets report them, to IPv4. */
function canonical(address: string): string {
  return ipaddr.isValid(address) ? ipaddr.process(address).toString() : address;
}
