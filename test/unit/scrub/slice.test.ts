import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Finding } from '../../../shared/scrub/findings.ts';
import { Slice } from '../../../shared/scrub/slice.ts';
import { currentVersionKey } from '../../../shared/storage/version-changes/version-chain.ts';
import { asService } from '../../../shared/storage/version-changes/service-authorisation.ts';
import { itemKey } from '../../../shared/storage/table/keys/keys.ts';
import { ScrubWorld } from '../../support/storage/scrub-world.ts';
import { runs } from '../../support/runs/runs.ts';

const day = 86_400_000;
const numberOfSlices = fc.integer({ min: 1, max: 40 });
const allOf = (of: number): Slice[] => Array.from({ length: of }, (_, at) => new Slice(at + 1, of));

describe('the slices of a scrub', () => {
  it('have each item of the table in exactly one of them, and the versions of a key in the same one', () => {
    const name = fc.string({ unit: 'binary', minLength: 1 });
    const item = fc.oneof(
      fc.tuple(name, name).map(([bucketId, key]) => currentVersionKey(bucketId.replaceAll('/', '-'), key)),
      fc.tuple(name, name).map(([pk, sk]) => ({ pk, sk })),
      name.map((id) => itemKey.details(id)),
    );
    fc.assert(
      fc.property(numberOfSlices, item, (of, key) => {
        expect(allOf(of).filter((slice) => slice.has(key))).toHaveLength(1);
      }),
    );
    fc.assert(
      fc.property(numberOfSlices, name, (of, key) => {
        const noncurrent = { pk: `old/b1/${key}`, sk: 'instance' };
        const [slice] = allOf(of).filter((one) => one.has(noncurrent));
        expect(slice!.has(currentVersionKey('b1', key))).toBe(true);
      }),
    );
  });

  it('take turns, one a day', () => {
    fc.assert(
      fc.property(numberOfSlices, fc.nat(40_000 * day), (of, start) => {
        const indices = allOf(of).map((_, at) => Slice.ofDay(start + at * day, of).index);
        expect(indices.toSorted((a, b) => a - b)).toEqual(allOf(of).map(({ index }) => index));
      }),
    );
  });

  it.each([
    [0, 1],
    [2, 1],
    [1.5, 2],
    [Number.NaN, 2],
    [1, Number.POSITIVE_INFINITY],
  ])('are none others: %s of %s', (index, of) => {
    expect(() => new Slice(index, of)).toThrow(RangeError);
  });

  it('find together what a whole scrub finds, and ask the blob store for each blob once', async () => {
    const damage = fc.constantFrom('none', 'missing blob', 'cut blob', 'missing details', 'orphan blob', 'miscount');
    const objects = fc.uniqueArray(fc.tuple(fc.string({ minLength: 1, maxLength: 8 }), damage), {
      selector: ([key]) => key,
      minLength: 1,
      maxLength: 12,
    });
    const found = new Set<string>();
    await fc.assert(
      fc.asyncProperty(objects, fc.boolean(), fc.integer({ min: 1, max: 9 }), async (kinds, versioned, of) => {
        const world = await worldWith(kinds, versioned);
        const whole = await world.scrub();
        const asked = countDescribes(world);
        await world.scrub();
        const askedByWhole = asked();
        for (const { kind } of whole.findings) found.add(kind);
        const sliced = await world.scrubInSlices(of);
        expect(asked()).toEqual(askedByWhole);
        expect(Object.keys(askedByWhole).length).toBeGreaterThan(0);
        expect(sorted(sliced.findings)).toEqual(sorted(whole.findings));
        expect([sliced.items, sliced.blobs]).toEqual([whole.report.items, whole.report.blobs]);
      }),
      { numRuns: runs(60) },
    );
    expect([...found]).toEqual(
      expect.arrayContaining(['missing-blob', 'cut-blob', 'missing-details', 'orphan-blob', 'broken-history']),
    );
  });
});

async function worldWith(objects: readonly (readonly [key: string, damage: string])[], versioned: boolean) {
  const world = new ScrubWorld();
  const bucket = await world.bucket('bucket');
  if (versioned) await world.buckets.setVersioning(asService(bucket), 'on');
  for (const [key, damage] of objects) {
    if (versioned) await world.put(bucket, key, 'older');
    await world.put(bucket, key, `text of ${key}`);
    const place = currentVersionKey(bucket.id, key);
    const { content } = (await world.objects.find(await world.buckets.load('bucket'), key)) as never as {
      content: { ref: string };
    };
    if (damage === 'missing blob') world.kept.kept.delete(content.ref);
    if (damage === 'cut blob') await world.force(place, (item) => ({ ...item, s: 1 }));
    if (damage === 'missing details') await world.force(place, (item) => ({ ...item, d: 'd0' }));
    if (damage === 'orphan blob') await world.blob(bucket, key, 'never committed');
    if (damage === 'miscount') await world.force(place, (item) => ({ ...item, n: 7 }));
  }
  await world.drain();
  return world;
}

/**
 * Counts the reads of descriptions in the blob store, by blob, from now on.
 * @returns a function that returns the counts since its previous call
 */
function countDescribes(world: ScrubWorld): () => Readonly<Record<string, number>> {
  let counts: Record<string, number> = {};
  const describeBlob = world.blobs.describe.bind(world.blobs);
  world.blobs.describe = (ref) => {
    counts[ref] = (counts[ref] ?? 0) + 1;
    return describeBlob(ref);
  };
  return () => {
    const taken = counts;
    counts = {};
    return taken;
  };
}

function sorted(findings: readonly Finding[]): string[] {
  return findings.map((finding) => JSON.stringify(finding)).toSorted();
}
