import type { Attributes, Stored } from '../../ports/key-value-table.ts';
import type { RetentionMode } from '../versions/object-lock.ts';

/** The owner of objects that other projects write to a bucket, and the effect of ACLs: S3 Object Ownership. */
export type ObjectOwnership = (typeof objectOwnerships)[number];
export const objectOwnerships = ['BucketOwnerEnforced', 'BucketOwnerPreferred', 'ObjectWriter'] as const;

/** The treatment of public ACLs and policies: S3 Block Public Access. */
interface PublicAccessBlock {
  readonly blockPublicAcls: boolean;
  readonly ignorePublicAcls: boolean;
  readonly blockPublicPolicy: boolean;
  readonly restrictPublicBuckets: boolean;
}

/** The default encryption of a bucket's new objects, as its owner set it. */
interface DefaultEncryption {
  /** Applies to requests without encryption headers. */
  readonly algorithm?: 'AES256' | undefined;
  /** Stored and returned without effect: it concerns KMS keys, which the service does not support. */
  readonly bucketKeyEnabled?: boolean | undefined;
  /** `SSE-C`: requests with a customer key are refused. `NONE`: none are. */
  readonly blockedTypes?: readonly BlockedEncryptionType[] | undefined;
}

type BlockedEncryptionType = 'SSE-C' | 'NONE';

/** The object lock of a bucket. Once enabled it stays, and versioning with it. */
export interface ObjectLockSettings {
  /** The retention of new objects without one of their own. Exactly one of `days` and `years`. */
  readonly defaultRetention?: DefaultRetention;
}

interface DefaultRetention {
  readonly mode: RetentionMode;
  readonly days?: number;
  readonly years?: number;
}

/** Where the access log of a bucket is delivered. */
export interface LoggingSettings {
  /** The name of the bucket. */
  readonly target: string;
  readonly prefix: string;
  /** What others may do with the log objects, encoded as an ACL is. */
  readonly grants?: readonly string[] | undefined;
  /** The form of their keys, if one was asked for: the prefix alone, or partitioned by the time of the requests or of the delivery. */
  readonly keyFormat?: 'simple' | 'EventTime' | 'DeliveryTime' | undefined;
}

/** The requests for data that the audit log takes down. */
export type AuditedRequests = (typeof auditedRequests)[number];
export const auditedRequests = ['writes', 'all'] as const;

/**
 * The settings in the bucket's own item. They are small and most requests need them, so no request needs another read, and a commit
 * that depends on the bucket depends on them.
 */
export interface BucketSettings {
  readonly encryption?: DefaultEncryption | undefined;
  readonly publicAccessBlock?: PublicAccessBlock | undefined;
  /** Undefined: never set, treated as ObjectWriter. */
  readonly objectOwnership?: ObjectOwnership | undefined;
  /** Undefined: versions cannot be locked. */
  readonly objectLock?: ObjectLockSettings | undefined;
  /** Undefined: its requests are not logged. */
  readonly logging?: LoggingSettings | undefined;
  /** Undefined: the audit log takes no requests for its data. */
  readonly audited?: AuditedRequests | undefined;
}

const flags = {
  a: 'blockPublicAcls',
  i: 'ignorePublicAcls',
  p: 'blockPublicPolicy',
  r: 'restrictPublicBuckets',
} as const satisfies Record<string, keyof PublicAccessBlock>;

/** Encodes settings as attributes of the bucket's item. */
export function encodeSettings({
  encryption,
  publicAccessBlock: block,
  objectOwnership,
  objectLock,
  logging,
  audited,
}: BucketSettings): Attributes {
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
    ...(objectLock && { lock: encodeDefault(objectLock) }),
    ...(logging && { log: encodeLogging(logging) }),
    ...(audited && { aud: audited }),
  };
}

/** Decodes what {@link encodeSettings} encoded. */
export function decodeSettings({ enc, pab, own, lock, log, aud }: Attributes): BucketSettings {
  return {
    encryption: enc === undefined ? undefined : decodeEncryption(enc as Attributes),
    publicAccessBlock: pab === undefined ? undefined : decodeBlock(pab as string),
    objectOwnership: own as ObjectOwnership | undefined,
    objectLock: lock === undefined ? undefined : decodeDefault(lock as Attributes),
    logging: log === undefined ? undefined : (log as Stored<LoggingSettings>),
    audited: aud as AuditedRequests | undefined,
  };
}

function encodeLogging({ target, prefix, grants, keyFormat }: LoggingSettings): Attributes {
  return { target, prefix, ...(grants && { grants }), ...(keyFormat && { keyFormat }) };
}

function encodeDefault({ defaultRetention }: ObjectLockSettings): Attributes {
  const { mode, days, years }: Partial<DefaultRetention> = defaultRetention ?? {};
  return {
    ...(mode !== undefined && { mode }),
    ...(days !== undefined && { days }),
    ...(years !== undefined && { years }),
  };
}

function decodeDefault(stored: Attributes): ObjectLockSettings {
  const { mode, days, years } = stored;
  if (mode === undefined) return {};
  const period = {
    ...(days !== undefined && { days: days as number }),
    ...(years !== undefined && { years: years as number }),
  };
  return { defaultRetention: { mode: mode as RetentionMode, ...period } };
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

/** Tells whether the settings on which rights depend are equal in both. */
export function hasSameAccessSettings(one: BucketSettings, other: BucketSettings): boolean {
  const [a, b] = [one, other].map(({ publicAccessBlock, objectOwnership }) =>
    JSON.stringify(encodeSettings({ publicAccessBlock, objectOwnership })),
  );
  return a === b;
}
