import { ItemDamaged } from '../../../ports/key-value-table.ts';

/**
 * The first two bytes of a stored item that carries a checksum. They are followed by the checksum of key and item, big-endian, and by the
 * item. An item without a checksum, stored by an earlier version, would begin like this only if it had 16,384 attributes: see item-encoding.ts.
 */
const marker = 0x80;
const headerSize = 6;

/** Returns an item or record as it is stored under its key: with a checksum of both. */
export function seal(key: Uint8Array, item: Uint8Array): Buffer {
  const stored = Buffer.allocUnsafe(headerSize + item.length);
  stored[0] = stored[1] = marker;
  stored.set(item, headerSize);
  const checksum = murmur3(stored, headerSize, stored.length, murmur3(key, 0, key.length, 0));
  stored.writeUInt32BE(checksum, 2);
  return stored;
}

/** Returns the item or record that is stored under a key, in the same memory. @throws ItemDamaged if either has changed */
export function unseal(key: Uint8Array, stored: Buffer): Buffer {
  const start = startOfItem({ bytes: key, start: 0, end: key.length }, stored, stored.length);
  // With its end, as the engine's buffers are longer than their `length`, which some versions of Node.js ignore here.
  return stored.subarray(start, stored.length);
}

/**
 * Verifies what is stored under a key.
 * @param size of `stored`, which may be longer
 * @returns where the item begins
 * @throws ItemDamaged if key or item have changed
 */
export function startOfItem(
  key: { readonly bytes: Uint8Array; readonly start: number; readonly end: number },
  stored: Uint8Array,
  size: number,
): number {
  if (size < headerSize || stored[0] !== marker || stored[1] !== marker) return 0;
  const written = ((stored[2]! << 24) | (stored[3]! << 16) | (stored[4]! << 8) | stored[5]!) >>> 0;
  const found = murmur3(stored, headerSize, size, murmur3(key.bytes, key.start, key.end, 0));
  if (found !== written) throw new ItemDamaged('its bytes are not those that were written');
  return headerSize;
}

/**
 * MurmurHash3 of a part of bytes, 32 bits: https://github.com/aappleby/smhasher/blob/master/src/MurmurHash3.cpp. A change within
 * four aligned bytes always changes it. Items are so small that a native CRC takes longer: most of its time is the call.
 */
export function murmur3(bytes: Uint8Array, start: number, end: number, seed: number): number {
  let hash = seed;
  let at = start;
  for (; at + 4 <= end; at += 4) {
    hash ^= mixed(bytes[at]! | (bytes[at + 1]! << 8) | (bytes[at + 2]! << 16) | (bytes[at + 3]! << 24));
    hash = (Math.imul((hash << 13) | (hash >>> 19), 5) + 0xe6546b64) | 0;
  }
  let rest = 0;
  for (let last = end - 1; last >= at; last -= 1) rest = (rest << 8) | bytes[last]!;
  hash ^= mixed(rest) ^ (end - start);
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b);
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35);
  return (hash ^ (hash >>> 16)) >>> 0;
}

function mixed(block: number): number {
  const mixed = Math.imul(block, 0xcc9e2d51);
  return Math.imul((mixed << 15) | (mixed >>> 17), 0x1b873593);
}
