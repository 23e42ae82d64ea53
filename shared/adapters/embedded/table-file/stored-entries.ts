import type { Database } from 'lmdb';
import { crc32 } from 'node:zlib';
import { ItemDamaged, type Attributes, type ItemKey } from '../../../ports/key-value-table.ts';
import { checksumOf, hasChecksums, isSmallBlobRef } from '../blobs/blob-ref.ts';
import { isRecord } from '../table/feed-log.ts';
import { decodeItem } from '../../encoded-table/item-encoding.ts';
import { decodeItemKey, encodeItemKey } from '../../encoded-table/item-key.ts';
import { LmdbEnvironment } from '../table/lmdb-environment.ts';
import { seal, unseal } from '../table/sealed-item.ts';
import { engineTree, type PageDamage, type StoredEntry } from './table-pages.ts';

/** The databases of the table's items, of small blobs, and of the change feed. */
const items = 'items';
const smallBlobs = 'blobs';
const feed = 'feed';

/** The limits of a transaction that writes entries: their number, and their size in bytes. */
const maxEntries = 2000;
const maxBytes = 4 * 1024 * 1024;

/** A new table made of stored entries of any database. */
export class StoredEntries {
  readonly #environment: LmdbEnvironment;
  readonly #databases = new Map<string, Database<Buffer, Buffer>>();
  #waiting: StoredEntry[] = [];
  #bytes = 0;

  readonly #seals: boolean;

  private constructor(environment: LmdbEnvironment, seals: boolean) {
    this.#environment = environment;
    this.#seals = seals;
  }

  /** @param seals whether to give checksums to items and records of the feed that have none */
  static async create(directory: string, { seals = false } = {}): Promise<StoredEntries> {
    return new StoredEntries(await LmdbEnvironment.open(directory), seals);
  }

  async put(given: StoredEntry): Promise<void> {
    const entry = this.#seals ? sealed(given) : given;
    this.#waiting.push(entry);
    this.#bytes += entry.key.length + entry.value.length;
    if (this.#waiting.length >= maxEntries || this.#bytes >= maxBytes) await this.#flush();
  }

  async close(): Promise<void> {
    try {
      await this.#flush();
    } finally {
      await this.#environment.close();
    }
  }

  async #flush(): Promise<void> {
    // A database cannot be opened within a transaction.
    for (const { database } of this.#waiting) {
      if (this.#databases.has(database)) continue;
      this.#databases.set(
        database,
        this.#environment.database(database, { keyEncoding: 'binary', encoding: 'binary' }),
      );
    }
    const entries = this.#waiting;
    this.#waiting = [];
    this.#bytes = 0;
    if (entries.length === 0) return;
    await this.#environment.run(() => {
      for (const { database, key, value } of entries) void this.#databases.get(database)!.put(key, value);
    });
  }
}

/** Returns an entry with a checksum, if it is an item or a record of the feed. */
function sealed(entry: StoredEntry): StoredEntry {
  const { database, key, value } = entry;
  if (database !== items && !(database === feed && isRecord(key))) return entry;
  return { ...entry, value: seal(key, unseal(key, value)) };
}

/** Returns what is wrong with an entry, or undefined if it can be read, or is of a kind that cannot be told. */
export function damageOf({ database, key, value }: StoredEntry): string | undefined {
  if (database === smallBlobs) {
    const ref = key.toString();
    if (!isSmallBlobRef(ref)) return 'its reference is malformed';
    return hasChecksums(ref) && crc32(value) !== checksumOf(ref)
      ? 'its bytes are not those that were written'
      : undefined;
  }
  if (database !== items) return undefined;
  try {
    decodeItem(unseal(key, value));
    return undefined;
  } catch (error) {
    if (error instanceof ItemDamaged) return 'it cannot be decoded';
    throw error;
  }
}

/** Tells whether an entry is what was written, as far as it can be told; never of what has no checksum and no form of its own. */
export function isWritten(entry: StoredEntry): boolean {
  const { database, key, value } = entry;
  if (database !== feed) return (database === items || database === smallBlobs) && damageOf(entry) === undefined;
  try {
    return isRecord(key) && unseal(key, value).length < value.length;
  } catch (error) {
    if (error instanceof ItemDamaged) return false;
    throw error;
  }
}

/** Returns the item that an entry has under this key. Undefined: it is another entry. */
export function itemOf({ database, key, value }: StoredEntry, wanted: ItemKey): Attributes | undefined {
  return database === items && key.equals(encodeItemKey(wanted)) ? decodeItem(unseal(key, value)) : undefined;
}

/** Names an entry: an item by both parts of its key. */
export function nameOf({ database, key }: Pick<StoredEntry, 'database' | 'key'>): string {
  if (database === smallBlobs) return key.toString();
  if (database !== items) return `${database} ${key.toString('hex')}`;
  const { pk, sk } = decodeItemKey(key);
  return `${pk} ${sk}`;
}

/** Names the entries that are lost with a page. */
export function lostWith(damage: PageDamage): string {
  if (damage.database === engineTree) return 'no items';
  return damage.found === 0 ? rangeOf(damage) : `${rangeOf(damage)}, but for ${damage.found} that were found`;
}

function rangeOf({ database, from, to }: PageDamage): string {
  if (from === undefined && to === undefined) return `all of ${database}`;
  const first = from === undefined ? 'the first' : nameOf({ database, key: from });
  return to === undefined && from !== undefined
    ? `${database} from ${first}`
    : `${database} from ${first} to before ${to === undefined ? 'the end' : nameOf({ database, key: to })}`;
}
