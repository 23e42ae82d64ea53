import { open, type FileHandle } from 'node:fs/promises';

/**
 * Reads LMDB's file without the engine, which trusts its file: a page that is missing or damaged ends the process.
 *
 * The format is that of LMDB 0.9.90 as the package `lmdb` bundles it (`mdb.c`: MDB_meta, MDB_page_header, MDB_node,
 * MDB_db, MDB_ovpage), in the byte order of the machine; only little-endian machines are supported. All pages have the
 * same size. Pages 0 and 1 hold one MDB_meta each, of which the one with the higher transaction id counts. A tree
 * consists of branch pages and, on its last level, leaf pages. A value that is too large for a leaf page lies in
 * overflow pages. The main tree has one entry for each named database: its MDB_db.
 */
const magic = 0xbeefc0de;
const headerSize = 24;

/** Offsets in MDB_meta, which follows the header of its page. */
const meta = { magic: 0, pageSize: 24, mainTree: 72, lastPage: 120, transaction: 128, size: 136 } as const;
/** Offsets in MDB_db. */
const tree = { flags: 4, depth: 6, root: 40, size: 48 } as const;
/** Offsets in MDB_page_header: flags, then the end of the table of nodes, counted from the end of the header. */
const header = { page: 0, flags: 18, lower: 20, overflowPages: 20 } as const;
const nodeHeaderSize = 8;

const branchPage = 0x01;
const leafPage = 0x02;
const overflowPage = 0x04;
const kindOfPage = 0x2f;
/** Flags of a node: its value is in overflow pages; its value is the MDB_db of a database. */
const isLarge = 0x01;
const isDatabase = 0x02;
/** The root of an empty tree. */
const noPage = 0xffff_ffff_ffff_ffffn;
/** Trees whose keys are not ordered by their bytes (MDB_REVERSEKEY, MDB_DUPSORT, MDB_INTEGERKEY). */
const otherOrder = 0x02 | 0x04 | 0x08;
const firstPage = 2;
/** The number of pages between two reports of progress. */
const progressStep = 1024;

/** The name of the main tree in {@link PageDamage}. */
const mainTree = 'main';

/** A place where the file is not what it must be. */
export interface PageDamage {
  readonly page: number;
  /** The name of the database whose tree leads there. */
  readonly database: string;
  readonly what: string;
  /** The keys that are lost with it, as stored: from the first that may be there to the first that is not. */
  readonly from: Buffer | undefined;
  readonly to: Buffer | undefined;
}

/** An entry of a database, as stored. */
export interface StoredEntry {
  readonly database: string;
  readonly key: Buffer;
  readonly value: Buffer;
}

export interface Walk {
  /** Called for each entry, in the order of the keys of each database. Without it, large values are not read. */
  readonly onEntry?: (entry: StoredEntry) => void | Promise<void>;
  /** Called for damage: nothing of what a damaged page leads to is visited. Returns whether to go on. */
  readonly onDamage: (damage: PageDamage) => boolean | Promise<boolean>;
  /** Called with the number of pages visited so far. */
  readonly onProgress?: (pages: number) => void;
}

/** A page to visit, and what the pages above say about it. */
interface Visit {
  readonly database: string;
  readonly page: number;
  readonly level: number;
  readonly depth: number;
  readonly isOrdered: boolean;
  /** The first key that may be on the page, and the first that may not. */
  readonly from: Buffer | undefined;
  readonly to: Buffer | undefined;
}

/** A file that does not begin as LMDB's does. */
export class NotATable extends Error {}

/** One state of LMDB's file: that of its newest transaction when it was opened. */
export class TablePages {
  /** The size of a page in bytes. */
  readonly pageSize: number;
  /** The number of pages that the file should have at most. It may have fewer if the last ones are not in use. */
  readonly pages: number;
  /** The number of pages that the file has. */
  readonly pagesThere: number;
  /** The id of the newest transaction. */
  readonly transaction: bigint;
  readonly #file: FileHandle;
  readonly #main: Buffer;
  readonly #visited: Uint8Array;
  #used = 0;

  private constructor(file: FileHandle, size: number, newest: Buffer) {
    this.#file = file;
    this.pageSize = newest.readUInt32LE(meta.pageSize);
    this.pages = Number(newest.readBigUInt64LE(meta.lastPage)) + 1;
    this.pagesThere = Math.floor(size / this.pageSize);
    this.transaction = newest.readBigUInt64LE(meta.transaction);
    this.#main = newest.subarray(meta.mainTree, meta.mainTree + tree.size);
    this.#visited = new Uint8Array(Math.ceil(Math.min(this.pages, this.pagesThere) / 8) + 1);
  }

  /**
   * Opens a file, to be closed by the caller. Neither locks it nor changes anything.
   * @returns undefined if the file is empty: it was created but never written
   * @throws NotATable
   */
  static async open(path: string): Promise<TablePages | undefined> {
    const file = await open(path);
    try {
      const { size } = await file.stat();
      if (size === 0) {
        await file.close();
        return undefined;
      }
      const newest = await newestMeta(file);
      if (newest === undefined) throw new NotATable(`${path} is not a table`);
      return new TablePages(file, size, newest);
    } catch (error) {
      await file.close();
      throw error;
    }
  }

  /** The number of pages in use that a walk has found. */
  get pagesUsed(): number {
    return this.#used;
  }

  close(): Promise<void> {
    return this.#file.close();
  }

  /** Tells whether no transaction was committed since: if one was, pages may have been overwritten. */
  async isNewest(): Promise<boolean> {
    return (await newestMeta(this.#file))?.readBigUInt64LE(meta.transaction) === this.transaction;
  }

  /** Visits all pages in use, which are read one by one, depth first. */
  async walk({ onEntry, onDamage, onProgress }: Walk): Promise<void> {
    const pending: Visit[] = [];
    add(pending, mainTree, this.#main);
    for (let visited = 1, visit = pending.pop(); visit !== undefined; visit = pending.pop(), visited += 1) {
      if (visited % progressStep === 0) onProgress?.(visited);
      const page = await this.#page(visit);
      const nodes = typeof page === 'string' ? page : nodesOf(page, visit);
      if (typeof nodes === 'string') {
        const { page, database, from, to } = visit;
        if (!(await onDamage({ page, database, what: nodes, from, to }))) return;
        continue;
      }
      if (visit.level < visit.depth) {
        pending.push(...children(nodes, visit).reverse());
        continue;
      }
      for (const node of nodes) {
        if ((node.flags & isDatabase) !== 0 && visit.database === mainTree) {
          add(pending, databaseName(node.key), node.data);
          continue;
        }
        const value = (node.flags & isLarge) === 0 ? node.data : await this.#largeValue(node, onEntry !== undefined);
        const { database } = visit;
        const { key } = node;
        if (typeof value !== 'string') await onEntry?.({ database, key, value });
        else if (!(await onDamage({ page: largePage(node), database, what: value, from: key, to: undefined }))) return;
      }
    }
  }

  /** Reads a page of a tree. Returns what is wrong with it if it is not what leads there. */
  async #page({ page, level, depth }: Visit): Promise<Buffer | string> {
    const misplaced = this.#claim(page, 1);
    if (misplaced !== undefined) return misplaced;
    const bytes = await this.#read(page, this.pageSize);
    if (bytes.readBigUInt64LE(header.page) !== BigInt(page)) return 'it is not the page with this number';
    const kind = bytes.readUInt16LE(header.flags) & kindOfPage;
    if (kind !== (level < depth ? branchPage : leafPage)) return 'it is of another kind';
    return bytes;
  }

  /** Reads the value of a node that is in overflow pages, or only checks these. Returns what is wrong with them. */
  async #largeValue(node: StoredNode, isWanted: boolean): Promise<Buffer | string> {
    const page = largePage(node);
    const count = Math.ceil((headerSize + node.size) / this.pageSize);
    const misplaced = this.#claim(page, count);
    if (misplaced !== undefined) return misplaced;
    const bytes = await this.#read(page, isWanted ? headerSize + node.size : headerSize);
    if (bytes.readBigUInt64LE(header.page) !== BigInt(page)) return 'it is not the page with this number';
    if ((bytes.readUInt16LE(header.flags) & kindOfPage) !== overflowPage) return 'it is of another kind';
    if (bytes.readUInt32LE(header.overflowPages) < count) return 'its value is longer than its pages';
    return bytes.subarray(headerSize);
  }

  /** Notes that pages are in use. Returns what is wrong if they cannot be, or already are. */
  #claim(first: number, count: number): string | undefined {
    if (first < firstPage || first + count > this.pages) return 'there cannot be such a page';
    if (first + count > this.pagesThere) return 'it is beyond the end of the file';
    for (let page = first; page < first + count; page += 1) {
      const bit = 1 << (page & 7);
      if ((this.#visited[page >> 3]! & bit) !== 0) return 'it is used twice';
      this.#visited[page >> 3]! |= bit;
    }
    this.#used += count;
    return undefined;
  }

  async #read(page: number, size: number): Promise<Buffer> {
    const bytes = Buffer.allocUnsafe(size);
    for (let filled = 0; filled < size;) {
      const { bytesRead } = await this.#file.read(bytes, filled, size - filled, page * this.pageSize + filled);
      if (bytesRead === 0) return bytes.fill(0, filled);
      filled += bytesRead;
    }
    return bytes;
  }
}

/** A node of a page: an entry, or a branch to another page. */
interface StoredNode {
  readonly key: Buffer;
  readonly flags: number;
  /** The size of the value in bytes, wherever it is. */
  readonly size: number;
  /** The number of the page that a branch leads to. */
  readonly child: number;
  /** The value; or, if it is in overflow pages, where. */
  readonly data: Buffer;
}

/** Returns the nodes of a page, or what is wrong with them. */
function nodesOf(page: Buffer, { level, depth, isOrdered, from, to }: Visit): StoredNode[] | string {
  const isBranch = level < depth;
  const count = page.readUInt16LE(header.lower) >> 1;
  if (headerSize + 2 * count > page.length || (isBranch && count < 2 && level > 1))
    return 'it has an impossible number of entries';
  const nodes: StoredNode[] = [];
  for (let index = 0; index < count; index += 1) {
    const node = nodeAt(page, headerSize + page.readUInt16LE(headerSize + 2 * index), isBranch);
    if (node === undefined) return 'an entry reaches beyond it';
    const before = nodes.at(-1)?.key ?? from;
    // The first key of a branch page is empty: it stands for everything before the second.
    const isUnbounded = isBranch && index === 0;
    if (isOrdered && !isUnbounded) {
      const order = before === undefined ? 1 : Buffer.compare(node.key, before);
      const isAfter = index === 0 || (isBranch && index === 1) ? order >= 0 : order > 0;
      if (!isAfter || (to !== undefined && Buffer.compare(node.key, to) >= 0)) return 'its keys are not in order';
    }
    nodes.push(isUnbounded ? { ...node, key: from ?? Buffer.alloc(0) } : node);
  }
  return nodes;
}

function nodeAt(page: Buffer, at: number, isBranch: boolean): StoredNode | undefined {
  if (at + nodeHeaderSize > page.length) return undefined;
  const [low, flags, keySize] = [page.readUInt32LE(at), page.readUInt16LE(at + 4), page.readUInt16LE(at + 6)];
  const keyStart = at + nodeHeaderSize;
  const dataStart = keyStart + keySize;
  const stored = isBranch ? 0 : (flags & isLarge) !== 0 ? 24 : low;
  if (dataStart + stored > page.length) return undefined;
  return {
    key: page.subarray(keyStart, dataStart),
    flags: isBranch ? 0 : flags,
    size: low,
    child: low + flags * 2 ** 32,
    data: page.subarray(dataStart, dataStart + stored),
  };
}

/** Returns the visits that follow from a branch page. */
function children(nodes: readonly StoredNode[], visit: Visit): Visit[] {
  return nodes.map(({ key, child }, index) => ({
    ...visit,
    page: child,
    level: visit.level + 1,
    from: index === 0 ? visit.from : key,
    to: nodes[index + 1]?.key ?? visit.to,
  }));
}

/** Adds the root of a tree. */
function add(pending: Visit[], database: string, stored: Buffer): void {
  const root = stored.readBigUInt64LE(tree.root);
  if (root === noPage) return;
  const isOrdered = (stored.readUInt16LE(tree.flags) & otherOrder) === 0;
  const depth = stored.readUInt16LE(tree.depth);
  pending.push({ database, page: Number(root), level: 1, depth, isOrdered, from: undefined, to: undefined });
}

function largePage({ data }: StoredNode): number {
  return Number(data.readBigUInt64LE(0));
}

/** The engine may end a name with a null character. */
function databaseName(key: Buffer): string {
  const end = key.indexOf(0);
  return key.toString('utf8', 0, end === -1 ? key.length : end);
}

/** Returns the MDB_meta of the newest transaction, or undefined if neither is one. */
async function newestMeta(file: FileHandle): Promise<Buffer | undefined> {
  const first = await metaAt(file, 0);
  // If the first is damaged, the second is looked for at the usual sizes of a page.
  const sizes = first === undefined ? [4096, 8192, 16_384, 32_768] : [first.readUInt32LE(meta.pageSize)];
  let newest = first;
  for (const size of sizes) {
    const second = await metaAt(file, size);
    if (second?.readUInt32LE(meta.pageSize) !== size) continue;
    const isNewer =
      newest === undefined || second.readBigUInt64LE(meta.transaction) > newest.readBigUInt64LE(meta.transaction);
    if (isNewer) newest = second;
  }
  return newest;
}

async function metaAt(file: FileHandle, at: number): Promise<Buffer | undefined> {
  const { bytesRead, buffer } = await file.read(Buffer.alloc(meta.size), 0, meta.size, at + headerSize);
  const isMeta = bytesRead === meta.size && buffer.readUInt32LE(meta.magic) === magic;
  const pageSize = buffer.readUInt32LE(meta.pageSize);
  const isPossible = pageSize >= 256 && pageSize <= 65_536 && (pageSize & (pageSize - 1)) === 0;
  return isMeta && isPossible ? buffer : undefined;
}
