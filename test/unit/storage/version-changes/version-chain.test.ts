import fc from 'fast-check';
import { beforeEach, describe, expect, it } from 'vitest';
import { instanceId } from '../../../../shared/storage/table/keys/ids.ts';
import { itemKey, partition } from '../../../../shared/storage/table/keys/keys.ts';
import {
  currentVersionKey,
  VersionChain,
  type Commit,
} from '../../../../shared/storage/version-changes/version-chain.ts';
import { noObjectAttributes } from '../../../../shared/storage/versions/object-attributes.ts';
import type { Version } from '../../../../shared/storage/versions/versions.ts';
import { CountedBytes, SetClock } from '../../../support/storage/fixed-deps.ts';
import { MemoryTable } from '../../../support/storage/memory-table.ts';
import { runs } from '../../../support/runs/runs.ts';

const bucketId = `0${'b'.repeat(21)}`;
const key = 'key';

let table: MemoryTable;
let clock: SetClock;
let randomness: CountedBytes;
let chain: VersionChain;
let tokens: number;

beforeEach(() => {
  table = new MemoryTable();
  clock = new SetClock();
  randomness = new CountedBytes();
  tokens = 0;
  chain = new VersionChain({ table, token: () => `token-${++tokens}`, now: () => clock.now() }, bucketId, key);
});

/** The bytes that a delete marker counts for. */
const heldByMarker = 137;

/** A version younger than all before it. */
function version(more: Partial<Version> = {}): Version {
  clock.time += 1;
  return {
    instance: instanceId({ ms: clock.time, counter: 0 }, randomness),
    token: `token-${++tokens}`,
    named: true,
    marker: false,
    size: 7,
    md5: Buffer.alloc(16),
    partCount: undefined,
    content: undefined,
    owner: 'owner',
    contentType: undefined,
    checksum: undefined,
    encryption: undefined,
    tagCount: 0,
    objectAttributes: noObjectAttributes,
    previousVersion: undefined,
    lastModified: clock.time,
    renameToken: undefined,
    replacedAt: undefined,
    ...more,
  };
}

async function commit(stated: Commit | undefined): Promise<void> {
  expect(stated, 'nothing was stated').toBeDefined();
  expect((await table.write(stated!.changes)).outcome).toBe('written');
}

async function put(more: Partial<Version> = {}): Promise<Version> {
  const fresh = version(more);
  await commit(await chain.put(await chain.currentVersion(), fresh));
  return fresh;
}

async function remove(versionId: string): Promise<void> {
  const found = (await chain.find(versionId))!;
  await commit(await chain.remove(found.currentVersion, found.version, 'nothing'));
}

const ids = async (limit = 100, behind?: string): Promise<string[]> => {
  const currentVersion = await chain.currentVersion();
  return currentVersion ? (await chain.walk(currentVersion, limit, behind)).map(({ instance }) => instance) : [];
};

/** The expected versions of the key after any of these steps, newest first, by a naive computation. */
interface Row {
  readonly instance: string;
  readonly named: boolean;
  readonly marker: boolean;
  readonly size: number;
}

/** Expects the chain to be whole, and to hold these versions. */
async function expectRows(rows: readonly Row[]): Promise<void> {
  const currentVersion = await chain.currentVersion();
  const [first, ...older] = rows;
  expect(currentVersion?.instance).toBe(first?.instance);
  expect(table.keysOf(partition.noncurrentVersions(bucketId, key))).toEqual(
    older.map(({ instance }) => instance).toReversed(),
  );
  if (currentVersion === undefined) return;
  expect(currentVersion).toMatchObject({
    olderCount: older.length,
    olderMarkers: older.filter(({ marker }) => marker).length,
    olderBytes: older.reduce((sum, { size }) => sum + size, 0),
    olderHeld: older.filter(({ marker }) => marker).length * heldByMarker,
    noncurrentNull: older.find(({ named }) => !named)?.instance,
    replacedAt: undefined,
  });
  const walked = await chain.walk(currentVersion, 100);
  expect(walked.map(({ instance, named, marker, size }) => ({ instance, named, marker, size }))).toEqual(rows);
  walked.forEach((one, at) => expect(one.previousVersion).toBe(rows[at + 1]?.instance));
  for (const one of walked.slice(1)) {
    expect(one.replacedAt).toBeDefined();
    // A noncurrent version has no counts of its own.
    const item = (await table.get(itemKey.noncurrentVersion(bucketId, key, one.instance)))!;
    expect(['n', 'nm', 'nb', 'z'].filter((name) => name in item)).toEqual([]);
  }
  for (const row of rows) {
    const found = await chain.find(row.named ? row.instance : 'null');
    expect([found?.version.instance, found?.currentVersion.instance]).toEqual([row.instance, currentVersion.instance]);
    // A null version is not found by its instance.
    if (!row.named) expect(await chain.find(row.instance)).toBeUndefined();
  }
  if (rows.every(({ named }) => named)) expect(await chain.find('null')).toBeUndefined();
}

describe('a chain of versions', () => {
  it('is empty at first', async () => {
    expect(await chain.currentVersion()).toBeUndefined();
    expect(await chain.findCurrent()).toBeUndefined();
    expect(await chain.find('null')).toBeUndefined();
    expect(await chain.find('x'.repeat(32))).toBeUndefined();
    await expectRows([]);
  });

  type Step = 'named' | 'null' | 'named marker' | 'null marker' | { readonly remove: number };
  const step: fc.Arbitrary<Step> = fc.oneof(
    { weight: 3, arbitrary: fc.constantFrom('named', 'null', 'named marker', 'null marker') },
    { weight: 2, arbitrary: fc.record({ remove: fc.nat(5) }) },
  );

  it('stays whole whatever is put and removed', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 12 }), async (steps) => {
        for (const sk of table.keysOf(partition.noncurrentVersions(bucketId, key))) {
          await table.write([{ key: itemKey.noncurrentVersion(bucketId, key, sk), delete: true }]);
        }
        await table.write([{ key: currentVersionKey(bucketId, key), delete: true }]);
        let rows: Row[] = [];
        for (const one of steps) {
          if (typeof one === 'string') {
            const marker = one.endsWith('marker');
            const named = one.startsWith('named');
            const size = marker ? 0 : rows.length + 1;
            const { instance } = await put({ named, marker, size, ...(marker && { held: heldByMarker }) });
            rows = [{ instance, named, marker, size }, ...rows.filter((row) => named || row.named)];
          } else if (rows.length > 0) {
            const gone = rows[one.remove % rows.length]!;
            await remove(gone.named ? gone.instance : 'null');
            rows = rows.filter((row) => row !== gone);
          }
          await expectRows(rows);
        }
      }),
      { numRuns: runs(150) },
    );
  });

  it('gives pages of itself, newest first', async () => {
    const all: string[] = [];
    for (let count = 0; count < 5; count++) all.unshift((await put()).instance);
    expect(await ids(2)).toEqual(all.slice(0, 2));
    expect(await ids(1)).toEqual(all.slice(0, 1));
    expect(await ids(5)).toEqual(all);
    expect(await ids(2, all[0])).toEqual(all.slice(1, 3));
    expect(await ids(100, all[2])).toEqual(all.slice(3));
    expect(await ids(100, all[4])).toEqual([]);
    const single = new VersionChain({ table, token: () => 'x', now: () => 0 }, bucketId, 'other');
    await table.write((await single.put(undefined, version()))!.changes);
    const currentVersion = (await single.currentVersion())!;
    expect(await single.walk(currentVersion, 10, currentVersion.instance)).toEqual([]);
  });

  it('is walked as it stands, if it changed after its current version was read', async () => {
    for (let count = 0; count < 3; count++) await put();
    const stale = (await chain.currentVersion())!;
    const newest = await put();
    await remove(stale.previousVersion!);
    const walked = await chain.walk(stale, 10);
    expect(walked.map(({ instance }) => instance)).toEqual(await ids());
    expect(walked[0]!.instance).toBe(newest.instance);
    for (const id of await ids()) await remove(id);
    expect(await chain.walk(stale, 10)).toEqual([]);
  });

  it('gives its versions new images without a change to the others', async () => {
    const old = await put();
    await put();
    const before = (await chain.currentVersion())!;
    const found = (await chain.find(old.instance))!;
    await table.write(chain.revise(found, { ...found.version, tagCount: 3 }));
    expect(await chain.currentVersion()).toEqual(before);
    const revised = (await chain.find(old.instance))!.version;
    expect(revised).toEqual({ ...found.version, tagCount: 3, token: revised.token });
    expect(revised.token).not.toBe(found.version.token);
    const current = (await chain.findCurrent())!;
    await table.write(chain.revise(current, { ...current.version, tagCount: 4 }));
    const currentVersion = (await chain.currentVersion())!;
    expect(currentVersion).toEqual({ ...before, tagCount: 4, token: currentVersion.token });
    expect(currentVersion.token).not.toBe(before.token);
    // On the image that was read, and no other.
    expect((await table.write(chain.revise(current, current.version))).outcome).toBe('conflict');
    expect((await table.write(chain.revise(found, found.version))).outcome).toBe('conflict');
  });
});

describe('a commit', () => {
  it('is refused if the current version changed since it was read', async () => {
    const old = await put();
    const before = (await chain.currentVersion())!;
    const stated = (await chain.put(before, version()))!;
    const removal = (await chain.remove(before, before, 'nothing'))!;
    const fresh = (await chain.put(undefined, version()))!;
    await put();
    for (const { changes } of [stated, removal, fresh]) expect((await table.write(changes)).outcome).toBe('conflict');
    expect((await chain.find(old.instance))!.version.instance).toBe(old.instance);
  });

  it('is refused if a noncurrent version changed since it was read', async () => {
    const [bottom, middle] = [await put(), await put()];
    await put();
    await put();
    const found = (await chain.find(middle.instance))!;
    const stated = (await chain.remove(found.currentVersion, found.version, 'nothing'))!;
    await table.write(chain.revise(found, { ...found.version, tagCount: 1 }));
    expect((await table.write(stated.changes)).outcome).toBe('conflict');
    expect(await ids()).toContain(bottom.instance);
    await remove(middle.instance);
    expect(await ids()).toHaveLength(3);
  });

  it('cannot be stated from reads of two moments', async () => {
    const bottom = await put({ named: false });
    const middle = await put();
    await put();
    const currentVersion = (await chain.currentVersion())!;
    const found = (await chain.find('null'))!;
    await remove(middle.instance);
    // The one above it is the current version now, and not that of before.
    expect(await chain.remove(currentVersion, found.version, 'nothing')).toBeUndefined();
    await remove('null');
    expect(await chain.put(currentVersion, version({ named: false }))).toBeUndefined();
    const last = (await chain.currentVersion())!;
    expect(await chain.remove({ ...last, previousVersion: bottom.instance }, last, 'nothing')).toBeUndefined();
  });
});

describe('a write that has not looked', () => {
  const blind = async (fresh: Version): Promise<string> => (await table.write(chain.blindPut(fresh).changes)).outcome;

  it('replaces nothing, or an older version that has no name and no noncurrent ones', async () => {
    expect(await blind(version({ named: false }))).toBe('written');
    const [older, younger] = [version({ named: false }), version({ named: false })];
    expect(await blind(younger)).toBe('written');
    expect(await blind(older)).toBe('conflict');
    expect(await blind(younger)).toBe('conflict');
    await expectRows([{ instance: younger.instance, named: false, marker: false, size: 7 }]);
  });

  it('does not replace what has a name or noncurrent versions', async () => {
    const named = await put();
    expect(await blind(version({ named: false }))).toBe('conflict');
    await put({ named: false });
    expect(await blind(version({ named: false }))).toBe('conflict');
    await remove(named.instance);
    expect(await blind(version({ named: false }))).toBe('written');
  });
});

describe('looking for a version', () => {
  it('finds one that moves while it is looked for', async () => {
    const wanted = await put();
    // It becomes current, then noncurrent, between the reads.
    const moves = [
      () => put(),
      () => chain.currentVersion().then((currentVersion) => remove(currentVersion!.instance)),
    ];
    for (const move of moves) {
      let reads = 0;
      table.afterRead = async () => {
        reads += 1;
        if (reads !== 1) return;
        table.afterRead = async () => undefined;
        await move();
      };
      expect((await chain.find(wanted.instance))?.version.instance).toBe(wanted.instance);
    }
  });

  it('finds the null version that is replaced meanwhile', async () => {
    await put({ named: false });
    await put();
    let replaced: Version | undefined;
    table.afterRead = async () => {
      table.afterRead = async () => undefined;
      replaced = await put({ named: false });
    };
    const found = await chain.find('null');
    expect(found?.version.instance).toBe(replaced!.instance);
  });

  it('finds none that is gone', async () => {
    const gone = await put();
    await put();
    await remove(gone.instance);
    expect(await chain.find(gone.instance)).toBeUndefined();
    expect(await chain.findInstance(gone.instance)).toBeUndefined();
    const last = (await chain.currentVersion())!;
    table.afterRead = async () => {
      table.afterRead = async () => undefined;
      await remove(last.instance);
    };
    expect(await chain.findInstance(gone.instance)).toBeUndefined();
  });
});
