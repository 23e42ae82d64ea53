import { decodeEncryption, encodeEncryption, type EncryptionRecord } from '../../encryption/customer-key.ts';
import type { Attributes } from '../../ports/key-value-table.ts';
import { count, encoded, flag, optional, text, type AttributeCodec } from './attribute-codec.ts';
import { decodeRetention, encodeRetention, type LegalHold, type Retention } from './object-lock.ts';
import {
  decodeChecksum,
  decodeContent,
  decodeStorageClass,
  encodeChecksum,
  encodeContent,
  encodeStorageClass,
  type Content,
  type StorageClass,
} from './stored-values.ts';
import { inlineOrDetails, lastModified, owner, size } from './version-codecs.ts';

/**
 * The part of a version to which an attribute belongs, which decides who passes it on:
 * - `content`: the bytes. Copies and renames keep it.
 * - `metadata`: the system-defined metadata. A rename keeps it; a copy keeps it or takes that of the request, according to
 *   `x-amz-metadata-directive`; a multipart upload stores it from CreateMultipartUpload until the object is created.
 * - `object`: the object. A rename keeps it; a copy sets it anew.
 * - `writer`: the request. Every writer sets it anew, including copies and renames.
 * - `derived`: another attribute, from which it follows.
 * - `place`: the version's position in the version chain, from which it follows.
 */
export type BelongsTo = 'content' | 'metadata' | 'object' | 'writer' | 'derived' | 'place';

/** A row of {@link versionAttributes}. */
export type VersionAttribute = AttributeCodec & {
  /** Set if writers may omit it. */
  readonly optional?: true;
  /**
   * Returns the reference in this attribute, `b…` or `m…` for content, `d…` for details. Its target may be removed once no version
   * has it.
   */
  readonly refersTo?: (item: Attributes) => string | undefined;
} & (
    | {
        readonly belongsTo: 'place';
        /** A value of the maximum stored size: the item must stay within one write unit wherever the version is placed. */
        readonly longest: unknown;
      }
    | { readonly belongsTo: Exclude<BelongsTo, 'place'>; readonly longest?: unknown }
  );

/** Placeholders for an instance and a write token of the usual length. */
const longestInstance = '-'.repeat(32);
const longestToken = '-'.repeat(12);

/**
 * Every attribute of a version, and the one place that lists them. The type {@link Version}, the codec, copies, renames,
 * multipart uploads, listings, the release queue and the scrub follow from it. Items keep the order of the rows. The names in items
 * have one or two letters because a listing reads every byte of a thousand items.
 */
export const versionAttributes = {
  /** A sequence number and random characters: sorts by age, and is the version id if `named`. */
  instance: { ...text('i'), belongsTo: 'place', longest: longestInstance },
  /** The write token of the item from which it was read. */
  token: { ...text('r'), belongsTo: 'place', longest: longestToken },
  /** False: the null version. */
  named: { ...flag('v'), belongsTo: 'place', longest: true },
  marker: { ...flag('m'), belongsTo: 'object' },
  /** In bytes; 0 of a delete marker. */
  size: { ...size('s', 'm'), belongsTo: 'content' },
  /** The bytes of a delete marker's item, which count towards quotas. Markers of version 0.2 lack it. */
  held: { ...count('hb'), belongsTo: 'object', optional: true },
  /** MD5 of the content, or of the parts' MD5s if there is a part count. Undefined for a delete marker. */
  md5: { ...optional<Uint8Array>('e'), belongsTo: 'content' },
  partCount: { ...optional<number>('p'), belongsTo: 'content', optional: true },
  content: {
    ...encoded<Content>('c', encodeContent, (stored) =>
      stored === undefined ? stored : decodeContent(stored as string),
    ),
    belongsTo: 'content',
    refersTo: (item) => item['c'] as string | undefined,
  },
  /** The canonical id of the owning project. */
  owner: { ...owner('o'), belongsTo: 'object' },
  /** Set if the owner is not the bucket's project. */
  foreign: {
    ...encoded<true>(
      'f',
      () => 1,
      (stored) => (stored === 1 ? true : undefined),
    ),
    belongsTo: 'place',
    optional: true,
    longest: true,
  },
  contentType: { ...optional<string>('y'), belongsTo: 'metadata' },
  /** Undefined: STANDARD, which is not stored. */
  storageClass: {
    ...encoded<StorageClass>('sc', encodeStorageClass, decodeStorageClass),
    belongsTo: 'object',
    optional: true,
  },
  checksum: { ...encoded('k', encodeChecksum, decodeChecksum), belongsTo: 'content' },
  /** The record of the encryption of its bytes, if they are encrypted. */
  encryption: {
    ...encoded<EncryptionRecord>('x', encodeEncryption, (stored) =>
      stored instanceof Uint8Array ? decodeEncryption(stored) : undefined,
    ),
    belongsTo: 'content',
  },
  tagCount: { ...count('g'), belongsTo: 'derived' },
  /** Inline object attributes, or the id of the details item that holds them. */
  objectAttributes: {
    ...inlineOrDetails('d'),
    belongsTo: 'writer',
    refersTo: ({ d: details }) => (details === undefined ? undefined : `d${details as string}`),
  },
  /** The instance of the key's previous version. */
  previousVersion: { ...optional<string>('u'), belongsTo: 'place', longest: longestInstance },
  /** Milliseconds since the epoch. */
  lastModified: { ...lastModified('w', 'i'), belongsTo: 'object', longest: 9_999_999_999_999 },
  /** The client token of the RenameObject that created it, so that a repetition is recognised. */
  renameToken: { ...optional<string>('rt'), belongsTo: 'writer', optional: true },
  /** Until when it may not be removed. */
  retention: { ...encoded<Retention>('l', encodeRetention, decodeRetention), belongsTo: 'object', optional: true },
  /** `ON`: it may not be removed. `OFF`: it was put under a legal hold, or explicitly not. */
  legalHold: { ...optional<LegalHold>('lh'), belongsTo: 'object', optional: true },
  /** The time at which it became noncurrent, in milliseconds since the epoch. Undefined for a current version. */
  replacedAt: { ...optional<number>('t'), belongsTo: 'place', longest: undefined },
} as const satisfies Readonly<Record<string, VersionAttribute>>;

/** The attributes of a current version that describe the noncurrent ones of its key. A noncurrent version has none of them. */
export const currentVersionAttributes = {
  /** The number of noncurrent versions. */
  olderCount: { ...count('n'), belongsTo: 'place', longest: 99_999_999 },
  /** The number of delete markers among them. */
  olderMarkers: { ...count('nm'), belongsTo: 'place', longest: 99_999_999 },
  /** Their total size in bytes. */
  olderBytes: { ...count('nb'), belongsTo: 'place', longest: 999_999_999_999 },
  /** The bytes that the delete markers among them are held to take. */
  olderHeld: { ...count('nh'), belongsTo: 'place', longest: 999_999_999_999 },
  /** The instance of the null version, if it is noncurrent. */
  noncurrentNull: { ...optional<string>('z'), belongsTo: 'place', longest: longestInstance },
} as const satisfies Readonly<Record<string, VersionAttribute>>;

type Rows = typeof versionAttributes;
type AttributeName = keyof Rows;

/** The names of the attributes whose row has a property of this type. */
type NamesWhere<Column> = { [Name in AttributeName]: Rows[Name] extends Column ? Name : never }[AttributeName];

type OptionalName = NamesWhere<{ readonly optional: true }>;
export type NamesOf<Kind extends BelongsTo> = { [Each in Kind]: NamesWhere<{ readonly belongsTo: Each }> }[Kind];

/** A version as {@link versionAttributes} describes it. */
export type VersionFields = {
  readonly [Name in keyof Rows as Exclude<Name, OptionalName>]: ReturnType<Rows[Name]['read']>;
} & { readonly [Name in keyof Rows as Extract<Name, OptionalName>]?: ReturnType<Rows[Name]['read']> };

/** The additional fields of a current version. */
export type CurrentVersionFields = {
  readonly [Name in keyof typeof currentVersionAttributes]: ReturnType<(typeof currentVersionAttributes)[Name]['read']>;
};
