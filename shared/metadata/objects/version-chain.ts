import type { Change, Expectation, ItemKey, KeyValueTable } from '../../ports/key-value-table.ts';
import { itemKey, partition } from '../keys.ts';
import { headPartition } from '../shards.ts';
import { decodeHead, decodeVersion, encodeHead, encodeVersion, type Head, type Version } from './versions.ts';

/** The changes of one commit, and the head it leaves behind (undefined: the key is gone). */
export interface Commit {
  readonly head: Head | undefined;
  readonly changes: readonly Change[];
}

/** A version and the head it was found under; they are the same object if it is current. */
export interface Found {
  readonly head: Head;
  readonly version: Version;
}

/** How often head and history are read until they fit together. Each time a writer would have had to come between. */
export const maxReads = 64;

/** What a chain needs from its surroundings. */
export interface ChainDeps {
  readonly table: KeyValueTable;
  /** A fresh write token. */
  readonly token: () => string;
  /** Milliseconds since the epoch. */
  readonly now: () => number;
}

/**
 * The versions of one key: a head, and beneath it the history, each version naming the one below. Reads them, and states the
 * changes that put or remove one and keep the chain whole. Where two reads turn out to be of two moments, a
 * commit cannot be stated: the answer is `undefined`, and the caller starts again from a new head.
 *
 * A transaction may be half visible to plain reads, so the next version is never looked up as "the newest of the history":
 * only the `beneath` of what was read says which it is.
 */
export class VersionChain {
  readonly #deps: ChainDeps;
  readonly #bucketId: string;
  readonly #key: string;
  readonly #headKey: ItemKey;

  constructor(deps: ChainDeps, bucketId: string, key: string) {
    this.#deps = deps;
    this.#bucketId = bucketId;
    this.#key = key;
    this.#headKey = headKey(bucketId, key);
  }

  async head(): Promise<Head | undefined> {
    const item = await this.#deps.table.get(this.#headKey);
    return item && decodeHead(item);
  }

  /** The head as a version found under itself. */
  async current(): Promise<Found | undefined> {
    const head = await this.head();
    return head && { head, version: head };
  }

  /** The changes that put another image of a version in its place. */
  revise({ head, version }: Found, revised: Version): readonly Change[] {
    const renewed = { ...revised, token: this.#deps.token() };
    return [
      version === head
        ? this.#putHead({ ...head, ...renewed }, tokenIs(version))
        : this.#putOlder(renewed, tokenIs(version)),
    ];
  }

  /** The version of this id (`null`: the null version), with the head it was found under. */
  async find(versionId: string): Promise<Found | undefined> {
    if (versionId !== 'null') {
      const found = await this.findInstance(versionId);
      return found?.version.named ? found : undefined;
    }
    for (let reads = 0; reads < maxReads; reads += 1) {
      const head = await this.head();
      if (head === undefined || !head.named) return head && { head, version: head };
      if (head.nullInHistory === undefined) return undefined;
      const found = await this.findInstance(head.nullInHistory);
      if (found) return found;
    }
    throw this.#damaged();
  }

  /**
   * The version of this instance id, named or not. That there is none is only concluded from reads of one instant: between
   * two plain reads a version may move from the history to the head, or back, and be there all the time.
   */
  async findInstance(instance: string): Promise<Found | undefined> {
    const head = await this.head();
    if (head === undefined) return undefined;
    if (head.instance === instance) return { head, version: head };
    const version = await this.#older(instance);
    if (version) return { head, version };
    const [headNow, versionNow] = await this.#deps.table.getTogether([this.#headKey, this.#historyKey(instance)]);
    if (headNow === undefined) return undefined;
    const present = decodeHead(headNow);
    if (present.instance === instance) return { head: present, version: present };
    return versionNow && { head: present, version: decodeVersion(versionNow) };
  }

  /**
   * Up to `limit` versions, newest first, as they stood at one moment. Head and history are read apart: only if the history
   * continues the head's chain without a gap, and is as long as the head says, were they of one moment; else both are read again. (A
   * chain without its oldest version has no gap either.) Where `limit` cuts it nobody counts: the rest is read at another moment anyway.
   * @param head where to begin, as it was read before
   * @param behind only versions older than this instance; what lies above was given out already and is not checked again
   */
  async walk(head: Head, limit: number, behind?: string): Promise<readonly Version[]> {
    let top: Head | undefined = head;
    for (let reads = 0; top !== undefined && reads < maxReads; reads += 1, top = await this.head()) {
      const includesHead = behind === undefined || top.instance < behind;
      if (top.olderCount === 0) return includesHead ? [top] : [];
      const start = includesHead ? top.instance : behind;
      const wanted = includesHead ? limit - 1 : limit;
      const older = await this.#olderThan(start, wanted);
      let next = includesHead ? top.beneath : older[0]?.instance;
      const unbroken = older.every((version) => {
        const follows = version.instance === next;
        next = version.beneath;
        return follows;
      });
      const ends = older.length === wanted || next === undefined;
      const isWhole = !includesHead || older.length === Math.min(wanted, top.olderCount);
      if (unbroken && ends && isWhole) return includesHead ? [top, ...older] : older;
    }
    if (top !== undefined) throw this.#damaged();
    return [];
  }

  async #olderThan(instance: string, limit: number): Promise<readonly Version[]> {
    const older: Version[] = [];
    for (let after = instance, more = true; more && older.length < limit;) {
      const page = await this.#deps.table.query(partition.history(this.#bucketId, this.#key), {
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

  /** The commit of a write that has not looked: it refuses a head that has a name or a history, or is younger. */
  blindPut(version: Version): Commit {
    const head = { ...version, ...alone };
    const expect: Expectation = {
      is: 'any',
      of: [
        { is: 'absent' },
        { is: 'all', of: [...unversioned, { is: 'less', attribute: 'i', value: version.instance }] },
      ],
    };
    return { head, changes: [this.#putHead(head, expect)] };
  }

  /** The commit that makes `version` current above `before`. A null version takes the place of the key's former one. */
  async put(before: Head | undefined, version: Version): Promise<Commit | undefined> {
    if (before === undefined) {
      const head = { ...version, ...alone };
      return { head, changes: [this.#putHead(head, { is: 'absent' })] };
    }
    if (!version.named && !before.named) {
      const { beneath, olderCount, olderMarkers, olderBytes, nullInHistory } = before;
      const head = { ...version, beneath, olderCount, olderMarkers, olderBytes, nullInHistory };
      return { head, changes: [this.#putHead(head, tokenIs(before))] };
    }
    const demoted = { ...before, token: this.#deps.token(), replacedAt: this.#deps.now() };
    const head: Head = {
      ...version,
      beneath: before.instance,
      olderCount: before.olderCount + 1,
      olderMarkers: before.olderMarkers + (before.marker ? 1 : 0),
      olderBytes: before.olderBytes + before.size,
      nullInHistory: before.named ? before.nullInHistory : before.instance,
    };
    if (version.named || before.nullInHistory === undefined) {
      return { head, changes: [this.#putHead(head, tokenIs(before)), this.#putOlder(demoted, { is: 'absent' })] };
    }
    const displaced = await this.#older(before.nullInHistory);
    if (displaced === undefined) return undefined;
    const above = await this.#above(displaced, demoted);
    if (above === undefined) return undefined;
    const headWithout = without(head, displaced);
    const rest =
      above === demoted
        ? [this.#putOlder({ ...demoted, beneath: displaced.beneath }, { is: 'absent' })]
        : [this.#putOlder(demoted, { is: 'absent' }), this.#relink(above, displaced)];
    return {
      head: headWithout,
      changes: [this.#putHead(headWithout, tokenIs(before)), ...rest, this.#deleteOlder(displaced)],
    };
  }

  /** The commit that removes a version for good; `target` was found under `head`. The next one below becomes current. */
  async remove(head: Head, target: Version): Promise<Commit | undefined> {
    if (target.instance === head.instance) return this.#removeHead(head);
    const above = await this.#above(target, head);
    if (above === undefined) return undefined;
    const headWithout = { ...without(head, target), token: this.#deps.token() };
    if (above === head) {
      const relinked = { ...headWithout, beneath: target.beneath };
      return { head: relinked, changes: [this.#putHead(relinked, tokenIs(head)), this.#deleteOlder(target)] };
    }
    return {
      head: headWithout,
      changes: [this.#putHead(headWithout, tokenIs(head)), this.#relink(above, target), this.#deleteOlder(target)],
    };
  }

  async #removeHead(head: Head): Promise<Commit | undefined> {
    if (head.beneath === undefined) {
      return { head: undefined, changes: [{ key: this.#headKey, delete: true, expect: tokenIs(head) }] };
    }
    const next = await this.#older(head.beneath);
    if (next === undefined) return undefined;
    // The counts come last: an item that was read as a version may have been read with counts, of which it has none.
    const { olderCount, olderMarkers, olderBytes, nullInHistory } = without(head, next);
    const counts = { olderCount, olderMarkers, olderBytes, nullInHistory };
    const promoted: Head = { ...next, token: this.#deps.token(), replacedAt: undefined, ...counts };
    return { head: promoted, changes: [this.#putHead(promoted, tokenIs(head)), this.#deleteOlder(next)] };
  }

  /** Which version names `target` as the one beneath it: `top`, or a neighbour in the history. */
  async #above<Top extends Version>(target: Version, top: Top): Promise<Top | Version | undefined> {
    if (top.beneath === target.instance) return top;
    const { items } = await this.#deps.table.query(partition.history(this.#bucketId, this.#key), {
      after: target.instance,
      limit: 1,
    });
    const neighbour = items[0] && decodeVersion(items[0].attributes);
    return neighbour?.beneath === target.instance ? neighbour : undefined;
  }

  /** What was read again and again never fitted together: no race lasts so long. */
  #damaged(): Error {
    return new Error(`the history of key ${JSON.stringify(this.#key)} in bucket ${this.#bucketId} is damaged`);
  }

  async #older(instance: string): Promise<Version | undefined> {
    const item = await this.#deps.table.get(this.#historyKey(instance));
    return item && decodeVersion(item);
  }

  #relink(above: Version, target: Version): Change {
    return this.#putOlder({ ...above, token: this.#deps.token(), beneath: target.beneath }, tokenIs(above));
  }

  #putHead(head: Head, expect: Expectation): Change {
    return { key: this.#headKey, put: encodeHead(head), expect };
  }

  #putOlder(version: Version, expect: Expectation): Change {
    return { key: this.#historyKey(version.instance), put: encodeVersion(version), expect };
  }

  #deleteOlder(version: Version): Change {
    return { key: this.#historyKey(version.instance), delete: true, expect: tokenIs(version) };
  }

  #historyKey(instance: string): ItemKey {
    return itemKey.history(this.#bucketId, this.#key, instance);
  }
}

/** The item of a key's head. */
export function headKey(bucketId: string, key: string): ItemKey {
  return { pk: headPartition(bucketId, key), sk: key };
}

/** No name and no history: what an unversioned bucket's heads are. */
export const unversioned: readonly Expectation[] = [
  { is: 'missing', attribute: 'v' },
  { is: 'missing', attribute: 'n' },
];

const alone = { beneath: undefined, olderCount: 0, olderMarkers: 0, olderBytes: 0, nullInHistory: undefined } as const;

export function tokenIs({ token }: Version): Expectation {
  return { is: 'equal', attribute: 'r', value: token };
}

/** A head's counts once a version of its history is gone. */
function without(head: Head, gone: Version): Head {
  return {
    ...head,
    olderCount: head.olderCount - 1,
    olderMarkers: head.olderMarkers - (gone.marker ? 1 : 0),
    olderBytes: head.olderBytes - gone.size,
    nullInHistory: head.nullInHistory === gone.instance ? undefined : head.nullInHistory,
  };
}
