import { day } from '../ports/durations.ts';
import { ItemDamaged, type Item, type ItemKey } from '../ports/key-value-table.ts';
import { madeAt } from '../storage/table/keys/ids.ts';
import * as keyParts from '../storage/table/keys/key-parts.ts';
import { BlobScrub } from './blobs.ts';
import { BucketScrub } from './buckets.ts';
import { ContentScrub } from './contents.ts';
import { Findings, type Finding, type ScrubReport } from './findings.ts';
import { reference, ReferenceFilter } from './reference-filter.ts';
import type { ScrubDeps } from './deps.ts';
import { Slice } from './slice.ts';
import { StandingBuckets } from './standing-buckets.ts';
import { UploadScrub } from './uploads.ts';
import { UsageScrub } from './usage.ts';
import { VersionScrub } from './versions.ts';

export interface ScrubOptions {
  /** Repairs findings instead of only reporting them. */
  readonly repair: boolean;
  /** Items younger than this many milliseconds at the start may be work in progress and are left alone. */
  readonly minAge: number;
  /** Reads and verifies the bytes of all blobs. Default: only their sizes are checked. */
  readonly content?: boolean;
  /** Checks only this part. Default: everything. */
  readonly slice?: Slice;
  /** Called with each finding at once. */
  readonly onFinding?: (finding: Finding) => void;
  /** Called from time to time with the stage and the numbers of items and blobs seen. */
  readonly onProgress?: (stage: string, seen: { readonly items: number; readonly blobs: number }) => void;
  /** The size of the reference filter, a power of two. */
  readonly filterBytes?: number;
}

/** The size of the filter in slices other than the first, which do not look for orphans. */
const unusedFilterBytes = 1024;

/** The number of items or blobs checked concurrently. */
const concurrency = 16;
const progressEvery = 1000;

/**
 * Reads the whole table and all blobs, or a slice, and checks that they are consistent. Memory grows with the number of buckets,
 * not with the number of objects. It can run while the service does.
 *
 * Referrers are read before the things they refer to, and the release queue in between. So a thing that lost its last
 * reference before the search for it is in the queue, and one that loses it later has been remembered. A version that
 * moves is not missed, because the versions of a key are read together.
 */
export async function scrub(deps: ScrubDeps, options: ScrubOptions): Promise<ScrubReport> {
  const walk = new ScrubWalk(deps, options);
  return walk.run();
}

class ScrubWalk {
  readonly #deps: ScrubDeps;
  readonly #options: ScrubOptions;
  readonly #findings: Findings;
  readonly #references: ReferenceFilter;
  readonly #slice: Slice;
  #isFeedDamaged = false;

  constructor(deps: ScrubDeps, options: ScrubOptions) {
    this.#deps = deps;
    this.#options = options;
    this.#findings = new Findings({
      repair: options.repair,
      cutoff: deps.clock.now() - options.minAge,
      tell: (finding) => options.onFinding?.(finding),
    });
    this.#slice = options.slice ?? Slice.whole;
    this.#references = new ReferenceFilter(
      deps.randomness,
      this.#slice.isFirst ? options.filterBytes : unusedFilterBytes,
    );
  }

  async run(): Promise<ScrubReport> {
    await (this.#slice.isFirst ? this.#first() : this.#versions());
    return this.#findings.report();
  }

  /** Checks the versions of a slice that is not the first: each against what it refers to, which needs no order. */
  async #versions(): Promise<void> {
    const versions = new VersionScrub(this.#deps, this.#findings, this.#references, this.#options);
    await this.#walk('objects', ['head/', 'old/'], {
      head: (item) => this.#currentVersion(versions, item),
      old: (item, isFirst) => this.#noncurrentVersion(versions, item, isFirst),
    });
  }

  async #first(): Promise<void> {
    const { table, blobs } = this.#deps;
    const drain = this.#deps.drain && (() => this.#drain(this.#deps.drain!));
    await drain?.();
    const standing = await StandingBuckets.read(table);
    const buckets = new BucketScrub(this.#deps, this.#findings, standing);
    const versions = new VersionScrub(this.#deps, this.#findings, this.#references, this.#options);
    const lookAtQueue = async (): Promise<void> => {
      await drain?.();
      await this.#walk('released content', ['garbage/'], { garbage: (item) => this.#queued(item) });
    };
    const uploads = new UploadScrub(this.#deps, this.#findings, this.#references, buckets, lookAtQueue);
    const contents = new ContentScrub(this.#deps, this.#findings, this.#references);
    const blobScrub = new BlobScrub(this.#deps, this.#findings, this.#references);
    const usage = new UsageScrub(this.#deps, this.#findings);

    await this.#walk('buckets and objects', ofBuckets, {
      bucket: (item) => buckets.bucket(item),
      project: (item) => this.#ofProject(buckets, item),
      'bucket-id': (item) => buckets.listing(item.attributes['name'] as string, item),
      'buckets-with': (item) => buckets.listing(item.key.sk, item),
      doc: (item) => buckets.document(item),
      graves: (item) => buckets.tombstone(item),
      ...Object.fromEntries(
        timeless.map((kind) => [kind, async (item: Item) => buckets.timeless(keyParts.bucketId(item.key))]),
      ),
      head: async (item) => {
        await this.#currentVersion(versions, item);
        await this.#remainsOfVersion(buckets, item);
      },
      old: async (item, isFirst) => {
        await this.#noncurrentVersion(versions, item, isFirst);
        await this.#remainsOfVersion(buckets, item);
      },
    });
    await lookAtQueue();
    // A part is removed only after the manifest that contains it was written: one of them is seen.
    await this.#walk('uploads', ['upload/', 'uploads/'], {
      upload: (item) => uploads.item(item),
      uploads: (item) => uploads.listed(item),
    });
    await uploads.end();
    await this.#walk('contents', ['content/', 'details/'], {
      content: (item) => contents.item(item),
      details: (item) => contents.details(item),
    });
    await sideBySide(blobs.list(), concurrency, async (blob) => {
      this.#progress('blobs', 'blobs');
      await blobScrub.blob(blob);
      if (this.#options.content) await blobScrub.content(blob);
    });
    const standingNow = await StandingBuckets.read(table);
    await buckets.end(standingNow);
    if (this.#isFeedDamaged) this.#findings.leaveOut('counters of buckets, because the change feed could not be read');
    else if (drain) await usage.recount(standingNow, drain, versions.miscounting);
    else this.#findings.leaveOut('counters of buckets, because the change feed cannot be awaited here');
  }

  /** Waits for the followers of the change feed, unless a record in it cannot be read: they cannot pass it. */
  async #drain(drain: () => Promise<void>): Promise<void> {
    if (this.#isFeedDamaged) return;
    try {
      await drain();
    } catch (error) {
      if (!(error instanceof ItemDamaged)) throw error;
      this.#isFeedDamaged = true;
      await this.#unreadable(error, error.key);
    }
  }

  /** Checks all items of some kinds. A malformed item is reported, and from then on nothing is treated as an orphan. */
  async #walk(stage: string, prefixes: readonly string[], kinds: Readonly<Record<string, Check>>): Promise<void> {
    let partitionBefore: string | undefined;
    const onDamaged = (error: ItemDamaged): Promise<void> => this.#unreadable(error, error.key);
    await sideBySide(this.#deps.table.scan({ prefixes, onDamaged }), concurrency, async (item) => {
      const isFirst = item.key.pk !== partitionBefore;
      partitionBefore = item.key.pk;
      if (this.#slice.has(item.key)) this.#progress(stage, 'items');
      else if (!this.#slice.isFirst) return;
      const check = kinds[keyParts.kind(item.key)];
      try {
        await check?.(item, isFirst);
      } catch (error) {
        if (error instanceof TypeError) await this.#unreadable(error, item.key);
        // The scan of its own kind reports an item that another one refers to.
        else if (error instanceof ItemDamaged) this.#findings.unsure(unreadable);
        else throw error;
      }
    });
  }

  async #unreadable({ message }: Error, key: ItemKey | undefined): Promise<void> {
    this.#findings.unsure(unreadable);
    if (key === undefined ? !this.#slice.isFirst : !this.#slice.has(key)) return;
    await this.#findings.note('unreadable', `item ${key?.pk} ${key?.sk}`, message);
  }

  async #ofProject(buckets: BucketScrub, item: Item): Promise<void> {
    const { project, name } = keyParts.ofProject(item.key)!;
    await (name === undefined ? buckets.count(project) : buckets.listing(name, item));
  }

  async #currentVersion(versions: VersionScrub, item: Item): Promise<void> {
    await versions.currentVersion(keyParts.version(item.key)!.bucketId, item);
  }

  async #noncurrentVersion(versions: VersionScrub, item: Item, isFirst: boolean): Promise<void> {
    const { bucketId, key } = keyParts.version(item.key)!;
    await versions.older(bucketId, key, item, isFirst);
  }

  async #remainsOfVersion(buckets: BucketScrub, { key, attributes }: Item): Promise<void> {
    await buckets.remains(keyParts.bucketId(key), madeAt(attributes['i'] as string));
  }

  /** Remembers an entry of the release queue: what it names is taken care of. */
  async #queued({ key }: Item): Promise<void> {
    const { due, thing, instance } = keyParts.garbage(key);
    this.#references.add(reference.queued(thing));
    this.#references.add(reference.queued(thing, instance));
    if (this.#findings.isYoung(due + day)) return;
    if ((await this.#deps.table.get(key)) === undefined) return;
    await this.#findings.note('overdue-garbage', key.sk, `since ${new Date(due).toISOString()}`, async () => {
      await this.#deps.release.sweep();
      return (await this.#deps.table.get(key)) === undefined;
    });
  }

  #progress(stage: string, what: 'items' | 'blobs'): void {
    const { seen } = this.#findings;
    seen[what] += 1;
    if (seen[what] % progressEvery === 0) this.#options.onProgress?.(stage, seen);
  }
}

const unreadable = 'an item could not be read';

/** The kinds of a bucket's items that have no time of creation. */
const timeless = ['usage', 'metric', 'alarm', 'alarm-history'] as const;
const ofBuckets = [
  ...['bucket/', 'project/', 'bucket-id/', 'buckets-with/', 'doc/', 'graves', 'head/', 'old/'],
  ...timeless.map((kind) => `${kind}/`),
];

/** @param isFirst whether it is the first item of its partition */
type Check = (item: Item, isFirst: boolean) => Promise<void>;

/**
 * Runs a task for each element of a stream, at most `most` at a time. After the first failure it starts no more, waits
 * for the running tasks, and rejects.
 */
async function sideBySide<T>(stream: AsyncIterable<T>, most: number, task: (one: T) => Promise<void>): Promise<void> {
  const running = new Set<Promise<void>>();
  let failure: { readonly error: unknown } | undefined;
  for await (const one of stream) {
    const run = task(one)
      .catch((error: unknown) => {
        failure ??= { error };
      })
      .finally(() => running.delete(run));
    running.add(run);
    if (running.size >= most) await Promise.race(running);
    if (failure) break;
  }
  await Promise.all(running);
  if (failure) throw failure.error;
}
