/** The polynomial 0xAD93D23594C93659, bits reversed, as two halves: V8 has no 64-bit integers that are fast. */
const polynomialHigh = 0x9a6c9329;
const polynomialLow = 0xac4bc9b5;

/** Slicing by eight: row `n` at `n * 256` says what a byte does to the CRC after `n` more bytes. */
const high = new Int32Array(8 * 256);
const low = new Int32Array(8 * 256);
for (let byte = 0; byte < 256; byte++) {
  let crcHigh = 0;
  let crcLow = byte;
  for (let bit = 0; bit < 8; bit++) {
    const odd = crcLow & 1;
    crcLow = (crcLow >>> 1) | (crcHigh << 31);
    crcHigh >>>= 1;
    if (odd) {
      crcLow ^= polynomialLow;
      crcHigh ^= polynomialHigh;
    }
  }
  high[byte] = crcHigh;
  low[byte] = crcLow;
}
for (let at = 256; at < low.length; at++) {
  const beforeHigh = high[at - 256]!;
  const beforeLow = low[at - 256]!;
  high[at] = (beforeHigh >>> 8) ^ high[beforeLow & 0xff]!;
  low[at] = ((beforeLow >>> 8) | (beforeHigh << 24)) ^ low[beforeLow & 0xff]!;
}

/** CRC-64/NVME of the NVM Express NVM Command Set Specification, §5.2.1.3.4. */
export class Crc64Nvme {
  #high = -1;
  #low = -1;

  update(bytes: Uint8Array): void {
    let crcHigh = this.#high;
    let crcLow = this.#low;
    let at = 0;
    for (const last = bytes.length - 8; at <= last; at += 8) {
      crcLow ^= bytes[at]! | (bytes[at + 1]! << 8) | (bytes[at + 2]! << 16) | (bytes[at + 3]! << 24);
      crcHigh ^= bytes[at + 4]! | (bytes[at + 5]! << 8) | (bytes[at + 6]! << 16) | (bytes[at + 7]! << 24);
      const a = 1792 + (crcLow & 0xff);
      const b = 1536 + ((crcLow >>> 8) & 0xff);
      const c = 1280 + ((crcLow >>> 16) & 0xff);
      const d = 1024 + (crcLow >>> 24);
      const e = 768 + (crcHigh & 0xff);
      const f = 512 + ((crcHigh >>> 8) & 0xff);
      const g = 256 + ((crcHigh >>> 16) & 0xff);
      const h = crcHigh >>> 24;
      crcHigh = high[a]! ^ high[b]! ^ high[c]! ^ high[d]! ^ high[e]! ^ high[f]! ^ high[g]! ^ high[h]!;
      crcLow = low[a]! ^ low[b]! ^ low[c]! ^ low[d]! ^ low[e]! ^ low[f]! ^ low[g]! ^ low[h]!;
    }
    for (; at < bytes.length; at++) {
      const byte = (crcLow ^ bytes[at]!) & 0xff;
      crcLow = ((crcLow >>> 8) | (crcHigh << 24)) ^ low[byte]!;
      crcHigh = (crcHigh >>> 8) ^ high[byte]!;
    }
    this.#high = crcHigh;
    this.#low = crcLow;
  }

  digest(): Uint8Array {
    const value = Buffer.alloc(8);
    value.writeInt32BE(~this.#high);
    value.writeInt32BE(~this.#low, 4);
    return value;
  }
}
