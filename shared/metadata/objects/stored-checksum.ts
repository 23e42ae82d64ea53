import type { Checksum, ChecksumAlgorithm, ChecksumType } from '../../checksums/algorithms.ts';
import type { Attribute } from '../../ports/key-value-table.ts';

const checksumCode: Readonly<Record<ChecksumAlgorithm, string>> = {
  CRC32: 'c',
  CRC32C: 'i',
  CRC64NVME: 'n',
  SHA1: 's',
  SHA256: 'h',
};
const checksumOfCode = Object.fromEntries(Object.entries(checksumCode).map(([name, code]) => [code, name]));

/** Encodes a checksum: one byte for algorithm and type (upper case: COMPOSITE), then the value. */
export function encodeChecksum({ algorithm, type, value }: Checksum): Uint8Array {
  const code = checksumCode[algorithm];
  return Buffer.concat([Buffer.from(type === 'COMPOSITE' ? code.toUpperCase() : code), value]);
}

/** Decodes what {@link encodeChecksum} encoded. */
export function decodeChecksum(stored: Attribute | undefined): Checksum | undefined {
  if (!(stored instanceof Uint8Array)) return undefined;
  const code = String.fromCharCode(stored[0]!);
  const type: ChecksumType = code === code.toLowerCase() ? 'FULL_OBJECT' : 'COMPOSITE';
  return { algorithm: checksumOfCode[code.toLowerCase()] as ChecksumAlgorithm, type, value: stored.subarray(1) };
}
