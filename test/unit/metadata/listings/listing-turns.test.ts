import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, it } from 'vitest';
import { lifecycleDeps } from '../../../../functions/runtime/compose/lifecycle.ts';
import { openData } from '../../../../functions/runtime/local/data-directory.ts';
import { CryptoRandomness } from '../../../../shared/adapters/system/crypto-randomness.ts';
import { SystemClock } from '../../../../shared/adapters/system/system-clock.ts';
import { listObjects } from '../../../../shared/metadata/listings/object-listing.ts';
import { byOperator } from '../../../../shared/metadata/objects/service-authorisation.ts';
import { fillPrefixes } from '../../../bench/folded-bucket.ts';

const folder = await mkdtemp(join(tmpdir(), 'stillage-test-'));
const opened = await openData(folder);
const deps = { ...lifecycleDeps({ ...opened, clock: new SystemClock(), randomness: new CryptoRandomness() }) };

afterAll(async () => {
  await Promise.all([opened.table.close(), opened.blobs.close()]);
  await rm(folder, { recursive: true });
});

it('listings go on one after the other, by a third of a page in each turn of the event loop', async () => {
  const [listings, keys] = [32, 1000];
  await deps.buckets.create(byOperator, 'bucket', 'project', 1000);
  const bucket = await deps.buckets.load('bucket');
  await fillPrefixes(deps.objects, bucket, 1, keys);

  let turn = 0;
  let isOver = false;
  const count = (): void => {
    turn += 1;
    if (!isOver) setImmediate(count);
  };
  setImmediate(count);
  /** Rows by turn. */
  const rows = new Map<number, number>();
  const add = (): void => void rows.set(turn, (rows.get(turn) ?? 0) + 1);
  const request = { prefix: '', delimiter: '', position: undefined, limit: keys };
  const pages = Array.from({ length: listings }, () => listObjects(deps, bucket, request, 600_000, { add }));
  const found = await Promise.all(pages);
  isOver = true;

  expect(found.map(({ rowCount }) => rowCount)).toEqual(found.map(() => keys));
  // What a small request waits for at most, however many listings there are.
  expect(Math.max(...rows.values())).toBeLessThanOrEqual(keys / 3);
});
