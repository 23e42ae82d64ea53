import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { applyLifecycle, type LifecycleReport } from '../../../../shared/metadata/lifecycle/apply-lifecycle.ts';
import { dueRanges, type DueBound } from '../../../../shared/metadata/lifecycle/due-bounds.ts';
import { nothingDone } from '../../../../shared/metadata/lifecycle/lifecycle-key.ts';
import { realDays, type Calendar } from '../../../../shared/metadata/lifecycle/lifecycle.ts';
import { SourceGone } from '../../../../shared/metadata/objects/outcomes.ts';
import { asService } from '../../../../shared/metadata/objects/service-authorisation.ts';
import { renamedOf } from '../../../../shared/metadata/objects/versions.ts';
import { runs } from '../../../support/runs.ts';
import { day, LifecycleWorld } from './lifecycle-deps.ts';

const bounds = { keysPerPage: 2, pagesPerTurn: 1, enoughSlices: 4 };
/** The same days, for which bounds are neither used nor recorded. */
const everyRange: Calendar = { after: (time, days) => realDays.after(time, days) };

const pass = (world: LifecycleWorld, calendar = realDays, workers = 2): Promise<LifecycleReport> =>
  applyLifecycle(world.deps, { calendar, bounds, workers });

async function rename(world: LifecycleWorld, from: string, to: string): Promise<void> {
  const bucket = await world.deps.buckets.load(world.name);
  const { objects } = world.deps;
  const source = await objects.find(bucket, from);
  if (source === undefined || source.marker || from === to) return;
  const renamed = { ...renamedOf(source), objectAttributes: await objects.objectAttributes(source) };
  try {
    await objects.put(asService(bucket, to), renamed, {
      extras: async (_version, _before, present) => ({
        changes: await objects.renamedAway({ bucket: present, key: from, source }),
        conditions: [],
      }),
    });
  } catch (error) {
    if (!(error instanceof SourceGone)) throw error;
  }
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

describe('a pass', () => {
  it('reads no range in which nothing is due, until something is', async () => {
    const world = await LifecycleWorld.create();
    await world.setRules({ scope: { form: 'filter', prefix: '' }, expiration: { days: 10 } });
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
    const world = await LifecycleWorld.create();
    await world.setRules({ expiration: { days: 3650 } });
    for (let at = 0; at < 20; at += 1) await world.put(`key-${at}`);
    let passes = 0;
    for (let days = 0; days < 90; days += 1) {
      world.clock.time += day;
      if ((await pass(world)).pass.tally.keys > 0) passes += 1;
    }
    expect(passes).toBe(3);
  });

  it('reads everything again under other rules', async () => {
    const world = await LifecycleWorld.create();
    await world.setRules({ expiration: { days: 100 } });
    for (let at = 0; at < 20; at += 1) await world.put(`key-${at}`);
    world.clock.time += 5 * day;
    await pass(world);
    await world.setRules({ expiration: { days: 2 } });
    world.clock.time += day;
    expect((await pass(world)).pass.tally).toMatchObject({ keys: 20, expired: 20 });
  });

  it('expires every object that is renamed into a range in which nothing was due', async () => {
    const world = await LifecycleWorld.create();
    await world.put('old');
    await world.put('other');
    world.clock.time += 20 * day;
    await world.setRules({ scope: { form: 'filter', prefix: 'logs/' }, expiration: { days: 10 } });
    await world.put('logs/new');
    await pass(world);
    await rename(world, 'old', 'logs/old');
    world.clock.time += day;
    expect((await pass(world)).pass.tally).toMatchObject({ expired: 1 });
    expect(await world.keys()).toEqual(['logs/new', 'other']);
    await rename(world, 'other', 'logs/other');
    world.clock.time += day;
    expect((await pass(world)).pass.tally).toMatchObject({ expired: 1 });
  });

  it('removes a delete marker that became the only version after the last pass', async () => {
    const world = await LifecycleWorld.create({ versioning: 'on' });
    await world.setRules({ expiration: { expiredObjectDeleteMarker: true } });
    await pass(world);
    await world.delete('key');
    world.clock.time += day;
    expect((await pass(world)).pass.tally).toMatchObject({ markers: 1 });
  });

  it('removes a noncurrent version once enough newer ones follow', async () => {
    const world = await LifecycleWorld.create({ versioning: 'on' });
    await world.setRules({ noncurrent: { days: 1, newerVersions: 1 } });
    for (const _ of [1, 2]) await world.put('key');
    world.clock.time += 3 * day;
    await pass(world);
    await world.put('key');
    world.clock.time += day;
    expect((await pass(world)).pass.tally).toMatchObject({ removed: 1 });
  });

  it('reads everything again once versioning is enabled', async () => {
    const world = await LifecycleWorld.create();
    await world.setRules({ noncurrent: { days: 1 } });
    for (let at = 0; at < 5; at += 1) await world.put(`key-${at}`);
    await pass(world);
    await world.setVersioning('on');
    for (let at = 0; at < 5; at += 1) await world.put(`key-${at}`);
    world.clock.time += 2 * day;
    expect((await pass(world)).pass.tally).toMatchObject({ removed: 5 });
  });

  it('expires an old object once its tags match', async () => {
    const world = await LifecycleWorld.create();
    await world.setRules({ scope: { form: 'filter', tags: [{ key: 'k', value: 'v' }] }, expiration: { days: 2 } });
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
    const world = await LifecycleWorld.create({ versioning: 'on' });
    await world.put('key');
    world.clock.time += 5 * day;
    const newer = await world.put('key');
    await world.setRules({ expiration: { days: 4 } });
    await pass(world);
    await world.deleteVersion('key', newer.instance);
    world.clock.time += day;
    expect((await pass(world)).pass.tally).toMatchObject({ expired: 1 });
  });

  it('leaves no bounds of buckets that were purged', async () => {
    const world = await LifecycleWorld.create();
    const { id } = await world.deps.buckets.load(world.name);
    await world.setRules({ expiration: { days: 10 } });
    await pass(world);
    expect(world.table.keysOf(`lifecycle-bounds/${id}`)).toHaveLength(1);
    await world.deps.buckets.remove(asService(await world.deps.buckets.load(world.name)));
    world.clock.time += day / 2;
    await world.purge();
    expect(world.table.keysOf(`lifecycle-bounds/${id}`)).toEqual([]);
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
    }
  }

  it.each([0, 3])('a pass does all that one of every range does (reads miss up to %i changes)', async (stale) => {
    let skipped = 0;
    await fc.assert(
      fc.asyncProperty(rules, fc.array(step, { minLength: 10, maxLength: 60 }), async (first, steps) => {
        const world = await LifecycleWorld.create();
        await world.setRules(...first);
        let passDay = 0;
        for (const one of steps) {
          await take(world, one);
          if (one.do !== 'wait' || Math.floor(world.clock.time / day) === passDay) continue;
          passDay = Math.floor(world.clock.time / day);
          world.table.staleBy = () => stale;
          await pass(world);
          world.table.staleBy = () => 0;
          if (stale > 0) {
            // What a stale read missed is due in the next pass.
            world.clock.time += day;
            passDay += 1;
          }
          const { tally } = (await pass(world)).pass;
          const whole = (await pass(world, everyRange)).pass.tally;
          expect(whole).toEqual({ ...nothingDone, keys: whole.keys });
          skipped += whole.keys - tally.keys;
        }
      }),
      { numRuns: runs(60) },
    );
    expect(skipped).toBeGreaterThan(0);
  });
});

describe('the ranges to check', () => {
  const letter = fc.constantFrom('b', 'd', 'f', 'h', 'j');
  const bound = fc
    .record({
      ends: fc.tuple(fc.option(letter, { nil: undefined }), fc.option(letter, { nil: undefined })),
      nothingDueBefore: fc.constantFrom(1, 3),
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
        const at = { now: 2, revision: 'now', fewKeys };
        const { ranges, obsolete } = dueRanges([{ kind: 'keys', prefix: '' }], bounds, at);
        const kept = bounds.filter((one) => !obsolete.includes(one));
        for (const one of kept) expect(one).toMatchObject({ nothingDueBefore: 3, revision: 'now' });
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
      nothingDueBefore: 3,
      revision: 'now',
    });
    const at = { now: 2, revision: 'now', fewKeys: 10 };
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
