import type { Change, Condition } from '../../ports/key-value-table.ts';
import type { Bucket } from '../buckets/bucket.ts';
import { noObjectAttributes, type ObjectAttributes } from './object-attributes.ts';
import type { NamesOf } from './version-attributes.ts';
import type { CurrentVersion, Unplaced, Version } from './versions.ts';

/** Input to a put: the attributes that do not follow from the version chain. */
export type NewVersion = Omit<Unplaced, NamesOf<'derived'> | 'objectAttributes'> & {
  readonly objectAttributes: ObjectAttributes;
};

/**
 * Throws the S3 error if a condition of the request does not hold for the version about to be changed. Gets undefined if there is
 * no version, or a delete marker. Called again at every attempt, with the image that the commit depends on.
 */
export type Guard = (current: Version | undefined) => void;

/** What a commit contains besides the new version. */
export interface CommitExtras {
  readonly changes: readonly Change[];
  readonly conditions: readonly Condition[];
}

/**
 * Returns the extras of a commit that makes `version` current above `before`. Called again at every attempt, with the bucket as this
 * attempt read it: its versioning state may have changed since the request began.
 */
export type CommitExtrasFor = (
  version: CurrentVersion,
  before: CurrentVersion | undefined,
  bucket: Bucket,
) => Promise<CommitExtras>;

export interface PutOptions {
  readonly guard?: Guard | undefined;
  readonly extras?: CommitExtrasFor;
  /** Set if the caller's rights are confirmed at the commit, because the put does more than write data. */
  readonly rightsCount?: 'at the commit';
}

/** A delete marker without its owner. */
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
