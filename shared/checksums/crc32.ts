import { crc32 } from 'node:zlib';

/** The CRC-32 of ISO 3309 and zlib, polynomial 0x04C11DB7. */
export class Crc32 {
  #crc = 0;

  update(bytes: Uint8Array): void {
    this.#crc = crc32(bytes, this.#crc);
  }

  digest(): Uint8Array {
    const value = Buffer.alloc(4);
    value.writeUInt32BE(this.#crc);
    return value;
  }
}
