import { open, type FileHandle } from 'node:fs/promises';
import { freePages, headerSize, meta, metaProblems, newestMeta, tree } from './table-meta.ts';
import {
  children,
  databaseName,
  header,
  isDatabase,
  isLarge,
  largePage,
  nodesOf,
  type StoredNode,
  type Visit,
} from './table-nodes.ts';

/**
 * Reads LMDB's file without the engine, which trusts its file: a page that is missing or damaged ends the process.
 *
 * The format is that of LMDB 0.9.90 as the package `lmdb` bundles it (`mdb.c`: MDB_meta, MDB_page_header, MDB_node,
 * MDB_db, MDB_ovpage), in the byte order of the machine; only little-endian machines are supported. All pages have the
 * same size. Pages 0 and 1 hold one MDB_meta each, of which the one with the higher transaction id counts. A tree
 * consists of branch pages and, on its last level, leaf pages. A value that is too large for a leaf page lies in
 * overflow pages. The main tree has one entry for each named database: its MDB_db.
 */

const branchPage = 0x01;
const leafPage = 0x02;
const overflowPage = 0x04;
const kindOfPage = 0x2f;
/** The root of an empty tree. */
const noPage = 0xffff_ffff_ffff_ffffn;
/** Trees whose keys are not ordered by their bytes (MDB_REVERSEKEY, MDB_DUPSORT, MDB_INTEGERKEY). */
const otherOrder = 0x02 | 0x04 | 0x08;
const firstPage = 2;
/** The maximum number of levels of a tree. */
const maxDepth = 32;
/** The number of pages between two reports of progress. */
const progressStep = 1024;

/** The name of the main tree in {@link PageDamage}. */
const mainTree = 'main';

/** The name in {@link PageDamage} of the engine's own pages: the two first ones, and the tree that lists the pages that are free. */
export const engineTree = 'engine';

/** A place where the file is not what it must be. */
export interface PageDamage {
  readonly page: number;
  /** The name of the database whose tree leads there. */
  readonly database: string;
  readonly what: string;
  /** The keys that are lost with it, as stored: from the first that may be there to the first that is not. */
  readonly from: Buffer | undefined;
  readonly to: Buffer | undefined;
  /** The number of entries that were found on it, or below it, nevertheless. */
  readonly found: number;
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
  /**
   * Tells whether an entry is what was written. With it, and `onEntry`, what a damaged page has or leads to is visited after all that is
   * sound, whatever the keys above say; of what is found there only such entries count.
   */
  readonly isWritten?: (entry: StoredEntry) => boolean;
  /** Called for damage. Returns whether to go on. */
  readonly onDamage: (damage: PageDamage) => boolean | Promise<boolean>;
  /** The number of pages to visit, if not all. */
  readonly maxPages?: number;
  /** Called with the number of pages visited so far. */
  readonly onProgress?: (pages: number) => void;
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
  readonly #newest: Buffer;
  readonly #visited: Uint8Array;
  readonly #free: Uint8Array;
  #used = 0;

  private constructor(file: FileHandle, size: number, newest: Buffer) {
    this.#file = file;
    this.pageSize = newest.readUInt32LE(meta.pageSize);
    this.pages = Number(newest.readBigUInt64LE(meta.lastPage)) + 1;
    this.pagesThere = Math.floor(size / this.pageSize);
    this.transaction = newest.readBigUInt64LE(meta.transaction);
    this.#newest = newest;
    this.#visited = new Uint8Array(Math.ceil(Math.min(this.pages, this.pagesThere) / 8) + 1);
    this.#free = new Uint8Array(this.#visited.length);
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
  async walk({ onEntry, isWritten, onDamage, maxPages = Infinity, onProgress }: Walk): Promise<void> {
    const damage = await this.#walkEngine();
    const damaged: { readonly visit: Visit; readonly what: string }[] = [];
    const pending: Visit[] = [];
    add(pending, mainTree, this.#newest.subarray(meta.mainTree, meta.mainTree + tree.size));
    for (
      let visited = 1, visit = pending.pop();
      visit !== undefined && visited <= maxPages;
      visit = pending.pop(), visited += 1
    ) {
      if (visited % progressStep === 0) onProgress?.(visited);
      const isRescue = onEntry !== undefined && isWritten !== undefined;
      for await (const found of this.#visit(visit, pending, onEntry !== undefined)) {
        if (!('what' in found)) await onEntry?.(found);
        else if (found.isWhole && isRescue) damaged.push({ visit, what: found.what });
        else damage.push(found);
      }
      while (damage.length > 0) if (!(await onDamage(damage.shift()!))) return;
    }
    for (const { visit, what } of damaged) {
      let found = 0;
      const below: Visit[] = [{ ...visit, isTrusted: false }];
      for (let visit = below.pop(); visit !== undefined; visit = below.pop()) {
        for await (const entry of this.#visit(visit, below, true)) {
          if ('what' in entry || !isWritten!(entry)) continue;
          found += 1;
          await onEntry!(entry);
        }
      }
      const { page, database, from, to } = visit;
      if (!(await onDamage({ page, database, what, from, to, found }))) return;
    }
    for (let page = firstPage; page < Math.min(this.pages, this.pagesThere); page += 1) {
      if (!has(this.#free, page) || !has(this.#visited, page)) continue;
      if (!(await onDamage(engineDamage(page, 'it is in use, and in the list of free pages')))) return;
    }
  }

  /**
   * Reads what the engine needs before it can do anything, which is little: its two first pages, the tree of free pages, and the main tree.
   * Returns what is wrong with them. After it the table is only to be closed.
   */
  async checkEngine(): Promise<PageDamage[]> {
    const damage = await this.#walkEngine();
    const pending: Visit[] = [];
    add(pending, mainTree, this.#newest.subarray(meta.mainTree, meta.mainTree + tree.size));
    for (let visit = pending.pop(); visit !== undefined; visit = pending.pop()) {
      if (visit.database !== mainTree) continue;
      for await (const found of this.#visit(visit, pending, false)) if ('what' in found) damage.push(found);
    }
    return damage;
  }

  async #walkEngine(): Promise<PageDamage[]> {
    const damage = (await metaProblems(this.#file)).map(({ page, what }) => engineDamage(page, what));
    const pending: Visit[] = [];
    add(pending, engineTree, this.#newest.subarray(meta.freeTree, meta.freeTree + tree.size));
    for (let visit = pending.pop(); visit !== undefined; visit = pending.pop()) {
      for await (const found of this.#visit(visit, pending, true)) {
        const listed = 'what' in found ? found : freePages(found, this.pages);
        if (typeof listed === 'string') damage.push(engineDamage(visit.page, listed));
        else if ('what' in listed) damage.push(listed);
        else for (const page of listed) this.#free[page >> 3]! |= 1 << (page & 7);
      }
    }
    return damage;
  }

  /** Yields the entries of a leaf page and what is wrong with it. Adds the pages to which a branch page leads. */
  async *#visit(
    visit: Visit,
    pending: Visit[],
    readsLarge: boolean,
  ): AsyncIterable<StoredEntry | (PageDamage & { readonly isWhole: boolean })> {
    const { database, isTrusted } = visit;
    const page = await this.#page(visit);
    const isBranch = typeof page !== 'string' && (page.readUInt16LE(header.flags) & branchPage) !== 0;
    const nodes = typeof page === 'string' ? page : nodesOf(page, visit, isBranch);
    if (typeof nodes === 'string') {
      if (typeof page !== 'string') this.#release(visit.page);
      const { page: number, from, to } = visit;
      yield { page: number, database, what: nodes, from, to, found: 0, isWhole: true };
      return;
    }
    if (isBranch) {
      pending.push(...children(nodes, visit).reverse());
      return;
    }
    for (const node of nodes) {
      if ((node.flags & isDatabase) !== 0 && database === mainTree) {
        if (node.data.length === tree.size) add(pending, databaseName(node.key), node.data, isTrusted);
        continue;
      }
      const value = (node.flags & isLarge) === 0 ? node.data : await this.#largeValue(node, readsLarge);
      const { key } = node;
      if (typeof value !== 'string') yield { database, key, value };
      else yield { page: largePage(node), database, what: value, from: key, to: undefined, found: 0, isWhole: false };
    }
  }

  /** Reads a page of a tree. Returns what is wrong with it if it is not what leads there. */
  async #page({ page, level, depth, isTrusted }: Visit): Promise<Buffer | string> {
    const misplaced = !isTrusted && has(this.#free, page) ? 'it is free' : this.#claim(page, 1);
    if (misplaced !== undefined) return misplaced;
    const bytes = await this.#read(page, this.pageSize);
    const kind = bytes.readUInt16LE(header.flags) & kindOfPage;
    const what =
      bytes.readBigUInt64LE(header.page) !== BigInt(page)
        ? 'it is not the page with this number'
        : kind !== (level < depth ? branchPage : leafPage)
          ? 'it is of another kind'
          : undefined;
    if (what === undefined || (!isTrusted && level <= maxDepth)) return bytes;
    this.#release(page);
    return what;
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
      if (has(this.#visited, page)) return 'it is used twice';
      this.#visited[page >> 3]! |= 1 << (page & 7);
    }
    this.#used += count;
    return undefined;
  }

  /** Notes that a page is not in use where it was found: something else may lead there, too. */
  #release(page: number): void {
    this.#visited[page >> 3]! &= ~(1 << (page & 7));
    this.#used -= 1;
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

/** Tells whether a set of pages has one. */
function has(pages: Uint8Array, page: number): boolean {
  return (pages[page >> 3]! & (1 << (page & 7))) !== 0;
}

/** Adds the root of a tree. */
function add(pending: Visit[], database: string, stored: Buffer, isTrusted = true): void {
  const root = stored.readBigUInt64LE(tree.root);
  if (root === noPage) return;
  const isOrdered = (stored.readUInt16LE(tree.flags) & otherOrder) === 0;
  const depth = stored.readUInt16LE(tree.depth);
  pending.push({ database, page: Number(root), level: 1, depth, isOrdered, isTrusted, from: undefined, to: undefined });
}

function engineDamage(page: number, what: string): PageDamage {
  return { page, database: engineTree, what, from: undefined, to: undefined, found: 0 };
}
