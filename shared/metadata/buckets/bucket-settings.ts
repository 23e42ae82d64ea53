import type { Attributes } from '../../ports/key-value-table.ts';

/** Who owns the objects that others write into a bucket, and whether its ACLs count. */
export type ObjectOwnership = (typeof objectOwnerships)[number];
export const objectOwnerships = ['BucketOwnerEnforced', 'BucketOwnerPreferred', 'ObjectWriter'] as const;

/** What a bucket does about public ACLs and policies. */
export interface PublicAccessBlock {
  readonly blockPublicAcls: boolean;
  readonly ignorePublicAcls: boolean;
  readonly blockPublicPolicy: boolean;
  readonly restrictPublicBuckets: boolean;
}

/** How new objects of a bucket are encrypted, as its owner put it. */
export interface DefaultEncryption {
  /** For objects whose request asks for no encryption. */
  readonly algorithm?: 'AES256' | undefined;
  /** Only echoed: it concerns keys of KMS, which the service does not have. */
  readonly bucketKeyEnabled?: boolean | undefined;
  /** `SSE-C`: requests that bring a customer's key are refused. `NONE`: nothing is. */
  readonly blockedTypes?: readonly BlockedEncryptionType[] | undefined;
}

type BlockedEncryptionType = 'SSE-C' | 'NONE';

/**
 * The settings that are kept in the bucket's own item: small ones that count in most requests, so that no request reads more for
 * them, and a commit that depends on the bucket depends on them.
 */
export interface BucketSettings {
  readonly encryption?: DefaultEncryption | undefined;
  readonly publicAccessBlock?: PublicAccessBlock | undefined;
  /** Undefined: never set, which counts as ObjectWriter. */
  readonly objectOwnership?: ObjectOwnership | undefined;
}

const flags = {
  a: 'blockPublicAcls',
  i: 'ignorePublicAcls',
  p: 'blockPublicPolicy',
  r: 'restrictPublicBuckets',
} as const satisfies Record<string, keyof PublicAccessBlock>;

/** The attributes of a bucket's item that hold its settings. */
export function encodeSettings({ encryption, publicAccessBlock: block, objectOwnership }: BucketSettings): Attributes {
  return {
    ...(encryption && {
      enc: {
        ...(encryption.algorithm !== undefined && { algorithm: encryption.algorithm }),
        ...(encryption.bucketKeyEnabled !== undefined && { bucketKey: encryption.bucketKeyEnabled }),
        ...(encryption.blockedTypes && { blocked: [...encryption.blockedTypes] }),
      },
    }),
    ...(block && {
      pab: Object.entries(flags)
        .map(([code, flag]) => (block[flag] ? code : ''))
        .join(''),
    }),
    ...(objectOwnership !== undefined && { own: objectOwnership }),
  };
}

/** Reads what {@link encodeSettings} wrote. */
export function decodeSettings({ enc, pab, own }: Attributes): BucketSettings {
  return {
    ...(enc !== undefined && { encryption: decodeEncryption(enc as Attributes) }),
    ...(pab !== undefined && { publicAccessBlock: decodeBlock(pab as string) }),
    ...(own !== undefined && { objectOwnership: own as ObjectOwnership }),
  };
}

function decodeEncryption({ algorithm, bucketKey, blocked }: Attributes): DefaultEncryption {
  return {
    ...(algorithm !== undefined && { algorithm: algorithm as 'AES256' }),
    ...(bucketKey !== undefined && { bucketKeyEnabled: bucketKey === true }),
    ...(blocked !== undefined && { blockedTypes: blocked as readonly BlockedEncryptionType[] }),
  };
}

function decodeBlock(stored: string): PublicAccessBlock {
  const is = (flag: string): boolean => stored.includes(flag);
  return {
    blockPublicAcls: is('a'),
    ignorePublicAcls: is('i'),
    blockPublicPolicy: is('p'),
    restrictPublicBuckets: is('r'),
  };
}

/** Whether rights depend on the same settings in both, whatever their other settings are. */
export function hasSameAccessSettings(one: BucketSettings, other: BucketSettings): boolean {
  const [a, b] = [one, other].map(({ publicAccessBlock, objectOwnership }) =>
    JSON.stringify(encodeSettings({ publicAccessBlock, objectOwnership })),
  );
  return a === b;
}
