import type { Attribute } from '../../ports/key-value-table.ts';
import type { Checksum, ChecksumAlgorithm, ChecksumType } from '../../checksums/algorithms.ts';

/* How the values of a version's attributes are stored in its item. */

/** The location of a version's bytes: one blob, or the blobs of a manifest. */
export type Content =
  { readonly kind: 'blob'; readonly ref: string } | { readonly kind: 'manifest'; readonly id: string };

/** Encodes a content as `b<blob ref>` for a blob, `m<id>` for a manifest. */
export function encodeContent(content: Content): string {
  return content.kind === 'blob' ? `b${content.ref}` : `m${content.id}`;
}

/** Decodes what {@link encodeContent} encoded. */
export function decodeContent(stored: string): Content {
  const rest = stored.slice(1);
  return stored.startsWith('b') ? { kind: 'blob', ref: rest } : { kind: 'manifest', id: rest };
}

const uuid = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/;

/** Encodes a canonical id: a UUID as 16 bytes, one that an operator chose unchanged. */
export function encodeOwner(owner: string): Attribute {
  return uuid.test(owner) ? Buffer.from(owner.replaceAll('-', ''), 'hex') : owner;
}

/** The most recently decoded owner, as the versions of a listing have few owners. */
let lastOwner: { readonly stored: Uint8Array; readonly id: string } = { stored: new Uint8Array(), id: '' };

/** Decodes what {@link encodeOwner} encoded. */
export function decodeOwner(stored: Attribute | undefined): string {
  if (!(stored instanceof Uint8Array)) return stored as string;
  if (!stored.every((byte, at) => byte === lastOwner.stored[at])) {
    const hex = Buffer.from(stored).toString('hex');
    const id = [hex.slice(0, 8), hex.slice(8, 12), hex.slice(12, 16), hex.slice(16, 20), hex.slice(20)].join('-');
    lastOwner = { stored, id };
  }
  return lastOwner.id;
}

const checksumCode: Readonly<Record<ChecksumAlgorithm, string>> = {
  CRC32: 'c',
  CRC32C: 'i',
  CRC64NVME: 'n',
  SHA1: 's',
  SHA256: 'h',
};
const checksumOfCode = Object.fromEntries(Object.entries(checksumCode).map(([name, code]) => [code, name]));

/** A checksum without its value. */
export type ChecksumKind = Pick<Checksum, 'algorithm' | 'type'>;

/** Encodes algorithm and type as one letter (upper case: COMPOSITE). */
export function encodeChecksumKind({ algorithm, type }: ChecksumKind): string {
  const code = checksumCode[algorithm];
  return type === 'COMPOSITE' ? code.toUpperCase() : code;
}

/** Decodes what {@link encodeChecksumKind} encoded. */
export function decodeChecksumKind(code: string): ChecksumKind {
  const type: ChecksumType = code === code.toLowerCase() ? 'FULL_OBJECT' : 'COMPOSITE';
  return { algorithm: checksumOfCode[code.toLowerCase()] as ChecksumAlgorithm, type };
}

/** Encodes a checksum: one byte for algorithm and type, then the value. */
export function encodeChecksum(checksum: Checksum): Uint8Array {
  return Buffer.concat([Buffer.from(encodeChecksumKind(checksum)), checksum.value]);
}

/** Decodes what {@link encodeChecksum} encoded. */
export function decodeChecksum(stored: Attribute | undefined): Checksum | undefined {
  if (!(stored instanceof Uint8Array)) return undefined;
  return { ...decodeChecksumKind(String.fromCharCode(stored[0]!)), value: stored.subarray(1) };
}

/**
 * The storage classes with immediate access: https://docs.aws.amazon.com/AmazonS3/latest/userguide/storage-class-intro.html
 * Only a label chosen by clients: all objects are stored in the same way.
 */
export type StorageClass = keyof typeof codes;

/** The stored codes. STANDARD is not stored. */
const codes = {
  STANDARD: '',
  REDUCED_REDUNDANCY: 'r',
  STANDARD_IA: 's',
  ONEZONE_IA: 'o',
  INTELLIGENT_TIERING: 'i',
  GLACIER_IR: 'g',
} as const;

const names = Object.keys(codes) as StorageClass[];

/** Returns the class with this name; undefined for others, such as GLACIER and DEEP_ARCHIVE, whose objects must be restored first. */
export function storageClassOf(name: string): StorageClass | undefined {
  return names.find((one) => one === name);
}

/** Encodes a storage class. Returns undefined for STANDARD. */
export function encodeStorageClass(name: StorageClass = 'STANDARD'): string | undefined {
  return codes[name] || undefined;
}

/** Decodes what {@link encodeStorageClass} encoded; undefined is STANDARD. */
export function decodeStorageClass(code: unknown): StorageClass | undefined {
  return code === undefined ? undefined : names.find((name) => codes[name] === code);
}
