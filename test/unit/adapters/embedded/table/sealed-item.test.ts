import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { encodeItem } from '../../../../../shared/adapters/encoded-table/item-encoding.ts';
import { encodeItemKey } from '../../../../../shared/adapters/encoded-table/item-key.ts';
import { LmdbEnvironment } from '../../../../../shared/adapters/embedded/table/lmdb-environment.ts';
import { LmdbTable } from '../../../../../shared/adapters/embedded/table/lmdb-table.ts';
import { murmur3, seal, unseal } from '../../../../../shared/adapters/embedded/table/sealed-item.ts';
import { ItemDamaged } from '../../../../../shared/ports/key-value-table.ts';

const key = { pk: 'partition', sk: 'item' };
const attributes = { n: 300, text: 'a text', flag: true };
const sealed = seal(encodeItemKey(key), encodeItem(attributes));

let directory: string;
beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'stillage-sealed-'));
});
afterEach(() => rm(directory, { recursive: true }));

/** Puts bytes into the databases of a table, behind its back. */
async function store(database: string, entries: readonly (readonly [Buffer, Buffer])[]): Promise<void> {
  const environment = await LmdbEnvironment.open(directory);
  const stored = environment.database<Buffer, Buffer>(database, { encoding: 'binary', keyEncoding: 'binary' });
  await environment.run(() => {
    for (const [at, value] of entries) void stored.put(at, value);
  });
  await environment.close();
}

/** Copies of bytes, in each of which one bit is another. */
const changed = Array.from(sealed, (_, at) =>
  [0, 3, 7].map((bit) => {
    const other = Buffer.from(sealed);
    other[at]! ^= 1 << bit;
    return other;
  }),
).flat();

describe('an item with a checksum', () => {
  it('is not read by any means if a bit of it is another', async () => {
    const partitions = changed.map((value, index) => ({ pk: `p${index}`, value }));
    // The checksum is that of another key as well, for all but the first.
    await store(
      'items',
      partitions.map(({ pk, value }) => [encodeItemKey({ ...key, pk }), value]),
    );
    const table = await LmdbTable.open(directory);
    const visitor = { columns: ['n'], visit: (view: { number(column: number): unknown }) => void view.number(0) };
    for (const { pk } of partitions) {
      await expect(table.get({ ...key, pk })).rejects.toThrow(ItemDamaged);
      await expect(table.query(pk)).rejects.toThrow(ItemDamaged);
      await expect(table.visit(pk, { prefix: '' }, visitor)).rejects.toThrow(ItemDamaged);
      await expect(table.write([{ key: { ...key, pk }, put: {} }])).rejects.toThrow(ItemDamaged);
    }
    const found: unknown[] = [];
    for await (const item of table.scan({ onDamaged: (error) => void found.push(error.key) })) expect.fail(item.key.pk);
    expect(found).toHaveLength(changed.length);
    await table.close();
  });

  it('is not another item: neither its bytes nor its key change', () => {
    expect(unseal(encodeItemKey(key), sealed)).toEqual(encodeItem(attributes));
    for (const other of changed) {
      const marked = other[0] === sealed[0] && other[1] === sealed[1];
      if (marked) expect(() => unseal(encodeItemKey(key), other)).toThrow('not those that were written');
    }
    for (const [at] of encodeItemKey(key).entries()) {
      const other = encodeItemKey(key);
      other[at]! ^= 1;
      expect(() => unseal(other, sealed)).toThrow(ItemDamaged);
    }
  });

  it('may be without one, from an earlier version, until it is written again', async () => {
    await store('items', [[encodeItemKey(key), encodeItem(attributes)]]);
    const table = await LmdbTable.open(directory);
    table.sealItems();
    expect(await table.get(key)).toEqual(attributes);
    expect((await table.query(key.pk)).items).toEqual([{ key, attributes }]);
    const outcome = await table.write([{ key, put: { n: 2 } }]);
    expect(outcome).toEqual({ outcome: 'written', old: [attributes] });
    expect(await table.read(undefined, 10)).toMatchObject([{ old: attributes, new: { n: 2 } }]);
    await table.close();
    const environment = await LmdbEnvironment.open(directory);
    const items = environment.database<Buffer, Buffer>('items', { encoding: 'binary', keyEncoding: 'binary' });
    expect(items.get(encodeItemKey(key))).toEqual(seal(encodeItemKey(key), encodeItem({ n: 2 })));
    await environment.close();
  });
});

describe('a record of the change feed', () => {
  it('is not read if a bit of it is another', async () => {
    const first = await LmdbTable.open(directory);
    first.sealItems();
    await first.write([{ key, put: attributes }]);
    await first.close();
    const environment = await LmdbEnvironment.open(directory);
    const records = environment.database<Buffer, Buffer>('feed', { encoding: 'binary', keyEncoding: 'binary' });
    const [position, record] = [...records.getRange({})].map(
      ({ key: at, value }) => [Buffer.from(at), value] as const,
    )[1]!;
    const kept = Buffer.from(record);
    await environment.close();
    for (const at of [6, Math.floor(kept.length / 2), kept.length - 1]) {
      const other = Buffer.from(kept);
      other[at]! ^= 1;
      await store('feed', [[position, other]]);
      const table = await LmdbTable.open(directory);
      await expect(table.read(undefined, 10)).rejects.toThrow(ItemDamaged);
      await table.close();
    }
  });
});

describe('the checksum', () => {
  // Of the reference implementation: https://en.wikipedia.org/wiki/MurmurHash#Algorithm links to it.
  it.each([
    ['', 0, 0],
    ['', 1, 0x514e28b7],
    ['', 0xffffffff, 0x81f16f39],
    ['test', 0, 0xba6bd213],
    ['test', 0x9747b28c, 0x704b81dc],
    ['Hello, world!', 0, 0xc0363e43],
    ['The quick brown fox jumps over the lazy dog', 0, 0x2e4ff723],
  ])('is MurmurHash3: %j, seed %i', (text, seed, hash) => {
    const bytes = Buffer.from(` ${text} `);
    expect(murmur3(bytes, 1, bytes.length - 1, seed)).toBe(hash);
  });
});
