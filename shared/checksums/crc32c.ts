/** The Castagnoli polynomial 0x1EDC6F41, bits reversed. */
const polynomial = 0x82f63b78;

/** Slicing by eight: row `n` at `n * 256` says what a byte does to the CRC after `n` more bytes. */
const table = new Int32Array(8 * 256);
for (let byte = 0; byte < 256; byte++) {
  let crc = byte;
  for (let bit = 0; bit < 8; bit++) crc = crc & 1 ? (crc >>> 1) ^ polynomial : crc >>> 1;
  table[byte] = crc;
}
for (let at = 256; at < table.length; at++) {
  const before = table[at - 256]!;
  table[at] = (before >>> 8) ^ table[before & 0xff]!;
}

/** CRC-32C of RFC 3720 §12.1 (iSCSI). */
export class Crc32c {
  #crc = -1;

  update(bytes: Uint8Array): void {
    let crc = this.#crc;
    let at = 0;
    for (const last = bytes.length - 8; at <= last; at += 8) {
      crc ^= bytes[at]! | (bytes[at + 1]! << 8) | (bytes[at + 2]! << 16) | (bytes[at + 3]! << 24);
      crc =
        table[1792 + (crc & 0xff)]! ^
        table[1536 + ((crc >>> 8) & 0xff)]! ^
        table[1280 + ((crc >>> 16) & 0xff)]! ^
        table[1024 + (crc >>> 24)]! ^
        table[768 + bytes[at + 4]!]! ^
        table[512 + bytes[at + 5]!]! ^
        table[256 + bytes[at + 6]!]! ^
        table[bytes[at + 7]!]!;
    }
    for (; at < bytes.length; at++) crc = (crc >>> 8) ^ table[(crc ^ bytes[at]!) & 0xff]!;
    this.#crc = crc;
  }

  digest(): Uint8Array {
    const value = Buffer.alloc(4);
    value.writeInt32BE(~this.#crc);
    return value;
  }
}
