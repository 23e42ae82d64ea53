import { afterAll, expect, it } from 'vitest';
import { listObjects } from '../../../../shared/storage/listings/object-listing.ts';
import { fillPrefixes } from '../../../bench/folded-bucket.ts';
import { openTemporaryData } from '../../../support/disks/temporary-data.ts';
import { countTurns } from '../../../support/runs/turns.ts';

const { deps, createBucket, remove } = await openTemporaryData();
afterAll(remove);

it('listings go on one after the other, by a third of a page in each turn of the event loop', async () => {
  const [listings, keys] = [32, 1000];
  const bucket = await createBucket('bucket');
  await fillPrefixes(deps.objects, bucket, 1, keys);

  /** Rows by turn. */
  const rows = new Map<number, number>();
  const request = { prefix: '', delimiter: '', position: undefined, limit: keys };
  const { result: found } = await countTurns((turnsUntilNow) => {
    const add = (): void => void rows.set(turnsUntilNow(), (rows.get(turnsUntilNow()) ?? 0) + 1);
    return Promise.all(Array.from({ length: listings }, () => listObjects(deps, bucket, request, 600_000, { add })));
  });

  expect(found.map(({ rowCount }) => rowCount)).toEqual(found.map(() => keys));
  // The longest wait of a small request, however many listings there are.
  expect(Math.max(...rows.values())).toBeLessThanOrEqual(keys / 3);
});
