import { promisify } from 'node:util';
import { deflateRaw, inflateRawSync } from 'node:zlib';
import { DamagedFile } from './sealed-file.ts';

const deflate = promisify(deflateRaw);

/*
 * The table is written as a stream of entries in the order of their keys, cut into chunks. A chunk is compressed (deflate), and a sequence of
 *
 *   database (1 byte: 1 items, 2 feed, 3 checksums) ‖ size of the key (2, little-endian) ‖ size of the value (4) ‖ key ‖ value
 *
 * Whether a chunk ends after an entry depends on the key and the size of that entry alone, or on a chunk being very small or very large. So
 * a change makes other chunks of those that it touches, and leaves the rest as they are in the backup before.
 */

/** The databases that are written as entries, by their numbers. Small blobs are blobs like all others. */
const databases = { items: 1, feed: 2, checksums: 3 } as const;
export type TableDatabase = keyof typeof databases;
export const tableDatabases = Object.keys(databases) as readonly TableDatabase[];
const nameOf = new Map<number, TableDatabase>(tableDatabases.map((name) => [databases[name], name]));

/** An entry of a database, as it is stored there. */
export interface TableEntry {
  readonly database: TableDatabase;
  readonly key: Buffer;
  readonly value: Buffer;
}

const headBytes = 7;
const leastBytes = 16 * 1024;
const meanBytes = 64 * 1024;
const mostBytes = 256 * 1024;

/** Cuts entries into chunks. @param hash of a key, 32 bits */
export function* chunks(
  entries: Iterable<TableEntry>,
  hash: (key: Buffer) => number,
): Generator<{ readonly bytes: Buffer; readonly entries: number }> {
  let parts: Buffer[] = [];
  let size = 0;
  let count = 0;
  const chunk = (): { readonly bytes: Buffer; readonly entries: number } => {
    const whole = { bytes: Buffer.concat(parts), entries: count };
    parts = [];
    size = 0;
    count = 0;
    return whole;
  };
  for (const { database, key, value } of entries) {
    const head = Buffer.allocUnsafe(headBytes);
    head[0] = databases[database];
    head.writeUInt16LE(key.length, 1);
    head.writeUInt32LE(value.length, 3);
    parts.push(head, key, value);
    const added = headBytes + key.length + value.length;
    size += added;
    count += 1;
    // In proportion to its size, so that chunks are equally large whatever the entries are.
    const isBoundary = hash(key) % meanBytes < added;
    if ((isBoundary && size >= leastBytes) || size >= mostBytes) yield chunk();
  }
  if (count > 0) yield chunk();
}

export async function packedChunk(bytes: Buffer): Promise<Buffer> {
  return deflate(bytes, { level: 6 });
}

/** Returns the entries of a chunk. @throws DamagedFile */
export function entriesOf(packed: Buffer): readonly TableEntry[] {
  const bytes = inflated(packed);
  const entries: TableEntry[] = [];
  for (let at = 0; at < bytes.length;) {
    const database = nameOf.get(bytes[at]!);
    const isWhole = at + headBytes <= bytes.length;
    const keyEnd = isWhole ? at + headBytes + bytes.readUInt16LE(at + 1) : Infinity;
    const end = isWhole ? keyEnd + bytes.readUInt32LE(at + 3) : Infinity;
    if (database === undefined || end > bytes.length) throw new DamagedFile();
    entries.push({ database, key: bytes.subarray(at + headBytes, keyEnd), value: bytes.subarray(keyEnd, end) });
    at = end;
  }
  return entries;
}

function inflated(packed: Buffer): Buffer {
  try {
    return inflateRawSync(packed);
  } catch (cause) {
    throw new DamagedFile(undefined, { cause });
  }
}
