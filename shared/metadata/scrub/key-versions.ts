import type { Attributes, Change, Expectation, ItemKey, KeyValueTable } from '../../ports/key-value-table.ts';
import { numberOf } from '../table/attribute-number.ts';
import { madeAt } from '../table/ids.ts';
import { itemKey, partition } from '../table/keys.ts';
import { currentVersionKey } from '../objects/version-chain.ts';
import { currentVersionOnly } from '../objects/versions.ts';

/** What is wrong with the versions of a key, and the changes that make it right. */
export interface VersionDamage {
  readonly problems: readonly string[];
  /** The current version as it was read. */
  readonly before: Attributes | undefined;
  /** The current version as it is to be: it goes into every write, so that all depend on the one that was read. */
  readonly currentVersion: Attributes;
  /** Of the noncurrent versions. Each has its own condition. */
  readonly changes: readonly Change[];
  /** When the key was last changed, as far as its items tell; in milliseconds since the epoch. */
  readonly changedAt: number;
}

/** How many noncurrent versions of a key are written at once: the current one goes with them. */
const changesPerWrite = 90;

/** The current and the noncurrent versions of one key, read as of one moment. */
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
   * Looks at all versions. Whoever changes the key writes its current version, so if that is the same before and after, what was read between
   * is of one moment.
   * @param visit called with every version there is; one that is there throughout is not missed, wherever it moves
   * @returns what is wrong, if anything; `busy` if the key never stood still
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

  /** Whether any version of the key, as of one moment, is what is asked for. */
  async some(is: (version: Attributes) => boolean | Promise<boolean>): Promise<boolean> {
    const versions: Attributes[] = [];
    await this.examine((version) => void versions.push(version));
    for (const version of versions) if (await is(version)) return true;
    return false;
  }

  /** Writes the changes, if nobody has changed the key since. @returns whether all of them were written */
  async mend({ currentVersion, before, changes }: VersionDamage, token: () => string): Promise<boolean> {
    let expect: Expectation =
      before === undefined ? { is: 'absent' } : { is: 'equal', attribute: 'r', value: before['r'] as string };
    for (let at = 0; at === 0 || at < changes.length; at += changesPerWrite) {
      const r = token();
      const batch: Change[] = changes
        .slice(at, at + changesPerWrite)
        .map((change): Change => ('put' in change ? { ...change, put: { ...change.put, r: token() } } : change));
      const { outcome } = await this.#table.write([
        { key: this.#currentVersionKey, put: { ...currentVersion, r }, expect },
        ...batch,
      ]);
      if (outcome !== 'written') return false;
      expect = { is: 'equal', attribute: 'r', value: r };
    }
    return true;
  }

  async *#newestFirst(): AsyncIterable<Attributes> {
    for (let after: string | undefined, more = true; more;) {
      const page = await this.#table.query(partition.noncurrentVersions(this.#bucketId, this.#key), {
        reverse: true,
        ...(after !== undefined && { after }),
      });
      for (const { attributes } of page.items) yield attributes;
      after = page.items.at(-1)?.key.sk;
      more = page.more;
    }
  }
}

const maxAttempts = 8;

/** A version and where it lies. */
interface Placed {
  readonly version: Attributes;
  readonly isCurrent: boolean;
}

/**
 * States the versions of a key anew, newest first, and keeps only what must change: so it takes little memory,
 * however many there are. A version's content is never touched, and no version is dropped: of several null versions all but the newest get a name.
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

  /** The next noncurrent version, newest first. */
  add(version: Attributes): void {
    const currentVersion = this.#waitingCurrent;
    const instance = version['i'] as string;
    if (this.#currentAsRead?.['i'] === instance) {
      this.#problems.add('the current version is among the noncurrent ones, too');
      if (this.#last !== undefined && currentVersion !== undefined) {
        this.#waitingCurrent = undefined;
        return this.#place({ version, isCurrent: false });
      }
      this.#changes.push({ key: this.#noncurrentKey(version), delete: true, expect: tokenIs(version) });
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

  /** Judges the version above, now that the previous one is known. */
  #settle(previousVersion: Attributes | undefined): void {
    if (this.#last === undefined) return;
    const { version, isCurrent } = this.#last;
    this.#last = undefined;
    const stated = this.#stated(version, previousVersion?.['i'] as string | undefined);
    if (this.#newest === undefined) return this.#crown(stated, version, isCurrent);
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
      this.#changes.push({ key: this.#noncurrentKey(version), put: stated, expect: tokenIs(version) });
    }
  }

  #crown(stated: Attributes, version: Attributes, isCurrent: boolean): void {
    this.#newest = stated;
    if (isCurrent) return;
    if (this.#currentAsRead === undefined) this.#problems.add('there is no current version');
    this.#changes.push({ key: this.#noncurrentKey(version), delete: true, expect: tokenIs(version) });
  }

  /** The version with its right link and name, and without what only a current version has. */
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
    if (currentVersion['z'] !== stated['z']) this.#problems.add('it names a wrong null version');
  }

  #noncurrentKey(version: Attributes): ItemKey {
    return itemKey.noncurrentVersion(this.#bucketId, this.#key, version['i'] as string);
  }
}

const tokenIs = (item: Attributes): Expectation => ({ is: 'equal', attribute: 'r', value: item['r'] as string });
