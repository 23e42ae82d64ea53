import type { Change, Expectation, ItemKey, KeyValueTable } from '../../ports/key-value-table.ts';
import { currentVersionPartition, itemKey, partition } from '../table/keys/keys.ts';
import { isVersionId } from '../table/keys/ids.ts';
import {
  decodeCurrentVersion,
  decodeVersion,
  encodeCurrentVersion,
  encodeVersion,
  type CurrentVersion,
  type Version,
} from '../versions/versions.ts';
import { lockTime } from '../table/lock-clock.ts';
import { tokenIs } from '../table/optimistic-write.ts';
import { checkRemovable, mayBeLocked, type Override } from '../versions/object-lock.ts';
import { versionAttributes, type CurrentVersionFields } from '../versions/version-attributes.ts';

/** The changes of a commit, and the current version after it (undefined: the key is gone). */
export interface Commit {
  readonly currentVersion: CurrentVersion | undefined;
  readonly changes: readonly Change[];
}

/** A version, and the current version with which it was found: the same object if it is current. */
export interface Found {
  readonly currentVersion: CurrentVersion;
  readonly version: Version;
}

/** The maximum number of reads until the current and the noncurrent versions agree. Each disagreement takes another concurrent write. */
export const maxReads = 64;

/** The dependencies of a version chain. */
export interface ChainDeps {
  readonly table: KeyValueTable;
  /** Returns a new write token. */
  readonly token: () => string;
  /** Returns the time in milliseconds since the epoch. */
  readonly now: () => number;
}

/**
 * The versions of one key, current and noncurrent, each of which names the previous one. Reads them, and returns the commits that put
 * or remove a version and keep the chain intact. If two reads turn out to be of different moments, there is no such commit: methods
 * return `undefined`, and the caller starts again with the new current version.
 *
 * A plain read may see half of a transaction, so the next version is never looked up as "the newest noncurrent one": only the
 * `previousVersion` of a version that was read identifies it.
 */
export class VersionChain {
  readonly #deps: ChainDeps;
  readonly #bucketId: string;
  readonly #key: string;
  readonly #currentVersionKey: ItemKey;

  constructor(deps: ChainDeps, bucketId: string, key: string) {
    this.#deps = deps;
    this.#bucketId = bucketId;
    this.#key = key;
    this.#currentVersionKey = currentVersionKey(bucketId, key);
  }

  /** Returns the current version, which may be a delete marker, or undefined. */
  async currentVersion(): Promise<CurrentVersion | undefined> {
    const item = await this.#deps.table.get(this.#currentVersionKey);
    return item && decodeCurrentVersion(item);
  }

  /** Returns the current version in the form of {@link find}, or undefined. */
  async findCurrent(): Promise<Found | undefined> {
    const currentVersion = await this.currentVersion();
    return currentVersion && { currentVersion, version: currentVersion };
  }

  /** Returns the changes that replace a version by its revised image. */
  revise({ currentVersion, version }: Found, revised: Version): readonly Change[] {
    const renewed = { ...revised, token: this.#deps.token() };
    return [
      version === currentVersion
        ? this.#putCurrent({ ...currentVersion, ...renewed }, tokenIs(version.token))
        : this.#putOlder(renewed, tokenIs(version.token)),
    ];
  }

  /** Returns the version with this id (`null`: the null version) together with the current version, or undefined. */
  async find(versionId: string): Promise<Found | undefined> {
    if (versionId !== 'null') {
      if (!isVersionId(versionId)) return undefined;
      const found = await this.findInstance(versionId);
      return found?.version.named ? found : undefined;
    }
    for (let reads = 0; reads < maxReads; reads += 1) {
      const currentVersion = await this.currentVersion();
      if (currentVersion === undefined || !currentVersion.named)
        return currentVersion && { currentVersion, version: currentVersion };
      if (currentVersion.noncurrentNull === undefined) return undefined;
      const found = await this.findInstance(currentVersion.noncurrentNull);
      if (found) return found;
    }
    throw damagedChain(this.#bucketId, this.#key);
  }

  /**
   * Returns the version with this instance id, named or not, or undefined. Only a read of one instant can show that it does not
   * exist: between two plain reads a version may become current, or noncurrent, and be missed by both.
   */
  async findInstance(instance: string): Promise<Found | undefined> {
    const currentVersion = await this.currentVersion();
    if (currentVersion === undefined) return undefined;
    if (currentVersion.instance === instance) return { currentVersion, version: currentVersion };
    const version = await this.#older(instance);
    if (version) return { currentVersion, version };
    const [currentNow, versionNow] = await this.#deps.table.getTogether([
      this.#currentVersionKey,
      this.#noncurrentKey(instance),
    ]);
    if (currentNow === undefined) return undefined;
    const present = decodeCurrentVersion(currentNow);
    if (present.instance === instance) return { currentVersion: present, version: present };
    return versionNow && { currentVersion: present, version: decodeVersion(versionNow) };
  }

  /**
   * Returns up to `limit` versions, newest first, as of one moment. The current version and the noncurrent ones are read separately.
   * They are of one moment only if the noncurrent ones continue the chain without a gap and are as many as the current version says;
   * otherwise both are read again. (The number is needed because a chain without its oldest version has no gap either.) If `limit`
   * cuts the chain, the number is not checked: the rest is read at another moment anyway.
   * @param currentVersion the start of the chain, as it was read before
   * @param olderThan only versions older than this instance; the newer ones were returned before and are not checked again
   */
  async walk(currentVersion: CurrentVersion, limit: number, olderThan?: string): Promise<readonly Version[]> {
    let top: CurrentVersion | undefined = currentVersion;
    for (let reads = 0; top !== undefined && reads < maxReads; reads += 1, top = await this.currentVersion()) {
      const includesCurrent = olderThan === undefined || top.instance < olderThan;
      if (top.olderCount === 0) return includesCurrent ? [top] : [];
      const start = includesCurrent ? top.instance : olderThan;
      const wanted = includesCurrent ? limit - 1 : limit;
      const older = await this.#olderThan(start, wanted);
      let next = includesCurrent ? top.previousVersion : older[0]?.instance;
      const unbroken = older.every((version) => {
        const follows = version.instance === next;
        next = version.previousVersion;
        return follows;
      });
      const ends = older.length === wanted || next === undefined;
      const isWhole = !includesCurrent || older.length === Math.min(wanted, top.olderCount);
      if (unbroken && ends && isWhole) return includesCurrent ? [top, ...older] : older;
    }
    if (top !== undefined) throw damagedChain(this.#bucketId, this.#key);
    return [];
  }

  async #olderThan(instance: string, limit: number): Promise<readonly Version[]> {
    const older: Version[] = [];
    for (let after = instance, more = true; more && older.length < limit;) {
      const page = await this.#deps.table.query(partition.noncurrentVersions(this.#bucketId, this.#key), {
        after,
        reverse: true,
        limit: limit - older.length,
      });
      older.push(...page.items.map(({ attributes }) => decodeVersion(attributes)));
      after = older.at(-1)?.instance ?? after;
      more = page.more;
    }
    return older;
  }

  /** Returns the time by which retention periods end. */
  lockTime(): Promise<number> {
    return lockTime(this.#deps.table, this.#deps.now());
  }

  /** As {@link checkRemovable}: called before each commit that removes a version, which depends on the version as it is here. */
  async #checkRemovable(version: Version, override: Override): Promise<void> {
    if (mayBeLocked(version)) checkRemovable(version, override, await this.lockTime());
  }

  /**
   * Returns the commit of a put that has read nothing. It fails if the current version is named, has noncurrent ones, is newer, or may
   * be locked.
   */
  blindPut(version: Version): Commit {
    const currentVersion = { ...version, ...alone };
    const expect: Expectation = {
      is: 'any',
      of: [
        { is: 'absent' },
        { is: 'all', of: [...unversioned, { is: 'less', attribute: 'i', value: version.instance }] },
      ],
    };
    return { currentVersion, changes: [this.#putCurrent(currentVersion, expect)] };
  }

  /**
   * Returns the commit in which `version` replaces `before` as the current one. A null version replaces the key's former one.
   * @param at when it did, in milliseconds since the epoch
   * @throws LockedVersion
   */
  async put(before: CurrentVersion | undefined, version: Version, at = this.#deps.now()): Promise<Commit | undefined> {
    if (before === undefined) {
      const currentVersion = { ...version, ...alone };
      return { currentVersion, changes: [this.#putCurrent(currentVersion, { is: 'absent' })] };
    }
    if (!version.named && !before.named) {
      await this.#checkRemovable(before, 'nothing');
      const currentVersion = { ...version, previousVersion: before.previousVersion, ...countsOf(before) };
      return { currentVersion, changes: [this.#putCurrent(currentVersion, tokenIs(before.token))] };
    }
    const demoted = { ...before, token: this.#deps.token(), replacedAt: at };
    const currentVersion: CurrentVersion = {
      ...version,
      previousVersion: before.instance,
      olderCount: before.olderCount + 1,
      olderMarkers: before.olderMarkers + (before.marker ? 1 : 0),
      olderBytes: before.olderBytes + before.size,
      olderHeld: before.olderHeld + (before.held ?? 0),
      noncurrentNull: before.named ? before.noncurrentNull : before.instance,
    };
    if (version.named || before.noncurrentNull === undefined) {
      return {
        currentVersion,
        changes: [this.#putCurrent(currentVersion, tokenIs(before.token)), this.#putOlder(demoted, { is: 'absent' })],
      };
    }
    const displaced = await this.#older(before.noncurrentNull);
    if (displaced === undefined) return undefined;
    await this.#checkRemovable(displaced, 'nothing');
    const above = await this.#above(displaced, demoted);
    if (above === undefined) return undefined;
    const currentWithout = without(currentVersion, displaced);
    const rest =
      above === demoted
        ? [this.#putOlder({ ...demoted, previousVersion: displaced.previousVersion }, { is: 'absent' })]
        : [this.#putOlder(demoted, { is: 'absent' }), this.#relink(above, displaced)];
    return {
      currentVersion: currentWithout,
      changes: [this.#putCurrent(currentWithout, tokenIs(before.token)), ...rest, this.#deleteOlder(displaced)],
    };
  }

  /**
   * Returns the commit that removes a version permanently. If it is current, the previous one becomes current.
   * @param target the version, as it was found together with `currentVersion`
   * @param override `own`: the version is its writer's, who has not told of it yet
   * @throws LockedVersion
   */
  async remove(
    currentVersion: CurrentVersion,
    target: Version,
    override: Override | 'own',
  ): Promise<Commit | undefined> {
    if (override !== 'own') await this.#checkRemovable(target, override);
    if (target.instance === currentVersion.instance) return this.#removeCurrent(currentVersion);
    const above = await this.#above(target, currentVersion);
    if (above === undefined) return undefined;
    const currentWithout = { ...without(currentVersion, target), token: this.#deps.token() };
    if (above === currentVersion) {
      const relinked = { ...currentWithout, previousVersion: target.previousVersion };
      return {
        currentVersion: relinked,
        changes: [this.#putCurrent(relinked, tokenIs(currentVersion.token)), this.#deleteOlder(target)],
      };
    }
    return {
      currentVersion: currentWithout,
      changes: [
        this.#putCurrent(currentWithout, tokenIs(currentVersion.token)),
        this.#relink(above, target),
        this.#deleteOlder(target),
      ],
    };
  }

  async #removeCurrent(currentVersion: CurrentVersion): Promise<Commit | undefined> {
    if (currentVersion.previousVersion === undefined) {
      return {
        currentVersion: undefined,
        changes: [{ key: this.#currentVersionKey, delete: true, expect: tokenIs(currentVersion.token) }],
      };
    }
    const next = await this.#older(currentVersion.previousVersion);
    if (next === undefined) return undefined;
    // The counts come last, to override those that `next` may have brought from its item.
    const counts = countsOf(without(currentVersion, next));
    const promoted: CurrentVersion = { ...next, token: this.#deps.token(), replacedAt: undefined, ...counts };
    return {
      currentVersion: promoted,
      changes: [this.#putCurrent(promoted, tokenIs(currentVersion.token)), this.#deleteOlder(next)],
    };
  }

  /** Returns the version whose previous version is `target`: `top`, or a noncurrent one. */
  async #above<Top extends Version>(target: Version, top: Top): Promise<Top | Version | undefined> {
    if (top.previousVersion === target.instance) return top;
    const { items } = await this.#deps.table.query(partition.noncurrentVersions(this.#bucketId, this.#key), {
      after: target.instance,
      limit: 1,
    });
    const neighbour = items[0] && decodeVersion(items[0].attributes);
    return neighbour?.previousVersion === target.instance ? neighbour : undefined;
  }

  async #older(instance: string): Promise<Version | undefined> {
    const item = await this.#deps.table.get(this.#noncurrentKey(instance));
    return item && decodeVersion(item);
  }

  #relink(above: Version, target: Version): Change {
    return this.#putOlder(
      { ...above, token: this.#deps.token(), previousVersion: target.previousVersion },
      tokenIs(above.token),
    );
  }

  #putCurrent(currentVersion: CurrentVersion, expect: Expectation): Change {
    return { key: this.#currentVersionKey, put: encodeCurrentVersion(currentVersion), expect };
  }

  #putOlder(version: Version, expect: Expectation): Change {
    return { key: this.#noncurrentKey(version.instance), put: encodeVersion(version), expect };
  }

  #deleteOlder(version: Version): Change {
    return { key: this.#noncurrentKey(version.instance), delete: true, expect: tokenIs(version.token) };
  }

  #noncurrentKey(instance: string): ItemKey {
    return itemKey.noncurrentVersion(this.#bucketId, this.#key, instance);
  }
}

/** Returns the error for a chain whose reads never agreed: no race lasts that long. */
export function damagedChain(bucketId: string, key: string): Error {
  return new Error(`the version chain of key ${JSON.stringify(key)} in bucket ${bucketId} is damaged`);
}

/** Returns the key of the item of an object's current version. */
export function currentVersionKey(bucketId: string, key: string): ItemKey {
  return { pk: currentVersionPartition(bucketId, key), sk: key };
}

/** Neither named nor with noncurrent versions nor locked, like every current version in an unversioned bucket. */
export const unversioned: readonly Expectation[] = [
  { is: 'missing', attribute: 'v' },
  { is: 'missing', attribute: 'n' },
  ...[versionAttributes.retention, versionAttributes.legalHold].map(
    ({ stored }) => ({ is: 'missing', attribute: stored[0]! }) as const,
  ),
];

const alone = {
  previousVersion: undefined,
  olderCount: 0,
  olderMarkers: 0,
  olderBytes: 0,
  olderHeld: 0,
  noncurrentNull: undefined,
} as const;

/** Returns what a current version says of the noncurrent ones. */
function countsOf(of: CurrentVersion): CurrentVersionFields {
  const { olderCount, olderMarkers, olderBytes, olderHeld, noncurrentNull } = of;
  return { olderCount, olderMarkers, olderBytes, olderHeld, noncurrentNull };
}

/** Returns the current version with the counts after the removal of a noncurrent version. */
function without(currentVersion: CurrentVersion, gone: Version): CurrentVersion {
  return {
    ...currentVersion,
    olderCount: currentVersion.olderCount - 1,
    olderMarkers: currentVersion.olderMarkers - (gone.marker ? 1 : 0),
    olderBytes: currentVersion.olderBytes - gone.size,
    olderHeld: currentVersion.olderHeld - (gone.held ?? 0),
    noncurrentNull: currentVersion.noncurrentNull === gone.instance ? undefined : currentVersion.noncurrentNull,
  };
}
