import type { KeyValueTable } from '../ports/key-value-table.ts';
import { compareUtf8 } from '../ports/utf8-order.ts';
import { itemKey, partition } from '../storage/table/keys/keys.ts';
import { partitionPages } from '../storage/table/pages.ts';
import { decodeRecheck, type Recheck } from '../storage/table/rechecks.ts';
import { boundsOf, removeAll, removeBounds, type DueBound } from './due-bounds.ts';
import { realDays } from './lifecycle.ts';
import type { EnabledRule } from './lifecycle-rules.ts';
import { nextDueOfRecheck } from './next-due.ts';

const rechecksPerPage = 500;

/**
 * Removes the bounds that are invalid because something with an earlier date came to their ranges, then the rechecks that say so.
 * @param settled rechecks from before this time are removed: bounds that are recorded from now on take their versions into account. In
 *   milliseconds since the epoch
 */
export async function applyRechecks(
  table: KeyValueTable,
  bucketId: string,
  { rules, settled }: { readonly rules: readonly EnabledRule[]; readonly settled: number },
): Promise<void> {
  let bounds: readonly DueBound[] | undefined;
  const pk = partition.lifecycleRechecks(bucketId);
  for await (const items of partitionPages(table, pk, { limit: rechecksPerPage })) {
    const rechecks = items.map(({ key, attributes }) => decodeRecheck(key.sk, attributes));
    if (rechecks.length > 0) {
      bounds ??= await boundsOf(table, bucketId);
      const broken = brokenBounds(bounds, rechecks, rules);
      await removeBounds(table, bucketId, [...broken]);
      bounds = bounds.filter((bound) => !broken.has(bound));
      const past = rechecks.filter(({ at }) => at < settled);
      await removeAll(
        table,
        past.map(({ id }) => itemKey.lifecycleRecheck(bucketId, id)),
      );
    }
  }
}

/** Returns the bounds in whose ranges something is due earlier than they state. */
export function brokenBounds(
  bounds: readonly DueBound[],
  rechecks: readonly Recheck[],
  rules: readonly EnabledRule[],
): ReadonlySet<DueBound> {
  const sorted = rechecks
    .map((recheck) => ({ key: recheck.key, dueAt: nextDueOfRecheck(rules, recheck, realDays) }))
    .sort((a, b) => compareUtf8(a.key, b.key));
  return new Set(
    bounds.filter(({ prefix, from, until, nothingDueBefore }) => {
      for (let at = firstFrom(sorted, from ?? prefix); at < sorted.length; at += 1) {
        const { key, dueAt } = sorted[at]!;
        if (!key.startsWith(prefix) || (until !== undefined && compareUtf8(key, until) >= 0)) return false;
        if (dueAt < nothingDueBefore) return true;
      }
      return false;
    }),
  );
}

/** Returns the index of the first entry whose key is not before `key`: a binary search, as there may be many bounds. */
function firstFrom(sorted: readonly { readonly key: string }[], key: string): number {
  let [low, high] = [0, sorted.length];
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (compareUtf8(sorted[middle]!.key, key) < 0) low = middle + 1;
    else high = middle;
  }
  return low;
}
