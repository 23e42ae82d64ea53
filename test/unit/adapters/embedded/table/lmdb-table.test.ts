import { execFile } from 'node:child_process';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { LmdbTable } from '../../../../../shared/adapters/embedded/table/lmdb-table.ts';
import { ItemDamaged, type Expectation } from '../../../../../shared/ports/key-value-table.ts';

import { whileMisled } from '../../../../support/disks/table-bytes.ts';

const run = promisify(execFile);
const repository = join(import.meta.dirname, '../../../../..');

let directory: string;
beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'stillage-lmdb-'));
});
afterEach(async () => {
  await rm(directory, { recursive: true });
});

const key = { pk: 'partition', sk: 'item' };

describe('LmdbTable', () => {
  it('keeps items and feed when closed and opened again', async () => {
    const path = join(directory, 'data.v1', 'table');
    const first = await LmdbTable.open(path);
    await first.write([{ key, put: { n: 1 } }]);
    await first.write([{ key, put: { n: 2 } }]);
    const told = await first.read(undefined, 10);
    await first.trim(told[0]!.position);
    await first.close();

    const second = await LmdbTable.open(path);
    expect(await second.get(key)).toEqual({ n: 2 });
    expect(await second.read(undefined, 10)).toEqual(told.slice(1));
    expect(second.newest()).toBe(told[1]!.position);
    await second.trim(told[1]!.position);
    await second.close();

    const third = await LmdbTable.open(path);
    expect(third.newest()).toBe(told[1]!.position);
    await third.write([{ key, delete: true }]);
    expect((await third.read(undefined, 10)).map(({ position }) => BigInt(position))).toEqual([
      BigInt(told[1]!.position) + 1n,
    ]);
    await third.close();
  });

  it('finishes what was begun when it is closed, and refuses what comes after', async () => {
    const table = await LmdbTable.open(directory);
    const writes = Array.from({ length: 50 }, (_, n) => table.write([{ key: { pk: 'p', sk: `${n}` }, put: { n } }]));
    const closing = table.close();
    await expect(table.write([{ key, put: { n: 1 } }])).rejects.toThrow('closed');
    await expect(table.get(key)).rejects.toThrow('closed');
    await expect(table.query('p')).rejects.toThrow('closed');
    for (const { outcome } of await Promise.all(writes)) expect(outcome).toBe('written');
    await closing;
    await table.close();
    const again = await LmdbTable.open(directory);
    expect((await again.query('p')).items).toHaveLength(50);
    await again.close();
  });

  it('tells the feed only of what is followed', async () => {
    const table = await LmdbTable.open(directory, { isFollowed: ({ pk }) => pk === 'followed' });
    let calls = 0;
    table.subscribe(() => (calls += 1));
    await table.write([{ key, put: { n: 1 } }]);
    await new Promise((resolve) => setTimeout(resolve, 20));
    expect([table.newest(), calls]).toEqual([undefined, 0]);
    await table.write([
      { key, put: { n: 2 } },
      { key: { pk: 'followed', sk: 'a' }, put: { n: 3 } },
    ]);
    await new Promise((resolve) => setTimeout(resolve, 20));
    expect((await table.read(undefined, 10)).map((record) => record.key.pk)).toEqual(['followed']);
    expect(calls).toBe(1);
    await table.close();
  });

  it('checks conditions against what earlier writes of the same transaction have left', async () => {
    const table = await LmdbTable.open(directory);
    const gate = { pk: 'partition', sk: 'gate' };
    await table.write([{ key: gate, put: { n: 1 } }]);
    const passing = (sk: string, expect: Expectation) =>
      table.write([{ key: { pk: 'passed', sk }, put: {} }], [{ key: gate, expect }]);
    const is = (value: number): Expectation => ({ is: 'equal', attribute: 'n', value });
    const writes = await Promise.all([
      ...[passing('a', is(1)), passing('b', is(1)), table.write([{ key: gate, put: { n: 2 } }])],
      ...[passing('c', is(1)), passing('d', is(2)), table.write([{ key: gate, delete: true }])],
      ...[passing('e', is(2)), passing('f', { is: 'absent' }), table.write([{ key: gate, put: { n: 3 } }])],
      ...[passing('g', { is: 'absent' }), passing('h', is(3))],
    ]);
    expect(writes.filter(({ outcome }) => outcome === 'conflict')).toEqual([
      { outcome: 'conflict', failed: [{ key: gate, item: { n: 2 } }] },
      { outcome: 'conflict', failed: [{ key: gate, item: undefined }] },
      { outcome: 'conflict', failed: [{ key: gate, item: { n: 3 } }] },
    ]);
    expect((await table.query('passed')).items.map(({ key: { sk } }) => sk)).toEqual(['a', 'b', 'd', 'f', 'h']);
    await table.close();
  });

  it('ends a page after 2,000 items, and after 1 MiB', async () => {
    const table = await LmdbTable.open(directory);
    for (let start = 0; start < 2500; start += 100) {
      const changes = Array.from({ length: 100 }, (_, n) => ({
        key: { pk: 'many', sk: String(start + n).padStart(4, '0') },
        put: {},
      }));
      await table.write(changes);
    }
    const first = await table.query('many', { limit: 5000 });
    expect([first.items.length, first.more]).toEqual([2000, true]);
    const rest = await table.query('many', { after: first.items.at(-1)!.key.sk });
    expect([rest.items.length, rest.items[0]!.key.sk, rest.more]).toEqual([500, '2000', false]);

    for (let n = 0; n < 10; n += 1)
      await table.write([{ key: { pk: 'large', sk: `${n}` }, put: { b: new Uint8Array(300_000) } }]);
    const large = await table.query('large');
    expect([large.items.length, large.more]).toEqual([4, true]);
    await table.close();
  });

  it('says clearly that a key is too long for the engine', async () => {
    const table = await LmdbTable.open(directory);
    const long = { pk: 'p'.repeat(1100), sk: 's'.repeat(1024) };
    await expect(table.write([{ key: long, put: {} }])).rejects.toThrow(/2124 bytes together/);
    await expect(table.get(long)).rejects.toThrow(/2124 bytes together/);
    expect(await table.query(long.pk, { from: long.sk, prefix: long.sk })).toEqual({ items: [], more: false });
    await table.close();
  });

  it('undoes every write of a transaction in which the engine fails', async () => {
    const table = await LmdbTable.open(directory);
    await table.write([{ key, put: { n: 0 } }]);
    // The filter is called between the puts of one transaction, so it can stand for an engine that fails amid it.
    let calls = 0;
    const failing = await LmdbTable.open(directory, {
      isFollowed: () => {
        calls += 1;
        if (calls === 3) throw new Error('the engine fails');
        return true;
      },
    });
    const outcomes = await Promise.allSettled(
      ['a', 'b', 'c', 'd'].map((sk) => failing.write([{ key: { pk: 'p', sk }, put: { sk } }])),
    );
    expect(outcomes.map(({ status }) => status)).toEqual(['rejected', 'rejected', 'rejected', 'rejected']);
    expect(await table.query('p')).toEqual({ items: [], more: false });
    expect(await table.read(table.newest(), 10)).toEqual([]);
    expect((await failing.write([{ key: { pk: 'p', sk: 'e' }, put: {} }])).outcome).toBe('written');
    expect((await table.query('p')).items.map((item) => item.key.sk)).toEqual(['e']);
    await failing.close();
    await table.close();
  });

  it('sees a commit that another made a moment after its last look', async () => {
    const table = await LmdbTable.open(directory);
    const other = await LmdbTable.open(directory);
    for (let n = 0; n < 200; n += 1) {
      await table.get(key);
      await other.write([{ key, put: { n } }]);
      expect(await table.get(key)).toEqual({ n });
    }
    await other.close();
    await table.close();
  });

  it('takes one snapshot for all reads of a callback of the event loop, and another for the next', async () => {
    const table = await LmdbTable.open(join(directory, 'table'));
    await table.write([{ key, put: { n: 1 } }]);
    // The engine sets a timer for each snapshot.
    const setTimer = vi.spyOn(globalThis, 'setTimeout');
    try {
      for (const snapshots of [1, 2, 3]) {
        await new Promise((resolve) => setImmediate(resolve));
        for (let reads = 0; reads < 10; reads += 1) expect(await table.get(key)).toEqual({ n: 1 });
        expect(setTimer).toHaveBeenCalledTimes(snapshots);
      }
      await table.write([{ key, put: { n: 2 } }]);
      expect(await table.get(key)).toEqual({ n: 2 });
    } finally {
      setTimer.mockRestore();
    }
    await table.close();
  });

  it('is mapped once, however much it grows: the engine loses count of its maps if two threads make it grow', async () => {
    const table = await LmdbTable.open(directory);
    for (let n = 0; n < 20; n += 1)
      await table.write([{ key: { pk: 'large', sk: `${n}` }, put: { b: new Uint8Array(300_000) } }]);
    const maps = (await readFile('/proc/self/maps', 'utf8')).split('\n');
    expect(maps.filter((line) => line.endsWith(join(directory, 'data.mdb')))).toHaveLength(1);
    await table.close();
  });

  it('shares its directory with another process', async () => {
    const table = await LmdbTable.open(directory);
    await table.write([{ key, put: { n: 0 } }]);
    const program = `
      import { LmdbTable } from './shared/adapters/embedded/table/lmdb-table.ts';
      const table = await LmdbTable.open(process.argv[1]);
      const key = { pk: 'partition', sk: 'item' };
      for (let done = 0; done < 100; ) {
        const { n } = await table.get(key);
        const { outcome } = await table.write([{ key, put: { n: n + 1 }, expect: { is: 'equal', attribute: 'n', value: n } }]);
        if (outcome === 'written') done += 1;
      }
      await table.close();`;
    const child = run(process.execPath, ['--import', 'tsx', '--input-type=module', '-e', program, directory], {
      cwd: repository,
    });
    let done = false;
    const finished = child.finally(() => (done = true));
    let own = 0;
    let seen = 0;
    while (!done) {
      const { n } = (await table.get(key)) as { n: number };
      expect(n).toBeGreaterThanOrEqual(seen);
      seen = n;
      const { outcome } = await table.write([
        { key, put: { n: n + 1 }, expect: { is: 'equal', attribute: 'n', value: n } },
      ]);
      if (outcome === 'written') own += 1;
      await new Promise((resolve) => setTimeout(resolve, 1));
    }
    await finished;
    expect(await table.get(key)).toEqual({ n: own + 100 });
    expect((await table.read(undefined, 100_000)).map((record) => record.new!.n)).toEqual(
      Array.from({ length: own + 101 }, (_, n) => n),
    );
    await table.close();
  });
});

describe('on a full disk', () => {
  it('nothing is acknowledged, nothing breaks, and what was written stays', async () => {
    const program = join(repository, 'test/support/disks/full-disk.ts');
    const limited = `ulimit -f 3000; exec "$0" --import tsx "${program}" "${directory}"`;
    const { stdout } = await run('bash', ['-c', limited, process.execPath], { cwd: repository });
    const told = JSON.parse(stdout) as { written: number; together: string[] };
    expect(told).toMatchObject({ outcomes: ['written', 'busy'], lost: 0, shown: 0, refusal: 'EFBIG', left: [] });
    // Items that refer to small blobs are refused with an error that becomes a 503.
    expect(told).toMatchObject({ refusedSmall: 0 });
    expect(told.written).toBeGreaterThan(5);
    expect(new Set(told.together)).toEqual(new Set(['busy']));
  });
});

describe('a page that leads to another one of the table', () => {
  it('hides no item: what is there is found, or the search fails', async () => {
    const keys = Array.from({ length: 100 }, (_, n) => ({ pk: 'p', sk: `${n}`.padStart(3, '0') }));
    const table = await LmdbTable.open(directory);
    table.sealItems();
    for (const one of keys) await table.write([{ key: one, put: { text: 'x'.repeat(200) } }]);
    await table.close();
    const outcomes = { found: 0, failed: 0 };
    const counting = async (holds: Promise<boolean>): Promise<void> => {
      try {
        expect(await holds).toBe(true);
        outcomes.found += 1;
      } catch (error) {
        if (!(error instanceof ItemDamaged)) throw error;
        outcomes.failed += 1;
      }
    };
    await whileMisled(join(directory, 'data.mdb'), async () => {
      const damaged = await LmdbTable.open(directory);
      for (const one of keys) await counting(damaged.get(one).then((item) => item !== undefined));
      await damaged.close();
    });
    expect(outcomes.failed).toBeGreaterThan(20);
    expect(outcomes.found).toBeGreaterThan(outcomes.failed);
  });
});
