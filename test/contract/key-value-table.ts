import fc from 'fast-check';
import { randomBytes } from 'node:crypto';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { TestContext } from 'vitest';
import type { ItemView, Position } from '../../shared/ports/item-view.ts';
import { ItemDamaged } from '../../shared/ports/key-value-table.ts';
import type {
  Attribute,
  Attributes,
  Change,
  Expectation,
  Item,
  ItemKey,
  KeyValueTable,
  QueryOptions,
  VisitRange,
} from '../../shared/ports/key-value-table.ts';
import { anAttribute, attributesOf, compareBytes, numbers, sortKeys } from './table-arbitraries.ts';

/** A promise of the port that an engine used in tests (never the adapter itself) is known to break. */
type TablePromise =
  'concurrent transactions' | 'large transactions' | 'the item of a conflict' | 'comparisons of unlike types';

/** How to open a table, and how hard to try it. */
export interface TableContract {
  /** Opens a table. It may hold items of other tests: every test works in partitions of its own. */
  readonly open: () => Promise<{ table: KeyValueTable; close: () => Promise<void> }>;
  /** Multiplies the number of runs and rounds; 1 where a call takes microseconds, 0.1 where it takes milliseconds. */
  readonly effort?: number;
  /** For one test, in milliseconds. */
  readonly timeout?: number;
  /** Guarantees that the engine breaks, with the reason. Their tests are reported as skipped. */
  readonly broken?: Partial<Record<TablePromise, string>>;
}

/** Registers the tests that every adapter of {@link KeyValueTable} must pass. */
export function describeKeyValueTable(name: string, contract: TableContract): void {
  const { effort = 1, timeout = 60_000, broken = {} } = contract;
  const times = (count: number): number => Math.max(2, Math.round(count * effort));

  function needs(promise: TablePromise, context: TestContext): void {
    const reason = broken[promise];
    if (reason !== undefined) context.skip(reason);
  }

  describe(`${name} keeps the promises of a key-value table`, { timeout }, () => {
    let table: KeyValueTable;
    let close: () => Promise<void>;

    beforeAll(async () => {
      ({ table, close } = await contract.open());
    }, timeout);
    afterAll(async () => {
      await close();
    });

    async function put(key: ItemKey, attributes: Attributes): Promise<void> {
      expect(await table.write([{ key, put: attributes }])).toMatchObject({ outcome: 'written' });
    }

    async function seed(pk: string, names: readonly string[]): Promise<void> {
      for (let start = 0; start < names.length; start += 50) {
        const changes = names.slice(start, start + 50).map((sk) => ({ key: { pk, sk }, put: { sk } }));
        expect(await table.write(changes)).toMatchObject({ outcome: 'written' });
      }
    }

    /** Follows `more` to the end, and checks the guarantees of every page. */
    async function walk(pk: string, options: Omit<QueryOptions, 'limit'> = {}, limit?: number): Promise<Item[]> {
      const all: Item[] = [];
      let after = options.after;
      for (;;) {
        const page = await table.query(pk, {
          ...options,
          ...(after === undefined ? {} : { after }),
          ...(limit === undefined ? {} : { limit }),
        });
        if (limit !== undefined) expect(page.items.length).toBeLessThanOrEqual(limit);
        all.push(...page.items);
        if (!page.more) return all;
        expect(page.items.length, 'a page that is not the last has items').toBeGreaterThan(0);
        after = page.items.at(-1)!.key.sk;
      }
    }

    const names = async (pk: string, options: QueryOptions = {}): Promise<string[]> =>
      (await walk(pk, options)).map((item) => item.key.sk);

    describe('items', () => {
      it('tells that an item is not there', async () => {
        expect(await table.get({ pk: fresh(), sk: '-' })).toBeUndefined();
      });

      it.each<[string, Attribute]>([
        ['an empty string', ''],
        ['text of every plane', 'a é ～ \uFFFD 😀 \u{10FFFF}'],
        ['control characters', '\u0000\u0001\t\r\n\u007F\u0085'],
        ['a long string', 'x'.repeat(40_000)],
        ['zero', 0],
        ['a negative number', -17],
        ['numbers about 2^31', 2 ** 31],
        ['numbers about 2^32', 2 ** 32 + 1],
        ['the largest safe integer', Number.MAX_SAFE_INTEGER],
        ['the smallest safe integer', Number.MIN_SAFE_INTEGER],
        ['a double', 0.1 + 0.2],
        ['a negative double', -1.5e-7],
        ['true', true],
        ['false', false],
        ['no bytes', new Uint8Array(0)],
        ['all bytes', Uint8Array.from({ length: 256 }, (_, byte) => byte)],
        ['a set', new Set(['one', 'zwei', '😀'])],
        ['an empty list', []],
        ['an empty map', {}],
        ['a list of everything', ['', 1, true, new Uint8Array([0, 255]), new Set(['a']), [[]], { a: {} }]],
        ['a map of everything', { s: '', n: 1.5, b: false, y: new Uint8Array([1]), l: [1, 'a'], m: { 'x.y:z#': '' } }],
        ['names an object has of its own', JSON.parse('{"__proto__":"a","constructor":"b","toString":"c"}')],
      ])('keeps %s', async (_what, value) => {
        const key = { pk: fresh(), sk: 'item' };
        await put(key, { value });
        const found = await table.get(key);
        expect(found).toEqual({ value });
        expect(typesWithin(found!.value!)).toEqual(typesWithin(value));
      });

      it('keeps any attributes', async () => {
        const pk = fresh();
        await fc.assert(
          fc.asyncProperty(attributesOf(anAttribute), async (attributes) => {
            const key = { pk, sk: 'item' };
            await put(key, attributes);
            const found = await table.get(key);
            expect(found).toEqual(attributes);
            expect(typesWithin(found!)).toEqual(typesWithin(attributes));
          }),
          { numRuns: times(200) },
        );
      });

      it('keeps an item of 350,000 bytes', async () => {
        const key = { pk: fresh(), sk: 'item' };
        const bytes = new Uint8Array(randomBytes(350_000));
        await put(key, { bytes });
        expect(Buffer.compare((await table.get(key))!.bytes as Uint8Array, bytes)).toBe(0);
      });

      it('gives bytes that a later read does not change', async () => {
        const pk = fresh();
        await put({ pk, sk: 'a' }, { bytes: new Uint8Array(100).fill(1) });
        await put({ pk, sk: 'b' }, { bytes: new Uint8Array(100).fill(2) });
        const first = await table.get({ pk, sk: 'a' });
        const both = (await table.query(pk)).items;
        await table.get({ pk, sk: 'b' });
        expect(first!.bytes).toEqual(new Uint8Array(100).fill(1));
        expect(both[0]!.attributes.bytes).toEqual(new Uint8Array(100).fill(1));
      });

      it('is not touched by what the caller does to an object after the write', async () => {
        const key = { pk: fresh(), sk: 'item' };
        const list = ['before'];
        const written = table.write([{ key, put: { list } }]);
        list.push('after');
        await written;
        ((await table.get(key))!.list as string[]).push('scribble');
        expect(await table.get(key)).toEqual({ list: ['before'] });
      });

      it('puts an item whole: no attribute of its former self stays', async () => {
        const key = { pk: fresh(), sk: 'item' };
        await put(key, { a: 1, b: 2 });
        await put(key, { b: 3 });
        expect(await table.get(key)).toEqual({ b: 3 });
      });

      it('deletes an item, and is content when there is none', async () => {
        const key = { pk: fresh(), sk: 'item' };
        await put(key, { a: 1 });
        expect(await table.write([{ key, delete: true }])).toEqual({ outcome: 'written', old: [{ a: 1 }] });
        expect(await table.get(key)).toBeUndefined();
        expect(await table.write([{ key, delete: true }])).toEqual({ outcome: 'written', old: [undefined] });
      });

      it('tells keys apart that differ only in where the partition ends', async () => {
        const pk = fresh();
        const keys = [
          { pk: `${pk}/a`, sk: 'b/c' },
          { pk: `${pk}/a/b`, sk: 'c' },
          { pk: `${pk}/a`, sk: 'b\u0000c' },
          { pk: `${pk}/a\u0000b`, sk: 'c' },
          { pk: `${pk}/a\u0000`, sk: 'b' },
          { pk: `${pk}/a`, sk: '\u0000b' },
          { pk: `${pk}/a`, sk: '\u0001b' },
          { pk: `${pk}/a\u0001`, sk: 'b' },
        ];
        for (const [index, key] of keys.entries()) await put(key, { index });
        for (const [index, key] of keys.entries()) expect(await table.get(key)).toEqual({ index });
        expect(await names(`${pk}/a`)).toEqual(['\u0000b', '\u0001b', 'b\u0000c', 'b/c']);
        expect(await names(`${pk}/a\u0000`)).toEqual(['b']);
      });

      it('takes sort keys of 1,024 bytes, and partition keys of 1,100', async () => {
        const pk = fresh();
        const long = ['k'.repeat(1024), '😀'.repeat(256), '\u0001'.repeat(1024), `${'k'.repeat(1023)}l`];
        for (const sk of long) {
          await put({ pk, sk }, { sk });
          expect(await table.get({ pk, sk })).toEqual({ sk });
        }
        expect(await names(pk)).toEqual([...long].sort(compareBytes));

        const longest = { pk: `${pk}/${'~'.repeat(1099 - Buffer.byteLength(pk))}`, sk: 'v'.repeat(32) };
        await put(longest, { n: 1 });
        expect(await table.get(longest)).toEqual({ n: 1 });
        expect(await names(longest.pk)).toEqual([longest.sk]);
      });
    });

    describe('getTogether', () => {
      it('answers in the order asked, with gaps, for 10 items', async () => {
        const pk = fresh();
        await seed(pk, ['0', '2', '4', '6', '8']);
        const keys = ['9', '8', '7', '6', '5', '4', '3', '2', '1', '0'].map((sk) => ({ pk, sk }));
        expect(await table.getTogether(keys)).toEqual(
          keys.map(({ sk }) => (Number(sk) % 2 === 0 ? { sk } : undefined)),
        );
      });

      it('shows a transaction whole or not at all', async (context) => {
        needs('concurrent transactions', context);
        const keys = [
          { pk: fresh(), sk: 'one' },
          { pk: fresh(), sk: 'two' },
        ] as const;
        let done = false;
        let turn = 0;
        const writer = (async (): Promise<void> => {
          for (const stop = times(400); turn < stop; turn += 1) {
            await table.write(keys.map((key) => (turn % 3 === 0 ? { key, delete: true } : { key, put: { turn } })));
          }
          done = true;
        })();
        let seen = 0;
        const reader = async (): Promise<void> => {
          while (!done) {
            const [one, two] = await table.getTogether(keys);
            expect(one).toEqual(two);
            seen += 1;
            await new Promise(setImmediate);
          }
        };
        await Promise.all([writer, reader(), reader(), reader()]);
        expect(seen).toBeGreaterThan(0);
      });
    });

    describe('query', () => {
      it('is empty for an empty partition', async () => {
        expect(await table.query(fresh())).toEqual({ items: [], more: false });
      });

      it('answers items with their whole key', async () => {
        const pk = fresh();
        await put({ pk, sk: 'a' }, { x: 1 });
        expect(await table.query(pk)).toEqual({ items: [{ key: { pk, sk: 'a' }, attributes: { x: 1 } }], more: false });
      });

      it('has the attributes that it is asked for', async () => {
        const pk = fresh();
        const wanted = { a: 'text', bytes: new Uint8Array([1, 2]), map: { inner: 1 } };
        await put(
          { pk, sk: 'a' },
          { ...wanted, x: 'other', long: 'l'.repeat(200), list: [{ a: 1 }], raw: new Uint8Array(3) },
        );
        await put({ pk, sk: 'b' }, { x: 1 });
        const attributes = new Set(['a', 'bytes', 'map', 'none']);
        const { items } = await table.query(pk, { attributes });
        expect(items).toMatchObject([{ key: { sk: 'a' }, attributes: wanted }, { key: { sk: 'b' } }]);
      });

      it('orders by UTF-8 bytes, where JavaScript orders by UTF-16 units', async () => {
        const pk = fresh();
        const sorted = [
          '\u0000',
          '\u0001',
          '\t',
          ' ',
          '!',
          'A',
          'a',
          'a\u0000',
          'a\u0001',
          'aa',
          '~',
          '\u007F',
          '\u0080',
          'é',
          '\uD7FF',
          '\uE000',
          '～',
          '\uFFFD',
          '\uFFFF',
          '😀',
          '\u{10FFFF}',
        ];
        expect([...sorted].sort()).not.toEqual(sorted);
        await seed(pk, [...sorted].reverse());
        expect(await names(pk)).toEqual(sorted);
        expect(await names(pk, { reverse: true })).toEqual([...sorted].reverse());
        expect(await names(pk, { after: '\uFFFF' })).toEqual(['😀', '\u{10FFFF}']);
        expect(await names(pk, { from: '\uFFFF', reverse: true })).toEqual(['\u{10FFFF}', '😀', '\uFFFF']);
        expect(await names(pk, { prefix: 'a' })).toEqual(['a', 'a\u0000', 'a\u0001', 'aa']);
        expect(await names(pk, { prefix: '\u{10FFFF}' })).toEqual(['\u{10FFFF}']);
      });

      it('stays inside the partition', async () => {
        const pk = fresh();
        await seed(`${pk}`, ['m']);
        await seed(`${pk}\u0000`, ['x']);
        await seed(`${pk}/`, ['y']);
        await seed(pk.slice(0, -1), ['z']);
        expect(await names(pk)).toEqual(['m']);
        expect(await names(pk, { reverse: true })).toEqual(['m']);
        expect(await names(pk, { from: 'n' })).toEqual([]);
        expect(await names(pk, { after: 'a', reverse: true })).toEqual([]);
      });

      it('walks a partition by the page', async () => {
        const pk = fresh();
        const sorted = Array.from({ length: times(1500) }, (_, index) => `key-${String(index).padStart(5, '0')}`);
        const limit = Math.ceil(sorted.length * 0.47);
        await seed(pk, sorted);
        expect(await names(pk)).toEqual(sorted);
        expect((await walk(pk, {}, limit)).map((item) => item.key.sk)).toEqual(sorted);
        expect((await walk(pk, { reverse: true }, limit)).map((item) => item.key.sk)).toEqual([...sorted].reverse());
      });

      it('walks more bytes than one page can hold', async () => {
        const pk = fresh();
        const sorted = Array.from({ length: 12 }, (_, index) => `item-${String(index).padStart(2, '0')}`);
        const bytes = new Uint8Array(randomBytes(200_000));
        for (const sk of sorted) await put({ pk, sk }, { bytes });
        expect(await names(pk)).toEqual(sorted);
      });

      it('says more only while items follow, whatever the limit', async () => {
        const pk = fresh();
        await seed(pk, ['a', 'b', 'c']);
        expect(await table.query(pk, { limit: 2 })).toMatchObject({ items: [{}, {}], more: true });
        expect(await table.query(pk, { limit: 2, after: 'b' })).toMatchObject({
          items: [{ key: { sk: 'c' } }],
          more: false,
        });
        expect(await table.query(pk, { limit: 4 })).toMatchObject({ items: [{}, {}, {}], more: false });
        expect(await table.query(pk, { after: 'c' })).toEqual({ items: [], more: false });
      });

      it('agrees with a sorted array for every combination of options', async () => {
        const partitions = fc.sample(fc.uniqueArray(sortKeys, { minLength: 0, maxLength: 40 }), times(20));
        const stored = new Map<string, string[]>();
        for (const some of partitions) {
          const pk = fresh();
          await seed(pk, some);
          stored.set(pk, [...some].sort(compareBytes));
        }
        const options = fc.record(
          {
            from: fc.oneof(sortKeys, fc.nat(40)),
            after: fc.oneof(sortKeys, fc.nat(40)),
            prefix: fc.oneof(sortKeys, fc.constant(''), fc.tuple(fc.nat(40), fc.nat(4))),
            limit: fc.integer({ min: 1, max: 50 }),
            reverse: fc.boolean(),
          },
          { requiredKeys: [] },
        );
        await fc.assert(
          fc.asyncProperty(fc.constantFrom(...stored.keys()), options, async (pk, wish) => {
            const sorted = stored.get(pk)!;
            const existing = (place: string | number): string =>
              typeof place === 'string' ? place : (sorted[place % sorted.length] ?? 'none');
            const { limit, reverse } = wish;
            const bounds: Omit<QueryOptions, 'limit'> = {
              ...(wish.from === undefined ? {} : { from: existing(wish.from) }),
              ...(wish.after === undefined ? {} : { after: existing(wish.after) }),
              ...(wish.prefix === undefined
                ? {}
                : {
                    prefix:
                      typeof wish.prefix === 'string'
                        ? wish.prefix
                        : [...existing(wish.prefix[0])].slice(0, wish.prefix[1]).join(''),
                  }),
              ...(reverse === undefined ? {} : { reverse }),
            };
            const expected = inArray(sorted, bounds);
            const page = await table.query(pk, limit === undefined ? bounds : { ...bounds, limit });
            const given = page.items.map((item) => item.key.sk);
            expect(given).toEqual(expected.slice(0, given.length));
            expect(given.length).toBeLessThanOrEqual(limit ?? Infinity);
            if (!page.more) expect(given).toEqual(expected);
            for (const item of page.items)
              expect(item).toEqual({ key: { pk, sk: item.key.sk }, attributes: { sk: item.key.sk } });
            expect((await walk(pk, bounds, limit)).map((item) => item.key.sk)).toEqual(expected);
          }),
          { numRuns: times(500) },
        );
      });

      it('shows every item that stands throughout, once, while others come and go', async () => {
        const pk = fresh();
        const standing = Array.from({ length: 60 }, (_, index) => `${String(index).padStart(3, '0')}-stands`);
        await seed(pk, standing);
        let done = false;
        const churn = (async (): Promise<void> => {
          for (let turn = 0; !done; turn += 1) {
            const key = { pk, sk: `${String((turn * 7) % 60).padStart(3, '0')}-moves` };
            await put(key, { turn });
            await table.write([{ key, delete: true }]);
          }
        })();
        for (let round = 0; round < times(10); round += 1) {
          const found = (await walk(pk, {}, 7)).map((item) => item.key.sk);
          expect(found.filter((sk) => sk.endsWith('-stands'))).toEqual(standing);
          expect(new Set(found).size).toBe(found.length);
        }
        done = true;
        await churn;
      });
    });

    describe('visit', () => {
      /** Visits a partition to the end, with a seek to each position that `see` returns. */
      async function visited(
        pk: string,
        range: VisitRange,
        columns: readonly string[],
        see: (item: ItemView) => Position | undefined,
      ): Promise<void> {
        for (let position: Position | undefined = range; position !== undefined;) {
          const { prefix, reverse = false } = range;
          position = await table.visit!(pk, { ...position, prefix, reverse }, { columns, visit: see });
        }
      }

      beforeEach((context) => {
        if (table.visit === undefined) context.skip('it shows no items in place');
      });

      it('shows the items that a query returns, with their attributes', async () => {
        const pk = fresh();
        const value = fc.oneof(fc.constantFrom('', 'é', 'x'.repeat(200)), numbers, fc.uint8Array({ maxLength: 40 }));
        const items = fc.sample(fc.tuple(sortKeys, attributesOf(fc.oneof(value, anAttribute))), times(60));
        for (const [sk, attributes] of items) await put({ pk, sk }, attributes);
        const names = [...new Set(items.flatMap(([, attributes]) => Object.keys(attributes)))];
        await fc.assert(
          fc.asyncProperty(
            fc.subarray(names.length > 0 ? names : ['none']),
            fc.oneof(fc.constant(''), sortKeys),
            fc.option(sortKeys, { nil: undefined }),
            fc.boolean(),
            async (columns, prefix, after, reverse) => {
              const range = { prefix, reverse, ...(after !== undefined && { after }) };
              const found: unknown[] = [];
              await visited(pk, range, columns, (item) => void found.push([item.sortKey(), shownOf(item, columns)]));
              const expected = (await walk(pk, range)).map(({ key, attributes }) => [
                key.sk,
                columns.map((name) => comparable(Object.hasOwn(attributes, name) ? attributes[name] : undefined)),
              ]);
              expect(found).toEqual(expected);
            },
          ),
          { numRuns: times(100) },
        );
      });

      it('continues from any later position, and skips nothing after it', async () => {
        const pk = fresh();
        const all = [...fc.sample(fc.uniqueArray(sortKeys, { minLength: 40, maxLength: 60 }), 1)[0]!].sort(
          compareBytes,
        );
        await seed(pk, all);
        await fc.assert(
          fc.asyncProperty(fc.infiniteStream(fc.nat(12)), fc.boolean(), async (jumps, inclusive) => {
            const seen: string[] = [];
            let at = -1;
            await visited(pk, { prefix: '' }, [], (item) => {
              const key = item.sortKey();
              const now = all.indexOf(key);
              // Items before the position that was asked for may be shown, but none after it is missed.
              expect(now).toBeLessThanOrEqual(at + 1);
              seen.push(key);
              if (now <= at) return undefined;
              at = now;
              const jump = jumps.next().value as number;
              if (jump > 5 || now + jump >= all.length) return undefined;
              at = inclusive ? now + jump : now + jump + 1;
              const position = inclusive ? { from: all[at + 1]! } : { after: all[at]! };
              return all[at + 1] === undefined ? undefined : position;
            });
            expect(seen).toEqual([...seen].sort(compareBytes));
            expect(new Set(seen).size).toBe(seen.length);
          }),
          { numRuns: times(100) },
        );
      });

      it('stops when told to, and rejects with what the visitor throws', async () => {
        const pk = fresh();
        await seed(pk, ['a', 'b', 'c']);
        const seen: string[] = [];
        const visitor = {
          columns: [],
          visit: (item: ItemView) => (seen.push(item.sortKey()) === 2 ? ('stop' as const) : undefined),
        };
        expect(await table.visit!(pk, { prefix: '' }, visitor)).toBeUndefined();
        expect(seen).toEqual(['a', 'b']);
        const failing = {
          columns: [],
          visit: () => {
            throw new Error('no more');
          },
        };
        await expect(table.visit!(pk, { prefix: '' }, failing)).rejects.toThrow('no more');
        expect(await names(pk)).toEqual(['a', 'b', 'c']);
      });

      it('shows a large partition in several turns, all of it', async () => {
        const pk = fresh();
        const all = Array.from({ length: 3000 }, (_, index) => String(index).padStart(5, '0'));
        await seed(pk, all);
        for (const reverse of [false, true]) {
          const seen: string[] = [];
          let turns = 0;
          for (let position: Position | undefined = {}; position !== undefined; turns += 1) {
            const visitor = { columns: [], visit: (item: ItemView) => void seen.push(item.sortKey()) };
            position = await table.visit!(pk, { prefix: '', reverse, ...position }, visitor);
          }
          expect(seen).toEqual(reverse ? all.toReversed() : all);
          expect(turns).toBeGreaterThan(1);
        }
      });

      it('tells an attribute of another type', async () => {
        const pk = fresh();
        await put({ pk, sk: 'item' }, { text: 'a', flag: true });
        const reads: ((item: ItemView) => unknown)[] = [
          (item) => item.number(0),
          (item) => item.copy(1, Buffer.alloc(9)),
        ];
        for (const read of reads) {
          const visitor = { columns: ['text', 'flag'], visit: (item: ItemView) => void read(item) };
          await expect(table.visit!(pk, { prefix: '' }, visitor)).rejects.toThrow(ItemDamaged);
        }
      });
    });

    describe('scan', () => {
      const scan = async (...prefixes: string[]): Promise<Item[]> => {
        const items: Item[] = [];
        for await (const item of table.scan({ prefixes })) items.push(item);
        return items;
      };
      const place = ({ key }: Item): string => `${key.pk} ${key.sk}`;

      it('shows every item once, whatever characters its key has', async () => {
        const kind = fresh();
        const pks = ['', 'a', 'a/b', '\u0001', '\u007F', 'é', '\uFFFF', '😀'].map((rest) => `${kind}/${rest}`);
        const sks = ['-', '\u0000', 'a\u0000b', '~', 'é', '\uFFFF', '😀', 'x'.repeat(1024)];
        for (const pk of pks) await seed(pk, sks);
        const found = await scan(`${kind}/`);
        const expected = pks.flatMap((pk) => sks.map((sk) => ({ key: { pk, sk }, attributes: { sk } })));
        expect(found).toHaveLength(expected.length);
        expect(found.toSorted((a, b) => compareBytes(place(a), place(b)))).toEqual(
          expected.toSorted((a, b) => compareBytes(place(a), place(b))),
        );
      });

      it('shows the items of a partition together, in the order of their sort keys', async () => {
        const kind = fresh();
        const sks = ['b', 'a', '\uFFFF', '😀', 'é', 'a/'];
        const pks = Array.from({ length: 12 }, (_, n) => `${kind}/${n}`);
        for (const pk of pks) await seed(pk, sks);
        const found = await scan(kind);
        for (const [at, pk] of [...new Set(found.map(({ key }) => key.pk))].entries()) {
          const run = found.slice(at * sks.length, (at + 1) * sks.length);
          expect(run.map(({ key }) => key)).toEqual(sks.toSorted(compareBytes).map((sk) => ({ pk, sk })));
        }
        expect(found).toHaveLength(pks.length * sks.length);
      });

      it('shows what has one of several prefixes, and no item twice', async () => {
        const kind = fresh();
        const pks = ['a', 'ab', 'abc', 'b', 'c'].map((rest) => `${kind}/${rest}`);
        for (const pk of pks) await seed(pk, ['-']);
        const names = async (...rests: string[]): Promise<string[]> =>
          (await scan(...rests.map((rest) => `${kind}/${rest}`)))
            .map(({ key }) => key.pk.slice(kind.length + 1))
            .sort();
        expect(await names('ab', 'a')).toEqual(['a', 'ab', 'abc']);
        expect(await names('c', 'ab')).toEqual(['ab', 'abc', 'c']);
        expect(await names('d')).toEqual([]);
      });

      it('without prefixes shows everything', async () => {
        const pk = fresh();
        await seed(pk, ['here']);
        let seen = 0;
        for await (const { key } of table.scan()) if (key.pk === pk) seen += 1;
        expect(seen).toBe(1);
      });

      it('shows as many items, and as large, as there are', async () => {
        const pk = fresh();
        const count = times(2500);
        await seed(
          pk,
          Array.from({ length: count }, (_, n) => `small ${n}`),
        );
        for (const n of [1, 2, 3, 4]) await put({ pk, sk: `large ${n}` }, { bytes: new Uint8Array(350_000) });
        const found = await scan(pk);
        expect(new Set(found.map(place)).size).toBe(found.length);
        expect(found).toHaveLength(count + 4);
      });

      it('shows what is there throughout, while others come and go', async () => {
        const pk = fresh();
        const lasting = Array.from({ length: times(3000) }, (_, n) => `${n}`.padStart(6, '0'));
        await seed(pk, lasting);
        const seen: string[] = [];
        let turn = 0;
        for await (const { key } of table.scan({ prefixes: [pk] })) {
          seen.push(key.sk);
          if (seen.length % 100 !== 0) continue;
          turn += 1;
          const passing = { pk, sk: `${String((turn * 7919) % lasting.length).padStart(6, '0')} passing` };
          await table.write([{ key: passing, put: {} }]);
          if (turn % 2 === 0) await table.write([{ key: passing, delete: true }]);
        }
        const steady = seen.filter((sk) => !sk.endsWith('passing'));
        expect(steady).toEqual(lasting);
      });

      it('may be left early', async () => {
        const pk = fresh();
        await seed(pk, ['a', 'b']);
        for await (const { key } of table.scan({ prefixes: [pk] })) {
          expect(key.sk).toBe('a');
          break;
        }
        expect(await names(pk)).toEqual(['a', 'b']);
      });
    });

    describe('write', () => {
      it('tells what a single write replaced', async () => {
        const key = { pk: fresh(), sk: 'item' };
        expect(await table.write([{ key, put: { n: 1 } }])).toEqual({ outcome: 'written', old: [undefined] });
        expect(await table.write([{ key, put: { n: 2 }, expect: { is: 'present' } }])).toEqual({
          outcome: 'written',
          old: [{ n: 1 }],
        });
        expect(await table.write([{ key, delete: true, expect: { is: 'equal', attribute: 'n', value: 2 } }])).toEqual({
          outcome: 'written',
          old: [{ n: 2 }],
        });
      });

      const item = { n: 5, s: 'é～', flag: true };
      const cases: readonly [string, Expectation, boolean, boolean][] = [
        ['absent', { is: 'absent' }, false, true],
        ['present', { is: 'present' }, true, false],
        ['equal number', { is: 'equal', attribute: 'n', value: 5 }, true, false],
        ['another number', { is: 'equal', attribute: 'n', value: 6 }, false, false],
        ['equal string', { is: 'equal', attribute: 's', value: 'é～' }, true, false],
        ['another string', { is: 'equal', attribute: 's', value: '' }, false, false],
        ['a number as a string', { is: 'equal', attribute: 'n', value: '5' }, false, false],
        ['equal of a missing attribute', { is: 'equal', attribute: 'x', value: 5 }, false, false],
        ['less than a greater number', { is: 'less', attribute: 'n', value: 5.5 }, true, false],
        ['less than itself', { is: 'less', attribute: 'n', value: 5 }, false, false],
        ['less than a smaller number', { is: 'less', attribute: 'n', value: -1 }, false, false],
        ['less by bytes: ～ before 😀', { is: 'less', attribute: 's', value: 'é😀' }, true, false],
        ['less than a smaller string', { is: 'less', attribute: 's', value: 'e' }, false, false],
        ['a number less than a string', { is: 'less', attribute: 'n', value: 'z' }, false, false],
        ['less of a missing attribute', { is: 'less', attribute: 'x', value: 9 }, false, false],
        ['missing', { is: 'missing', attribute: 'x' }, true, true],
        ['missing, but it is there', { is: 'missing', attribute: 'n' }, false, true],
        ['all', { is: 'all', of: [{ is: 'present' }, { is: 'missing', attribute: 'x' }] }, true, false],
        ['all but one', { is: 'all', of: [{ is: 'present' }, { is: 'missing', attribute: 'n' }] }, false, false],
        ['any', { is: 'any', of: [{ is: 'absent' }, { is: 'less', attribute: 'n', value: 6 }] }, true, true],
        ['none of any', { is: 'any', of: [{ is: 'absent' }, { is: 'less', attribute: 'n', value: 1 }] }, false, true],
        [
          'any within all within any',
          {
            is: 'any',
            of: [
              { is: 'absent' },
              {
                is: 'all',
                of: [
                  { is: 'missing', attribute: 'v' },
                  {
                    is: 'any',
                    of: [
                      { is: 'equal', attribute: 'n', value: 1 },
                      { is: 'less', attribute: 'n', value: 9 },
                    ],
                  },
                ],
              },
            ],
          },
          true,
          true,
        ],
      ];
      it.for(cases)('decides: %s', async ([what, expectation, ofItem, ofNothing], context) => {
        if (what === 'a number less than a string') needs('comparisons of unlike types', context);
        const pk = fresh();
        for (const [sk, there, holds] of [
          ['item', true, ofItem],
          ['nothing', false, ofNothing],
        ] as const) {
          const key = { pk, sk };
          if (there) await put(key, item);
          const before = await table.get(key);

          const alone = await table.write([{ key, put: { changed: 1 }, expect: expectation }]);
          expect(alone.outcome).toBe(holds ? 'written' : 'conflict');
          expect(await table.get(key)).toEqual(holds ? { changed: 1 } : before);
          await table.write([there ? { key, put: item } : { key, delete: true }]);

          const other = { pk, sk: `beside-${sk}` };
          const beside = await table.write([{ key: other, put: { n: 1 } }], [{ key, expect: expectation }]);
          expect(beside.outcome).toBe(holds ? 'written' : 'conflict');
          expect(await table.get(other)).toEqual(holds ? { n: 1 } : undefined);
          expect(await table.get(key)).toEqual(before);

          const removed = await table.write([{ key, delete: true, expect: expectation }]);
          expect(removed.outcome).toBe(holds ? 'written' : 'conflict');
          expect(await table.get(key)).toEqual(holds ? undefined : before);
        }
      });

      it('changes all or nothing', async () => {
        const pk = fresh();
        await put({ pk, sk: 'b' }, { n: 1 });
        const changes = (r: number): Change[] => [
          { key: { pk, sk: 'a' }, put: { n: 9 }, expect: { is: 'absent' } },
          { key: { pk, sk: 'b' }, delete: true, expect: { is: 'equal', attribute: 'n', value: r } },
          { key: { pk, sk: 'c' }, put: { n: 9 } },
        ];
        expect((await table.write(changes(2))).outcome).toBe('conflict');
        expect(await walk(pk)).toEqual([{ key: { pk, sk: 'b' }, attributes: { n: 1 } }]);
        expect((await table.write(changes(1))).outcome).toBe('written');
        expect(await names(pk)).toEqual(['a', 'c']);
      });

      it('merges a condition on a changed item into its change', async () => {
        const key = { pk: fresh(), sk: 'item' };
        await put(key, { a: 1, b: 2 });
        const write = (a: number, b: number): ReturnType<KeyValueTable['write']> =>
          table.write(
            [{ key, put: { a: 3, b: 4 }, expect: { is: 'equal', attribute: 'a', value: a } }],
            [{ key, expect: { is: 'equal', attribute: 'b', value: b } }],
          );
        expect((await write(1, 9)).outcome).toBe('conflict');
        expect((await write(9, 2)).outcome).toBe('conflict');
        expect(await table.get(key)).toEqual({ a: 1, b: 2 });
        expect((await write(1, 2)).outcome).toBe('written');
        expect(await table.get(key)).toEqual({ a: 3, b: 4 });
      });

      it('merges a condition into a change that expects nothing', async () => {
        const key = { pk: fresh(), sk: 'item' };
        const expectAbsent = [{ key, expect: { is: 'absent' } }] as const;
        expect((await table.write([{ key, put: { n: 1 } }], expectAbsent)).outcome).toBe('written');
        expect((await table.write([{ key, put: { n: 2 } }], expectAbsent)).outcome).toBe('conflict');
        expect((await table.write([{ key, delete: true }], expectAbsent)).outcome).toBe('conflict');
        expect(await table.get(key)).toEqual({ n: 1 });
      });

      it('checks conditions without any change', async () => {
        const key = { pk: fresh(), sk: 'item' };
        expect((await table.write([], [{ key, expect: { is: 'absent' } }])).outcome).toBe('written');
        expect((await table.write([], [{ key, expect: { is: 'present' } }])).outcome).toBe('conflict');
      });

      it('names in a conflict what failed, and the item as it is', async (context) => {
        needs('the item of a conflict', context);
        const pk = fresh();
        await put({ pk, sk: 'there' }, { n: 1 });
        await put({ pk, sk: 'fine' }, { n: 2 });
        expect(await table.write([{ key: { pk, sk: 'there' }, put: {}, expect: { is: 'absent' } }])).toEqual({
          outcome: 'conflict',
          failed: [{ key: { pk, sk: 'there' }, item: { n: 1 } }],
        });
        expect(await table.write([{ key: { pk, sk: 'gone' }, put: {}, expect: { is: 'present' } }])).toEqual({
          outcome: 'conflict',
          failed: [{ key: { pk, sk: 'gone' }, item: undefined }],
        });
        const many = await table.write(
          [
            { key: { pk, sk: 'fine' }, put: { n: 3 }, expect: { is: 'equal', attribute: 'n', value: 2 } },
            { key: { pk, sk: 'gone' }, delete: true, expect: { is: 'present' } },
          ],
          [{ key: { pk, sk: 'there' }, expect: { is: 'less', attribute: 'n', value: 1 } }],
        );
        expect(many.outcome).toBe('conflict');
        const failed = many.outcome === 'conflict' ? [...many.failed] : [];
        expect(failed.sort((a, b) => compareBytes(a.key.sk, b.key.sk))).toEqual([
          { key: { pk, sk: 'gone' }, item: undefined },
          { key: { pk, sk: 'there' }, item: { n: 1 } },
        ]);
      });

      it('writes 100 items at once, and refuses 101', async () => {
        const pk = fresh();
        const changes = Array.from({ length: 101 }, (_, index) => ({ key: { pk, sk: `${index}` }, put: { index } }));
        await expect(table.write(changes)).rejects.toThrow();
        await expect(
          table.write(changes.slice(1), [{ key: { pk, sk: '0' }, expect: { is: 'absent' } }]),
        ).rejects.toThrow();
        expect(await table.query(pk)).toEqual({ items: [], more: false });
        expect((await table.write(changes.slice(0, 100))).outcome).toBe('written');
        expect(await names(pk)).toHaveLength(100);
      });

      it('writes 3 MB at once', async (context) => {
        needs('large transactions', context);
        const pk = fresh();
        const bytes = new Uint8Array(randomBytes(300_000));
        const changes = Array.from({ length: 10 }, (_, index) => ({ key: { pk, sk: `${index}` }, put: { bytes } }));
        expect((await table.write(changes)).outcome).toBe('written');
        expect(await names(pk)).toHaveLength(10);
      });

      it('refuses two changes, or two conditions, of one item', async () => {
        const key = { pk: fresh(), sk: 'item' };
        await expect(
          table.write([
            { key, put: { n: 1 } },
            { key: { ...key }, delete: true },
          ]),
        ).rejects.toThrow();
        await expect(
          table.write(
            [],
            [
              { key, expect: { is: 'absent' } },
              { key: { ...key }, expect: { is: 'missing', attribute: 'n' } },
            ],
          ),
        ).rejects.toThrow();
        expect(await table.get(key)).toBeUndefined();
      });
    });

    describe('under concurrency', () => {
      it('shows a write to every read that begins after it was acknowledged', async () => {
        const pk = fresh();
        await Promise.all(
          Array.from({ length: 8 }, async (_, worker) => {
            const key = { pk, sk: `${worker}` };
            for (let n = 0; n < times(50); n += 1) {
              await put(key, { n });
              expect(await table.get(key)).toEqual({ n });
              expect((await table.query(pk, { from: key.sk, limit: 1 })).items[0]).toEqual({ key, attributes: { n } });
              expect(await table.getTogether([key])).toEqual([{ n }]);
            }
          }),
        );
      });

      it('loses none of 32 parallel compare-and-set increments', async () => {
        const key = { pk: fresh(), sk: 'counter' };
        await put(key, { n: 0, r: 'start' });
        const rounds = Math.max(1, Math.round(20 * effort));
        await Promise.all(
          Array.from({ length: 32 }, async (_, worker) => {
            for (let round = 0; round < rounds;) {
              const { n, r } = (await table.get(key)) as { n: number; r: string };
              const { outcome } = await table.write([
                { key, put: { n: n + 1, r: `${worker}-${round}` }, expect: { is: 'equal', attribute: 'r', value: r } },
              ]);
              expect(outcome).not.toBe('unknown');
              if (outcome === 'written') round += 1;
            }
          }),
        );
        expect((await table.get(key))!.n).toBe(32 * rounds);
      });

      it('lets exactly one of 32 create an item', async () => {
        for (let round = 0; round < times(20); round += 1) {
          const key = { pk: fresh(), sk: 'item' };
          const outcomes = await Promise.all(
            Array.from({ length: 32 }, (_, n) => table.write([{ key, put: { n }, expect: { is: 'absent' } }])),
          );
          const winners = outcomes.flatMap(({ outcome }, n) => (outcome === 'written' ? [n] : []));
          expect(winners).toHaveLength(1);
          expect(await table.get(key)).toEqual({ n: winners[0] });
        }
      });

      it('keeps a sum over two items that transactions move between', async (context) => {
        needs('concurrent transactions', context);
        const pk = fresh();
        const keys = ['a', 'b', 'c'].map((sk) => ({ pk, sk }));
        for (const key of keys) await put(key, { n: 100, r: 'start' });
        await Promise.all(
          Array.from({ length: 8 }, async (_, worker) => {
            for (let round = 0; round < times(30); round += 1) {
              const from = keys[(worker + round) % 3]!;
              const to = keys[(worker + round + 1) % 3]!;
              const [giver, taker] = (await table.getTogether([from, to])) as { n: number; r: string }[];
              await table.write([
                {
                  key: from,
                  put: { n: giver!.n - 1, r: `${worker}-${round}` },
                  expect: { is: 'equal', attribute: 'r', value: giver!.r },
                },
                {
                  key: to,
                  put: { n: taker!.n + 1, r: `${worker}-${round}` },
                  expect: { is: 'equal', attribute: 'r', value: taker!.r },
                },
              ]);
            }
          }),
        );
        const sum = (await table.getTogether(keys)).reduce((total, found) => total + (found!.n as number), 0);
        expect(sum).toBe(300);
      });

      it('honours a condition on an item that others change meanwhile', async (context) => {
        needs('concurrent transactions', context);
        const gate = { pk: fresh(), sk: 'gate' };
        const room = fresh();
        await put(gate, { open: 'yes' });
        let entered = 0;
        let closed = false;
        const visitor = async (worker: number): Promise<void> => {
          for (let round = 0; round < times(100); round += 1) {
            const wasClosed = closed;
            const { outcome } = await table.write(
              [{ key: { pk: room, sk: `${worker}-${round}` }, put: { n: 1 } }],
              [{ key: gate, expect: { is: 'equal', attribute: 'open', value: 'yes' } }],
            );
            if (outcome === 'written') {
              entered += 1;
              expect(wasClosed, 'nobody enters after the gate was closed').toBe(false);
            }
          }
        };
        const porter = async (): Promise<void> => {
          while (entered < 10) await new Promise(setImmediate);
          await put(gate, { open: 'no' });
          closed = true;
        };
        await Promise.all([porter(), ...Array.from({ length: 4 }, (_, worker) => visitor(worker))]);
        expect(await names(room)).toHaveLength(entered);
      });
    });
  });
}

/** A partition that no other test uses. */
function fresh(): string {
  return `contract/${randomBytes(12).toString('hex')}`;
}

/** The query's meaning over a sorted array of sort keys. */
function inArray(sorted: readonly string[], { from, after, prefix, reverse }: QueryOptions): string[] {
  const chosen = sorted.filter(
    (sk) =>
      (from === undefined || compareBytes(sk, from) >= 0) &&
      (after === undefined || (reverse ? compareBytes(sk, after) < 0 : compareBytes(sk, after) > 0)) &&
      (prefix === undefined || sk.startsWith(prefix)),
  );
  return reverse ? chosen.reverse() : chosen;
}

/** The kinds of value at every place: `toEqual` alone takes an array for bytes, and knows no difference of class. */
function typesWithin(value: Attribute): unknown {
  if (value instanceof Uint8Array) return 'bytes';
  if (value instanceof Set) return 'set';
  if (Array.isArray(value)) return value.map(typesWithin);
  if (typeof value !== 'object') return typeof value;
  return Object.entries(value)
    .sort(([a], [b]) => compareBytes(a, b))
    .map(([name, inner]) => [name, typesWithin(inner as Attribute)]);
}

/** The values of these columns as a view shows them, in the form of {@link comparable}. */
function shownOf(item: ItemView, columns: readonly string[]): unknown {
  return columns.map((_, column) => {
    try {
      return item.number(column);
    } catch {
      // Text, bytes, or of another type.
    }
    const target = Buffer.alloc(64);
    try {
      const size = item.copy(column, target);
      return { isText: item.isText(column), size, bytes: target.toString('hex') };
    } catch {
      return 'other';
    }
  });
}

/** Returns a value in the form that {@link shownOf} returns. */
function comparable(value: Attribute | undefined): unknown {
  if (value === undefined || typeof value === 'number') return value;
  if (typeof value !== 'string' && !(value instanceof Uint8Array)) return 'other';
  const bytes = Buffer.from(value as Uint8Array);
  const target = Buffer.alloc(64);
  bytes.copy(target);
  return { isText: typeof value === 'string', size: bytes.length, bytes: target.toString('hex') };
}
