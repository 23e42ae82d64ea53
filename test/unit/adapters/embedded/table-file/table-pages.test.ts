import { copyFile, mkdtemp, open, readdir, readFile, rm, stat, truncate, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import type { Database } from 'lmdb';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { LmdbEnvironment } from '../../../../../shared/adapters/embedded/table/lmdb-environment.ts';
import { checkTableFile, ensureTableFile } from '../../../../../shared/adapters/embedded/table-file/table-file.ts';
import {
  NotATable,
  TablePages,
  type PageDamage,
} from '../../../../../shared/adapters/embedded/table-file/table-pages.ts';

/** Random numbers that are the same in every run (mulberry32). */
let seed = 20_261_122;
function random(below: number): number {
  seed = (seed + 0x6d2b79f5) | 0;
  let mixed = Math.imul(seed ^ (seed >>> 15), 1 | seed);
  mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
  return ((mixed ^ (mixed >>> 14)) >>> 0) % below;
}

let root: string;
let source: string;
/** The entries as the engine reads them: by database, the value of each key in hexadecimal digits. */
let expected: Record<string, ReadonlyMap<string, Buffer>>;
beforeAll(async () => {
  root = await mkdtemp(join(tmpdir(), 'stillage-pages-'));
  source = join(root, 'source');
  const environment = await LmdbEnvironment.open(source);
  const binary = { keyEncoding: 'binary', encoding: 'binary' } as const;
  const databases: Record<string, Database<Buffer, Buffer>> = {
    items: environment.database('items', binary),
    blobs: environment.database('blobs', binary),
  };
  for (let transaction = 0; transaction < 6; transaction += 1) {
    await environment.run(() => {
      for (let change = 0; change < 400; change += 1) {
        const [database, maxSize] = change % 8 === 0 ? [databases['blobs']!, 12_000] : [databases['items']!, 300];
        const key = Buffer.from(`key-${'x'.repeat(random(40))}${random(3000)}`);
        if (random(3) === 0) void database.remove(key);
        else void database.put(key, Buffer.alloc(random(maxSize), random(256)));
      }
    });
  }
  expected = Object.fromEntries(
    Object.entries(databases).map(([name, database]) => [
      name,
      new Map(
        [...database.getRange({})].map(({ key, value }) => [Buffer.from(key).toString('hex'), Buffer.from(value)]),
      ),
    ]),
  );
  await environment.close();
});
afterAll(() => rm(root, { recursive: true }));

/** A copy of the table's file in a directory of its own. */
async function copy(): Promise<{ readonly directory: string; readonly path: string }> {
  const directory = await mkdtemp(join(root, 'copy-'));
  const path = join(directory, 'data.mdb');
  await copyFile(join(source, 'data.mdb'), path);
  return { directory, path };
}

/** The entries and the damage that a walk finds. */
async function walked(path: string): Promise<{
  readonly found: Record<string, Map<string, Buffer>>;
  readonly damage: readonly PageDamage[];
}> {
  const pages = (await TablePages.open(path))!;
  const found: Record<string, Map<string, Buffer>> = {};
  const damage: PageDamage[] = [];
  await pages.walk({
    onEntry: ({ database, key, value }) => {
      (found[database] ??= new Map()).set(key.toString('hex'), value);
    },
    onDamage: (one) => damage.push(one) > 0,
  });
  await pages.close();
  return { found, damage };
}

const missing = (found: Record<string, ReadonlyMap<string, Buffer>>): [string, string][] =>
  Object.entries(expected).flatMap(([database, entries]) =>
    [...entries.keys()].filter((key) => !found[database]?.has(key)).map((key): [string, string] => [database, key]),
  );

/** Whether a key lies in the range that a damaged page lost. */
function isLostWith({ database, from, to }: PageDamage, [of, hex]: readonly [string, string]): boolean {
  if (database === 'main') return true;
  const key = Buffer.from(hex, 'hex');
  const isAfter = from === undefined || Buffer.compare(key, from) >= 0;
  return database === of && isAfter && (to === undefined || Buffer.compare(key, to) < 0);
}

describe('TablePages', () => {
  it('reads what the engine reads', async () => {
    const { found, damage } = await walked(join(source, 'data.mdb'));
    expect(damage).toEqual([]);
    expect(Object.keys(found).sort()).toEqual(Object.keys(expected).sort());
    for (const [database, entries] of Object.entries(expected)) {
      expect([...found[database]!.keys()]).toEqual([...entries.keys()]);
      for (const [key, value] of entries) expect(value.equals(found[database]!.get(key)!)).toBe(true);
    }
  });

  it('reads the newest state if either of the two meta pages is damaged', async () => {
    for (const damaged of [0, 4096]) {
      const { path } = await copy();
      const file = await open(path, 'r+');
      await file.write(Buffer.alloc(160), 0, 160, damaged);
      await file.close();
      const pages = (await TablePages.open(path))!;
      const whole = (await TablePages.open(join(source, 'data.mdb')))!;
      expect(Number(whole.transaction - pages.transaction)).toBeLessThanOrEqual(1);
      await Promise.all([pages.close(), whole.close()]);
    }
  });

  it('is nothing for an empty file, and refuses others', async () => {
    const path = join(root, 'other');
    await writeFile(path, '');
    expect(await TablePages.open(path)).toBeUndefined();
    await writeFile(path, Buffer.alloc(20_000, 7));
    await expect(TablePages.open(path)).rejects.toThrow(NotATable);
  });

  it('says of every lost entry with which page it was lost, wherever the file is cut', async () => {
    const { size } = await stat(join(source, 'data.mdb'));
    for (let at = 3 * 4096; at < size; at += Math.ceil(size / 4096 / 25) * 4096) {
      const { path } = await copy();
      await truncate(path, at - random(4096));
      const { found, damage } = await walked(path);
      for (const lost of missing(found)) expect(damage.some((one) => isLostWith(one, lost))).toBe(true);
      expect(damage.every(({ what }) => what === 'it is beyond the end of the file')).toBe(true);
      await rm(path);
    }
  });

  it('continues past damaged pages, and reports every entry it misses', async () => {
    const whole = await readFile(join(source, 'data.mdb'));
    for (let round = 0; round < 30; round += 1) {
      const { path } = await copy();
      const page = 2 + random(whole.length / 4096 - 2);
      const bytes = Buffer.from(whole);
      // A page of zeros, of noise, or of another place.
      const from = round % 3 === 2 ? random(whole.length / 4096) * 4096 : 0;
      const other = round % 3 === 0 ? Buffer.alloc(4096) : Buffer.from(whole.subarray(from, from + 4096));
      if (round % 3 === 1) for (let at = 0; at < 4096; at += 1) other[at] = random(256);
      other.copy(bytes, page * 4096);
      await writeFile(path, bytes);
      const { found, damage } = await walked(path);
      for (const lost of missing(found)) expect(damage.some((one) => isLostWith(one, lost))).toBe(true);
      await rm(path);
    }
  });

  it('does not fail on flipped bits', async () => {
    const whole = await readFile(join(source, 'data.mdb'));
    for (let round = 0; round < 30; round += 1) {
      const { path } = await copy();
      const bytes = Buffer.from(whole);
      // Headers and tables of nodes are at the start of a page.
      for (let flips = 0; flips < 20; flips += 1) {
        const at = (2 + random(whole.length / 4096 - 2)) * 4096 + random(200);
        bytes[at]! ^= 1 << random(8);
      }
      await writeFile(path, bytes);
      await walked(path);
      await rm(path);
    }
  });
});

describe('checkTableFile', () => {
  it('refuses a file that lacks a page in use, and no other', async () => {
    const pages = (await TablePages.open(join(source, 'data.mdb')))!;
    await pages.close();
    const [accepted, refused] = [[] as number[], [] as number[]];
    for (let there = pages.pages; there > pages.pages - 20; there -= 1) {
      const { directory, path } = await copy();
      await truncate(path, there * 4096);
      const isWhole = missing((await walked(path)).found).length === 0 && (await walked(path)).damage.length === 0;
      const checked = await checkTableFile(directory).then(
        () => undefined,
        (error: Error) => error.message,
      );
      if (isWhole) expect(checked).toBeUndefined();
      else expect(checked).toContain(`was cut short: it has ${there} of ${pages.pages} pages; restore a backup`);
      (isWhole ? accepted : refused).push(there);
    }
    expect(refused.length).toBeGreaterThan(0);
  });

  it('accepts a file whose last pages are free and were never written', async () => {
    const directory = await mkdtemp(join(root, 'free-'));
    const environment = await LmdbEnvironment.open(directory);
    const database = environment.database<Buffer, string>('items', { encoding: 'binary' });
    await environment.run(() => void database.put('kept', Buffer.from('value')));
    await environment.run(() => void database.put('large', Buffer.alloc(400_000, 1)));
    await environment.run(() => void database.remove('large'));
    await environment.close();
    const path = join(directory, 'data.mdb');
    const { damage, found } = await walked(path);
    expect([damage.length, found['items']!.size]).toEqual([0, 1]);
    const whole = (await TablePages.open(path))!;
    await whole.close();
    // The free pages at the end, one by one, as long as the walk finds nothing missing.
    let there = whole.pages;
    for (; (await walked(path)).damage.length === 0; there -= 1) {
      await checkTableFile(directory);
      await truncate(path, (there - 1) * 4096);
    }
    expect(whole.pages - there).toBeGreaterThan(0);
    await expect(checkTableFile(directory)).rejects.toThrow('was cut short');
  });
});

describe('ensureTableFile', () => {
  it('gives the file its name when it is written, and leaves no draft', async () => {
    const directory = await mkdtemp(join(root, 'new-'));
    await ensureTableFile(directory, async (draft) => {
      expect(await readdir(directory)).toEqual([basename(draft)]);
      await writeFile(join(draft, 'data.mdb'), 'table');
    });
    expect(await readdir(directory)).toEqual(['data.mdb']);
    await ensureTableFile(directory, () => Promise.reject(new Error('it is there')));
  });

  it('keeps the file of a process that was faster', async () => {
    const directory = await mkdtemp(join(root, 'raced-'));
    await ensureTableFile(directory, async (draft) => {
      await writeFile(join(draft, 'data.mdb'), 'slower');
      await writeFile(join(directory, 'data.mdb'), 'faster');
    });
    expect(await readFile(join(directory, 'data.mdb'), 'utf8')).toBe('faster');
    expect(await readdir(directory)).toEqual(['data.mdb']);
  });

  it('leaves nothing if the engine fails', async () => {
    const directory = await mkdtemp(join(root, 'failed-'));
    await expect(ensureTableFile(directory, () => Promise.reject(new Error('no space')))).rejects.toThrow('no space');
    expect(await readdir(directory)).toEqual([]);
  });
});
