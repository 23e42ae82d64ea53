import { mkdtemp, open, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { LmdbTable } from '../../../../../shared/adapters/embedded/table/lmdb-table.ts';
import { ItemDamaged } from '../../../../../shared/ports/key-value-table.ts';

/** The pages of a table above those of its items say where each page begins. What is wrong there leads a search to another page, or to none. */

const pageSize = 4096;
/** The header of a page (mdb.c of lmdb-js): its flags, and where the list of its nodes ends, counted like the nodes from the end of the header. */
const header = { flags: 18, lower: 20, size: 24, isBranch: 0x01 };
const pk = 'head/bucket';
const names = Array.from({ length: 900 }, (_, index) => `dir${index % 9}/key-${String(index).padStart(4, '0')}`).sort();

let directory: string;
let table: LmdbTable;
beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'stillage-branches-'));
  table = await LmdbTable.open(directory);
  table.sealItems();
  for (let at = 0; at < names.length; at += 100)
    await table.write(names.slice(at, at + 100).map((sk) => ({ key: { pk, sk }, put: { n: 'x'.repeat(60) } })));
});
afterEach(async () => {
  await table.close();
  await rm(directory, { recursive: true });
});

/**
 * Returns places in the nodes of the items' branch pages, also of former ones: the byte of the separator that tells most, and the upper half of
 * the number of the page that the node leads to.
 */
async function nodes(path: string): Promise<readonly { readonly separator: number; readonly pointer: number }[]> {
  const bytes = await readFile(path);
  const found: { separator: number; pointer: number }[] = [];
  for (let page = 2 * pageSize; page < bytes.length; page += pageSize) {
    if (bytes.readUInt16LE(page + header.flags) !== header.isBranch) continue;
    for (let at = page + header.size; at < page + header.size + bytes.readUInt16LE(page + header.lower); at += 2) {
      const node = page + header.size + bytes.readUInt16LE(at);
      const key = bytes.subarray(node + 8, node + 8 + bytes.readUInt16LE(node + 6));
      const sortKey = key.indexOf(0) + 1;
      // The last digit of the directory, which decides how far the search is led astray.
      if (key.subarray(sortKey).toString().startsWith('dir'))
        found.push({ separator: node + 8 + sortKey + 3, pointer: node + 2 });
    }
  }
  return found;
}

/** Returns the sort keys that a listing shows which passes over each directory once it has seen one of its items. */
async function passedOver(start: string): Promise<string[]> {
  const seen: string[] = [];
  const skip = {
    columns: [],
    visit: (item: { sortKey(): string }) => {
      const sk = item.sortKey();
      seen.push(sk);
      if (seen.length > names.length) throw new Error('the listing has no end');
      return { from: `${sk.slice(0, 4)}0` };
    },
  };
  await table.visit(pk, { prefix: '', from: start }, skip);
  return seen;
}

describe('a flipped bit in a separator', () => {
  it('lets no range begin with an item outside it', async () => {
    const path = join(directory, 'data.mdb');
    const places = (await nodes(path)).map(({ separator }) => separator);
    expect(places.length).toBeGreaterThan(5);
    const starts = names.filter((_, index) => index % 90 === 45);
    let failures = 0;
    const told = async <T>(work: () => Promise<T>): Promise<T | undefined> => {
      try {
        return await work();
      } catch (error) {
        if (!(error instanceof ItemDamaged)) throw error;
        failures += 1;
        return undefined;
      }
    };
    const file = await open(path, 'r+');
    try {
      for (const place of places) {
        for (const bit of [1, 2, 4]) {
          const { buffer } = await file.read(Buffer.alloc(1), 0, 1, place);
          await file.write(Buffer.of(buffer[0]! ^ bit), 0, 1, place);
          for (const start of starts) {
            for (const reverse of [false, true]) {
              const page = await told(() => table.query(pk, { after: start, reverse, limit: 2 }));
              const rest = names.filter((name) => (reverse ? name < start : name > start));
              if (page)
                expect(page.items.map(({ key }) => key.sk)).toEqual((reverse ? rest.reverse() : rest).slice(0, 2));
            }
            const seen = await told(() => passedOver(start));
            if (seen)
              expect(seen.map((name) => name.slice(0, 4))).toEqual([...new Set(seen.map((name) => name.slice(0, 4)))]);
          }
          await file.write(buffer, 0, 1, place);
        }
      }
    } finally {
      await file.close();
    }
    expect(failures).toBeGreaterThan(0);
  });
});

describe('a pointer to a page that is not there', () => {
  it('fails what needs the page, and nothing else', async () => {
    const path = join(directory, 'data.mdb');
    const first = { pk, sk: names[0]! };
    const file = await open(path, 'r+');
    let failures = 0;
    try {
      for (const { pointer } of await nodes(path)) {
        const { buffer } = await file.read(Buffer.alloc(2), 0, 2, pointer);
        await file.write(Buffer.of(0xff, 0x7f), 0, 2, pointer);
        const failed = await table.query(pk).then(
          () => false,
          () => true,
        );
        if (failed) failures += 1;
        await new Promise((resolve) => setImmediate(resolve));
        expect(await table.get(first)).toBeDefined();
        await file.write(buffer, 0, 2, pointer);
        const { items, more } = await table.query(pk);
        expect([items[0]!.key, more || items.length === names.length]).toEqual([first, true]);
      }
    } finally {
      await file.close();
    }
    expect(failures).toBeGreaterThan(5);
  });
});
