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
