import type { Bucket } from '../buckets/bucket.ts';
import type { Guard } from './new-version.ts';
import type { ObjectAuthorisation } from './object-authorisation.ts';
import type { ServiceAuthorisation } from './service-authorisation.ts';
import type { CurrentVersion, Version } from './versions.ts';

/**
 * A removal: on whose authority, of what, and on what condition. `Objects.remove` is the one entry point for all of them, and
 * `Objects.renamedAway` for that of a rename, which is part of another commit.
 */
export type Removal = RequestedRemoval | LifecycleRemoval | TakenBack | PurgedKey;

/**
 * A client's DELETE. If the authorisation names a version, that one is removed for good, and the next older one becomes current if
 * it was current. Otherwise the object is removed where the bucket was never versioned, and elsewhere a delete marker becomes current.
 */
export interface RequestedRemoval {
  readonly by: 'request';
  readonly authorisation: ObjectAuthorisation;
  /** The owner of a delete marker. */
  readonly owner: string;
  readonly guard?: Guard | undefined;
  /** `foreign`: without a version id, nothing is removed for good that belongs to another project than the bucket. */
  readonly sparing?: 'foreign' | undefined;
}

/** Removals by lifecycle rules, on condition that nothing has happened to the key since its current version was read. */
export type LifecycleRemoval = {
  readonly by: 'lifecycle';
  readonly authorisation: ServiceAuthorisation;
  /** The current version as it was read. */
  readonly seen: CurrentVersion;
} & (
  | {
      /** As DELETE without a version id, in the name of the bucket's owner. */
      readonly expires: 'object';
    }
  | {
      /** One version for good. */
      readonly expires: 'version';
      /** The version as it was read, which may be `seen` itself. */
      readonly version: Version;
    }
);

/** A writer takes back what it has committed into a bucket that was removed meanwhile. */
export interface TakenBack {
  readonly by: 'writer';
  readonly bucket: Bucket;
  readonly key: string;
  /** The instance that the writer committed. */
  readonly instance: string;
}

/** A bucket purge removes all versions of a key, one by one, so that the change feed tells of each. The bucket is gone. */
export interface PurgedKey {
  readonly by: 'purge';
  readonly bucketId: string;
  readonly key: string;
}

/** A rename takes an object away from its former name, in the commit that gives it the new one. */
export interface RenamedAway {
  readonly bucket: Bucket;
  readonly key: string;
  /** The object as it was read: later changes, such as new tags, would be lost. */
  readonly source: Version;
}

/** The outcome of a removal. */
export interface Removed {
  /** The version that is gone for good. Undefined if there was none, or if it went without being read. */
  readonly version?: Version | undefined;
  /** The current version afterwards: after DELETE without a version id, the delete marker. Undefined: the key is gone. */
  readonly currentVersion?: CurrentVersion | undefined;
}
