import { headerSize } from './table-meta.ts';

/** The pages of a tree in LMDB's file, in the format of which table-pages.ts tells. */

/** Offsets in MDB_page_header: flags, then the end of the table of nodes, counted from the end of the header. */
export const header = { page: 0, flags: 18, lower: 20, overflowPages: 20 } as const;
const nodeHeaderSize = 8;

/** Flags of a node: its value is in overflow pages; its value is the MDB_db of a database. */
export const isLarge = 0x01;
export const isDatabase = 0x02;

/** A page to visit, and what the pages above say about it. */
export interface Visit {
  readonly database: string;
  readonly page: number;
  readonly level: number;
  readonly depth: number;
  readonly isOrdered: boolean;
  /** False for what is below damage: each entry counts by itself, whatever the page and its keys say. */
  readonly isTrusted: boolean;
  /** The first key that may be on the page, and the first that may not. */
  readonly from: Buffer | undefined;
  readonly to: Buffer | undefined;
}

/** A node of a page: an entry, or a branch to another page. */
export interface StoredNode {
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
export function nodesOf(page: Buffer, visit: Visit, isBranch: boolean): StoredNode[] | string {
  const { level, isOrdered, isTrusted, from, to } = visit;
  const most = Math.floor((page.length - headerSize) / 2);
  const stated = page.readUInt16LE(header.lower) >> 1;
  const count = Math.min(stated, most);
  if (isTrusted && (stated > most || (isBranch && count < 2 && level > 1)))
    return 'it has an impossible number of entries';
  const nodes: StoredNode[] = [];
  for (let index = 0; index < count; index += 1) {
    const node = nodeAt(page, headerSize + page.readUInt16LE(headerSize + 2 * index), isBranch);
    if (node === undefined) {
      if (!isTrusted) continue;
      return 'an entry reaches beyond it';
    }
    const before = nodes.at(-1)?.key ?? from;
    // The first key of a branch page is empty: it stands for everything before the second.
    const isUnbounded = isBranch && index === 0;
    if (isOrdered && isTrusted && !isUnbounded) {
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
export function children(nodes: readonly StoredNode[], visit: Visit): Visit[] {
  return nodes.map(({ key, child }, index) => ({
    ...visit,
    page: child,
    level: visit.level + 1,
    from: index === 0 ? visit.from : key,
    to: nodes[index + 1]?.key ?? visit.to,
  }));
}

export function largePage({ data }: StoredNode): number {
  return Number(data.readBigUInt64LE(0));
}

/** The engine may end a name with a null character. */
export function databaseName(key: Buffer): string {
  const end = key.indexOf(0);
  return key.toString('utf8', 0, end === -1 ? key.length : end);
}
