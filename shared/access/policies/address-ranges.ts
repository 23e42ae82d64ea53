import ipaddr from 'ipaddr.js';

type Address = ipaddr.IPv4 | ipaddr.IPv6;

/** The addresses that share a prefix. */
export interface AddressRange {
  readonly first: Address;
  /** The length of the prefix. */
  readonly bits: number;
}

/** Parses an address or a CIDR range: `192.0.2.0/24`, `2001:db8::/32`. */
export function readRange(text: string): AddressRange | undefined {
  const [address = '', length, ...rest] = text.split('/');
  const first = readAddress(address);
  if (first === undefined || rest.length > 0 || (length !== undefined && !/^\d{1,3}$/.test(length))) return undefined;
  const whole = first.kind() === 'ipv4' ? 32 : 128;
  // ::ffff:10.0.0.0/104 is 10.0.0.0/8.
  const mapped = first.kind() === 'ipv4' && address.includes(':') ? 96 : 0;
  const bits = length === undefined ? whole : Number(length) - mapped;
  return bits < 0 || bits > whole ? undefined : { first, bits };
}

/** Parses the usual notations only, not `010.1` or `0x0a000001`. Returns an IPv4-mapped IPv6 address as IPv4. */
export function readAddress(text: string): Address | undefined {
  if (text.includes(':') ? !ipaddr.IPv6.isValid(text) : !ipaddr.IPv4.isValidFourPartDecimal(text)) return undefined;
  return ipaddr.process(text);
}

/** By kind of address: its bits, and the shortest prefix of a range that has an owner. */
const kinds = { ipv4: { whole: 32, owned: 8 }, ipv6: { whole: 128, owned: 32 } } as const;

/** The widest ranges that all together may be the size of: more belongs to nobody in particular. */
const mostOwned = 16n;

/** Tells whether ranges, however they are cut up, are narrow enough to have owners. */
export function areOwned(ranges: readonly AddressRange[]): boolean {
  return (['ipv4', 'ipv6'] as const).every((kind) => {
    const widest = 1n << BigInt(kinds[kind].whole - kinds[kind].owned);
    const blocks = mergedBlocks(ranges.filter(({ first }) => first.kind() === kind));
    const sizes = blocks.map(({ from, to }) => to - from);
    return sizes.every((size) => size <= widest) && sizes.reduce((sum, size) => sum + size, 0n) <= mostOwned * widest;
  });
}

/** Returns the addresses of ranges of one kind, as numbers, without overlaps and neighbours: `from` up to, not including, `to`. */
function mergedBlocks(ranges: readonly AddressRange[]): readonly { readonly from: bigint; readonly to: bigint }[] {
  const sorted = ranges.map(blockOf).sort((a, b) => (a.from < b.from ? -1 : a.from > b.from ? 1 : 0));
  const merged: { from: bigint; to: bigint }[] = [];
  for (const { from, to } of sorted) {
    const last = merged.at(-1);
    if (last === undefined || from > last.to) merged.push({ from, to });
    else if (to > last.to) last.to = to;
  }
  return merged;
}

function blockOf({ first, bits }: AddressRange): { readonly from: bigint; readonly to: bigint } {
  const size = 1n << BigInt(kinds[first.kind()].whole - bits);
  const number = BigInt(`0x${Buffer.from(first.toByteArray()).toString('hex')}`);
  const from = number - (number % size);
  return { from, to: from + size };
}
