import { type BlobRef, BlobsNotRemoved, type BlobStore } from '../../ports/blob-store.ts';
import type { Clock } from '../../ports/clock.ts';
import type { Attributes, Item, KeyValueTable, Stored } from '../../ports/key-value-table.ts';
import type { Randomness } from '../../ports/randomness.ts';
import { writeToken } from '../table/ids.ts';
import { inParallel } from '../in-parallel.ts';
import * as keyParts from '../table/key-parts.ts';
import { garbagePartitions, itemKey, partition } from '../table/keys.ts';
import type { Manifests } from '../objects/manifests.ts';
import { currentVersionKey } from '../objects/version-chain.ts';
import { decodeContent } from '../objects/content.ts';
import type { Uploads } from '../uploads/uploads.ts';
import { uploadCode, type Place } from './release-queue.ts';

/** The outcome of a sweep. */
export interface Sweep {
  /** Contents and details removed. */
  readonly freed: number;
  /** False if due entries are left. */
  readonly complete: boolean;
}

/** Something that nothing refers to any more, with its queue entry. */
interface Unreferenced {
  readonly entry: Item;
  readonly thing: string;
  readonly blobs: readonly BlobRef[];
  readonly hasReferences: boolean;
}

/** Entries per page; their blobs are removed together. */
const pageSize = 200;

/**
 * Frees the bytes of removed versions. Checks each queue entry again after its grace period, because a version may only
 * have moved, or may share its content. Repetition does no harm.
 */
export class Release {
  readonly #table: KeyValueTable;
  readonly #blobs: BlobStore;
  readonly #clock: Clock;
  readonly #randomness: Randomness;
  readonly #manifests: Manifests;
  readonly #uploads: Uploads;
  readonly #concurrency: ReleaseConcurrency;

  constructor(deps: {
    table: KeyValueTable;
    blobs: BlobStore;
    clock: Clock;
    randomness: Randomness;
    manifests: Manifests;
    uploads: Uploads;
    concurrency?: ReleaseConcurrency;
  }) {
    this.#table = deps.table;
    this.#blobs = deps.blobs;
    this.#clock = deps.clock;
    this.#randomness = deps.randomness;
    this.#manifests = deps.manifests;
    this.#uploads = deps.uploads;
    this.#concurrency = deps.concurrency ?? { partitions: garbagePartitions, entries: 8 };
  }

  /**
   * Processes every due entry, oldest first, in all partitions concurrently. An entry that fails stays for the next
   * sweep and does not hold up others.
   * @param stopping returns whether to start nothing more
   * @throws the first failure, after everything else was done
   */
  async sweep(stopping: () => boolean = () => false): Promise<Sweep> {
    const failures: unknown[] = [];
    let freed = 0;
    let complete = true;
    const partitions = Array.from({ length: garbagePartitions }, (_, number) => partition.garbage(number));
    await inParallel(partitions, this.#concurrency.partitions, async (pk) => {
      try {
        for await (const entries of this.#duePages(pk)) {
          if (stopping()) complete = false;
          if (!complete) return;
          const settled = await this.#settle(entries, failures);
          freed += settled;
        }
      } catch (error) {
        failures.push(error);
      }
    });
    if (failures.length > 0) throw failures[0];
    return { freed, complete };
  }

  /** Yields the due entries of a partition, page by page. */
  async *#duePages(pk: string): AsyncGenerator<readonly Item[]> {
    const now = this.#clock.now();
    for (let after: string | undefined, more = true; more;) {
      const page = await this.#table.query(pk, { limit: pageSize, ...(after !== undefined && { after }) });
      const due = page.items.filter(({ key }) => keyParts.garbage(key).due <= now);
      if (due.length > 0) yield due;
      after = page.items.at(-1)?.key.sk;
      more = page.more && due.length === page.items.length;
    }
  }

  /** Decides on some entries, removes the unreferenced blobs together, and drops the entries that are done. */
  async #settle(entries: readonly Item[], failures: unknown[]): Promise<number> {
    const unreferenced: Unreferenced[] = [];
    const each = (work: (entry: Item) => Promise<void>) => (entry: Item) =>
      work(entry).catch((error: unknown) => void failures.push(error));
    const { entries: width } = this.#concurrency;
    const decide = each(async (entry) => {
      const found = await this.#decide(entry);
      if (found) unreferenced.push(found);
      else await this.#drop(entry);
    });
    await inParallel(entries, width, decide);
    const left = await this.#removeBlobs(
      unreferenced.flatMap(({ blobs }) => blobs),
      failures,
    );
    const free = unreferenced.filter(({ blobs }) => !blobs.some((blob) => left.has(blob)));
    let freed = 0;
    const byEntry = new Map(free.map((one) => [one.entry, one]));
    const finish = each(async (entry) => {
      await this.#removeItems(byEntry.get(entry)!);
      await this.#drop(entry);
      freed += 1;
    });
    await inParallel(byEntry.keys(), width, finish);
    return freed;
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
      const rest = [...((item['holders'] as ReadonlySet<string> | undefined) ?? [])].filter((one) => one !== instance);
      const put = { ...(rest.length > 0 && { holders: new Set(rest) }), r: writeToken(this.#randomness) };
      const { outcome } = await this.#table.write([
        { key: itemKey.references(content), put, expect: { is: 'equal', attribute: 'r', value: item['r'] as string } },
      ]);
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
      failures.push(error);
      return error instanceof BlobsNotRemoved ? error.refs : new Set(blobs);
    }
  }

  /** The items are removed after the blobs, since a repetition finds the blobs through them. */
  async #removeItems({ thing, hasReferences }: Unreferenced): Promise<void> {
    if (thing.startsWith('d')) {
      await this.#table.write([{ key: itemKey.details(thing.slice(1)), delete: true }]);
      return;
    }
    const content = decodeContent(thing);
    if (content.kind === 'manifest') await this.#manifests.remove(content.id);
    if (hasReferences) await this.#table.write([{ key: itemKey.references(thing), delete: true }]);
  }

  async #drop({ key }: Item): Promise<void> {
    await this.#table.write([{ key, delete: true }]);
  }
}

/** The concurrency of a sweep. */
export interface ReleaseConcurrency {
  readonly partitions: number;
  /** Per partition. */
  readonly entries: number;
}
