import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { applyLifecycle, type LifecycleReport } from '../../../shared/lifecycle/apply-lifecycle.ts';
import { dueRanges, type DueBound } from '../../../shared/lifecycle/due-bounds.ts';
import { nothingDone } from '../../../shared/lifecycle/lifecycle-key.ts';
import { realDays, shortDays } from '../../../shared/lifecycle/lifecycle.ts';
import type { Bucket } from '../../../shared/storage/buckets/bucket.ts';
import { itemKey } from '../../../shared/storage/table/keys/keys.ts';
import { putRecheck } from '../../../shared/storage/table/rechecks.ts';
import { CountedBytes } from '../../support/storage/fixed-deps.ts';
import { SourceGone } from '../../../shared/storage/version-changes/outcomes.ts';
import { asService } from '../../../shared/storage/version-changes/service-authorisation.ts';
import { renamedOf } from '../../../shared/storage/versions/versions.ts';
import { runs } from '../../support/runs/runs.ts';
import { day, LifecycleWorld } from './lifecycle-deps.ts';

const bounds = { keysPerPage: 2, pagesPerTurn: 1, enoughSlices: 4 };

const pass = (world: LifecycleWorld, options: { everyRange?: boolean } = {}): Promise<LifecycleReport> =>
  applyLifecycle(world.deps, { calendar: realDays, bounds, workers: 2, ...options });

/** A deployment whose upgrade was long ago, so that passes record bounds. */
async function upgradedWorld(options: Parameters<typeof LifecycleWorld.create>[0] = {}): Promise<LifecycleWorld> {
  const world = await LifecycleWorld.create(options);
  await pass(world);
  world.clock.time += 2 * day;
  return world;
}

/** Sets rules, and lets the time pass in which writers may not know of them. */
async function setRules(world: LifecycleWorld, ...rules: readonly object[]): Promise<void> {
  await world.setRules(...rules);
  world.clock.time += day / 12;
}

/** @param known the bucket as the writer read it some time ago */
async function rename(world: LifecycleWorld, from: string, to: string, known?: Bucket): Promise<void> {
  const bucket = known ?? (await world.deps.buckets.load(world.name));
  const { objects } = world.deps;
  const source = await objects.find(bucket, from);
  if (source === undefined || source.marker || from === to) return;
  const renamed = { ...renamedOf(source), objectAttributes: await objects.objectAttributes(source) };
  try {
    await objects.put(asService(bucket, to), renamed, {
      extras: async (_version, _before, present) => ({
        changes: await objects.renamedAway({
          bucket: present,
          key: from,
          authorisation: asService(bucket, to),
          source,
        }),
        conditions: [],
      }),
    });
  } catch (error) {
    if (!(error instanceof SourceGone)) throw error;
  }
}

/** Renames as versions of Stillage did that knew nothing of rechecks. */
async function renameAsBefore(world: LifecycleWorld, from: string, to: string): Promise<void> {
  await rename(world, from, to);
  const pk = `lifecycle-rechecks/${(await world.deps.buckets.load(world.name)).id}`;
  await world.table.write(world.table.keysOf(pk).map((sk) => ({ key: { pk, sk }, delete: true })));
}

async function beginUpload(world: LifecycleWorld, key: string): Promise<void> {
  await world.deps.uploads.create(asService(await world.deps.buckets.load(world.name), key), {
    owner: 'project',
    initiator: 'project',
    contentType: undefined,
    objectAttributes: { headers: {}, metadata: {}, tags: [] },
    encryption: undefined,
    checksum: undefined,
  });
}

const underLogs = { form: 'filter', prefix: 'logs/' };

describe('a pass', () => {
  it('reads no range in which nothing is due, until something is', async () => {
    const world = await upgradedWorld();
    await setRules(world, { scope: { form: 'filter', prefix: '' }, expiration: { days: 10 } });
    for (let at = 0; at < 40; at += 1) await world.put(`key-${at}`);
    const keys: number[] = [];
    for (let days = 0; days < 14; days += 1) {
      world.clock.time += day;
      keys.push((await pass(world)).pass.tally.keys);
    }
    // Due at the midnight after ten days; the next pass finds the ranges empty.
    expect(keys.filter((count) => count > 0)).toEqual([40, 40]);
    expect(await world.keys()).toEqual([]);
  });

  it('queries current versions once a month where nothing is ever due', async () => {
    const world = await upgradedWorld();
    await setRules(world, { expiration: { days: 3650 } });
    for (let at = 0; at < 20; at += 1) await world.put(`key-${at}`);
    let passes = 0;
    for (let days = 0; days < 90; days += 1) {
      world.clock.time += day;
      if ((await pass(world)).pass.tally.keys > 0) passes += 1;
    }
    expect(passes).toBe(3);
  });

  it('reads every range if asked to', async () => {
    const world = await upgradedWorld();
    await setRules(world, { expiration: { days: 3650 } });
    await world.put('key');
    await pass(world);
    expect((await pass(world)).pass.tally.keys).toBe(0);
    expect((await pass(world, { everyRange: true })).pass.tally.keys).toBe(1);
  });

  it('reads everything again under other rules', async () => {
    const world = await upgradedWorld();
    await setRules(world, { expiration: { days: 100 } });
    for (let at = 0; at < 20; at += 1) await world.put(`key-${at}`);
    world.clock.time += 5 * day;
    await pass(world);
    await world.setRules({ expiration: { days: 2 } });
    world.clock.time += day;
    expect((await pass(world)).pass.tally).toMatchObject({ keys: 20, expired: 20 });
  });

  it('removes a delete marker that became the only version after the last pass', async () => {
    const world = await upgradedWorld({ versioning: 'on' });
    await setRules(world, { expiration: { expiredObjectDeleteMarker: true } });
    await pass(world);
    await world.delete('key');
    world.clock.time += day;
    expect((await pass(world)).pass.tally).toMatchObject({ markers: 1 });
  });

  it('removes a noncurrent version once enough newer ones follow', async () => {
    const world = await upgradedWorld({ versioning: 'on' });
    await setRules(world, { noncurrent: { days: 1, newerVersions: 1 } });
    for (const _ of [1, 2]) await world.put('key');
    world.clock.time += 3 * day;
    await pass(world);
    await world.put('key');
    world.clock.time += day;
    expect((await pass(world)).pass.tally).toMatchObject({ removed: 1 });
  });

  it('removes a version that became noncurrent after the last pass', async () => {
    const world = await upgradedWorld({ versioning: 'on' });
    await setRules(world, { noncurrent: { days: 3 } });
    await world.put('key');
    await pass(world);
    await world.put('key');
    world.clock.time += 5 * day;
    expect((await pass(world)).pass.tally).toMatchObject({ removed: 1 });
  });

  it('looks again at a key that changed while it was processed', async () => {
    const world = await upgradedWorld();
    await setRules(world, { expiration: { days: 3 } });
    await world.put('key');
    world.clock.time += 5 * day;
    world.table.beforeWrite = async (changes) => {
      if (!changes.some(({ key }) => key.sk === 'key')) return;
      world.table.beforeWrite = async () => undefined;
      await world.tag('key', undefined, [['k', 'v']]);
    };
    expect((await pass(world)).pass.tally).toMatchObject({ changed: 1, expired: 0 });
    world.clock.time += day;
    expect((await pass(world)).pass.tally).toMatchObject({ expired: 1 });
  });

  it('reads everything again if the rules changed while it ran', async () => {
    const world = await upgradedWorld();
    await setRules(world, { expiration: { days: 100 } });
    for (const key of ['a', 'b', 'c', 'd', 'e', 'f']) await world.put(key);
    world.clock.time += 5 * day;
    let pages = 0;
    const unsplit = { calendar: realDays, bounds: { ...bounds, enoughSlices: 0 }, workers: 1 };
    await applyLifecycle(world.deps, { ...unsplit, stopping: () => (pages += 1) > 3 });
    expect((await world.deps.passes.latest())!.finishedAt).toBeUndefined();
    await setRules(world, { expiration: { days: 2 } });
    await applyLifecycle(world.deps, unsplit);
    expect(await world.keys()).not.toEqual([]);
    world.clock.time += day;
    await pass(world);
    expect(await world.keys()).toEqual([]);
  });

  it('looks at what a repair restored', async () => {
    const world = await upgradedWorld();
    const { id } = await world.deps.buckets.load(world.name);
    await world.put('key');
    const key = { pk: `head/${id}`, sk: 'key' };
    const lost = (await world.table.get(key))!;
    await world.table.write([{ key, delete: true }]);
    world.clock.time += 5 * day;
    await setRules(world, { expiration: { days: 3 } });
    await pass(world);
    const recheck = putRecheck(
      id,
      { key: 'key', lastModified: undefined },
      { now: world.clock.now(), randomness: new CountedBytes() },
    );
    await world.table.write([{ key, put: lost }, recheck]);
    world.clock.time += day;
    expect((await pass(world)).pass.tally).toMatchObject({ expired: 1 });
  });

  it('reads everything again once versioning is enabled', async () => {
    const world = await upgradedWorld();
    await setRules(world, { noncurrent: { days: 1 } });
    for (let at = 0; at < 5; at += 1) await world.put(`key-${at}`);
    await pass(world);
    await world.setVersioning('on');
    for (let at = 0; at < 5; at += 1) await world.put(`key-${at}`);
    world.clock.time += 2 * day;
    expect((await pass(world)).pass.tally).toMatchObject({ removed: 5 });
  });

  it('expires an old object once its tags match', async () => {
    const world = await upgradedWorld();
    await setRules(world, { scope: { form: 'filter', tags: [{ key: 'k', value: 'v' }] }, expiration: { days: 2 } });
    await world.put('key');
    for (let days = 0; days < 5; days += 1) {
      world.clock.time += day;
      await pass(world);
    }
    await world.tag('key', undefined, [['k', 'v']]);
    world.clock.time += day;
    expect((await pass(world)).pass.tally).toMatchObject({ expired: 1 });
  });

  it('expires an old version that a deletion made current', async () => {
    const world = await upgradedWorld({ versioning: 'on' });
    await world.put('key');
    world.clock.time += 5 * day;
    const newer = await world.put('key');
    await setRules(world, { expiration: { days: 4 } });
    await pass(world);
    await world.deleteVersion('key', newer.instance);
    world.clock.time += day;
    expect((await pass(world)).pass.tally).toMatchObject({ expired: 1 });
  });

  it('aborts an upload that began after the last pass', async () => {
    const world = await upgradedWorld();
    await setRules(world, { abortDays: 3 });
    await pass(world);
    await beginUpload(world, 'key');
    world.clock.time += 4 * day;
    expect((await pass(world)).pass.tally).toMatchObject({ aborted: 1 });
  });

  it('leaves no bounds and no rechecks of buckets that were purged', async () => {
    const world = await upgradedWorld();
    const { id } = await world.deps.buckets.load(world.name);
    await setRules(world, { expiration: { days: 10 } });
    await pass(world);
    await world.put('key');
    await rename(world, 'key', 'other');
    await world.delete('other');
    expect(world.table.keysOf(`lifecycle-bounds/${id}`)).toHaveLength(1);
    expect(world.table.keysOf(`lifecycle-rechecks/${id}`)).toHaveLength(1);
    await world.deps.buckets.remove(asService(await world.deps.buckets.load(world.name)));
    world.clock.time += day / 2;
    await world.purge();
    expect(world.table.keysOf(`lifecycle-bounds/${id}`)).toEqual([]);
    expect(world.table.keysOf(`lifecycle-rechecks/${id}`)).toEqual([]);
  });
});

describe('an object that is renamed into a range in which nothing was due', () => {
  /** A deployment with an old object, and with a range in which nothing is due for nine days. */
  async function withOldObject(): Promise<LifecycleWorld> {
    const world = await upgradedWorld();
    await world.put('old');
    world.clock.time += 20 * day;
    await setRules(world, { scope: underLogs, expiration: { days: 10 } });
    await world.put('logs/new');
    await pass(world);
    return world;
  }
  const rechecks = async (world: LifecycleWorld): Promise<number> =>
    world.table.keysOf(`lifecycle-rechecks/${(await world.deps.buckets.load(world.name)).id}`).length;

  it('expires in the next pass', async () => {
    const world = await withOldObject();
    await rename(world, 'old', 'logs/old');
    world.clock.time += day;
    expect((await pass(world)).pass.tally).toMatchObject({ expired: 1 });
    expect(await world.keys()).toEqual(['logs/new']);
    expect(await rechecks(world)).toBe(0);
    world.clock.time += day;
    expect((await pass(world)).pass.tally).toMatchObject({ keys: 0 });
  });

  it('is written in one transaction with the note for the next pass', async () => {
    const world = await withOldObject();
    const writes: string[][] = [];
    world.table.beforeWrite = async (changes) => {
      writes.push(changes.map(({ key }) => key.pk.split('/')[0]!));
    };
    await rename(world, 'old', 'logs/old');
    expect(writes).toHaveLength(1);
    expect(writes[0]).toContain('lifecycle-rechecks');
  });

  it('leaves no note where there are no rules', async () => {
    const world = await upgradedWorld();
    await world.put('old');
    await rename(world, 'old', 'logs/old');
    expect(await rechecks(world)).toBe(0);
  });

  it('does not have the range read if it is not due sooner than the rest', async () => {
    const world = await withOldObject();
    await world.put('young');
    await rename(world, 'young', 'logs/young');
    world.clock.time += day;
    expect((await pass(world)).pass.tally).toMatchObject({ keys: 0 });
    expect(await rechecks(world)).toBe(0);
  });

  it('expires even if a stale read of the pass that was about to begin missed it', async () => {
    const world = await withOldObject();
    world.clock.time += day;
    await rename(world, 'old', 'logs/old');
    world.table.staleBy = () => 1000;
    await pass(world);
    world.table.staleBy = () => 0;
    world.clock.time += day;
    await pass(world);
    expect(await world.keys()).toEqual(['logs/new']);
  });

  it('expires if it came when the slice had passed its place', async () => {
    const world = await withOldObject();
    await world.setRules({ scope: underLogs, expiration: { days: 11 } });
    for (let at = 0; at < 9; at += 1) await world.put(`logs/${at}`);
    world.clock.time += day;
    let pages = 0;
    world.table.beforeWrite = async (changes) => {
      if (!changes.some(({ key }) => key.pk === 'lifecycle-slices') || (pages += 1) !== 4) return;
      await rename(world, 'old', 'logs/+');
    };
    await applyLifecycle(world.deps, { calendar: realDays, bounds: { ...bounds, enoughSlices: 0 }, workers: 1 });
    expect(await world.keys()).toContain('logs/+');
    world.clock.time += day;
    await pass(world);
    expect(await world.keys()).not.toContain('logs/+');
  });

  it('expires if it was renamed by a writer that did not know of the rules yet', async () => {
    const world = await upgradedWorld();
    await world.put('old');
    world.clock.time += 20 * day;
    const unruled = await world.deps.buckets.load(world.name);
    await world.setRules({ scope: underLogs, expiration: { days: 10 } });
    await world.put('logs/new');
    await pass(world);
    await rename(world, 'old', 'logs/old', unruled);
    expect(await rechecks(world)).toBe(0);
    world.clock.time += day;
    await pass(world);
    expect(await world.keys()).toEqual(['logs/new']);
  });

  it('expires if an earlier version of Stillage renamed it, before or after a pass of its own', async () => {
    const world = await LifecycleWorld.create();
    for (const name of ['one', 'two']) await world.put(name);
    world.clock.time += 20 * day;
    await setRules(world, { scope: underLogs, expiration: { days: 10 } });
    // The first pass of this version, while another process is still of the earlier one, which writes no rechecks.
    await pass(world);
    await renameAsBefore(world, 'one', 'logs/one');
    world.clock.time += day / 2;
    await pass(world);
    expect(await world.keys()).toEqual(['two']);
    world.clock.time += 2 * day;
    await pass(world);
    await renameAsBefore(world, 'two', 'logs/two');
    // It does not know the attribute of the pass.
    const { bounds: _, ...known } = (await world.table.get(itemKey.lifecyclePass))!;
    await world.table.write([{ key: itemKey.lifecyclePass, put: known }]);
    world.clock.time += day;
    await pass(world);
    expect(await world.keys()).toEqual([]);
  });
});

describe('what an earlier pass found', () => {
  it('counts for nothing if its clock has been set back since', async () => {
    const world = await upgradedWorld();
    await setRules(world, { expiration: { days: 10 } });
    world.clock.time += 300 * day;
    await pass(world);
    world.clock.time -= 300 * day;
    await world.put('key');
    await pass(world);
    world.clock.time += 305 * day;
    await pass(world);
    expect(await world.keys()).toEqual([]);
  });

  it('is not recorded by a pass of another calendar, nor used by it', async () => {
    const world = await upgradedWorld();
    await setRules(world, { expiration: { days: 10 } });
    await world.put('key');
    await pass(world);
    const short = { calendar: shortDays(1), bounds, workers: 2 };
    world.clock.time += 20_000;
    expect((await applyLifecycle(world.deps, short)).pass.tally).toMatchObject({ expired: 1 });
  });

  it('is not recorded for a slice that an earlier version of Stillage has worked on', async () => {
    const world = await upgradedWorld();
    await setRules(world, { expiration: { days: 3 } });
    await world.put('a');
    world.clock.time += 2 * day;
    for (const key of ['b', 'c', 'd', 'e']) await world.put(key);
    let pages = 0;
    const stopping = (): boolean => (pages += 1) > 3;
    const unsplit = { ...bounds, enoughSlices: 0 };
    await applyLifecycle(world.deps, { calendar: realDays, bounds: unsplit, workers: 1, stopping });
    const [slice] = (await world.table.query('lifecycle-slices')).items;
    expect(slice!.attributes).toMatchObject({
      after: expect.any(String) as string,
      bound: expect.any(Object) as object,
    });
    const { bound: _, ...known } = slice!.attributes;
    await world.table.write([{ key: slice!.key, put: known }]);
    await pass(world);
    world.clock.time += 2 * day;
    await pass(world);
    expect(await world.keys()).not.toContain('a');
  });

  it('is not recorded for a slice of an earlier pass', async () => {
    const world = await upgradedWorld();
    await setRules(world, { expiration: { days: 100 } });
    const { id } = await world.deps.buckets.load(world.name);
    const recorded = (): number => world.table.keysOf(`lifecycle-bounds/${id}`).length;
    await world.deps.passes.begin();
    await applyLifecycle(world.deps, { calendar: realDays, bounds, workers: 0 });
    const [slice] = (await world.table.query('lifecycle-slices')).items;
    await pass(world);
    expect(recorded()).toBe(1);
    // A planner that was slow adds its slice after the pass ended, and a worker takes it in the next.
    await world.table.write([{ key: slice!.key, put: { ...slice!.attributes, bucket: 'bucket' } }]);
    world.clock.time += day;
    await pass(world);
    expect(recorded()).toBe(1);
  });
});

describe('after any history', () => {
  const names = ['a', 'b/1', 'b/2', 'b/3', 'c', 'd/1'];
  const key = fc.constantFrom(...names);
  const tags = fc.constantFrom<[string, string][]>([], [['k', 'v']], [['k', 'w']]);
  const days = fc.integer({ min: 1, max: 9 });
  const rule = fc.record(
    {
      scope: fc.record(
        {
          form: fc.constant('and' as const),
          prefix: fc.constantFrom('', 'b/', 'b/1', 'd/'),
          tags: fc.constant([{ key: 'k', value: 'v' }]),
          greaterThan: fc.nat(2),
        },
        { requiredKeys: ['form'] },
      ),
      expiration: fc.oneof(
        fc.record({ days }),
        fc.integer({ min: 0, max: 40 }).map((count) => ({ date: Date.UTC(2026, 0, 2 + count) })),
        fc.constant({ expiredObjectDeleteMarker: true }),
      ),
      noncurrent: fc.record({ days, newerVersions: fc.integer({ min: 1, max: 3 }) }, { requiredKeys: ['days'] }),
      abortDays: days,
    },
    { requiredKeys: ['scope'] },
  );
  const rules = fc.array(rule, { minLength: 1, maxLength: 3 });
  const step = fc.oneof(
    { weight: 6, arbitrary: fc.record({ do: fc.constant('put' as const), key, size: fc.nat(3), tags }) },
    { weight: 2, arbitrary: fc.record({ do: fc.constant('delete' as const), key }) },
    { weight: 2, arbitrary: fc.record({ do: fc.constant('delete version' as const), key, at: fc.nat(3) }) },
    { weight: 2, arbitrary: fc.record({ do: fc.constant('tag' as const), key, at: fc.nat(3), tags }) },
    { weight: 1, arbitrary: fc.record({ do: fc.constant('rename' as const), key, to: key }) },
    { weight: 1, arbitrary: fc.record({ do: fc.constant('upload' as const), key }) },
    {
      weight: 1,
      arbitrary: fc.record({ do: fc.constant('version' as const), to: fc.constantFrom('on', 'suspended') }),
    },
    { weight: 1, arbitrary: fc.record({ do: fc.constant('rules' as const), rules }) },
    { weight: 9, arbitrary: fc.record({ do: fc.constant('wait' as const), hours: fc.integer({ min: 1, max: 60 }) }) },
    {
      weight: 1,
      arbitrary: fc.record({ do: fc.constant('set the clock back' as const), days: fc.integer({ min: 2, max: 20 }) }),
    },
  );
  type Step = typeof step extends fc.Arbitrary<infer Value> ? Value : never;

  /** Applies a step of a client. */
  async function take(world: LifecycleWorld, one: Step): Promise<void> {
    const version = async (name: string, at: number): Promise<string | undefined> => {
      const found = (await world.contents()).get(name)?.[at];
      return found && (found.named ? found.instance : 'null');
    };
    switch (one.do) {
      case 'put':
        await world.put(one.key, { size: one.size, tags: one.tags });
        return;
      case 'delete':
        return world.delete(one.key);
      case 'delete version': {
        const id = await version(one.key, one.at);
        return id === undefined ? undefined : world.deleteVersion(one.key, id);
      }
      case 'tag': {
        const found = (await world.contents()).get(one.key)?.[one.at];
        if (!found || found.marker) return undefined;
        return world.tag(one.key, found.named ? found.instance : 'null', one.tags);
      }
      case 'rename':
        return rename(world, one.key, one.to);
      case 'upload':
        return beginUpload(world, one.key);
      case 'version':
        return world.setVersioning(one.to);
      case 'rules':
        return world.setRules(...one.rules);
      case 'wait':
        world.clock.time += (one.hours * day) / 24;
        return;
      case 'set the clock back':
        world.clock.time -= one.days * day;
    }
  }

  it.each([0, 3])('a pass does all that one of every range does (reads miss up to %i changes)', async (stale) => {
    let skipped = 0;
    const input = fc.tuple(rules, fc.boolean(), fc.array(step, { minLength: 10, maxLength: 60 }));
    await fc.assert(
      fc.asyncProperty(input, async ([first, freeChecks, steps]) => {
        const world = await upgradedWorld({ freeChecks });
        await world.setRules(...first);
        const dayNow = (): number => Math.floor(world.clock.time / day);
        let passDay = dayNow();
        for (const one of steps) {
          await take(world, one);
          if (dayNow() === passDay) continue;
          world.table.staleBy = () => stale;
          await pass(world);
          world.table.staleBy = () => 0;
          if (stale > 0) {
            // An object that a stale read missed is due in the next pass.
            world.clock.time += day;
          }
          passDay = dayNow();
          const { tally } = (await pass(world)).pass;
          const whole = (await pass(world, { everyRange: true })).pass.tally;
          expect(whole).toEqual({ ...nothingDone, keys: whole.keys });
          skipped += whole.keys - tally.keys;
        }
      }),
      { numRuns: runs(100) },
    );
    expect(skipped).toBeGreaterThan(0);
  });
});

describe('the ranges to check', () => {
  const letter = fc.constantFrom('b', 'd', 'f', 'h', 'j');
  const bound = fc
    .record({
      ends: fc.tuple(fc.option(letter, { nil: undefined }), fc.option(letter, { nil: undefined })),
      recordedAt: fc.constantFrom(0, 3 * day),
      nothingDueBefore: fc.constantFrom(day, 3 * day),
      keys: fc.nat(4),
      revision: fc.constantFrom('now', 'before'),
    })
    .filter(({ ends: [from, until] }) => from === undefined || until === undefined || from < until)
    .map(({ ends: [from, until], ...rest }): DueBound => ({
      ...rest,
      id: `${from}-${until}`,
      kind: 'keys',
      prefix: '',
      from,
      until,
    }));
  const holds = (key: string, { from, until }: Pick<DueBound, 'from' | 'until'>): boolean =>
    (from === undefined || key >= from) && (until === undefined || key < until);

  it('hold every key for which no bound is kept, and never one twice', () => {
    fc.assert(
      fc.property(fc.array(bound, { maxLength: 6 }), fc.nat(6), (bounds, fewKeys) => {
        const at = { now: 2 * day, revision: 'now', fewKeys };
        const { ranges, obsolete } = dueRanges([{ kind: 'keys', prefix: '' }], bounds, at);
        const kept = bounds.filter((one) => !obsolete.includes(one));
        for (const one of kept)
          expect(one).toMatchObject({ recordedAt: 0, nothingDueBefore: 3 * day, revision: 'now' });
        for (const key of 'abcdefghijk') {
          const found = ranges.filter((range) => holds(key, range)).length;
          expect(found, key).toBe(kept.some((one) => holds(key, one)) ? 0 : 1);
        }
      }),
      { numRuns: runs(1000) },
    );
  });

  it('include small neighbours, and leave out large ones', () => {
    const range = (from: string | undefined, until: string | undefined, keys: number): DueBound => ({
      id: 'x',
      kind: 'keys',
      prefix: '',
      from,
      until,
      keys,
      recordedAt: 0,
      nothingDueBefore: 3 * day,
      revision: 'now',
    });
    const at = { now: 2 * day, revision: 'now', fewKeys: 10 };
    const some = [range('b', 'c', 4), range('d', 'e', 4), range('f', 'g', 4), range('h', 'i', 11)];
    const { ranges, obsolete } = dueRanges([{ kind: 'keys', prefix: '' }], some, at);
    expect(ranges.map(({ from, until }) => [from, until])).toEqual([
      [undefined, 'f'],
      ['g', 'h'],
      ['i', undefined],
    ]);
    expect(obsolete).toEqual(some.slice(0, 2));
  });
});
