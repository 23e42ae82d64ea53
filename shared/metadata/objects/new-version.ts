import type { StorageClass } from './storage-class.ts';
import type { Change, Condition } from '../../ports/key-value-table.ts';
import type { Bucket } from '../buckets/bucket.ts';
import { noObjectAttributes, type CurrentVersion, type ObjectAttributes, type Version } from './versions.ts';

/** What a writer brings: everything of a version that does not follow from its place among the others. */
export interface NewVersion {
  readonly marker: boolean;
  readonly size: number;
  readonly md5: Uint8Array | undefined;
  readonly partCount?: number | undefined;
  readonly content: Version['content'];
  /** The canonical id of the owning project. */
  readonly owner: string;
  readonly contentType: string | undefined;
  /** Undefined: STANDARD. */
  readonly storageClass?: StorageClass | undefined;
  readonly checksum: Version['checksum'];
  readonly encryption: Version['encryption'];
  readonly objectAttributes: ObjectAttributes;
  /** Milliseconds since the epoch; undefined: now. A renamed object keeps its own. */
  readonly lastModified?: number;
  readonly renameToken?: string | undefined;
}

/**
 * Judges a version before it is changed: throws the S3 error if a condition of the request does not hold. Gets undefined if
 * there is none, or if it is a delete marker. Called anew at every attempt, on the very image that the commit hangs on.
 */
export type Guard = (current: Version | undefined) => void;

/** What else belongs into the commit of a new version. */
export interface CommitExtras {
  readonly changes: readonly Change[];
  readonly conditions: readonly Condition[];
}

/**
 * States the companions of a version that is about to be committed above `before`. Called anew at every attempt, with the bucket as this
 * attempt relies on it: its versioning state may be another than when the request began.
 */
export type CommitExtrasFor = (
  version: CurrentVersion,
  before: CurrentVersion | undefined,
  bucket: Bucket,
) => Promise<CommitExtras>;

export interface PutOptions {
  readonly guard?: Guard | undefined;
  readonly extras?: CommitExtrasFor;
  /** Set if it takes the caller's rights as they are at the commit, since it does more than to write data. */
  readonly rightsCount?: 'at the commit';
}

/** A delete marker, but for whose it is. */
export const deleteMarker: Omit<NewVersion, 'owner'> = {
  marker: true,
  size: 0,
  md5: undefined,
  content: undefined,
  contentType: undefined,
  checksum: undefined,
  encryption: undefined,
  objectAttributes: noObjectAttributes,
};
