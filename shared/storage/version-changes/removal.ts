import type { Bucket } from '../buckets/bucket.ts';
import type { Guard } from './new-version.ts';
import type { ObjectAuthorisation } from './object-authorisation.ts';
import type { ServiceAuthorisation } from './service-authorisation.ts';
import type { Override } from '../versions/object-lock.ts';
import type { CurrentVersion, Version } from '../versions/versions.ts';

/**
 * A removal: its authority, its target and its condition. `Objects.remove` is the one entry point for removals, except for that of a
 * rename, which is part of another commit: `Objects.renamedAway`.
 */
export type Removal = RequestedRemoval | LifecycleRemoval | OperatorRemoval | TakenBack | PurgedKey;

/**
 * A client's DELETE. If the authorisation names a version, that one is removed permanently, and if it was current the previous version
 * becomes current. Otherwise the object is removed if the bucket was never versioned; if it was, a delete marker becomes current.
 */
export interface RequestedRemoval {
  readonly by: 'request';
  readonly authorisation: ObjectAuthorisation;
  /** The owner of a delete marker. */
  readonly owner: string;
  readonly guard?: Guard | undefined;
  /** What of the lock of a version named by its id the caller has the right to override, and asks to. Default: nothing. */
  readonly override?: Override | undefined;
  /** `foreign`: without a version id, an object of another project than the bucket's is not removed permanently. */
  readonly sparing?: 'foreign' | undefined;
}

/** A removal by a lifecycle rule, on condition that the key has not changed since its current version was read. */
export type LifecycleRemoval = {
  readonly by: 'lifecycle';
  readonly authorisation: ServiceAuthorisation;
  /** The current version as it was read. */
  readonly seen: CurrentVersion;
} & (
  | {
      /** As DELETE without a version id, on behalf of the bucket's owner. */
      readonly expires: 'object';
    }
  | {
      /** One version, permanently. */
      readonly expires: 'version';
      /** The version as it was read; may be `seen` itself. */
      readonly version: Version;
    }
);

/**
 * The operator empties a bucket, or an import removes what the source no longer has. The version that the authorisation names, or else the
 * current one, is removed permanently; if it was current, the one before becomes current.
 */
export interface OperatorRemoval {
  readonly by: 'operator';
  readonly authorisation: ServiceAuthorisation;
}

/** A writer undoes its commit to a bucket that was removed meanwhile. */
export interface TakenBack {
  readonly by: 'writer';
  readonly bucket: Bucket;
  readonly key: string;
  /** The instance that the writer committed. */
  readonly instance: string;
}

/** The bucket purge removes all versions of a key one by one, so that each is in the change feed. The bucket is gone. */
export interface PurgedKey {
  readonly by: 'purge';
  readonly bucketId: string;
  readonly key: string;
}

/** A rename removes an object from its former name, in the commit that gives it the new one. */
export interface RenamedAway {
  readonly bucket: Bucket;
  readonly key: string;
  /** The authorisation of the rename, and so of the new name. */
  readonly authorisation: ObjectAuthorisation;
  /** The object as it was read. If it has changed since, for example its tags, the rename would lose the change. */
  readonly source: Version;
}

/** The outcome of a removal. */
export interface Removed {
  /** The version that was removed permanently. Undefined if there was none, or it was removed without being read. */
  readonly version?: Version | undefined;
  /** The current version afterwards: the delete marker after DELETE without a version id. Undefined: the key is gone. */
  readonly currentVersion?: CurrentVersion | undefined;
}
