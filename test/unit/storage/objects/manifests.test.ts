import fc from 'fast-check';
import { beforeEach, describe, expect, it } from 'vitest';
import { itemBytes } from '../../../../shared/storage/table/item-size.ts';
import { Manifests, type ManifestPart } from '../../../../shared/storage/objects/manifests.ts';
import { CountedBytes, SetClock } from '../../../support/storage/fixed-deps.ts';
import { MemoryTable } from '../../../support/storage/memory-table.ts';
import { runs } from '../../../support/runs/runs.ts';

let table: MemoryTable;
let manifests: Manifests;
beforeEach(() => {
  table = new MemoryTable();
  manifests = new Manifests({ table, clock: new SetClock(), randomness: new CountedBytes() });
});

function parts(sizes: readonly number[], checksums = true): ManifestPart[] {
  return sizes.map((size, at) => ({
    blob: size === 0 ? '' : `blob-${at}`,
    size,
    checksum: checksums ? Uint8Array.of(at & 255, at >> 8) : undefined,
  }));
}

/** Parts as they must come back: numbered, and each where the ones before it end. */
function placed(all: readonly ManifestPart[]) {
  let firstByte = 0;
  return all.map((part, at) => {
    const one = { ...part, number: at + 1, firstByte };
    firstByte += part.size;
    return one;
  });
}

describe('a manifest', () => {
  it('gives back its parts, with their numbers and where they begin', async () => {
    const all = parts([5, 0, 7, 1]);
    const id = await manifests.create(all);
    expect(await manifests.parts(id)).toEqual(placed(all));
    expect(await manifests.parts(await manifests.create([]))).toEqual([]);
  });

  it('knows its parts by the numbers they were uploaded as', async () => {
    const gaps = parts([5, 0, 7]).map((part, at) => ({ ...part, number: [2, 3, 9000][at]! }));
    const id = await manifests.create(gaps);
    const all = await manifests.parts(id);
    expect(all.map(({ number, firstByte }) => [number, firstByte])).toEqual([
      [2, 0],
      [3, 5],
      [9000, 5],
    ]);
    for (const part of all) expect(await manifests.part(id, part.number)).toEqual(part);
    for (const number of [1, 4, 8999, 9001]) expect(await manifests.part(id, number)).toBeUndefined();
  });

  it('knows them by their numbers in whatever slice they are', async () => {
    const gaps = parts(Array.from({ length: 4500 }, () => 1)).map((part, at) => ({ ...part, number: 2 * at + 2 }));
    const id = await manifests.create(gaps);
    for (const at of [0, 2999, 3000, 4499]) {
      expect(await manifests.part(id, 2 * at + 2)).toMatchObject({ number: 2 * at + 2, firstByte: at });
      expect(await manifests.part(id, 2 * at + 1)).toBeUndefined();
    }
  });

  it('has an id of its own each time', async () => {
    const [a, b] = [await manifests.create(parts([1])), await manifests.create(parts([2]))];
    expect(a).not.toBe(b);
    expect(await manifests.parts(a)).toEqual(placed(parts([1])));
    expect(await manifests.parts(b)).toEqual(placed(parts([2])));
  });

  it('has checksums only where every part has one', async () => {
    const all = parts([1, 1]);
    const id = await manifests.create([all[0]!, { ...all[1]!, checksum: undefined }]);
    expect((await manifests.parts(id)).map(({ checksum }) => checksum)).toEqual([undefined, undefined]);
    const none = await manifests.create(parts([1], false));
    expect(await manifests.parts(none)).toEqual(placed(parts([1], false)));
  });

  it.each([
    [0, 0, [1]],
    [0, 4, [1]],
    [4, 5, [1, 3]],
    [5, 5, [3]],
    [5, 11, [3]],
    [11, 12, [3, 4]],
    [12, 12, [4]],
    [0, 12, [1, 3, 4]],
  ])('finds the parts of the bytes %i to %i', async (first, last, numbers) => {
    const id = await manifests.create(parts([5, 0, 7, 1]));
    expect(
      (await manifests.parts(id, { first, last })).filter(({ size }) => size > 0).map(({ number }) => number),
    ).toEqual(numbers);
  });

  it('finds a part by its number', async () => {
    const all = placed(parts([5, 0, 7, 1]));
    const id = await manifests.create(all);
    for (const part of all) expect(await manifests.part(id, part.number)).toEqual(part);
    for (const number of [0, 5, 10_000]) expect(await manifests.part(id, number)).toBeUndefined();
  });

  it('is absent if there is none', async () => {
    expect(await manifests.parts('unknown')).toEqual([]);
    expect(await manifests.part('unknown', 1)).toBeUndefined();
    await manifests.remove('unknown');
  });

  it('leaves nothing when it is removed', async () => {
    const id = await manifests.create(parts(Array.from({ length: 3001 }, () => 1)));
    expect(table.keysOf(`content/m${id}`)).toHaveLength(3);
    const other = await manifests.create(parts([1]));
    await manifests.remove(id);
    expect(table.keysOf(`content/m${id}`)).toEqual([]);
    expect(await manifests.parts(other)).toHaveLength(1);
  });

  it('is written before its id is known, the directory last', async () => {
    const written: string[] = [];
    table.beforeWrite = async (changes) => void written.push(...changes.map(({ key }) => key.sk));
    await manifests.create(parts(Array.from({ length: 3001 }, () => 1)));
    expect(written.at(-1)).toBe('-');
    expect(written).toHaveLength(3);
  });

  it('is an error where it cannot be written', async () => {
    table.write = async () => ({ outcome: 'unknown' });
    await expect(manifests.create(parts([1]))).rejects.toMatchObject({ code: 'ServiceUnavailable' });
  });
});

describe('a manifest of 10,000 parts', () => {
  /** As long as they really are: a reference of 24 characters, the largest checksum. */
  const many = Array.from({ length: 10_000 }, (_, at) => ({
    blob: `${at}`.padStart(24, '_'),
    size: 5 * 1024 * 1024 + at,
    checksum: new Uint8Array(32).fill(at),
  }));

  it('lies in items that DynamoDB takes', async () => {
    let largest = 0;
    table.beforeWrite = async (changes) => {
      for (const change of changes) if ('put' in change) largest = Math.max(largest, itemBytes(change.put));
    };
    const id = await manifests.create(many);
    expect(largest).toBeLessThan(390_000);
    expect(await manifests.parts(id)).toEqual(placed(many));
  });

  it('is read no further than needed', async () => {
    const id = await manifests.create(many);
    const all = placed(many);
    for (const number of [1, 2999, 3000, 3001, 6000, 6001, 9001, 10_000]) {
      const wanted = all[number - 1]!;
      table.calls.get = 0;
      expect(await manifests.part(id, number)).toEqual(wanted);
      expect(table.calls.get).toBe(2);
      table.calls.get = 0;
      const { firstByte: first, size } = wanted;
      expect(await manifests.parts(id, { first, last: first + size - 1 })).toEqual([wanted]);
      expect(table.calls.get).toBe(2);
    }
    const across = await manifests.parts(id, { first: all[2999]!.firstByte, last: all[3000]!.firstByte });
    expect(across.map(({ number }) => number)).toEqual([3000, 3001]);
  });

  it('has slices that begin at the same byte, if all the parts between them are empty', async () => {
    const sizes = [...Array.from({ length: 3000 }, () => 0), ...Array.from({ length: 3000 }, () => 0), 5];
    const all = parts(sizes);
    const id = await manifests.create(all);
    expect(await manifests.parts(id)).toEqual(placed(all));
    expect(await manifests.part(id, 6001)).toMatchObject({ firstByte: 0, size: 5 });
    expect(await manifests.part(id, 3001)).toMatchObject({ firstByte: 0, size: 0, number: 3001 });
    expect((await manifests.parts(id, { first: 0, last: 0 })).map(({ number }) => number)).toEqual([6001]);
  });
});

it('any range of any parts is what lies in it', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.integer({ min: 0, max: 9 }), { minLength: 1, maxLength: 12 }),
      fc.nat(100),
      fc.nat(100),
      async (sizes, a, b) => {
        const total = sizes.reduce((sum, size) => sum + size, 0);
        fc.pre(total > 0);
        const [first, last] = [Math.min(a % total, b % total), Math.max(a % total, b % total)];
        const all = placed(parts(sizes));
        const id = await manifests.create(all);
        const expected = all.filter(
          ({ size, firstByte }) => size > 0 && firstByte <= last && firstByte + size - 1 >= first,
        );
        const found = await manifests.parts(id, { first, last });
        expect(found.filter(({ size }) => size > 0)).toEqual(expected);
      },
    ),
    { numRuns: runs(200) },
  );
});
