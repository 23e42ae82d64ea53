/**
 * The storage classes whose objects can be read at once: https://docs.aws.amazon.com/AmazonS3/latest/userguide/storage-class-intro.html
 * They are names that clients give their objects. All bytes lie where all others lie.
 */
export type StorageClass = keyof typeof codes;

/** As it is stored: nothing for STANDARD. */
const codes = {
  STANDARD: '',
  REDUCED_REDUNDANCY: 'r',
  STANDARD_IA: 's',
  ONEZONE_IA: 'o',
  INTELLIGENT_TIERING: 'i',
  GLACIER_IR: 'g',
} as const;

const names = Object.keys(codes) as StorageClass[];

/** The class of this name; undefined for others, GLACIER and DEEP_ARCHIVE among them, whose objects must be restored first. */
export function storageClassOf(name: string): StorageClass | undefined {
  return names.find((one) => one === name);
}

/** Undefined for STANDARD. */
export function encodeStorageClass(name: StorageClass = 'STANDARD'): string | undefined {
  return codes[name] || undefined;
}

/** Reads what {@link encodeStorageClass} wrote; undefined is STANDARD. */
export function decodeStorageClass(code: unknown): StorageClass | undefined {
  return code === undefined ? undefined : names.find((name) => codes[name] === code);
}
