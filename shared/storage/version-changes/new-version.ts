import type { Change, Condition } from '../../ports/key-value-table.ts';
import type { Bucket } from '../buckets/bucket.ts';
import { noObjectAttributes, type ObjectAttributes } from '../versions/object-attributes.ts';
import type { NamesOf } from '../versions/version-attributes.ts';
import type { CurrentVersion, Unplaced, Version } from '../versions/versions.ts';

/** Input to a put: the attributes that do not follow from the version chain. */
export type NewVersion = Omit<Unplaced, NamesOf<'derived'> | 'objectAttributes'> & {
  readonly objectAttributes: ObjectAttributes;
};

/**
 * Throws the S3 error if the version about to be changed does not meet a condition of the request. `current` is undefined if there is
 * no version, or a delete marker. Called at every attempt, with the image on which the commit depends.
 */
export type Guard = (current: Version | undefined) => void;

/** Additional changes and conditions in the commit of a new version. */
export interface CommitExtras {
  readonly changes: readonly Change[];
  readonly conditions: readonly Condition[];
}

/**
 * Returns the extras of a commit in which `version` replaces `before` as the current one. Called at every attempt, with the bucket
 * as this attempt read it: its versioning state may have changed since the request began.
 */
export type CommitExtrasFor = (
  version: CurrentVersion,
  before: CurrentVersion | undefined,
  bucket: Bucket,
) => Promise<CommitExtras>;

export interface PutOptions {
  readonly guard?: Guard | undefined;
  readonly extras?: CommitExtrasFor;
  /** Set if the commit confirms the caller's rights, because the put does more than write data. */
  readonly rightsCount?: 'at the commit';
  /** The former name of a version that a rename gives this one. */
  readonly renamedFrom?: string;
}

/** The bytes of a delete marker's item besides its key. */
const markerAttributes = 128;

/** Returns the bytes of a delete marker's item, by which it counts towards quotas. */
export function markerBytes(key: string): number {
  return Buffer.byteLength(key) + markerAttributes;
}

/** Returns a new delete marker of a key without its owner. */
export const deleteMarker = (key: string): Omit<NewVersion, 'owner'> => ({
  marker: true,
  size: 0,
  held: markerBytes(key),
  md5: undefined,
  content: undefined,
  contentType: undefined,
  checksum: undefined,
  encryption: undefined,
  objectAttributes: noObjectAttributes,
});
