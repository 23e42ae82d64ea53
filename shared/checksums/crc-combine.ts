import type { ChecksumAlgorithm } from './algorithms.ts';

/** The algorithms whose checksum of an object can be computed from the checksums and lengths of its parts. */
export type CrcAlgorithm = Extract<ChecksumAlgorithm, `CRC${string}`>;

/**
 * Arithmetic on polynomials over GF(2), modulo the CRC's polynomial, as bit strings whose highest bit is the
 * coefficient of x⁰. CRCs can be combined because appending a byte to a message multiplies its CRC by x⁸, and CRCs add
 * up.
 */
class CrcField {
  readonly #bits: bigint;
  readonly #polynomial: bigint;
  /** x^(2^n) at index `n`, computed on demand. */
  readonly #squares: bigint[];
  /** The last shift, kept because most parts of an upload have the same length. */
  #lastShift = { length: 0, by: 0n };

  constructor(bits: number, polynomial: bigint) {
    this.#bits = BigInt(bits);
    this.#polynomial = polynomial;
    this.#squares = [1n << (this.#bits - 2n)];
    this.#lastShift.by = 1n << (this.#bits - 1n);
  }

  /** Returns x^(8 * length), for a length in bytes. */
  shift(length: number): bigint {
    if (this.#lastShift.length === length) return this.#lastShift.by;
    let by = 1n << (this.#bits - 1n);
    let exponent = BigInt(length) * 8n;
    for (let n = 0; exponent > 0n; n++, exponent >>= 1n) {
      if (exponent & 1n) by = this.multiply(by, this.#square(n));
    }
    this.#lastShift = { length, by };
    return by;
  }

  multiply(left: bigint, right: bigint): bigint {
    let product = 0n;
    for (let bit = 1n << (this.#bits - 1n); bit > 0n; bit >>= 1n) {
      if (left & bit) product ^= right;
      right = right & 1n ? (right >> 1n) ^ this.#polynomial : right >> 1n;
    }
    return product;
  }

  #square(n: number): bigint {
    for (let have = this.#squares.length; have <= n; have++) {
      const root = this.#squares[have - 1]!;
      this.#squares.push(this.multiply(root, root));
    }
    return this.#squares[n]!;
  }
}

const fields: Readonly<Record<CrcAlgorithm, CrcField>> = {
  CRC32: new CrcField(32, 0xedb88320n),
  CRC32C: new CrcField(32, 0x82f63b78n),
  CRC64NVME: new CrcField(64, 0x9a6c9329ac4bc9b5n),
};

/**
 * Returns the CRC of two byte strings in sequence, from the CRC of each and the length in bytes of the second. Computes
 * the FULL_OBJECT checksums of multipart uploads:
 * https://docs.aws.amazon.com/AmazonS3/latest/userguide/checking-object-integrity-upload.html
 */
export function combineCrcs(
  algorithm: CrcAlgorithm,
  first: Uint8Array,
  second: Uint8Array,
  secondLength: number,
): Uint8Array {
  const field = fields[algorithm];
  const combined = field.multiply(toBigInt(first), field.shift(secondLength)) ^ toBigInt(second);
  return Buffer.from(combined.toString(16).padStart(2 * first.length, '0'), 'hex');
}

function toBigInt(value: Uint8Array): bigint {
  return BigInt(`0x${Buffer.from(value).toString('hex')}`);
}
