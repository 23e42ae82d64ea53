import type { Position } from '../../ports/item-view.ts';
import type { Change, KeyValueTable } from '../../ports/key-value-table.ts';
import { compareUtf8 } from '../../ports/utf8-order.ts';
import { noObjectLock, type Bucket } from '../buckets/bucket.ts';
import { Slots } from '../concurrency.ts';
import { currentVersionPartitions, itemKey } from '../table/keys/keys.ts';
import { KeyCommits, type ObjectsDeps } from '../version-changes/key-commits.ts';
import { versionVisitor, type ListedVersion } from '../versions/listed-version.ts';
import type { NewVersion, PutOptions } from '../version-changes/new-version.ts';
import { decodeObjectAttributes, noObjectAttributes, type ObjectAttributes } from '../versions/object-attributes.ts';
import type { ObjectAuthorisation } from '../version-changes/object-authorisation.ts';
import { visitOlderVersions, type OlderVersions, type OlderVersionsShown } from './older-versions.ts';
import { Puts } from '../version-changes/put-version.ts';
import type { Removal, Removed, RenamedAway } from '../version-changes/removal.ts';
import { Removals } from '../version-changes/remove-version.ts';
import { reviseVersion, type ChangeOfAttributes, type ChangeOfVersion } from '../version-changes/revise-version.ts';
import { scanShards, visitShards } from './scan.ts';
import { checkReplaceable, type LegalHold, type Override, type Retention } from '../versions/object-lock.ts';
import { decodeCurrentVersion, type CurrentVersion, type Version } from '../versions/versions.ts';

/** The number of changes that one request makes at a time if each is a separate commit. */
const concurrentChanges = 16;

/** A range of keys with a prefix, starting at `from` or after `after`. */
interface KeyRange {
  readonly from?: string;
  readonly after?: string;
  readonly prefix: string;
  readonly limit: number;
  /** Allows eventually consistent reads. */
  readonly mayBeStale?: boolean;
}

/** A page of current versions in key order. `more` tells whether others follow. */
interface CurrentVersionsPage {
  readonly entries: readonly { readonly key: string; readonly currentVersion: CurrentVersion }[];
  readonly more: boolean;
}

/**
 * The objects of buckets. Every change of a key is one write, conditional on the write token of its current version. All changes of a
 * key are therefore in one order, and none is based on an outdated read.
 *
 * Changes throw NoSuchBucket if the bucket was removed meanwhile; SlowDown, or ConditionalRequestConflict if there is a guard, if
 * other writers won every attempt; and OutcomeUnknown.
 */
export class Objects {
  readonly #table: KeyValueTable;
  readonly #commits: KeyCommits;
  readonly #puts: Puts;
  readonly #removals: Removals;
  readonly #slots: Slots | undefined;

  constructor(deps: ObjectsDeps) {
    const { writesPerCommit } = deps.table;
    this.#slots = writesPerCommit === undefined ? undefined : new Slots(writesPerCommit);
    this.#table = deps.table;
    this.#commits = new KeyCommits(deps);
    this.#puts = new Puts(this.#commits, (removal) => this.remove(removal));
    this.#removals = new Removals(this.#commits, (authorisation, fresh, options) =>
      this.put(authorisation, fresh, options),
    );
  }

  /**
   * Returns the current version of a key or, with a version id, that version; undefined if it does not exist. Either may be a delete
   * marker.
   * @param versionId `null` is the null version
   */
  find(bucket: Bucket, key: string, versionId?: string): Promise<Version | undefined> {
    const chain = this.#commits.chain(bucket.id, key);
    return versionId === undefined ? chain.currentVersion() : chain.find(versionId).then((found) => found?.version);
  }

  /** Returns the object attributes of a version, from its own item or its details item. */
  async objectAttributes(version: Version): Promise<ObjectAttributes> {
    if (!('details' in version.objectAttributes)) return version.objectAttributes;
    const item = await this.#table.get(itemKey.details(version.objectAttributes.details));
    return item === undefined ? noObjectAttributes : decodeObjectAttributes(item);
  }

  /** Returns a page of current versions, delete markers included, in the order of the keys' UTF-8 bytes. */
  async scan(bucket: Bucket, range: KeyRange): Promise<CurrentVersionsPage> {
    const { items, more } = await scanShards(this.#table, bucket.id, range);
    return {
      entries: items.map(({ key, attributes }) => ({ key: key.sk, currentVersion: decodeCurrentVersion(attributes) })),
      more,
    };
  }

  /**
   * Shows current versions, delete markers included, in the order of the keys' UTF-8 bytes, without creating an object
   * for each.
   * @param visit as {@link ItemVisitor.visit}; the version is valid only during the call
   * @returns what {@link KeyValueTable.visit} does
   */
  visit(
    bucket: Bucket,
    range: KeyRange,
    visit: (version: ListedVersion) => 'stop' | Position | undefined,
  ): Promise<Position | undefined> {
    return visitShards(this.#table, bucket.id, range, versionVisitor(visit));
  }

  /** Shows noncurrent versions of a key, as {@link visitOlderVersions} does. */
  visitOlder(
    bucket: Bucket,
    older: OlderVersions,
    visit: (version: ListedVersion) => void,
  ): Promise<OlderVersionsShown> {
    return visitOlderVersions(this.#table, bucket.id, older, visit);
  }

  /** Returns the last key with a prefix, before the key `before` if that is given. Delete markers count. */
  async lastKey(bucket: Bucket, prefix: string, before?: string): Promise<string | undefined> {
    const query = { prefix, limit: 1, reverse: true, ...(before !== undefined && { after: before }) };
    const ends = await Promise.all(currentVersionPartitions(bucket.id).map((shard) => this.#table.query(shard, query)));
    const keys = ends.flatMap(({ items }) => items.map(({ key }) => key.sk));
    return keys.reduce<string | undefined>((a, b) => (a !== undefined && compareUtf8(a, b) > 0 ? a : b), undefined);
  }

  /**
   * Returns the versions of a key, newest first, as of one moment, although the current one and the noncurrent ones are read separately.
   * @param currentVersion as a listing read it
   * @param olderThan only versions older than this instance
   */
  async versions(
    bucket: Bucket,
    key: string,
    currentVersion: CurrentVersion,
    limit: number,
    olderThan?: string,
  ): Promise<readonly Version[]> {
    return this.#commits.chain(bucket.id, key).walk(currentVersion, limit, olderThan);
  }

  /**
   * Makes a new version current, according to the bucket's versioning state. Also throws what the guard throws.
   * A put only writes data, so the rights at the time of the request suffice, unless `rightsCount` is `at the commit`.
   */
  async put(authorisation: ObjectAuthorisation, fresh: NewVersion, options: PutOptions = {}): Promise<CurrentVersion> {
    return this.#puts.put(authorisation, fresh, options);
  }

  /**
   * Performs a {@link Removal} on its condition: the one entry point for removals. Succeeds if there is nothing to remove.
   * @throws SeenNoMore (lifecycle: the key has changed since it was read), S3Error AccessDenied (the object belongs to another
   *   project, or the caller no longer has the rights), LockedVersion, and what the guard throws
   */
  async remove(removal: Removal): Promise<Removed> {
    return this.#removals.remove(removal);
  }

  /**
   * Returns slots for the changes of a request that makes many; each change takes one. If concurrent writes share a commit, all such
   * requests share the slots: together they fill a commit, and other requests wait for one commit at most.
   */
  slotsForMany(): Slots {
    return this.#slots ?? new Slots(concurrentChanges);
  }

  /**
   * Returns the changes that remove an object from its former name, for the commit that gives it a new one. A delete marker becomes
   * current, unless the key has no versions to keep: no version id, no noncurrent versions, and versioning not enabled.
   * @throws SourceGone if the object is no longer current, or has changed
   */
  async renamedAway(removal: RenamedAway): Promise<readonly Change[]> {
    return this.#removals.renamedAway(removal);
  }

  /**
   * Changes the object attributes of a version, its tags or its ACL, but not its content or its Last-Modified.
   * @param authorisation names the version
   * @throws S3Error NoSuchKey, MethodNotAllowed (a delete marker by its id), AccessDenied (the rights were withdrawn), SlowDown
   */
  async revise(authorisation: ObjectAuthorisation, change: ChangeOfAttributes): Promise<Version> {
    return this.#revise(authorisation, async (version, bucket) => ({
      objectAttributes: change(await this.objectAttributes(version), version, bucket),
    }));
  }

  /**
   * Changes what protects a version from removal.
   * @param authorisation names the version
   * @param lock the new retention, or the new legal hold; `override` is what the caller has the right to override, and asks to
   * @throws LockedVersion (the retention must not be shortened), S3Error InvalidRequest (the bucket has no object lock), and as
   *   {@link revise}
   */
  async relock(
    authorisation: ObjectAuthorisation,
    lock:
      { readonly retention: Retention | undefined; readonly override: Override } | { readonly legalHold: LegalHold },
  ): Promise<Version> {
    return this.#revise(authorisation, async (version, bucket, lockTime) => {
      if (bucket.objectLock === undefined) throw noObjectLock('Bucket is missing Object Lock Configuration');
      const objectAttributes = await this.objectAttributes(version);
      if ('legalHold' in lock) return { objectAttributes, legalHold: lock.legalHold };
      checkReplaceable(version, lock.retention, lock.override, await lockTime());
      return { objectAttributes, retention: lock.retention };
    });
  }

  #revise(authorisation: ObjectAuthorisation, change: ChangeOfVersion): Promise<Version> {
    const { bucket, key } = authorisation;
    return this.#commits.inTurn(bucket, key, () => reviseVersion(this.#commits, authorisation, change));
  }
}
