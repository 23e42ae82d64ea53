import { afterAll, expect, it } from 'vitest';
import { fillPrefixes, listFolded } from '../../../bench/folded-bucket.ts';
import { fastFolder } from '../../../support/disks/fast-folder.ts';
import { openTemporaryData } from '../../../support/disks/temporary-data.ts';

/** Under each prefix: a million keys altogether where there is time. */
const many = process.env['TEST_LONG'] ? 100_000 : 1500;
const few = 300;
const patience = process.env['TEST_LONG'] ? 30 * 60_000 : 3 * 60_000;

const { deps, createBucket, remove } = await openTemporaryData(await fastFolder());
afterAll(remove);

async function taken(name: string, prefixes: number, keys: number) {
  const bucket = await createBucket(name);
  await fillPrefixes(deps.objects, bucket, prefixes, keys);
  const found = await listFolded(deps, bucket);
  expect(found.prefixes).toHaveLength(prefixes);
  return { pages: found.pages, items: found.items };
}

it(
  'a listing by prefixes reads as much as there are prefixes, however many keys they hold',
  { timeout: patience },
  async () => {
    const ofMany = await taken('many', 10, many);
    expect(await taken('few', 10, few)).toEqual(ofMany);
    // A page for each prefix and one to begin with; all but the first are small.
    expect(ofMany.pages).toBeLessThanOrEqual(10 + 1);
    expect(ofMany.items).toBeLessThanOrEqual(256 + 10 * 64);
    const ofFewer = await taken('fewer', 5, few);
    expect(ofMany.pages - ofFewer.pages).toBe(5);
  },
);
