import { itemBytes } from '../../shared/storage/table/item-size.ts';
import type { BlobStore } from '../../shared/ports/blob-store.ts';
import type {
  Attributes,
  Change,
  Condition,
  Item,
  ItemKey,
  QueryOptions,
  QueryPage,
  ScanOptions,
  WriteOutcome,
} from '../../shared/ports/key-value-table.ts';
import { MemoryTable } from '../support/storage/memory-table.ts';

/** The calls and units of a request to the table and the blob store. */
export interface Cost {
  /** Calls that read the table, and the units they take. */
  readonly reads: number;
  readonly readUnits: number;
  /** Calls that write it. A transaction is one. */
  readonly writes: number;
  readonly writeUnits: number;
  /** Items of transactions. */
  readonly transactionItems: number;
  readonly blobPuts: number;
  readonly blobGets: number;
  readonly blobDeletes: number;
}

const nothing: Cost = {
  ...{ reads: 0, readUnits: 0, writes: 0, writeUnits: 0, transactionItems: 0 },
  ...{ blobPuts: 0, blobGets: 0, blobDeletes: 0 },
};

const KiB = 1024;
/** A page of a query. */
const pageBytes = 1024 * KiB;
/** The maximum size of an upload in one request; larger blobs are uploaded in parts. */
const blobPart = 8 * 1024 * KiB;

/**
 * Counts the calls of the cloud adapters, and the units that DynamoDB would consume, from the bytes of the items.
 * https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/read-write-operations.html
 */
export class Meter {
  #cost = nothing;

  /** Returns the cost since the previous call. */
  take(): Cost {
    const taken = this.#cost;
    this.#cost = nothing;
    return taken;
  }

  add(more: Partial<Cost>): void {
    const names = Object.keys(nothing) as (keyof Cost)[];
    this.#cost = Object.fromEntries(
      names.map((name) => [name, this.#cost[name] + (more[name] ?? 0)]),
    ) as unknown as Cost;
  }

  /** Blobs that count the requests that S3 would get. */
  before(blobs: BlobStore): BlobStore {
    return {
      ...blobs,
      write: async (...given) => {
        const written = await blobs.write(...given);
        // Parts, and before and after them the beginning and the end of an upload.
        const parts = Math.ceil(written.size / blobPart);
        this.add({ blobPuts: parts <= 1 ? 1 : parts + 2 });
        return written;
      },
      read: (...given) => {
        this.add({ blobGets: 1 });
        return blobs.read(...given);
      },
      remove: (refs) => {
        this.add({ blobDeletes: refs.length === 0 ? 0 : Math.ceil(refs.length / 1000) });
        return blobs.remove(refs);
      },
      describe: (ref) => {
        this.add({ blobGets: 1 });
        return blobs.describe(ref);
      },
      check: () => {
        this.add({ blobGets: 1 });
        return blobs.check();
      },
    };
  }
}

/** A table in memory that counts the units that DynamoDB would consume. */
export class MeteredTable extends MemoryTable {
  /** The number of scans. Each reads the whole table, whatever its filter. */
  scans = 0;
  readonly #meter: Meter;
  #silent = false;

  constructor(meter: Meter) {
    super({ freeChecks: false });
    this.#meter = meter;
  }

  override async get(key: ItemKey): Promise<Attributes | undefined> {
    const item = await super.get(key);
    if (!this.#silent) this.#meter.add({ reads: 1, readUnits: readUnits(sizeOf(key, item)) });
    return item;
  }

  override async getTogether(keys: readonly ItemKey[]): Promise<readonly (Attributes | undefined)[]> {
    const items = await super.getTogether(keys);
    // A transaction takes two of each.
    const units = keys.reduce((sum, key, at) => sum + 2 * readUnits(sizeOf(key, items[at])), 0);
    this.#meter.add({ reads: 1, readUnits: units });
    return items;
  }

  override async query(pk: string, options?: QueryOptions): Promise<QueryPage> {
    const page = await super.query(pk, options);
    // A query takes the bytes of its items together.
    const bytes = page.items.reduce((sum, { key, attributes }) => sum + sizeOf(key, attributes), 0);
    // An eventually consistent read takes half a unit where another takes one.
    const units = readUnits(bytes) * (options?.mayBeStale === true ? 0.5 : 1);
    this.#meter.add({ reads: Math.max(1, Math.ceil(bytes / pageBytes)), readUnits: units });
    return page;
  }

  override scan(options?: ScanOptions): AsyncIterable<Item> {
    this.scans += 1;
    return super.scan(options);
  }

  /** The read units of a scan, for the bytes of all items together. */
  async scanUnits(): Promise<number> {
    let bytes = 0;
    for await (const { key, attributes } of super.scan()) bytes += sizeOf(key, attributes);
    return bytes / (4 * KiB);
  }

  override async write(changes: readonly Change[], conditions: readonly Condition[] = []): Promise<WriteOutcome> {
    const before = await this.#sizes([...changes, ...conditions].map(({ key }) => key));
    const outcome = await super.write(changes, conditions);
    const items = changes.length + conditions.length;
    // The larger of before and after counts, and twice in a transaction.
    const units = before.reduce((sum, size, at) => {
      const change = changes[at];
      const after = change && 'put' in change ? sizeOf(change.key, change.put) : 0;
      return sum + Math.max(1, Math.ceil(Math.max(size, after) / KiB));
    }, 0);
    const isTransaction = items > 1;
    this.#meter.add({
      writes: 1,
      writeUnits: isTransaction ? 2 * units : units,
      transactionItems: isTransaction ? items : 0,
    });
    return outcome;
  }

  async #sizes(keys: readonly ItemKey[]): Promise<readonly number[]> {
    this.#silent = true;
    try {
      return await Promise.all(keys.map(async (key) => sizeOf(key, await this.get(key))));
    } finally {
      this.#silent = false;
    }
  }
}

/** The bytes of an item with the names and values of its keys; none if it is not there. */
function sizeOf({ pk, sk }: ItemKey, attributes: Attributes | undefined): number {
  return attributes === undefined ? 0 : itemBytes({ pk, sk }) + itemBytes(attributes);
}

/** Returns the units of a strongly consistent read. Reading a missing item consumes one, too. */
function readUnits(bytes: number): number {
  return Math.max(1, Math.ceil(bytes / (4 * KiB)));
}
