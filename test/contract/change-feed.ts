import { randomBytes } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { ChangeFeed, FeedRecord, KeyValueTable } from '../../shared/ports/key-value-table.ts';

/** How to open a table that keeps a feed of its own. Its items may be those of other tests. */
export interface ChangeFeedContract {
  readonly open: () => Promise<{ table: KeyValueTable; feed: ChangeFeed; close: () => Promise<void> }>;
}

/** Registers the tests that every adapter of {@link ChangeFeed} must pass. */
export function describeChangeFeed(name: string, contract: ChangeFeedContract): void {
  describe(`${name} keeps the promises of a change feed`, () => {
    let table: KeyValueTable;
    let feed: ChangeFeed;
    let close: () => Promise<void>;

    beforeAll(async () => {
      ({ table, feed, close } = await contract.open());
    });
    afterAll(async () => {
      await close();
    });

    /** Everything behind a position, read in pages of `limit`. */
    async function follow(after: string | undefined, limit = 1000): Promise<FeedRecord[]> {
      const records: FeedRecord[] = [];
      let position = after;
      for (;;) {
        const page = await feed.read(position, limit);
        expect(page.length).toBeLessThanOrEqual(limit);
        if (page.length === 0) return records;
        records.push(...page);
        position = page.at(-1)!.position;
      }
    }

    const images = (records: readonly FeedRecord[]): unknown[] =>
      records.map(({ key, old, new: now }) => ({ key, old, new: now }));

    it('is empty before the first change', async () => {
      expect(feed.newest()).toBeUndefined();
      expect(await feed.read(undefined, 10)).toEqual([]);
    });

    it('tells each change with the item before and after it', async () => {
      const key = { pk: fresh(), sk: 'ä\u0000😀' };
      const start = feed.newest();
      await table.write([{ key, put: { n: 1, bytes: new Uint8Array([1, 2]), set: new Set(['a']) } }]);
      await table.write([{ key, put: { n: 2 } }]);
      await table.write([{ key, delete: true }]);
      const records = await follow(start);
      expect(images(records)).toEqual([
        { key, old: undefined, new: { n: 1, bytes: new Uint8Array([1, 2]), set: new Set(['a']) } },
        { key, old: { n: 1, bytes: new Uint8Array([1, 2]), set: new Set(['a']) }, new: { n: 2 } },
        { key, old: { n: 2 }, new: undefined },
      ]);
      expect(new Set(records.map(({ shardId }) => shardId)).size).toBe(1);
      expect(feed.newest()).toBe(records.at(-1)!.position);
    });

    it('tells when each change was made, and the same whenever it is asked', async () => {
      const key = { pk: fresh(), sk: 'a' };
      const start = feed.newest();
      const before = Date.now();
      await table.write([{ key, put: { n: 1 } }]);
      const after = Date.now();
      const [record] = await follow(start);
      // The system's clock may be adjusted slightly in between.
      expect(record!.at).toBeGreaterThanOrEqual(before - 1000);
      expect(record!.at).toBeLessThanOrEqual(after + 1000);
      await new Promise((resolve) => setTimeout(resolve, 5));
      expect((await follow(start))[0]!.at).toBe(record!.at);
    });

    it('is silent about what changed nothing', async () => {
      const key = { pk: fresh(), sk: 'item' };
      const start = feed.newest();
      await table.write([{ key, delete: true }]);
      await table.write([], [{ key, expect: { is: 'absent' } }]);
      await table.write([{ key, put: { n: 1 }, expect: { is: 'present' } }]);
      await table.write([{ key, put: { n: 1 } }], [{ key: { ...key, sk: 'other' }, expect: { is: 'present' } }]);
      expect(await follow(start)).toEqual([]);
      expect(feed.newest()).toBe(start);
    });

    it('tells all changes of a transaction', async () => {
      const pk = fresh();
      const start = feed.newest();
      await table.write(['a', 'b', 'c'].map((sk) => ({ key: { pk, sk }, put: { sk } })));
      expect(images(await follow(start))).toEqual(
        ['a', 'b', 'c'].map((sk) => ({ key: { pk, sk }, old: undefined, new: { sk } })),
      );
    });

    it('tells each change of 32 concurrent writers once, in rising positions and in the order of each item', async () => {
      const pk = fresh();
      const start = feed.newest();
      await Promise.all(
        Array.from({ length: 32 }, async (_, worker) => {
          for (let n = 0; n < 20; n += 1) await table.write([{ key: { pk, sk: `${worker % 8}` }, put: { n, worker } }]);
        }),
      );
      const records = await follow(start, 17);
      expect(records).toHaveLength(640);
      const standing = new Map<string, unknown>();
      const told = new Set<string>();
      let position = BigInt(start ?? 0);
      for (const record of records) {
        expect(BigInt(record.position) > position).toBe(true);
        position = BigInt(record.position);
        expect(record.old, 'the old image is the new one of the record before').toEqual(standing.get(record.key.sk));
        standing.set(record.key.sk, record.new);
        told.add(JSON.stringify(record.new));
      }
      expect(told.size).toBe(640);
      for (const [sk, last] of standing) expect(await table.get({ pk, sk })).toEqual(last);
    });

    it('shows a record no later than the change was acknowledged', async () => {
      const pk = fresh();
      for (let n = 0; n < 50; n += 1) {
        const start = feed.newest();
        await table.write([{ key: { pk, sk: 'item' }, put: { n } }]);
        expect((await feed.read(start, 10)).map((record) => record.new)).toEqual([{ n }]);
      }
    });

    it('reads again what was read before', async () => {
      const pk = fresh();
      const start = feed.newest();
      for (let n = 0; n < 10; n += 1) await table.write([{ key: { pk, sk: 'item' }, put: { n } }]);
      expect(await follow(start, 3)).toEqual(await follow(start));
      expect(await feed.read(feed.newest(), 10)).toEqual([]);
    });

    it('forgets what is trimmed, and nothing else', async () => {
      const pk = fresh();
      for (let n = 0; n < 2500; n += 100) {
        await table.write(Array.from({ length: 100 }, (_, index) => ({ key: { pk, sk: `${n + index}` }, put: { n } })));
      }
      const before = await follow(undefined);
      const middle = before.at(-11)!.position;
      await feed.trim(middle);
      expect(await follow(undefined)).toEqual(before.slice(-10));
      expect(await feed.read(before[0]!.position, 100)).toEqual(before.slice(-10));
      await feed.trim(middle);
      await feed.trim('0');
      expect(await follow(undefined)).toEqual(before.slice(-10));
    });

    it('never gives a position twice, even when everything was trimmed', async () => {
      const key = { pk: fresh(), sk: 'item' };
      await table.write([{ key, put: { n: 1 } }]);
      const newest = feed.newest()!;
      await feed.trim(newest);
      expect(await feed.read(undefined, 10)).toEqual([]);
      expect(feed.newest()).toBe(newest);
      await table.write([{ key, put: { n: 2 } }]);
      const [record] = await feed.read(newest, 10);
      expect(record!.new).toEqual({ n: 2 });
      expect(BigInt(record!.position) > BigInt(newest)).toBe(true);
    });

    it('is trimmed while others write', async () => {
      const pk = fresh();
      const start = feed.newest();
      const told: number[] = [];
      let done = false;
      const follower = async (): Promise<void> => {
        for (let position = start; ;) {
          const last = done;
          const records = await feed.read(position, 10);
          told.push(...records.map((record) => record.new!.n as number));
          if (records.length > 0) await feed.trim((position = records.at(-1)!.position));
          else if (last) return;
          else await new Promise(setImmediate);
        }
      };
      const writer = async (): Promise<void> => {
        for (let n = 0; n < 200; n += 1) await table.write([{ key: { pk, sk: 'item' }, put: { n } }]);
        done = true;
      };
      await Promise.all([writer(), follower()]);
      expect(told).toEqual(Array.from({ length: 200 }, (_, n) => n));
    });

    it('calls its subscribers until they leave', async () => {
      const key = { pk: fresh(), sk: 'item' };
      let calls = 0;
      let call = (): void => undefined;
      const nextCall = (): Promise<void> => new Promise((resolve) => (call = resolve));
      const unsubscribe = feed.subscribe(() => {
        calls += 1;
        call();
      });
      for (let n = 0; n < 3; n += 1) {
        const called = nextCall();
        const start = feed.newest();
        await table.write([{ key, put: { n } }]);
        await called;
        expect((await feed.read(start, 10)).map((record) => record.new)).toEqual([{ n }]);
      }
      unsubscribe();
      unsubscribe();
      const before = calls;
      await table.write([{ key, put: { n: 3 } }]);
      await new Promise((resolve) => setTimeout(resolve, 50));
      expect(calls).toBe(before);
    });
  });
}

function fresh(): string {
  return `contract/${randomBytes(12).toString('hex')}`;
}
