import fc from 'fast-check';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeEach, describe, expect, it } from 'vitest';
import { neverAborted } from '../../../../shared/ports/event-loop.ts';
import { LmdbTable } from '../../../../shared/adapters/embedded/table/lmdb-table.ts';
import type { Bucket } from '../../../../shared/storage/buckets/bucket.ts';
import { Buckets } from '../../../../shared/storage/buckets/buckets.ts';
import { listVersions } from '../../../../shared/storage/listings/version-listing.ts';
import { noObjectAttributes } from '../../../../shared/storage/versions/object-attributes.ts';
import { Objects } from '../../../../shared/storage/objects/objects.ts';
import { byOperator } from '../../../../shared/storage/version-changes/service-authorisation.ts';
import { VersionChain, type Commit } from '../../../../shared/storage/version-changes/version-chain.ts';
import { instanceId, writeToken } from '../../../../shared/storage/table/keys/ids.ts';
import { itemKey, partition } from '../../../../shared/storage/table/keys/keys.ts';
import type { KeyValueTable } from '../../../../shared/ports/key-value-table.ts';
import { CountedBytes, SetClock } from '../../../support/storage/fixed-deps.ts';
import { ListedVersions, type KeptVersion } from '../../../support/storage/listed-objects.ts';
import { MemoryTable } from '../../../support/storage/memory-table.ts';
import { runs } from '../../../support/runs/runs.ts';
import { countTurns } from '../../../support/runs/turns.ts';

/** The versions of a key as a test has written them, newest first, by the ids that clients see. */
type Written = Map<string, string[]>;

const folder = await mkdtemp(join(tmpdir(), 'stillage-test-'));
const embedded = await LmdbTable.open(folder);

afterAll(async () => {
  await embedded.close();
  await rm(folder, { recursive: true });
});

const bytesOrder = (a: string, b: string): number => Buffer.compare(Buffer.from(a), Buffer.from(b));
const unit = fc.constantFrom('a', 'b', '/', '//', '%', ' ', '\ud7ff', '\ue000', '😀', '\u{10ffff}');
const keyText = fc.string({ unit, minLength: 1, maxLength: 4 });
const request = fc.record({
  prefix: fc.oneof(fc.constant(''), fc.string({ unit, maxLength: 2 })),
  delimiter: fc.oneof(fc.constant(''), fc.constant('/'), fc.string({ unit, minLength: 1, maxLength: 2 })),
  limit: fc.integer({ min: 1, max: 12 }),
});

/** Lines as text, in the order in which they count: `key#version`, `group*`. */
function naiveLines(written: Written, { prefix, delimiter }: { prefix: string; delimiter: string }): string[] {
  const lines: string[] = [];
  for (const [key, ids] of [...written].sort(([a], [b]) => bytesOrder(a, b))) {
    if (!key.startsWith(prefix)) continue;
    const at = delimiter === '' ? -1 : key.indexOf(delimiter, prefix.length);
    const group = `${key.slice(0, at + delimiter.length)}*`;
    if (at < 0) lines.push(...ids.map((id) => `${key}#${id}`));
    else if (!lines.includes(group)) lines.push(group);
  }
  return lines;
}

describe.each([
  ['that shows its items in place', () => embedded],
  ['that is queried', () => new MemoryTable()],
] as const)('a listing of versions, from a table %s', (_, makeTable) => {
  let table: KeyValueTable;
  let deps: { readonly objects: Objects; readonly clock: SetClock };
  let bucket: Bucket;
  let written: Written;
  /** Runs once, before noncurrent versions are read the next time. */
  let beforeOlder: (() => Promise<void>) | undefined;
  const randomness = new CountedBytes();
  const clock = new SetClock();

  /** The table, except that others may write before it is read. */
  function interrupted(inner: KeyValueTable): KeyValueTable {
    const interrupt = async (pk: string): Promise<void> => {
      if (beforeOlder === undefined || !pk.startsWith(partition.noncurrentVersions(bucket.id, ''))) return;
      const change = beforeOlder;
      beforeOlder = undefined;
      await change();
    };
    return Object.assign(Object.create(inner) as KeyValueTable, {
      freeChecks: inner.freeChecks,
      get: inner.get.bind(inner),
      getTogether: inner.getTogether.bind(inner),
      write: inner.write.bind(inner),
      query: async (...asked: Parameters<KeyValueTable['query']>) => {
        await interrupt(asked[0]);
        return inner.query(...asked);
      },
      visit:
        inner.visit &&
        (async (...asked: Parameters<NonNullable<KeyValueTable['visit']>>) => {
          await interrupt(asked[0]);
          return inner.visit!(...asked);
        }),
    });
  }

  beforeEach(async () => {
    table = makeTable();
    const adapters = { table: interrupted(table), clock, randomness };
    const buckets = new Buckets(adapters);
    deps = { objects: new Objects({ ...adapters, buckets, recorder: undefined }), clock };
    const name = `bucket-${Buffer.from(randomness.bytes(8)).toString('hex')}`;
    await buckets.create(byOperator, name, 'project', 1000);
    bucket = await buckets.load(name);
    written = new Map();
    beforeOlder = undefined;
  });

  const chainOf = (key: string): VersionChain =>
    new VersionChain({ table, token: () => writeToken(randomness), now: () => clock.now() }, bucket.id, key);

  async function commit(stated: Commit | undefined): Promise<void> {
    expect((await table.write(stated!.changes)).outcome).toBe('written');
  }

  async function put(key: string, { named = true, marker = false } = {}): Promise<string> {
    clock.time += 1;
    const chain = chainOf(key);
    const instance = instanceId({ ms: clock.time, counter: 0 }, randomness);
    const fresh = {
      ...{ instance, token: writeToken(randomness), named, marker, size: marker ? 0 : 7 },
      ...{ md5: marker ? undefined : Buffer.alloc(16), partCount: undefined, content: undefined, owner: 'owner' },
      ...{ contentType: undefined, checksum: undefined, encryption: undefined, tagCount: 0 },
      ...{ objectAttributes: noObjectAttributes, previousVersion: undefined, lastModified: clock.time },
      ...{ renameToken: undefined, replacedAt: undefined },
    };
    await commit(await chain.put(await chain.currentVersion(), fresh));
    const id = named ? instance : 'null';
    const others = (written.get(key) ?? []).filter((other) => other !== 'null' || named);
    written.set(key, [id, ...others]);
    return id;
  }

  async function remove(key: string, id: string): Promise<void> {
    const found = (await chainOf(key).find(id))!;
    await commit(await chainOf(key).remove(found.currentVersion, found.version, 'nothing'));
    const left = written.get(key)!.filter((other) => other !== id);
    if (left.length === 0) written.delete(key);
    else written.set(key, left);
  }

  interface Page {
    readonly rows: readonly KeptVersion[];
    readonly commonPrefixes: readonly string[];
    readonly next: Awaited<ReturnType<typeof listVersions>>['next'];
  }

  async function page(asked: Partial<Parameters<typeof listVersions>[2]> = {}, effort = 60_000): Promise<Page> {
    const rows = new ListedVersions();
    const all = { prefix: '', delimiter: '', keyMarker: '', versionIdMarker: '', limit: 1000, ...asked };
    const { commonPrefixes, next } = await listVersions({ ...deps, signal: neverAborted }, bucket, all, effort, rows);
    return { rows: rows.all, commonPrefixes, next };
  }

  const linesOf = ({ rows, commonPrefixes }: Page): string[] =>
    [
      ...rows.map(({ key, id }) => ({ name: key, line: `${key}#${id}` })),
      ...commonPrefixes.map((name) => ({ name, line: `${name}*` })),
    ]
      .sort((a, b) => bytesOrder(a.name, b.name))
      .map(({ line }) => line);

  it('shows each version once, newest first; every page is full or the last, or has expired', async () => {
    const keys = fc.sample(fc.uniqueArray(keyText, { minLength: 30, maxLength: 40 }), 1)[0]!;
    for (const [at, key] of keys.entries()) {
      const count = [1, 1, 2, 5, 14][at % 5]!;
      for (let n = 0; n < count; n += 1) await put(key, { named: (n + at) % 3 !== 0, marker: (n + at) % 4 === 0 });
    }
    await fc.assert(
      fc.asyncProperty(request, fc.boolean(), async (asked, expires) => {
        const expected = naiveLines(written, asked);
        let pages = 0;
        const shown: string[] = [];
        let markers = {};
        let next: Page['next'];
        do {
          const found = await page({ ...asked, ...markers }, expires ? -1 : 60_000);
          const lines = linesOf(found);
          const room = Math.min(asked.limit, expected.length - shown.length);
          if (!expires) expect(lines.length).toBe(room);
          expect(lines.length).toBeLessThanOrEqual(room);
          expect(++pages).toBeLessThanOrEqual(expected.length + keys.length + 1);
          for (const { key, id, isLatest } of found.rows) expect(isLatest).toBe(written.get(key)![0] === id);
          shown.push(...lines);
          next = found.next;
          markers = { keyMarker: next?.keyMarker, versionIdMarker: next?.versionIdMarker ?? '' };
          if (!expires) expect(next !== undefined).toBe(shown.length < expected.length);
        } while (next !== undefined);
        expect(shown).toEqual(expected);
      }),
      { numRuns: runs(100) },
    );
  });

  it('begins after any version, whether it is there or not', async () => {
    const ids = [await put('k'), await put('k'), await put('k')].toReversed();
    await put('l');
    const after = async (versionIdMarker: string): Promise<string[]> =>
      (await page({ keyMarker: 'k', versionIdMarker })).rows.map(({ key, id }) => (key === 'k' ? id : key));
    expect(await after(ids[0]!)).toEqual([ids[1], ids[2], 'l']);
    expect(await after(ids[2]!)).toEqual(['l']);
    await remove('k', ids[1]!);
    expect(await after(ids[1]!)).toEqual([ids[2], 'l']);
    await remove('k', ids[0]!);
    expect(await after(ids[0]!)).toEqual([ids[2], 'l']);
    await remove('k', ids[2]!);
    expect(await after(ids[2]!)).toEqual(['l']);
  });

  it.each([
    ['removed', async (newest: string) => remove('k', newest)],
    ['overwritten', async () => void (await put('k'))],
    [
      'removed, with all versions',
      async () => {
        for (const id of [...written.get('k')!]) await remove('k', id);
      },
    ],
  ] as const)('shows a key as it is at one moment, if its newest version is %s meanwhile', async (_how, change) => {
    for (const key of ['a', 'k', 'k', 'k', 'm', 'm', 'n/1', 'o']) await put(key);
    const newest = written.get('k')![0]!;
    const linesNow = (): string[] => naiveLines(written, { prefix: '', delimiter: '/' });
    const before = linesNow();
    // The noncurrent versions are read after the page has passed their key.
    beforeOlder = () => change(newest);
    const lines = linesOf(await page({ delimiter: '/' }));
    expect(beforeOlder).toBeUndefined();
    expect([before, linesNow()]).toContainEqual(lines);
  });

  it('lets others have turns of the event loop while it reads noncurrent versions', async () => {
    const few = 32;
    const many = 192;
    const turnsOf = async (keys: number): Promise<number> => {
      const { result, turns } = await countTurns(() => page({ limit: keys }));
      expect(result.rows).toHaveLength(keys);
      return turns;
    };
    for (let at = 0; at < many; at += 1) for (let n = 0; n < 2; n += 1) await put(`key-${String(at).padStart(3, '0')}`);
    // The versions of 32 keys are read in one go, and half a turn's share is to find them.
    expect(await turnsOf(2 * many)).toBeGreaterThanOrEqual((await turnsOf(2 * few)) + 2);
  });

  it('ends with an error for a key whose versions never agree', async () => {
    await put('a');
    await put('k');
    const older = written.get('k')![0]!;
    await put('k');
    await table.write([{ key: itemKey.noncurrentVersion(bucket.id, 'k', older), delete: true }]);
    await expect(page()).rejects.toThrow(/version chain of key "k" in bucket \S+ is damaged/);
  });
});
