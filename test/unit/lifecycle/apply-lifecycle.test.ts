import { asService, byOperator } from '../../../shared/storage/version-changes/service-authorisation.ts';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { applyLifecycle, type LifecycleOptions } from '../../../shared/lifecycle/apply-lifecycle.ts';
import type { Bucket, Versioning } from '../../../shared/storage/buckets/bucket.ts';
import { expiredMarkerRule, expiryRule, noncurrentRule, realDays } from '../../../shared/lifecycle/lifecycle.ts';
import { enabledRules, type EnabledRule } from '../../../shared/lifecycle/lifecycle-rules.ts';
import { currentVersionKey } from '../../../shared/storage/version-changes/version-chain.ts';
import type { Version } from '../../../shared/storage/versions/versions.ts';
import { runs } from '../../support/runs/runs.ts';
import { day, LifecycleWorld } from './lifecycle-deps.ts';

const numbered = (count: number, prefix = 'key-') =>
  Array.from({ length: count }, (_, at) => `${prefix}${String(at).padStart(4, '0')}`);

const apply = (world: LifecycleWorld, more: Partial<LifecycleOptions> = {}) =>
  applyLifecycle(world.deps, { ...world.options, ...more });

const oneDay = { expiration: { days: 1 } };
const olderThanADay = { noncurrent: { days: 1 } };

describe('a pass', () => {
  it('expires what is due, and nothing else', async () => {
    const world = await LifecycleWorld.create();
    await world.setRules({ scope: { form: 'filter', prefix: 'logs/' }, expiration: { days: 10 } });
    for (const key of ['log', 'logs/1', 'logs/2', 'logs0']) await world.put(key);
    world.clock.time += 9 * day;
    await world.put('logs/2');
    world.clock.time += 2 * day;
    const { pass } = await apply(world);
    expect(await world.keys()).toEqual(['log', 'logs/2', 'logs0']);
    expect(pass.tally).toEqual({ keys: 2, expired: 1, removed: 0, markers: 0, aborted: 0, changed: 0 });
    expect(pass.finishedAt).toBe(world.clock.time);
  });

  it.each([1, 2, 5])('with %i workers goes through every key once, however it is cut', async (workers) => {
    const world = await LifecycleWorld.create();
    const keys = numbered(300);
    for (const key of keys) await world.put(key);
    await world.setRules({ expiration: { days: 2 } });
    world.clock.time += day;
    const { pass, done } = await apply(world, { workers });
    expect(pass.tally).toMatchObject({ keys: 300, expired: 0 });
    expect(done).toEqual(pass.tally);
    world.clock.time += 2 * day;
    expect((await apply(world, { workers })).pass.tally).toMatchObject({ keys: 300, expired: 300 });
    expect(await world.keys()).toEqual([]);
  });

  it('is cut into slices for others while it is worked on', async () => {
    const world = await LifecycleWorld.create();
    for (const key of numbered(200)) await world.put(key);
    await world.setRules(oneDay);
    let most = 0;
    await apply(world, {
      workers: 3,
      progress: () => {
        most = Math.max(most, world.table.keysOf('lifecycle-slices').length);
      },
    });
    expect(most).toBeGreaterThan(3);
    expect(most).toBeLessThanOrEqual(world.options.bounds.enoughSlices);
    expect(world.table.keysOf('lifecycle-slices')).toEqual([]);
  });

  it('reads nothing of buckets without rules, and only the prefixes of rules of the others', async () => {
    const world = await LifecycleWorld.create();
    await world.put('free');
    const { buckets } = world.deps;
    await buckets.create(byOperator, 'ruled', 'project', 100);
    const free = await buckets.load('bucket');
    const asked: string[] = [];
    const query = world.table.query.bind(world.table);
    world.table.query = async (pk, options) => {
      asked.push(`${pk} ${options?.prefix ?? ''}`);
      return query(pk, options);
    };
    world.table.afterRead = async ({ pk }) => {
      asked.push(pk);
    };
    await apply(world);
    expect(asked.filter((one) => one.startsWith('bucket/') || one.includes(free.id))).toEqual([]);

    const rules = [
      { id: 'a', status: 'Enabled', scope: { form: 'filter', prefix: 'logs/' }, ...oneDay },
      { id: 'b', status: 'Enabled', scope: { form: 'filter', prefix: 'logs/2020/' }, ...oneDay },
      { id: 'c', status: 'Disabled', scope: { form: 'filter' }, ...oneDay },
    ];
    await buckets.documents.set(asService(await buckets.load('ruled')), 'lifecycle', { rules });
    asked.length = 0;
    await apply(world);
    expect(asked.filter((one) => one.includes(free.id))).toEqual([]);
    const { id } = await buckets.load('ruled');
    expect(asked.filter((one) => one.startsWith(`head/${id}`))).toEqual([`head/${id} logs/`]);
  });

  it('looks at no bucket whose rules were taken away, or that is gone', async () => {
    const world = await LifecycleWorld.create();
    await world.setRules(oneDay);
    expect(world.table.keysOf('buckets-with/lifecycle')).toEqual(['bucket']);
    await world.deps.buckets.documents.set(asService(await world.deps.buckets.load('bucket')), 'lifecycle', undefined);
    expect(world.table.keysOf('buckets-with/lifecycle')).toEqual([]);
    await world.setRules(oneDay);
    await world.deps.buckets.remove(asService(await world.deps.buckets.load('bucket')));
    expect(world.table.keysOf('buckets-with/lifecycle')).toEqual([]);
    expect((await apply(world)).pass.tally.keys).toBe(0);
  });

  it('leaves a bucket alone that has lost its rules, or was made anew, since the pass began', async () => {
    for (const change of ['rules', 'bucket'] as const) {
      const world = await LifecycleWorld.create();
      await world.setRules(oneDay);
      for (const key of numbered(20)) await world.put(key);
      world.clock.time += 3 * day;
      let pages = 0;
      await apply(world, { workers: 1, progress: () => (pages += 1), stopping: () => pages >= 2 });
      const left = await world.keys();
      expect(left).toHaveLength(12);
      if (change === 'rules') {
        await world.deps.buckets.documents.set(
          asService(await world.deps.buckets.load('bucket')),
          'lifecycle',
          undefined,
        );
      } else {
        for (const key of left) await world.delete(key);
        await world.deps.buckets.remove(asService(await world.deps.buckets.load('bucket')));
        await world.deps.buckets.create(byOperator, 'bucket', 'project', 100);
        for (const key of left) await world.put(key);
        world.clock.time += 3 * day;
      }
      const { pass } = await apply(world);
      expect(pass.finishedAt).toBeDefined();
      expect(await world.keys()).toEqual(left);
    }
  });

  it('aborts uploads that are due', async () => {
    const world = await LifecycleWorld.create();
    const { buckets, uploads } = world.deps;
    await world.setRules({ scope: { form: 'filter', prefix: 'big/' }, abortDays: 2 });
    const bucket = await buckets.load('bucket');
    const begin = async (key: string): Promise<string> =>
      uploads.create(asService(bucket, key), {
        owner: 'project',
        initiator: 'project',
        contentType: undefined,
        objectAttributes: { headers: {}, metadata: {}, tags: [] },
        encryption: undefined,
        checksum: undefined,
      });
    for (const key of numbered(10, 'big/')) await begin(key);
    await begin('small');
    world.clock.time += 2 * day;
    const young = await begin('big/young');
    world.clock.time += day;
    const { pass } = await apply(world);
    expect(pass.tally).toMatchObject({ aborted: 10, keys: 0 });
    expect((await uploads.openFrom(bucket, { prefix: '', limit: 100 })).uploads.map(({ key }) => key)).toEqual([
      'big/young',
      'small',
    ]);
    await uploads.abort(asService(bucket, 'big/young'), young);
    world.clock.time += 3 * day;
    expect((await apply(world)).pass.tally).toMatchObject({ aborted: 0, changed: 0 });
  });

  it('reads tags and long metadata only where they matter', async () => {
    const world = await LifecycleWorld.create();
    await world.setRules({ scope: { form: 'filter', tags: [{ key: 'k', value: 'v' }] }, expiration: { days: 5 } });
    await world.put('tagged', { tags: [['k', 'v']], metadataBytes: 2000 });
    await world.put('otherwise', { tags: [['k', 'w']], metadataBytes: 2000 });
    const read: string[] = [];
    world.table.afterRead = async ({ pk }) => {
      read.push(pk);
    };
    await apply(world);
    expect(read.filter((pk) => pk.startsWith('details/'))).toEqual([]);
    world.clock.time += 6 * day;
    await apply(world);
    expect(read.filter((pk) => pk.startsWith('details/'))).toHaveLength(2);
    expect(await world.keys()).toEqual(['otherwise']);
  });

  it('works through more versions than it reads at once', async () => {
    const world = await LifecycleWorld.create({ versioning: 'on' });
    for (let count = 0; count < 1201; count += 1) await world.put('key');
    await world.setRules({ noncurrent: { days: 1, newerVersions: 2 } });
    world.clock.time += 3 * day;
    expect((await apply(world)).pass.tally.removed).toBe(1198);
    expect((await world.contents()).get('key')).toHaveLength(3);
  });
});

describe('between the look at a key and the change', () => {
  /** Applies the rules, and does something once just before the first write of a key of the bucket. */
  async function meddle(world: LifecycleWorld, meddling: () => Promise<void>) {
    let done = false;
    world.table.beforeWrite = async (changes) => {
      if (done || !changes.some(({ key }) => /^(head|old|upload)\//.test(key.pk))) return;
      done = true;
      await meddling();
    };
    const report = await apply(world);
    world.table.beforeWrite = async () => undefined;
    expect(done).toBe(true);
    return report.pass.tally;
  }

  for (const versioning of ['off', 'on', 'suspended'] as const) {
    for (const freeChecks of [true, false]) {
      it(`a newer object survives (versioning ${versioning}, ${freeChecks ? 'one machine' : 'cloud'})`, async () => {
        const world = await LifecycleWorld.create({ versioning, freeChecks });
        await world.setRules(oneDay);
        await world.put('key');
        world.clock.time += 3 * day;
        let fresh: Version | undefined;
        const tally = await meddle(world, async () => {
          fresh = await world.put('key', { size: 77 });
        });
        expect(tally).toMatchObject({ expired: 0, changed: 1 });
        const [current] = (await world.contents()).get('key')!;
        expect(current).toMatchObject({ instance: fresh!.instance, size: 77, marker: false });
      });
    }
  }

  it('a tag saves an object', async () => {
    const world = await LifecycleWorld.create();
    await world.setRules({ scope: { form: 'filter', tags: [{ key: 'k', value: 'v' }] }, ...oneDay });
    await world.put('key', { tags: [['k', 'v']] });
    world.clock.time += 3 * day;
    const tally = await meddle(world, () => world.tag('key', undefined, [['k', 'keep']]));
    expect(tally).toMatchObject({ expired: 0, changed: 1 });
    expect(await world.keys()).toEqual(['key']);
    expect((await apply(world)).pass.tally).toMatchObject({ expired: 0, changed: 0 });
  });

  it('a tag saves a non-current version', async () => {
    const world = await LifecycleWorld.create({ versioning: 'on' });
    await world.setRules({ scope: { form: 'filter', tags: [{ key: 'k', value: 'v' }] }, ...olderThanADay });
    const { instance } = await world.put('key', { tags: [['k', 'v']] });
    await world.put('key');
    world.clock.time += 3 * day;
    const tally = await meddle(world, () => world.tag('key', instance, [['k', 'keep']]));
    expect(tally).toMatchObject({ removed: 0, changed: 1 });
    expect((await world.contents()).get('key')).toHaveLength(2);
  });

  it('a non-current version that becomes current again survives', async () => {
    const world = await LifecycleWorld.create({ versioning: 'on' });
    await world.setRules(olderThanADay);
    const { instance } = await world.put('key');
    const above = await world.put('key');
    world.clock.time += 3 * day;
    const tally = await meddle(world, () => world.deleteVersion('key', above.instance));
    expect(tally).toMatchObject({ removed: 0, changed: 1 });
    expect((await world.contents()).get('key')!.map((version) => version.instance)).toEqual([instance]);
  });

  it('a version that is one of the newest by now survives', async () => {
    const world = await LifecycleWorld.create({ versioning: 'on' });
    await world.setRules({ noncurrent: { days: 1, newerVersions: 1 } });
    const oldest = await world.put('key');
    const middle = await world.put('key');
    await world.put('key');
    world.clock.time += 3 * day;
    await meddle(world, () => world.deleteVersion('key', middle.instance));
    expect((await world.contents()).get('key')!.at(-1)!.instance).toBe(oldest.instance);
  });

  it('an object put under a lone marker keeps the key', async () => {
    const world = await LifecycleWorld.create({ versioning: 'on' });
    await world.setRules({ expiration: { expiredObjectDeleteMarker: true } });
    await world.delete('key');
    const tally = await meddle(world, async () => {
      await world.put('key');
    });
    expect(tally).toMatchObject({ markers: 0, changed: 1 });
    expect((await world.contents()).get('key')!.map(({ marker }) => marker)).toEqual([false, true]);
  });

  it('versioning that was turned on saves the object under a marker', async () => {
    const world = await LifecycleWorld.create();
    await world.setRules(oneDay);
    await world.put('key');
    world.clock.time += 3 * day;
    await meddle(world, () => world.setVersioning('on'));
    expect((await world.contents()).get('key')!.map(({ marker }) => marker)).toEqual([true, false]);
  });

  it('a delete is no failure', async () => {
    const world = await LifecycleWorld.create();
    await world.setRules(oneDay);
    await world.put('key');
    world.clock.time += 3 * day;
    expect(await meddle(world, () => world.delete('key'))).toMatchObject({ expired: 0, changed: 1 });
  });

  it('an upload that is completed or aborted is no failure', async () => {
    const world = await LifecycleWorld.create();
    const { buckets, uploads } = world.deps;
    await world.setRules({ abortDays: 1 });
    const bucket = await buckets.load('bucket');
    const id = await uploads.create(asService(bucket, 'key'), {
      owner: 'project',
      initiator: 'project',
      contentType: undefined,
      objectAttributes: { headers: {}, metadata: {}, tags: [] },
      encryption: undefined,
      checksum: undefined,
    });
    world.clock.time += 3 * day;
    expect(await meddle(world, () => uploads.abort(asService(bucket, 'key'), id))).toMatchObject({
      aborted: 0,
      changed: 1,
    });
  });
});

class Killed extends Error {}

describe('after a death', () => {
  /**
   * Runs a pass that is killed after a number of writes, as every later write fails.
   * @returns whether it was killed
   */
  async function die(world: LifecycleWorld, writes: number, workers: number): Promise<boolean> {
    let left = writes;
    world.table.beforeWrite = async () => {
      left -= 1;
      if (left < 0) throw new Killed();
    };
    try {
      await apply(world, { workers });
      return false;
    } catch (error) {
      expect(error).toBeInstanceOf(Killed);
      return true;
    } finally {
      world.table.beforeWrite = async () => undefined;
    }
  }

  it.each([1, 3])('at any write, a pass goes on and skips nothing (%i workers)', async (workers) => {
    for (let writes = 0; ; writes += 1) {
      const world = await LifecycleWorld.create({ versioning: 'on' });
      const keys = numbered(30);
      for (const key of keys) {
        await world.put(key);
        await world.put(key);
      }
      await world.setRules(oneDay, olderThanADay);
      world.clock.time += 3 * day;
      const died = await die(world, writes, workers);
      // The locks of the killed process expire.
      world.clock.time += 11_000;
      const begun = await world.deps.passes.latest();
      const { pass } = await apply(world, { workers });
      if (died && begun) expect(pass.id).toBe(begun.id);
      expect(pass.finishedAt).toBeDefined();
      for (const [key, versions] of await world.contents()) {
        expect(
          versions.map(({ marker }) => marker),
          `${key} after ${writes} writes`,
        ).toEqual([true, false]);
      }
      expect(await world.keys()).toEqual(keys);
      if (!died) break;
    }
  });

  it('the cursor is where it was: what was worked through is not read again', async () => {
    const world = await LifecycleWorld.create();
    const keys = numbered(40);
    for (const key of keys) await world.put(key);
    await world.setRules({ expiration: { days: 100 } });
    let pages = 0;
    const first = await apply(world, { workers: 1, progress: () => (pages += 1), stopping: () => pages === 5 });
    expect(first.pass.finishedAt).toBeUndefined();
    expect(first.done.keys).toBeGreaterThan(8);
    const { pass, done } = await apply(world, { workers: 1 });
    expect(pass.id).toBe(first.pass.id);
    expect(first.done.keys + done.keys).toBe(40);
    expect(pass.tally.keys).toBe(40);
  });

  it('a slice that is done twice changes nothing the second time', async () => {
    const world = await LifecycleWorld.create({ versioning: 'on' });
    for (const key of numbered(12)) {
      await world.put(key);
      await world.put(key);
    }
    await world.setRules(oneDay, olderThanADay);
    world.clock.time += 3 * day;
    const bounds = { keysPerPage: 100, pagesPerTurn: 1, enoughSlices: 1 };
    await apply(world, { bounds });
    const contents = await world.contents();
    const position = world.table.feed.length;
    expect((await apply(world, { bounds })).pass.tally).toEqual({
      keys: 12,
      expired: 0,
      removed: 0,
      markers: 0,
      aborted: 0,
      changed: 0,
    });
    expect(await world.contents()).toEqual(contents);
    const touched = world.table.feed.slice(position).map(({ key }) => key.pk.split('/')[0]);
    expect(touched.filter((kind) => kind === 'head' || kind === 'old')).toEqual([]);
  });

  it('two calls at once share a pass', async () => {
    const world = await LifecycleWorld.create();
    for (const key of numbered(100)) await world.put(key);
    await world.setRules(oneDay);
    world.clock.time += 3 * day;
    const [one, other] = await Promise.all([apply(world), apply(world)]);
    expect(one.pass.id).toBe(other.pass.id);
    expect(await world.keys()).toEqual([]);
    expect((await world.deps.passes.latest())!.tally).toMatchObject({ expired: 100, changed: 0 });
  });
});

/** Returns the expected effect of a pass on a key, by a naive computation. */
function settled(
  rules: readonly EnabledRule[],
  key: string,
  versions: readonly Version[],
  versioning: Versioning,
  now: number,
): readonly (Version | 'new marker')[] {
  const time = { now, calendar: realDays };
  const aging = (version: Version) => ({
    ...version,
    tags: 'details' in version.objectAttributes ? [] : version.objectAttributes.tags,
  });
  const current = versions[0]!;
  let older = versions.slice(1);
  let expired = false;
  if (expiryRule(rules, key, aging(current), time)) {
    if (versioning === 'off') return [];
    expired = true;
    older = [{ ...current, replacedAt: now }, ...older].filter(({ named }) => named || versioning === 'on');
  }
  const kept: Version[] = [];
  older.forEach((version, at) => {
    const successor = older[at - 1] ?? { ...current, lastModified: expired ? now : current.lastModified };
    if (!noncurrentRule(rules, key, aging(version), { newer: kept.length, successor }, time)) kept.push(version);
  });
  const alone = kept.length === 0;
  if (expired) {
    const marker = { marker: true, size: 0, tags: [], lastModified: now, replacedAt: undefined };
    return alone && expiredMarkerRule(rules, key, marker, time) ? [] : ['new marker', ...kept];
  }
  return current.marker && alone && expiredMarkerRule(rules, key, aging(current), time) ? [] : [current, ...kept];
}

describe('any versions', () => {
  const tags = fc.constantFrom<[string, string][]>([], [['k', 'v']], [['k', 'w']]);
  const step = fc.oneof(
    {
      weight: 4,
      arbitrary: fc.record({
        do: fc.constant('put' as const),
        key: fc.constantFrom('a', 'b/1', 'b/2'),
        size: fc.nat(3),
        tags,
      }),
    },
    {
      weight: 2,
      arbitrary: fc.record({ do: fc.constant('delete' as const), key: fc.constantFrom('a', 'b/1', 'b/2') }),
    },
    {
      weight: 1,
      arbitrary: fc.record({
        do: fc.constant('version' as const),
        to: fc.constantFrom('on' as const, 'suspended' as const),
      }),
    },
    { weight: 3, arbitrary: fc.record({ do: fc.constant('wait' as const), days: fc.nat(4) }) },
  );
  const days = fc.integer({ min: 1, max: 6 });
  const expiration = fc.oneof(
    days.map((count) => ({ days: count })),
    fc.integer({ min: 0, max: 12 }).map((count) => ({ date: Date.UTC(2026, 0, 2 + count) })),
    fc.constant({ expiredObjectDeleteMarker: true }),
  );
  const noncurrent = fc.record({ days, newerVersions: fc.integer({ min: 1, max: 3 }) }, { requiredKeys: ['days'] });
  const scope = fc.record(
    {
      form: fc.constant('and' as const),
      prefix: fc.constantFrom('', 'b/', 'b/1'),
      tags: fc.constant([{ key: 'k', value: 'v' }]),
      greaterThan: fc.nat(2),
    },
    { requiredKeys: ['form'] },
  );
  const rule = fc.record({ scope, expiration, noncurrent }, { requiredKeys: ['scope'] });

  it('under any rules becomes what it should, and then stays as it is', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(step, { minLength: 3, maxLength: 20 }),
        fc.array(rule, { minLength: 1, maxLength: 3 }),
        async (steps, rules) => {
          const world = await LifecycleWorld.create();
          for (const one of steps) {
            world.clock.time += 1000;
            if (one.do === 'put') await world.put(one.key, one);
            else if (one.do === 'delete') await world.delete(one.key);
            else if (one.do === 'wait') world.clock.time += one.days * day;
            else await world.setVersioning(one.to);
          }
          await world.setRules(...rules);
          const before = await world.contents();
          const bucket: Bucket = await world.deps.buckets.load('bucket');
          const enabled = enabledRules((await world.deps.buckets.documents.of(bucket, 'lifecycle'))!);
          const expected: Record<string, readonly string[]> = {};
          for (const [key, versions] of before) {
            const left = settled(enabled, key, versions, bucket.versioning, world.clock.now());
            const names = left.map((version) => (version === 'new marker' ? version : version.instance));
            if (names.length > 0) expected[key] = names;
          }
          const known = new Set([...before.values()].flat().map(({ instance }) => instance));
          const shown = async (): Promise<Record<string, readonly string[]>> =>
            Object.fromEntries(
              [...(await world.contents())].map(([key, versions]) => [
                key,
                versions.map(({ instance }) => (known.has(instance) ? instance : 'new marker')),
              ]),
            );
          await apply(world);
          expect(await shown()).toEqual(expected);
          const again = await apply(world);
          expect(await shown()).toEqual(expected);
          expect(again.pass.tally).toMatchObject({ expired: 0, removed: 0, markers: 0, changed: 0 });
          for (const [key, versions] of await world.contents()) {
            const currentVersion = await world.table.get(currentVersionKey(bucket.id, key));
            expect(currentVersion?.['n'] ?? 0).toBe(versions.length - 1);
          }
        },
      ),
      { numRuns: runs(150) },
    );
  });
});
