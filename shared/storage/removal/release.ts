import { type BlobRef, BlobsHeld, BlobsNotRemoved, type BlobStore } from '../../ports/blob-store.ts';
import type { Clock } from '../../ports/clock.ts';
import type { Attributes, Item, KeyValueTable, Stored } from '../../ports/key-value-table.ts';
import type { Randomness } from '../../ports/randomness.ts';
import { writeToken } from '../table/keys/ids.ts';
import { inParallel } from '../concurrency.ts';
import * as keyParts from '../table/keys/key-parts.ts';
import { garbagePartitions, itemKey, partition } from '../table/keys/keys.ts';
import { partitionPages } from '../table/pages.ts';
import { separately } from '../table/separate-changes.ts';
import { settled } from '../table/settled.ts';
import type { Manifests } from '../objects/manifests.ts';
import { currentVersionKey } from '../version-changes/version-chain.ts';
import { decodeContent } from '../versions/stored-values.ts';
import type { Uploads } from '../uploads/uploads.ts';
import type { Held, ReaderBarrier } from './readers.ts';
import { uploadCode, type Place } from './release-queue.ts';
import { asRead } from '../table/optimistic-write.ts';

/** The outcome of a sweep. */
export interface Sweep {
  /** Contents and details removed. */
  readonly freed: number;
  /** False if due entries are left that no request reads. */
  readonly complete: boolean;
  /** The blobs removed, and the bytes of objects and parts that they held. */
  readonly blobs: number;
  readonly bytes: number;
  /** Content that nothing refers to, but requests still read, or a backup needs. */
  readonly held: ReleasedAmount;
}

/** An amount of released content. */
export interface ReleasedAmount {
  /** Contents and details. */
  readonly things: number;
  readonly blobs: number;
  readonly bytes: number;
}

/** The options of a sweep. */
export interface SweepOptions {
  /** Returns whether to start nothing more. */
  readonly stopping?: () => boolean;
  /** Frees content before its grace period is over, too. */
  readonly early?: boolean;
  /** Tells which content requests still read. Default: the barrier of the release. */
  readonly readers?: ReaderBarrier;
}

/** A queue entry, with what is known about it. */
interface Queued {
  readonly entry: Item;
}

/** Something that nothing refers to any more. */
interface Unreferenced extends Queued {
  readonly thing: string;
  readonly blobs: readonly BlobRef[];
  readonly hasReferences: boolean;
}

/** Entries per page; their blobs are removed together. */
const defaultPageSize = 200;

/** The barrier of deployments in which the grace period alone protects readers. */
const nobodyReads: ReaderBarrier = { passed: () => Promise.resolve(new Set<string>()) };

/** The progress of a sweep. */
interface Progress {
  readonly failures: unknown[];
  readonly readers: ReaderBarrier;
  readonly freed: { things: number; blobs: number; bytes: number };
  readonly held: { things: number; blobs: number; bytes: number };
  /** What `held` has. */
  readonly counted: Set<string>;
}

/**
 * Frees the bytes of removed versions. Checks each queue entry again after its grace period, because a version may only have moved, or may
 * share its content. Later requests cannot find unreferenced content; it is removed once earlier ones no longer read it. Repetition does no
 * harm.
 */
export class Release {
  readonly #table: KeyValueTable;
  readonly #blobs: BlobStore;
  readonly #clock: Clock;
  readonly #randomness: Randomness;
  readonly #manifests: Manifests;
  readonly #uploads: Uploads;
  readonly #concurrency: ReleaseConcurrency;
  readonly #readers: ReaderBarrier;

  /** @param deps.readers knows the requests that may still read what is released. Default: the grace period protects them */
  constructor(deps: {
    table: KeyValueTable;
    blobs: BlobStore;
    clock: Clock;
    randomness: Randomness;
    manifests: Manifests;
    uploads: Uploads;
    concurrency?: ReleaseConcurrency;
    readers?: ReaderBarrier;
  }) {
    this.#table = deps.table;
    this.#blobs = deps.blobs;
    this.#clock = deps.clock;
    this.#randomness = deps.randomness;
    this.#manifests = deps.manifests;
    this.#uploads = deps.uploads;
    this.#concurrency = deps.concurrency ?? { partitions: garbagePartitions, entries: 8 };
    this.#readers = deps.readers ?? nobodyReads;
  }

  /**
   * Processes every due entry, oldest first, in all partitions concurrently. An entry that fails stays for the next
   * sweep and does not hold up others, nor does one whose content is read.
   * @throws the first failure, after everything else was done
   */
  async sweep({ stopping = () => false, early = false, readers = this.#readers }: SweepOptions = {}): Promise<Sweep> {
    const none = { things: 0, blobs: 0, bytes: 0 };
    const progress: Progress = { failures: [], readers, freed: { ...none }, held: { ...none }, counted: new Set() };
    let complete = true;
    const partitions = Array.from({ length: garbagePartitions }, (_, number) => partition.garbage(number));
    await inParallel(partitions, this.#concurrency.partitions, async (pk) => {
      try {
        for await (const entries of this.#duePages(pk, early)) {
          if (stopping()) complete = false;
          if (!complete) return;
          await this.#settle(entries, progress);
        }
      } catch (error) {
        progress.failures.push(error);
      }
    });
    if (progress.failures.length > 0) throw progress.failures[0];
    const { things: freed, blobs, bytes } = progress.freed;
    return { freed, complete, blobs, bytes, held: progress.held };
  }

  /** Yields the due entries of a partition, page by page; with `early`, all but the later clean-ups of uploads. */
  async *#duePages(pk: string, early: boolean): AsyncGenerator<readonly Item[]> {
    const now = this.#clock.now();
    const limit = this.#concurrency.page ?? defaultPageSize;
    for await (const items of partitionPages(this.#table, pk, { limit })) {
      const isDue = ({ key }: Item): boolean => keyParts.garbage(key).due <= now;
      const due = items.filter((item) => isDue(item) || (early && keyParts.garbage(item.key).thing !== uploadCode));
      if (due.length > 0) yield due;
      const last = items.at(-1);
      if (last === undefined || !(early || isDue(last))) return;
    }
  }

  /** Decides on some entries, removes the unreferenced blobs together, and drops the entries that are done. */
  async #settle(entries: readonly Item[], { failures, readers, freed, held, counted }: Progress): Promise<void> {
    const unreferenced: Unreferenced[] = [];
    const done: Queued[] = [];
    const { entries: width } = this.#concurrency;
    const each =
      <One>(work: (one: One) => Promise<void>) =>
      (one: One) =>
        work(one).catch((error: unknown) => {
          // What a backup holds stays in the queue.
          if (!(error instanceof BlobsHeld)) failures.push(error);
        });
    const decide = each(async (entry: Item) => {
      const found = await this.#decide(entry);
      if (found) unreferenced.push(found);
      else done.push({ entry });
    });
    await inParallel(entries, width, decide);
    const drop = <One extends Queued>(dropped: readonly One[], then: (one: One) => void) =>
      inParallel(
        separately(this.#table, dropped).writes,
        width,
        each(async (some: readonly One[]) => {
          await settled(this.#table.write(some.map(({ entry: { key } }) => ({ key, delete: true }))));
          some.forEach(then);
        }),
      );
    await drop(done, () => undefined);
    if (unreferenced.length === 0) return;
    // From here on, no request can begin to read any of it.
    const read: Held = await readers.passed();
    const hold = (one: Unreferenced): void => {
      // The feed may have named it twice.
      if (!counted.has(one.thing)) add(held, one);
      counted.add(one.thing);
    };
    unreferenced.filter(({ thing }) => read.has(thing)).forEach(hold);
    const unread = unreferenced.filter(({ thing }) => !read.has(thing));
    const left = await this.#removeBlobs(
      unread.flatMap(({ blobs }) => blobs),
      failures,
    );
    const removed: Unreferenced[] = [];
    const finish = each(async (one: Unreferenced) => {
      await this.#removeItems(one);
      removed.push(one);
    });
    const isLeft = ({ blobs }: Unreferenced): boolean => blobs.some((blob) => left.has(blob));
    unread.filter(isLeft).forEach(hold);
    const withoutBlobs = unread.filter((one) => !isLeft(one));
    await inParallel(withoutBlobs, width, finish);
    await drop(removed, (one) => add(freed, one));
  }

  /**
   * Returns what an entry names, with the blobs to remove; undefined if it is still used or another entry's to remove.
   */
  async #decide(entry: Item): Promise<Unreferenced | undefined> {
    const { thing, instance } = keyParts.garbage(entry.key);
    if (thing === uploadCode) {
      await this.#uploads.finish(instance);
      return undefined;
    }
    const { bucketId, key } = entry.attributes as Stored<Place>;
    const isDetails = thing.startsWith('d');
    const [currentVersion, older, references] = await this.#table.getTogether([
      currentVersionKey(bucketId, key),
      itemKey.noncurrentVersion(bucketId, key, instance),
      itemKey.references(thing),
    ]);
    const present = currentVersion?.['i'] === instance ? currentVersion : older;
    if (present !== undefined && (!isDetails || present['d'] === thing.slice(1))) return undefined;
    if (isDetails) return { entry, thing, blobs: [], hasReferences: false };
    if (!(await this.#letGo(thing, instance, references))) return undefined;
    return { entry, thing, blobs: await this.#blobsOf(thing), hasReferences: references !== undefined };
  }

  async #blobsOf(thing: string): Promise<readonly BlobRef[]> {
    const content = decodeContent(thing);
    if (content.kind === 'blob') return [content.ref];
    const parts = await this.#manifests.parts(content.id);
    return parts.map(({ blob }) => blob).filter((blob) => blob !== '');
  }

  /** Removes the reference of a version to its content. @returns whether it was the last */
  async #letGo(content: string, instance: string, references: Attributes | undefined): Promise<boolean> {
    for (let item = references; item !== undefined; item = await this.#table.get(itemKey.references(content))) {
      const holders = [...((item['holders'] as ReadonlySet<string> | undefined) ?? [])];
      const rest = holders.filter((one) => one !== instance);
      // An earlier sweep has removed the reference, and left the content to its readers.
      if (holders.length === 0) return true;
      const put = { ...(rest.length > 0 && { holders: new Set(rest) }), r: writeToken(this.#randomness) };
      const { outcome } = await this.#table.write([{ key: itemKey.references(content), put, expect: asRead(item) }]);
      if (outcome === 'written') return rest.length === 0;
    }
    return true;
  }

  /** Returns the blobs that could not be removed. */
  async #removeBlobs(blobs: readonly BlobRef[], failures: unknown[]): Promise<ReadonlySet<BlobRef>> {
    if (blobs.length === 0) return new Set();
    try {
      await this.#blobs.remove(blobs);
      return new Set();
    } catch (error) {
      if (!(error instanceof BlobsHeld)) failures.push(error);
      return error instanceof BlobsNotRemoved ? error.refs : new Set(blobs);
    }
  }

  /** The items are removed after the blobs, since a repetition finds the blobs through them. */
  async #removeItems({ thing, hasReferences }: Unreferenced): Promise<void> {
    if (thing.startsWith('d')) {
      await settled(this.#table.write([{ key: itemKey.details(thing.slice(1)), delete: true }]));
      return;
    }
    const content = decodeContent(thing);
    if (content.kind === 'manifest') await this.#manifests.remove(content.id);
    if (hasReferences) await settled(this.#table.write([{ key: itemKey.references(thing), delete: true }]));
  }
}

/** The concurrency of a sweep. */
export interface ReleaseConcurrency {
  readonly partitions: number;
  /** Per partition. */
  readonly entries: number;
  /** Entries whose blobs are removed together, after one wait for their readers. Default: 200. */
  readonly page?: number;
}

function add(sum: { things: number; blobs: number; bytes: number }, { entry, blobs }: Unreferenced): void {
  sum.things += 1;
  sum.blobs += blobs.length;
  // Entries of earlier versions do not contain the size.
  sum.bytes += (entry.attributes['size'] as number | undefined) ?? 0;
}
