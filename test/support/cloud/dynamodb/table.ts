import { createHash } from 'node:crypto';
import { Stream } from './stream.ts';
import { givenKey, keyOf, measured, type StoredItem } from './values.ts';

/** An item in its partition. */
export interface Entry {
  readonly item: StoredItem;
  /** Bytes that count towards a page. */
  readonly size: number;
  /** The sort key, by which items are ordered. */
  readonly sk: Buffer;
}

interface Partition {
  /** Ordered by the bytes of their sort keys. */
  readonly entries: Entry[];
  /** The order of partitions, which is arbitrary to clients, as in DynamoDB. */
  readonly hash: string;
}

/** A table whose items have the string keys `pk` and `sk`. */
export class Table {
  readonly name: string;
  readonly arn: string;
  #stream: Stream | undefined;
  readonly #partitions = new Map<string, Partition>();
  /** By partition and sort key: the images that plain reads still return of items changed by a transaction; undefined: none. */
  readonly #former = new Map<string, Map<string, StoredItem | undefined>>();
  /** Ordered by their hashes; undefined after one was added or removed. */
  #ordered: Partition[] | undefined;

  constructor(name: string) {
    this.name = name;
    this.arn = `arn:aws:dynamodb:us-east-1:123456789012:table/${name}`;
  }

  get stream(): Stream | undefined {
    return this.#stream;
  }

  enableStream(): void {
    this.#stream = new Stream(this.arn);
  }

  /** Returns a table with the items that this one has now. */
  restored(name: string): Table {
    const restored = new Table(name);
    for (const [pk, { entries, hash }] of this.#partitions)
      restored.#partitions.set(pk, { entries: [...entries], hash });
    return restored;
  }

  get description(): object {
    return {
      TableName: this.name,
      TableArn: this.arn,
      TableStatus: 'ACTIVE',
      KeySchema: [
        { AttributeName: 'pk', KeyType: 'HASH' },
        { AttributeName: 'sk', KeyType: 'RANGE' },
      ],
      ...(this.#stream && {
        LatestStreamArn: this.#stream.arn,
        StreamSpecification: { StreamEnabled: true, StreamViewType: 'NEW_AND_OLD_IMAGES' },
      }),
    };
  }

  /** Returns the item of a key. */
  get(key: StoredItem): StoredItem | undefined {
    const { pk, sk } = givenKey(key);
    return this.#find(pk, sk);
  }

  /** Returns the item that has the keys of another one. */
  former(item: StoredItem): StoredItem | undefined {
    const { pk, sk } = keyOf(item);
    return this.#find(pk, sk);
  }

  /**
   * Has plain reads see an item as it was, until it is shown or written again.
   * https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/transaction-apis.html#transaction-isolation
   */
  hide({ pk, sk }: { readonly pk: string; readonly sk: string }, former: StoredItem | undefined): void {
    this.#former.set(pk, (this.#former.get(pk) ?? new Map<string, StoredItem | undefined>()).set(sk, former));
  }

  /** Makes the current item visible to plain reads. */
  show({ pk, sk }: { readonly pk: string; readonly sk: string }): void {
    const hidden = this.#former.get(pk);
    hidden?.delete(sk);
    if (hidden?.size === 0) this.#former.delete(pk);
  }

  /** Returns the item of a key as plain reads see it. */
  seen(key: StoredItem): StoredItem | undefined {
    const { pk, sk } = givenKey(key);
    const hidden = this.#former.get(pk);
    return hidden?.has(sk) ? hidden.get(sk) : this.#find(pk, sk);
  }

  put(item: StoredItem): void {
    const { pk, sk } = keyOf(item);
    this.show({ pk, sk });
    let partition = this.#partitions.get(pk);
    if (partition === undefined) {
      partition = { entries: [], hash: createHash('md5').update(pk).digest('hex') };
      this.#partitions.set(pk, partition);
      this.#ordered = undefined;
    }
    const { entries } = partition;
    const entry = entryOf(item);
    const at = lowerBound(entries, entry.sk);
    const old = entries[at]?.sk.equals(entry.sk) ? entries[at].item : undefined;
    entries.splice(at, old ? 1 : 0, entry);
    this.#stream?.add({ pk: item['pk']!, sk: item['sk']! }, old, item);
  }

  delete(key: StoredItem): void {
    const { pk, sk } = givenKey(key);
    this.show({ pk, sk });
    const old = this.#find(pk, sk);
    if (old === undefined) return;
    const { entries } = this.#partitions.get(pk)!;
    entries.splice(lowerBound(entries, Buffer.from(sk)), 1);
    if (entries.length === 0) {
      this.#partitions.delete(pk);
      this.#ordered = undefined;
    }
    this.#stream?.add({ pk: old['pk']!, sk: old['sk']! }, old, undefined);
  }

  /** Returns the items of a partition as plain reads see them, in order. */
  partition(pk: string): readonly Entry[] {
    const entries = this.#partitions.get(pk)?.entries ?? [];
    const hidden = this.#former.get(pk);
    if (hidden === undefined) return entries;
    const others = entries.filter(({ sk }) => !hidden.has(sk.toString()));
    const former = [...hidden.values()].flatMap((item) => (item === undefined ? [] : [entryOf(item)]));
    return [...others, ...former].sort((a, b) => Buffer.compare(a.sk, b.sk));
  }

  /** Visits all items after a key, partition by partition, in the engine's order of partitions. */
  *after(key: StoredItem | undefined): Generator<Entry> {
    this.#ordered ??= [...this.#partitions.values()].sort((a, b) => (a.hash < b.hash ? -1 : 1));
    const start = key && givenKey(key);
    const hash = start && createHash('md5').update(start.pk).digest('hex');
    for (const partition of this.#ordered) {
      if (hash !== undefined && partition.hash < hash) continue;
      const from = partition.hash === hash ? upperBound(partition.entries, Buffer.from(start!.sk)) : 0;
      yield* partition.entries.slice(from);
    }
  }

  #find(pk: string, sk: string): StoredItem | undefined {
    const entries = this.#partitions.get(pk)?.entries;
    if (entries === undefined) return undefined;
    const sought = Buffer.from(sk);
    const found = entries[lowerBound(entries, sought)];
    return found?.sk.equals(sought) ? found.item : undefined;
  }
}

function entryOf(item: StoredItem): Entry {
  return { item, size: measured(item), sk: Buffer.from(keyOf(item).sk) };
}

/** Returns the index of the first entry whose sort key is not smaller. */
export function lowerBound(entries: readonly Entry[], sk: Buffer): number {
  return firstWhere(entries, (entry) => Buffer.compare(entry.sk, sk) >= 0);
}

/** Returns the index of the first entry whose sort key is greater. */
export function upperBound(entries: readonly Entry[], sk: Buffer): number {
  return firstWhere(entries, (entry) => Buffer.compare(entry.sk, sk) > 0);
}

function firstWhere(entries: readonly Entry[], isBeyond: (entry: Entry) => boolean): number {
  let [low, high] = [0, entries.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (isBeyond(entries[middle]!)) high = middle;
    else low = middle + 1;
  }
  return low;
}
