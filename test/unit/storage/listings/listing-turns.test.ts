import { afterAll, expect, it } from 'vitest';
import { neverAborted } from '../../../../shared/ports/event-loop.ts';
import { listObjects } from '../../../../shared/storage/listings/object-listing.ts';
import { fillPrefixes } from '../../../bench/folded-bucket.ts';
import { openTemporaryData } from '../../../support/disks/temporary-data.ts';
import { countTurns } from '../../../support/runs/turns.ts';

const { deps, createBucket, remove } = await openTemporaryData();
afterAll(remove);

it('a listing ends at its next page once nobody wants it, and none begins', async () => {
  const bucket = await createBucket('abandoned');
  await fillPrefixes(deps.objects, bucket, 1, 1000);
  const request = { prefix: '', delimiter: '', position: undefined, limit: 1000 };
  const client = new AbortController();
  const { signal } = client;
  let rows = 0;
  const add = (): void => {
    rows += 1;
    if (rows === 10) client.abort(new Error('gone'));
  };
  await expect(listObjects({ ...deps, signal }, bucket, request, 600_000, { add })).rejects.toThrow('gone');
  expect(rows).toBeLessThanOrEqual(1000 / 3);
  const never = { add: () => expect.unreachable() };
  await expect(listObjects({ ...deps, signal }, bucket, request, 600_000, never)).rejects.toThrow('gone');
});

it('listings go on one after the other, by a third of a page in each turn of the event loop', async () => {
  const [listings, keys] = [32, 1000];
  const bucket = await createBucket('bucket');
  await fillPrefixes(deps.objects, bucket, 1, keys);

  /** Rows by turn. */
  const rows = new Map<number, number>();
  const request = { prefix: '', delimiter: '', position: undefined, limit: keys };
  const { result: found } = await countTurns((turnsUntilNow) => {
    const add = (): void => void rows.set(turnsUntilNow(), (rows.get(turnsUntilNow()) ?? 0) + 1);
    return Promise.all(
      Array.from({ length: listings }, () =>
        listObjects({ ...deps, signal: neverAborted }, bucket, request, 600_000, { add }),
      ),
    );
  });

  expect(found.map(({ rowCount }) => rowCount)).toEqual(found.map(() => keys));
  // The longest wait of a small request, however many listings there are.
  expect(Math.max(...rows.values())).toBeLessThanOrEqual(keys / 3);
});
