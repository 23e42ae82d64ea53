import { open, readFile } from 'node:fs/promises';
import { setTimeout } from 'node:timers/promises';
import { headerSize } from '../../../shared/adapters/embedded/table-file/table-meta.ts';
import { header } from '../../../shared/adapters/embedded/table-file/table-nodes.ts';
import { TablePages } from '../../../shared/adapters/embedded/table-file/table-pages.ts';

/** Overwrites bytes of a table's file, which a running service sees at once. Returns what was there. */
async function overwrite(path: string, at: number, bytes: Buffer): Promise<Buffer> {
  const file = await open(path, 'r+');
  try {
    const before = Buffer.alloc(bytes.length);
    await file.read(before, 0, bytes.length, at);
    await file.write(bytes, 0, bytes.length, at);
    return before;
  } finally {
    await file.close();
  }
}

/** Flips a bit of an item's key in a table's file, and does work. Then flips it back, wherever the item is by then. */
export async function whileFlipped<T>(
  path: string,
  key: Buffer,
  { byte, bit }: { readonly byte: number; readonly bit: number },
  work: () => Promise<T>,
): Promise<T> {
  const flipped = Buffer.from(key);
  flipped[byte]! ^= bit;
  const others = new Set(await placesOf(path, flipped));
  await overwrite(path, await placeOf(path, key), flipped);
  try {
    return await work();
  } finally {
    for (const at of await placesOf(path, flipped)) if (!others.has(at)) await overwrite(path, at, key);
  }
}

/** Returns the encoded key of the only item whose key ends like this. */
export async function storedKey(path: string, ending: Buffer): Promise<Buffer> {
  const found = (await itemKeys(path)).filter(({ key }) => key.subarray(-ending.length).equals(ending));
  if (found.length !== 1) throw new Error(`${found.length} items have such a key`);
  return found[0]!.key;
}

/** Returns the offsets of bytes in a file. */
async function placesOf(path: string, wanted: Buffer): Promise<readonly number[]> {
  const bytes = await readFile(path);
  const places: number[] = [];
  for (let at = bytes.indexOf(wanted); at !== -1; at = bytes.indexOf(wanted, at + 1)) places.push(at);
  return places;
}

/** Waits until a service has not changed its table's file for a while. */
export async function quiet(path: string): Promise<void> {
  for (let before = Buffer.alloc(0), now = await readFile(path); !now.equals(before); now = await readFile(path)) {
    before = now;
    await setTimeout(500);
  }
}

/** Returns the offset of an item's key. The file has older ones, in pages that are not in use. */
async function placeOf(path: string, key: Buffer): Promise<number> {
  const found = (await itemKeys(path)).find((one) => one.key.equals(key));
  if (found === undefined) throw new Error('no page in use has the key');
  return found.at;
}

/** Returns the keys of all items, and their offsets. */
async function itemKeys(path: string): Promise<{ readonly key: Buffer; readonly at: number; readonly page: number }[]> {
  const pages = (await TablePages.open(path))!;
  const keys: { key: Buffer; at: number; page: number }[] = [];
  try {
    await pages.walk({
      onEntry: ({ database, key }) => {
        if (database !== 'items') return;
        // The key is a part of its page, which begins with its number.
        const page = Number(new DataView(key.buffer).getBigUint64(0, true));
        keys.push({ key: Buffer.from(key), at: page * pages.pageSize + key.byteOffset, page });
      },
      onDamage: () => true,
    });
    return keys;
  } finally {
    await pages.close();
  }
}

/**
 * Makes each branch of the table's items in turn lead to the page of each of the others, which is sound in itself, and does work.
 * @param path of the table's file, which nothing has open
 */
export async function whileMisled(path: string, work: () => Promise<void>): Promise<void> {
  const pages = new Set((await itemKeys(path)).map(({ page }) => page));
  const file = await readFile(path);
  const table = (await TablePages.open(path))!;
  await table.close();
  for (const { at, child } of branches(file, table.pageSize)) {
    if (!pages.has(child)) continue;
    for (const other of pages) {
      if (other === child) continue;
      const elsewhere = Buffer.alloc(6);
      elsewhere.writeUIntLE(other, 0, 6);
      const before = await overwrite(path, at, elsewhere);
      await work();
      await overwrite(path, at, before);
    }
  }
}

/** Yields the nodes of branch pages, also of those not in use: where they are, and the number of the page to which they lead. */
function* branches(file: Buffer, pageSize: number): Iterable<{ readonly at: number; readonly child: number }> {
  for (let start = 0; start < file.length; start += pageSize) {
    const page = file.subarray(start, start + pageSize);
    if (page.readUInt16LE(header.flags) !== 1) continue;
    for (let pointer = headerSize; pointer < headerSize + page.readUInt16LE(header.lower); pointer += 2) {
      const at = headerSize + page.readUInt16LE(pointer);
      yield { at: start + at, child: page.readUIntLE(at, 6) };
    }
  }
}
