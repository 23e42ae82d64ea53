import { decodeEncryption, encodeEncryption, type EncryptionRecord } from '../../encryption/customer-key.ts';
import type { Attributes } from '../../ports/key-value-table.ts';
import { count, encoded, flag, optional, text, type AttributeCodec } from './attribute-codec.ts';
import { decodeContent, encodeContent, type Content } from './content.ts';
import { decodeStorageClass, encodeStorageClass, type StorageClass } from './storage-class.ts';
import { decodeChecksum, encodeChecksum } from './stored-checksum.ts';
import { inlineOrDetails, lastModified, owner, size } from './version-codecs.ts';

/**
 * What an attribute of a version belongs to, which decides where it goes:
 * - `content`: the bytes. Copies and renamed objects keep it.
 * - `metadata`: the system-defined metadata. A renamed object keeps it; a copy keeps it, or takes that of the request, as
 *   `x-amz-metadata-directive` says; uploads carry it from CreateMultipartUpload to the object.
 * - `object`: the object. A renamed object keeps it; a copy gets its own.
 * - `writer`: the request. Each writer states it anew, copies and renames included.
 * - `derived`: another attribute, from which it follows.
 * - `place`: the version's place among the others, from which it follows.
 */
export type BelongsTo = 'content' | 'metadata' | 'object' | 'writer' | 'derived' | 'place';

/** A row of {@link versionAttributes}. */
export type VersionAttribute = AttributeCodec & {
  /** Set if writers need not give it. */
  readonly optional?: true;
  /** Set if listings of objects read it. */
  readonly listed?: true;
  /**
   * Returns what the version refers to by this attribute, and what may be removed when no version does: `b…` or `m…` for
   * content, `d…` for details.
   */
  readonly refersTo?: (item: Attributes) => string | undefined;
} & (
    | {
        readonly belongsTo: 'place';
        /** A value that takes as many bytes as any: the item must stay within one write unit wherever the version is placed. */
        readonly longest: unknown;
      }
    | { readonly belongsTo: Exclude<BelongsTo, 'place'>; readonly longest?: unknown }
  );

/** An instance or write token of the usual length. */
const longestInstance = '-'.repeat(32);
const longestToken = '-'.repeat(12);

/**
 * Every attribute of a version, and the one place that lists them. The type {@link Version}, the codec, copies, renames,
 * multipart uploads, listings, the release queue and the scrub follow from it. Items keep the order of the rows, and their names
 * have one or two letters because a listing reads every byte of a thousand items.
 */
export const versionAttributes = {
  /** Sequence and randomness; its age and, if `named`, its version id. */
  instance: { ...text('i'), belongsTo: 'place', longest: longestInstance },
  /** The write token of the item it was read from. */
  token: { ...text('r'), belongsTo: 'place', longest: longestToken },
  /** False: the null version. */
  named: { ...flag('v'), belongsTo: 'place', longest: true },
  marker: { ...flag('m'), belongsTo: 'object', listed: true },
  size: { ...size('s', 'm'), belongsTo: 'content', listed: true },
  /** MD5 of the content, or of the parts' MD5s if there is a part count. Undefined for a delete marker. */
  md5: { ...optional<Uint8Array>('e'), belongsTo: 'content', listed: true },
  partCount: { ...optional<number>('p'), belongsTo: 'content', listed: true, optional: true },
  content: {
    ...encoded<Content>('c', encodeContent, (stored) =>
      stored === undefined ? stored : decodeContent(stored as string),
    ),
    belongsTo: 'content',
    listed: true,
    refersTo: (item) => item['c'] as string | undefined,
  },
  /** The canonical id of the owning project. */
  owner: { ...owner('o'), belongsTo: 'object', listed: true },
  /** Set if the owner is another project than the bucket's. */
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
  /** Undefined: STANDARD. */
  storageClass: {
    ...encoded<StorageClass>('sc', encodeStorageClass, decodeStorageClass),
    belongsTo: 'object',
    listed: true,
    optional: true,
  },
  checksum: { ...encoded('k', encodeChecksum, decodeChecksum), belongsTo: 'content' },
  /** How its bytes are encrypted, if they are. */
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
  lastModified: { ...lastModified('w', 'i'), belongsTo: 'object', listed: true, longest: 9_999_999_999_999 },
  /** The client token of the RenameObject that brought it here, so that a repetition is recognised. */
  renameToken: { ...optional<string>('rt'), belongsTo: 'writer', optional: true },
  /** When it stopped being current, in milliseconds since the epoch. Undefined for a current version. */
  replacedAt: { ...optional<number>('t'), belongsTo: 'place', longest: undefined },
} as const satisfies Readonly<Record<string, VersionAttribute>>;

/** The attributes of a current version that tell of the noncurrent ones of its key. A noncurrent version has none of them. */
export const currentVersionAttributes = {
  /** Noncurrent versions. */
  olderCount: { ...count('n'), belongsTo: 'place', longest: 99_999_999 },
  /** Delete markers among the noncurrent versions. */
  olderMarkers: { ...count('nm'), belongsTo: 'place', longest: 99_999_999 },
  /** The bytes of the noncurrent versions. */
  olderBytes: { ...count('nb'), belongsTo: 'place', longest: 999_999_999_999 },
  /** The instance of the null version, if it is noncurrent. */
  noncurrentNull: { ...optional<string>('z'), belongsTo: 'place', longest: longestInstance },
} as const satisfies Readonly<Record<string, VersionAttribute>>;

type Rows = typeof versionAttributes;
type AttributeName = keyof Rows;

/** The names of the attributes whose row has a property of this type. */
type NamesWhere<Column> = { [Name in AttributeName]: Rows[Name] extends Column ? Name : never }[AttributeName];

type OptionalName = NamesWhere<{ readonly optional: true }>;
export type ListedName = NamesWhere<{ readonly listed: true }>;
export type NamesOf<Kind extends BelongsTo> = { [Each in Kind]: NamesWhere<{ readonly belongsTo: Each }> }[Kind];

/** A version as its table describes it. */
export type VersionFields = {
  readonly [Name in keyof Rows as Exclude<Name, OptionalName>]: ReturnType<Rows[Name]['read']>;
} & { readonly [Name in keyof Rows as Extract<Name, OptionalName>]?: ReturnType<Rows[Name]['read']> };

/** What the attributes of a current version add to those of every version. */
export type CurrentVersionFields = {
  readonly [Name in keyof typeof currentVersionAttributes]: ReturnType<(typeof currentVersionAttributes)[Name]['read']>;
};
