import type { Attributes, Change, Expectation, ItemKey, KeyValueTable } from '../ports/key-value-table.ts';
import { numberOf } from '../storage/table/attribute-values.ts';
import { madeAt } from '../storage/table/keys/ids.ts';
import { itemKey, partition } from '../storage/table/keys/keys.ts';
import { partitionItems } from '../storage/table/pages.ts';
import { currentVersionKey } from '../storage/version-changes/version-chain.ts';
import { currentVersionOnly } from '../storage/versions/versions.ts';
import { asRead, tokenIs } from '../storage/table/optimistic-write.ts';

/** The inconsistencies among the versions of a key, and the changes that repair them. */
export interface VersionDamage {
  readonly problems: readonly string[];
  /** The current version as read. */
  readonly before: Attributes | undefined;
  /** The current version as it should be. It is part of every write, so that each depends on the version chain read. */
  readonly currentVersion: Attributes;
  /** The changes of noncurrent versions, each with its own condition. */
  readonly changes: readonly Change[];
  /** The time of the key's last change according to its items, in milliseconds since the epoch. */
  readonly changedAt: number;
}

/** The number of noncurrent versions changed per write, which also contains the current one. */
const changesPerWrite = 90;

/** The current and noncurrent versions of one key, read as of one moment. */
export class KeyVersions {
  readonly #table: KeyValueTable;
  readonly #bucketId: string;
  readonly #key: string;
  readonly #currentVersionKey: ItemKey;

  constructor(table: KeyValueTable, bucketId: string, key: string) {
    this.#table = table;
    this.#bucketId = bucketId;
    this.#key = key;
    this.#currentVersionKey = currentVersionKey(bucketId, key);
  }

  /**
   * Reads all versions. Every change of a key writes its current version; so if that is the same before and after,
   * everything read in between is consistent.
   * @param visit called with every version; one that exists throughout is not missed, even if it moves
   * @returns the damage, if any; `busy` if the key kept changing
   */
  async examine(visit: (version: Attributes) => void): Promise<VersionDamage | 'busy' | undefined> {
    for (let attempt = 0; attempt < maxAttempts; attempt += 1) {
      const [before] = await this.#table.getTogether([this.#currentVersionKey]);
      const restated = new Restated(this.#bucketId, this.#key, before);
      if (before) visit(before);
      for await (const version of this.#newestFirst()) {
        visit(version);
        restated.add(version);
      }
      const [after] = await this.#table.getTogether([this.#currentVersionKey]);
      if (before?.['r'] === after?.['r']) return restated.damage();
    }
    return 'busy';
  }

  /** Returns whether any version of the key satisfies a predicate, as of one moment. */
  async some(is: (version: Attributes) => boolean | Promise<boolean>): Promise<boolean> {
    const versions: Attributes[] = [];
    await this.examine((version) => void versions.push(version));
    for (const version of versions) if (await is(version)) return true;
    return false;
  }

  /**
   * Writes the repairs, unless the key has changed since.
   * @param along a change that is part of each write
   * @returns whether all of them were written
   */
  async mend(
    { currentVersion, before, changes }: VersionDamage,
    { token, along }: { readonly token: () => string; readonly along: Change },
  ): Promise<boolean> {
    let expect: Expectation = asRead(before);
    for (let at = 0; at === 0 || at < changes.length; at += changesPerWrite) {
      const r = token();
      const batch: Change[] = changes
        .slice(at, at + changesPerWrite)
        .map((change): Change => ('put' in change ? { ...change, put: { ...change.put, r: token() } } : change));
      const { outcome } = await this.#table.write([
        { key: this.#currentVersionKey, put: { ...currentVersion, r }, expect },
        along,
        ...batch,
      ]);
      if (outcome !== 'written') return false;
      expect = tokenIs(r);
    }
    return true;
  }

  async *#newestFirst(): AsyncIterable<Attributes> {
    const pk = partition.noncurrentVersions(this.#bucketId, this.#key);
    for await (const { attributes } of partitionItems(this.#table, pk, { reverse: true })) yield attributes;
  }
}

const maxAttempts = 8;

/** A version, and whether it was read as the current one. */
interface Placed {
  readonly version: Attributes;
  readonly isCurrent: boolean;
}

/**
 * Restates the versions of a key, newest first, and keeps only the changes needed, so memory does not grow with the
 * number of versions. It never touches a version's content and never drops a version: of several null versions all but
 * the newest get a version id.
 */
class Restated {
  readonly #bucketId: string;
  readonly #key: string;
  readonly #currentAsRead: Attributes | undefined;
  readonly #problems = new Set<string>();
  readonly #changes: Change[] = [];
  readonly #counts = { n: 0, nm: 0, nb: 0 };
  #waitingCurrent: Attributes | undefined;
  #newest: Attributes | undefined;
  #last: Placed | undefined;
  #null: string | undefined;
  #noncurrentNull: string | undefined;
  #changedAt = 0;

  constructor(bucketId: string, key: string, currentVersion: Attributes | undefined) {
    this.#bucketId = bucketId;
    this.#key = key;
    this.#currentAsRead = currentVersion;
    this.#waitingCurrent = currentVersion;
  }

  /** Adds the next noncurrent version, newest first. */
  add(version: Attributes): void {
    const currentVersion = this.#waitingCurrent;
    const instance = version['i'] as string;
    if (this.#currentAsRead?.['i'] === instance) {
      this.#problems.add('the current version is also among the noncurrent ones');
      if (this.#last !== undefined && currentVersion !== undefined) {
        this.#waitingCurrent = undefined;
        return this.#place({ version, isCurrent: false });
      }
      this.#changes.push({ key: this.#noncurrentKey(version), delete: true, expect: asRead(version) });
      return;
    }
    if (currentVersion !== undefined && instance < (currentVersion['i'] as string))
      this.#place({ version: currentVersion, isCurrent: true });
    this.#place({ version, isCurrent: false });
  }

  damage(): VersionDamage | undefined {
    if (this.#waitingCurrent) this.#place({ version: this.#waitingCurrent, isCurrent: true });
    this.#settle(undefined);
    if (this.#newest === undefined) return undefined;
    const currentVersion = this.#restateCurrent(this.#newest);
    this.#compareCurrent(currentVersion);
    if (this.#problems.size === 0) return undefined;
    return {
      problems: [...this.#problems],
      currentVersion,
      before: this.#currentAsRead,
      changes: this.#changes,
      changedAt: this.#changedAt,
    };
  }

  #place(placed: Placed): void {
    if (placed.isCurrent) this.#waitingCurrent = undefined;
    const { version } = placed;
    this.#changedAt = Math.max(this.#changedAt, madeAt(version['i'] as string), numberOf(version['t']));
    this.#settle(version);
    this.#last = placed;
  }

  /** Checks the version added before, now that its previous version is known. */
  #settle(previousVersion: Attributes | undefined): void {
    if (this.#last === undefined) return;
    const { version, isCurrent } = this.#last;
    this.#last = undefined;
    const stated = this.#stated(version, previousVersion?.['i'] as string | undefined);
    if (this.#newest === undefined) return this.#setNewest(stated, version, isCurrent);
    this.#counts.n += 1;
    this.#counts.nm += version['m'] === 1 ? 1 : 0;
    this.#counts.nb += numberOf(version['s']);
    if (isCurrent) {
      this.#problems.add('the current version is older than a noncurrent one');
      this.#changes.push({
        key: this.#noncurrentKey(version),
        put: { ...stated, t: this.#changedAt },
        expect: { is: 'absent' },
      });
    } else if (stated['u'] !== version['u'] || stated['v'] !== version['v']) {
      this.#changes.push({ key: this.#noncurrentKey(version), put: stated, expect: asRead(version) });
    }
  }

  #setNewest(stated: Attributes, version: Attributes, isCurrent: boolean): void {
    this.#newest = stated;
    if (isCurrent) return;
    if (this.#currentAsRead === undefined) this.#problems.add('there is no current version');
    this.#changes.push({ key: this.#noncurrentKey(version), delete: true, expect: asRead(version) });
  }

  /** Returns the version with the right link and version id, without the attributes that only a current version has. */
  #stated(version: Attributes, previousVersion: string | undefined): Attributes {
    const { u, ...own } = Object.fromEntries(Object.entries(version).filter(([name]) => !currentVersionOnly.has(name)));
    if (u !== previousVersion) this.#problems.add('the chain is broken');
    const isSecondNull = own['v'] !== 1 && this.#null !== undefined;
    if (isSecondNull) this.#problems.add('there are two null versions');
    if (own['v'] !== 1 && !isSecondNull) {
      this.#null = own['i'] as string;
      if (this.#newest !== undefined) this.#noncurrentNull = this.#null;
    }
    return { ...own, ...(isSecondNull && { v: 1 }), ...(previousVersion !== undefined && { u: previousVersion }) };
  }

  #restateCurrent(newest: Attributes): Attributes {
    const { t: _, ...own } = newest;
    const { n, nm, nb } = this.#counts;
    return {
      ...own,
      ...(n > 0 && { n }),
      ...(nm > 0 && { nm }),
      ...(nb > 0 && { nb }),
      ...(this.#noncurrentNull !== undefined && { z: this.#noncurrentNull }),
    };
  }

  #compareCurrent(stated: Attributes): void {
    const currentVersion = this.#currentAsRead;
    if (currentVersion === undefined || currentVersion['i'] !== stated['i']) return;
    if (['n', 'nm', 'nb'].some((name) => currentVersion[name] !== stated[name]))
      this.#problems.add('the counts are wrong');
    if (currentVersion['z'] !== stated['z']) this.#problems.add('the current version names the wrong null version');
  }

  #noncurrentKey(version: Attributes): ItemKey {
    return itemKey.noncurrentVersion(this.#bucketId, this.#key, version['i'] as string);
  }
}
