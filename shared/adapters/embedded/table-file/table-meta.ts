import type { FileHandle } from 'node:fs/promises';

/** The first two pages of LMDB's file, in the format of which table-pages.ts tells. */

const magic = 0xbeefc0de;
const dataVersion = 2;
const metaPage = 0x08;
/** The size of the header of a page in bytes. */
export const headerSize = 24;
const flagsOfPage = 18;
/** The flags of a tree that say how its keys and values are ordered: MDB_REVERSEKEY to MDB_REVERSEDUP. Others tell how it was opened last. */
const orderFlags = 0x7e;
/** The addresses that a process can have. */
const maxMapSize = 2n ** 46n;

/** Offsets in MDB_meta, which follows the header of its page. */
export const meta = {
  magic: 0,
  version: 4,
  mapSize: 16,
  pageSize: 24,
  freeTree: 24,
  mainTree: 72,
  lastPage: 120,
  transaction: 128,
  size: 136,
} as const;
/** Offsets in MDB_db. */
export const tree = { flags: 4, depth: 6, root: 40, size: 48 } as const;

/** Returns the MDB_meta of the newest transaction, or undefined if neither is one. */
export async function newestMeta(file: FileHandle): Promise<Buffer | undefined> {
  const [first, second] = await bothMetas(file);
  if (first === undefined || second === undefined) return first ?? second;
  return second.readBigUInt64LE(meta.transaction) > first.readBigUInt64LE(meta.transaction) ? second : first;
}

/**
 * Returns what is wrong with the two pages. The engine requires the first to be sound, and believes whichever has the greater transaction.
 */
export async function metaProblems(file: FileHandle): Promise<{ readonly page: number; readonly what: string }[]> {
  const metas = await bothMetas(file);
  const missing = metas.flatMap((found, page) =>
    found === undefined ? [{ page, what: 'it is not the first or second page of a table' }] : [],
  );
  const [first, second] = metas;
  if (first === undefined || second === undefined) return missing;
  const problems: { page: number; what: string }[] = [];
  const [one, two] = [first.readBigUInt64LE(meta.transaction), second.readBigUInt64LE(meta.transaction)];
  const isInOrder = (one === 0n && two === 0n) || (one % 2n === 0n && (one - two === 1n || two - one === 1n));
  if (!isInOrder)
    problems.push({ page: one > two ? 0 : 1, what: `its transaction, ${one} or ${two}, does not follow the other` });
  for (const at of [meta.freeTree, meta.mainTree])
    if (((first.readUInt16LE(at + tree.flags) ^ second.readUInt16LE(at + tree.flags)) & orderFlags) !== 0)
      problems.push({ page: one > two ? 0 : 1, what: 'its settings are not those of the other' });
  for (const [page, found] of [first, second].entries()) {
    const mapSize = found.readBigUInt64LE(meta.mapSize);
    const size = (found.readBigUInt64LE(meta.lastPage) + 1n) * BigInt(found.readUInt32LE(meta.pageSize));
    if (mapSize > maxMapSize || size > maxMapSize) problems.push({ page, what: 'it states an impossible size' });
  }
  return problems;
}

/** Returns each of both MDB_meta that is one. */
async function bothMetas(file: FileHandle): Promise<readonly [Buffer | undefined, Buffer | undefined]> {
  const first = await metaAt(file, 0);
  // If the first is damaged, the second is looked for at the usual sizes of a page.
  const sizes = [4096, 8192, 16_384, 32_768, 65_536];
  for (const size of first === undefined ? sizes : [first.readUInt32LE(meta.pageSize), ...sizes]) {
    const second = await metaAt(file, size);
    if (second?.readUInt32LE(meta.pageSize) !== size) continue;
    // A first page with another size is the damaged one: nothing else is where it says.
    return [first?.readUInt32LE(meta.pageSize) === size ? first : undefined, second];
  }
  return [first, undefined];
}

async function metaAt(file: FileHandle, at: number): Promise<Buffer | undefined> {
  const page = Buffer.alloc(headerSize + meta.size);
  const { bytesRead } = await file.read(page, 0, page.length, at);
  const found = page.subarray(headerSize);
  const pageSize = found.readUInt32LE(meta.pageSize);
  const isMeta =
    bytesRead === page.length &&
    (page.readUInt16LE(flagsOfPage) & metaPage) !== 0 &&
    found.readUInt32LE(meta.magic) === magic &&
    (found.readUInt32LE(meta.version) & 0xffff) === dataVersion &&
    pageSize >= 256 &&
    pageSize <= 65_536 &&
    (pageSize & (pageSize - 1)) === 0;
  return isMeta ? found : undefined;
}

/**
 * Returns the pages that an entry of the tree of free pages lists: after their number of fields, fields with the number of a page, with
 * nothing (0), or with the negative number of pages that follow one another from the page in the next field. Returns what is wrong with it.
 */
export function freePages(
  { key, value }: { readonly key: Buffer; readonly value: Buffer },
  pages: number,
): number[] | string {
  const fields = value.length >> 3;
  const count = fields === 0 ? -1 : Number(value.readBigInt64LE(0));
  if (key.length !== 8 || value.length % 8 !== 0 || count < 0 || count >= fields)
    return 'its list of free pages is damaged';
  const listed: number[] = [];
  for (let field = 1, length = 1; field <= count; field += 1) {
    const number = Number(value.readBigInt64LE(field * 8));
    if (number <= 0) {
      length = -number || 1;
      continue;
    }
    if (number < 2 || number + length > pages) return 'it lists free pages that there cannot be';
    for (let page = number; page < number + length; page += 1) listed.push(page);
    length = 1;
  }
  return listed;
}
