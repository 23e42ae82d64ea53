import { createHash } from 'node:crypto';
import { encodeItem } from '../../../shared/adapters/encoded-table/item-encoding.ts';
import { encodeItemKey } from '../../../shared/adapters/encoded-table/item-key.ts';
import { OperatorError } from '../../../shared/errors/operator-error.ts';
import { BlobDamaged, BlobMissing, type BlobRef, type BlobStore } from '../../../shared/ports/blob-store.ts';
import type { Clock } from '../../../shared/ports/clock.ts';
import { second } from '../../../shared/ports/durations.ts';
import type { ChangeFeed, Change, Item, KeyValueTable } from '../../../shared/ports/key-value-table.ts';
import type { Randomness } from '../../../shared/ports/randomness.ts';
import { inParallel } from '../../../shared/storage/concurrency.ts';
import { writeToken } from '../../../shared/storage/table/keys/ids.ts';
import { itemKey } from '../../../shared/storage/table/keys/keys.ts';
import {
  blobNamed,
  migrationKey,
  movedBlobs,
  namingBlobs,
  staysInPlace,
} from '../../../shared/storage/table/keys/migration-keys.ts';
import { claimLayout, layoutKey, requireLayout, sealedLayout } from '../../../shared/storage/table/layout.ts';
import { partitionPages } from '../../../shared/storage/table/pages.ts';
import { settled } from '../../../shared/storage/table/settled.ts';
import { beginMigration, finishMigration, placeOf } from './migration-state.ts';
import { movedItems } from './moved-items.ts';
import { referredBlobs, type ReferredBlob } from './referred-blobs.ts';

/** The table and the blobs of a source or a target. */
export interface End {
  /** Names the table and the blobs in messages. */
  readonly places: { readonly table: string; readonly blobs: string };
  readonly table: KeyValueTable & Pick<ChangeFeed, 'newest'> & { advanceFeed(to: string): Promise<void> };
  readonly blobs: BlobStore;
}

/** How far a migration is. */
export interface MigrationProgress {
  readonly phase: 'blobs' | 'items' | 'verification';
  /** Blobs copied, their bytes, and those that an earlier run had copied. */
  readonly blobs: number;
  readonly bytes: number;
  readonly blobsBefore: number;
  /** Items copied, and compared. */
  readonly items: number;
  readonly compared: number;
}

/** Something that could not be copied. */
export interface Damage {
  readonly where: string;
  readonly what: string;
}

export interface Migration {
  readonly source: End;
  readonly target: End;
  readonly clock: Clock;
  readonly randomness: Randomness;
  /** Follows the feed of the source to its end. */
  readonly drain: () => Promise<void>;
  readonly onProgress: (progress: MigrationProgress) => void;
  readonly onDamage: (damage: Damage) => void;
}

/** The outcome of a migration. */
export interface Migrated {
  readonly blobs: number;
  readonly bytes: number;
  readonly blobsBefore: number;
  readonly items: number;
  /** Of all items, whatever their order: the same of both tables. */
  readonly digest: string | undefined;
  /** When it was finished; undefined: it was not, as something is damaged. */
  readonly finished: number | undefined;
  /** Whether an earlier run had finished it, so that this one has copied nothing. */
  readonly isEarlier: boolean;
  readonly damaged: number;
  readonly examples: readonly Damage[];
}

/** The number of blobs that are copied at a time, and how often one is tried. */
const blobsTogether = 8;
const attempts = 3;
/** What one write to the target has: the port takes 100 items and 4 MB. */
const itemsOfWrite = 100;
const bytesOfWrite = 1024 * 1024;
const writesTogether = 4;
/** The number of items that `getTogether` takes. */
const readTogether = 10;
/** The number of damaged things that are kept. */
const maxExamples = 100;

/**
 * Copies what a source has into an empty target, or goes on with that; nobody else may write to either. Bytes first, each read as its store verifies
 * them; then the items, which refer to them; then both tables are read again and compared. Only after that a service starts on the target.
 * @throws OperatorError: run it again, after what its message says
 */
export async function migrate(job: Migration): Promise<Migrated> {
  const { source, target, clock, randomness } = job;
  const place = await placeOf(source.table, randomness);
  const state = await beginMigration(target, place, { clock, places: target.places });
  const run = new Run(job);
  if (state?.finished !== undefined) {
    await run.forgetMoved();
    return run.outcome(undefined, state.finished, true);
  }
  await job.drain();
  const position = source.table.newest();
  await run.copyBlobs();
  if (run.isDamaged) return run.outcome(undefined, undefined);
  const isResumed = state !== undefined;
  // An earlier run may have copied what has changed since.
  if (isResumed) await run.removeItems(namingBlobs, async (items) => items);
  await run.copyItems();
  if (run.isDamaged) return run.outcome(undefined, undefined);
  if (isResumed) await run.removeItems(undefined, (items) => missingIn(source.table, items));
  const digest = await run.verify();
  if (source.table.newest() !== position) throw changed(source);
  await keepLayout(source.table, target.table, randomness);
  // The records of what was followed name positions, of which those of the target must be later.
  if (position !== undefined) await target.table.advanceFeed(position);
  await finishMigration(target.table, clock);
  await run.forgetMoved();
  return run.outcome(digest, clock.now());
}

class Run {
  readonly #job: Migration;
  readonly #id: string;
  readonly #examples: Damage[] = [];
  /** Blobs that are being copied, as several versions may share one. */
  readonly #copying = new Map<BlobRef, Promise<void>>();
  #phase: MigrationProgress['phase'] = 'blobs';
  #damaged = 0;
  #blobs = 0;
  #bytes = 0;
  #blobsBefore = 0;
  #items = 0;
  #compared = 0;

  constructor(job: Migration) {
    this.#job = job;
    this.#id = writeToken(job.randomness);
  }

  get isDamaged(): boolean {
    return this.#damaged > 0;
  }

  outcome(digest: string | undefined, finished: number | undefined, isEarlier = false): Migrated {
    const [blobs, bytes, blobsBefore, items] = [this.#blobs, this.#bytes, this.#blobsBefore, this.#items];
    const [damaged, examples] = [this.#damaged, this.#examples];
    return { blobs, bytes, blobsBefore, items, digest, finished, isEarlier, damaged, examples };
  }

  /** Copies all blobs that the source refers to. What is damaged is noted, and does not hold up others. */
  async copyBlobs(): Promise<void> {
    const { source } = this.#job;
    const referred = referredBlobs(source.table, (error) => this.#note('an item of the table', error.message));
    await inParallel(referred, blobsTogether, async (blob) => {
      const copying = this.#copying.get(blob.ref) ?? this.#copyBlob(blob);
      this.#copying.set(blob.ref, copying);
      await copying.finally(() => this.#copying.delete(blob.ref));
    });
  }

  async #copyBlob({ ref, size, owner }: ReferredBlob): Promise<void> {
    const { source, target } = this.#job;
    const key = migrationKey.movedBlob(ref);
    const moved = await target.table.get(key);
    if (moved !== undefined) {
      // Otherwise another version shares it.
      if (moved['run'] !== this.#id) this.#blobsBefore += 1;
      this.#tell();
      return;
    }
    for (let attempt = 1; ; attempt += 1) {
      try {
        const written = await target.blobs.write(await source.blobs.read(ref, size), owner, size);
        if (written.size !== size) throw new BlobDamaged(ref, `has ${written.size} bytes instead of ${size}`);
        // Small blobs of a data directory are on the disk with this.
        await settled(target.table.write([{ key, put: { ref: written.ref, run: this.#id } }]));
        break;
      } catch (error) {
        if (isDamage(error)) return this.#noteBlob(ref, owner, error);
        if (attempt === attempts) throw error;
        await this.#job.clock.sleep(attempt * second);
      }
    }
    this.#blobs += 1;
    this.#bytes += size;
    this.#tell();
  }

  /** Copies all items, with the new references of their blobs. */
  async copyItems(): Promise<void> {
    const { table } = this.#job.target;
    this.#phase = 'items';
    await inParallel(inGroups(this.#itemsOfSource(), itemsOfWrite), writesTogether, async (items) => {
      const moved = await movedItems(table, items);
      await settled(table.write(moved.map(({ key, attributes }): Change => ({ key, put: attributes }))));
      this.#items += items.length;
      this.#tell();
    });
  }

  /**
   * Removes items of the target.
   * @param prefixes of their partition keys; undefined: all whose keys are the same in the source
   * @param choose returns those that are to be removed
   */
  async removeItems(
    prefixes: readonly string[] | undefined,
    choose: (items: readonly Item[]) => Promise<readonly Item[]>,
  ): Promise<void> {
    const { table } = this.#job.target;
    const isExamined = ({ key }: Item): boolean =>
      !staysInPlace(key) && (prefixes !== undefined || blobNamed(key) === undefined);
    const items = chosen(table.scan(prefixes && { prefixes }), isExamined);
    await inParallel(inGroups(items, readTogether), writesTogether, async (some) => {
      const removed = await choose(some);
      if (removed.length === 0) return;
      await settled(table.write(removed.map(({ key }): Change => ({ key, delete: true }))));
    });
  }

  /** Compares both tables. @returns the digest of their items. @throws OperatorError if they differ */
  async verify(): Promise<string> {
    const { source, target } = this.#job;
    this.#phase = 'verification';
    const [expected, found] = [new ItemsDigest(), new ItemsDigest()];
    await inParallel(inGroups(this.#itemsOfSource(), itemsOfWrite), 1, async (items) => {
      for (const item of await movedItems(target.table, items)) expected.add(item);
      this.#compared += items.length;
      this.#tell();
    });
    for await (const item of chosen(target.table.scan(), ({ key }) => !staysInPlace(key))) found.add(item);
    if (expected.text !== found.text) throw changed(source);
    return found.text;
  }

  /** Removes what the target knows of former references. */
  async forgetMoved(): Promise<void> {
    const { table } = this.#job.target;
    for await (const items of partitionPages(table, movedBlobs, { limit: itemsOfWrite })) {
      if (items.length > 0) await settled(table.write(items.map(({ key }) => ({ key, delete: true }))));
    }
  }

  #itemsOfSource(): AsyncIterable<Item> {
    const onDamaged = (error: Error): void => this.#note('an item of the table', error.message);
    return chosen(this.#job.source.table.scan({ onDamaged }), ({ key }) => !staysInPlace(key));
  }

  async #noteBlob(ref: BlobRef, { bucketId, key }: ReferredBlob['owner'], error: unknown): Promise<void> {
    const name = (await this.#job.source.table.get(itemKey.bucketName(bucketId)))?.['name'];
    this.#note(`${typeof name === 'string' ? name : bucketId}/${key}`, (error as Error).message || `blob ${ref}`);
  }

  #note(where: string, what: string): void {
    this.#damaged += 1;
    if (this.#examples.length < maxExamples) this.#examples.push({ where, what });
    this.#job.onDamage({ where, what });
  }

  #tell(): void {
    this.#job.onProgress({
      phase: this.#phase,
      ...{ blobs: this.#blobs, bytes: this.#bytes, blobsBefore: this.#blobsBefore },
      ...{ items: this.#items, compared: this.#compared },
    });
  }
}

/** A digest of items in any order, as those of two tables come: the sum of their hashes, and how many there are. */
class ItemsDigest {
  #sum = 0n;
  #count = 0;

  add({ key, attributes }: Item): void {
    const encodedKey = encodeItemKey(key);
    const size = Buffer.alloc(2);
    size.writeUInt16BE(encodedKey.length);
    const hash = createHash('sha256').update(size).update(encodedKey).update(encodeItem(attributes)).digest();
    this.#sum = BigInt.asUintN(256, this.#sum + BigInt(`0x${hash.toString('hex')}`));
    this.#count += 1;
  }

  get text(): string {
    return `${this.#count}-${this.#sum.toString(16).padStart(64, '0')}`;
  }
}

/** Records in the target which programs can read what was copied. How its items are stored, it knows itself. */
async function keepLayout(source: KeyValueTable, target: KeyValueTable, randomness: Randomness): Promise<void> {
  await claimLayout({ table: target, randomness });
  const layout = await source.get(layoutKey);
  const least = Math.max(Number(layout?.['leastReader'] ?? 1), Number(layout?.['leastWriter'] ?? 1));
  if (least > sealedLayout.leastReader) await requireLayout({ table: target, randomness }, least);
}

/** Returns those of some items that a table does not have. */
async function missingIn(table: KeyValueTable, items: readonly Item[]): Promise<readonly Item[]> {
  const found = await table.getTogether(items.map(({ key }) => key));
  return items.filter((_, at) => found[at] === undefined);
}

async function* chosen<One>(many: AsyncIterable<One>, isChosen: (one: One) => boolean): AsyncGenerator<One> {
  for await (const one of many) if (isChosen(one)) yield one;
}

/** Yields items in groups that a write takes. */
async function* inGroups(items: AsyncIterable<Item>, most: number): AsyncGenerator<readonly Item[]> {
  let group: Item[] = [];
  let bytes = 0;
  for await (const item of items) {
    const size = encodeItem(item.attributes).length;
    if (group.length === most || (group.length > 0 && bytes + size > bytesOfWrite)) {
      yield group;
      group = [];
      bytes = 0;
    }
    group.push(item);
    bytes += size;
  }
  if (group.length > 0) yield group;
}

/** Tells whether an error is about the bytes of a blob, so that no attempt will succeed: that of a disk, or of the SDK, included. */
function isDamage(error: unknown): boolean {
  if (error instanceof BlobDamaged || error instanceof BlobMissing) return true;
  const { code, message } = error as NodeJS.ErrnoException;
  return code === 'EIO' || /^Checksum mismatch/.test(message);
}

function changed({ places }: End): OperatorError {
  return new OperatorError(
    `${places.table} was written to while it was copied: stop all services on it, and run the same command again`,
  );
}
