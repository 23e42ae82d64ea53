import type { Choice } from './disk.ts';

/** The unit that a disk writes whole, in bytes. */
const sectorSize = 512;

/** A call that changes a file, by its places in the order of all events. */
export interface Call {
  readonly began: number;
  /** Infinity while it is in progress. */
  ended: number;
}

/** Something that a file had at some time, and the call since which. */
interface Value<T> {
  readonly value: T;
  readonly since: Call;
}

/** A file: its content as programs read it, the synced content, and all values in between. */
export class File {
  /** The path that it was created with. */
  readonly path: string;
  /** Changes whenever the synced content does. */
  version = 0;
  #synced: Buffer = Buffer.alloc(0);
  #syncedSize = 0;
  #current: Buffer = Buffer.alloc(0);
  #currentSize = 0;
  /** The possible contents of each sector besides the synced one, oldest first. */
  readonly #dirty = new Map<number, Value<Buffer>[]>();
  #sizes: Value<number>[] = [];

  constructor(path: string) {
    this.path = path;
  }

  /** True if everything is synced. */
  get isClean(): boolean {
    return this.#dirty.size === 0 && this.#sizes.length === 0;
  }

  get dirtySectors(): readonly number[] {
    return [...this.#dirty.keys()];
  }

  write(since: Call, offset: number, bytes: Buffer): void {
    if (bytes.length === 0) return;
    const end = offset + bytes.length;
    this.#current = grown(this.#current, end);
    bytes.copy(this.#current, offset);
    this.#resize(since, Math.max(end, this.#currentSize));
    this.#note(since, offset, end);
  }

  truncate(since: Call, size: number): void {
    const before = this.#currentSize;
    this.#current = grown(this.#current, size);
    if (size < before) {
      this.#current.fill(0, size, before);
      this.#note(since, size, before);
    }
    this.#resize(since, size);
  }

  /** Makes durable the bytes that calls wrote between two offsets before a moment, and the size that the last of them left. */
  sync(before: number, start = 0, end = Infinity): void {
    const isOver = ({ since }: Value<unknown>): boolean => since.ended < before;
    const size = this.#sizes.findLastIndex(isOver);
    if (size >= 0) {
      this.#syncedSize = this.#sizes[size]!.value;
      this.#sizes = this.#sizes.slice(size + 1);
      this.version += 1;
    }
    for (const [sector, values] of this.#dirty) {
      if ((sector + 1) * sectorSize <= start || sector * sectorSize >= end) continue;
      const last = values.findLastIndex(isOver);
      if (last < 0) continue;
      this.#synced = grown(this.#synced, (sector + 1) * sectorSize);
      values[last]!.value.copy(this.#synced, sector * sectorSize);
      if (last === values.length - 1) this.#dirty.delete(sector);
      else this.#dirty.set(sector, values.slice(last + 1));
      this.version += 1;
    }
  }

  /** Returns the content after a cut. */
  after(choice: Choice): Buffer {
    const size = [this.#syncedSize, ...this.#sizes.map(({ value }) => value)];
    const bytes = Buffer.alloc(size[choice.data(this, -1, size.length)]!);
    this.#synced.copy(bytes);
    for (const [sector, values] of this.#dirty) {
      const chosen = choice.data(this, sector, values.length + 1);
      if (chosen > 0 && sector * sectorSize < bytes.length) values[chosen - 1]!.value.copy(bytes, sector * sectorSize);
    }
    return bytes;
  }

  /** Returns the content that programs read. */
  current(): Buffer {
    return this.#current.subarray(0, this.#currentSize);
  }

  #resize(since: Call, size: number): void {
    if (size === this.#currentSize) return;
    this.#currentSize = size;
    this.#sizes.push({ value: size, since });
  }

  #note(since: Call, start: number, end: number): void {
    const first = Math.floor(start / sectorSize);
    const after = Math.ceil(end / sectorSize);
    this.#current = grown(this.#current, after * sectorSize);
    const copy = Buffer.from(this.#current.subarray(first * sectorSize, after * sectorSize));
    for (let sector = first; sector < after; sector += 1) {
      const value = copy.subarray((sector - first) * sectorSize, (sector + 1 - first) * sectorSize);
      const values = this.#dirty.get(sector);
      if (values === undefined) this.#dirty.set(sector, [{ value, since }]);
      else values.push({ value, since });
    }
  }
}

type Node = File | Directory;

/** A directory: to which files its names lead, which of that is synced, and all that was between. */
export class Directory {
  readonly path: string;
  readonly #synced = new Map<string, Node>();
  readonly #current = new Map<string, Node>();
  readonly #dirty = new Map<string, { readonly node: Node | undefined; readonly at: number }[]>();

  constructor(path: string) {
    this.path = path;
  }

  get(name: string): Node | undefined {
    return this.#current.get(name);
  }

  set(name: string, node: Node | undefined, at: number): void {
    assign(this.#current, name, node);
    this.#dirty.set(name, [...(this.#dirty.get(name) ?? []), { node, at }]);
  }

  /** Makes durable the names that were set before a moment. */
  sync(before: number): void {
    for (const [name, entries] of this.#dirty) {
      const last = entries.findLastIndex(({ at }) => at < before);
      if (last < 0) continue;
      assign(this.#synced, name, entries[last]!.node);
      if (last === entries.length - 1) this.#dirty.delete(name);
      else this.#dirty.set(name, entries.slice(last + 1));
    }
  }

  /** Returns the nodes of its names after a cut. */
  after(choice: Choice): ReadonlyMap<string, Node> {
    const names = new Map(this.#synced);
    for (const [name, entries] of this.#dirty) {
      const chosen = choice.name(this, name, entries.length + 1);
      if (chosen > 0) assign(names, name, entries[chosen - 1]!.node);
    }
    return names;
  }
}

function assign(names: Map<string, Node>, name: string, node: Node | undefined): void {
  if (node === undefined) names.delete(name);
  else names.set(name, node);
}

function grown(buffer: Buffer, size: number): Buffer {
  if (size <= buffer.length) return buffer;
  const larger = Buffer.alloc(Math.max(size, 2 * buffer.length));
  buffer.copy(larger);
  return larger;
}
