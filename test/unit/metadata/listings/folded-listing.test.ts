import { byOperator } from '../../../../shared/metadata/objects/service-authorisation.ts';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, it } from 'vitest';
import { lifecycleDeps } from '../../../../functions/runtime/compose/lifecycle.ts';
import { openData } from '../../../../functions/runtime/local/data-directory.ts';
import { CryptoRandomness } from '../../../../shared/adapters/system/crypto-randomness.ts';
import { SystemClock } from '../../../../shared/adapters/system/system-clock.ts';
import { fillPrefixes, listFolded } from '../../../bench/folded-bucket.ts';

/** Under each prefix: a million keys altogether where there is time. */
const many = process.env['STILLAGE_LONG'] ? 100_000 : 1500;
const few = 300;
const patience = process.env['STILLAGE_LONG'] ? 30 * 60_000 : 3 * 60_000;

const folder = await mkdtemp(join(tmpdir(), 'stillage-test-'));
const opened = await openData(folder);
const deps = { ...lifecycleDeps({ ...opened, clock: new SystemClock(), randomness: new CryptoRandomness() }) };

afterAll(async () => {
  await Promise.all([opened.table.close(), opened.blobs.close()]);
  await rm(folder, { recursive: true });
});

async function taken(name: string, prefixes: number, keys: number) {
  await deps.buckets.create(byOperator, name, 'project', 1000);
  const bucket = await deps.buckets.load(name);
  await fillPrefixes(deps.objects, bucket, prefixes, keys);
  const found = await listFolded({ ...deps, table: opened.table }, bucket);
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
