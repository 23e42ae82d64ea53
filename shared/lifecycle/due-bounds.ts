import { createHash } from 'node:crypto';
import type { Attributes, Change, ItemKey, KeyValueTable } from '../ports/key-value-table.ts';
import type { Randomness } from '../ports/randomness.ts';
import { compareUtf8 } from '../ports/utf8-order.ts';
import { numberOf } from '../storage/table/attribute-values.ts';
import { madeAt, timedId } from '../storage/table/keys/ids.ts';
import { itemKey, partition } from '../storage/table/keys/keys.ts';
import { partitionItems } from '../storage/table/pages.ts';
import { visibilityLag, type KeyRange } from './next-due.ts';

/** A range in which nothing is due for some time: what a completed slice leaves for the next passes. */
export interface DueBound extends KeyRange {
  readonly id: string;
  /** Milliseconds since the epoch. */
  readonly recordedAt: number;
  /** Milliseconds since the epoch. */
  readonly nothingDueBefore: number;
  /** The keys that were checked. */
  readonly keys: number;
  /** Valid as long as this is the revision of bucket and passes: see `boundsRevision`. */
  readonly revision: string;
}

/** The ranges of a bucket to check, and the bounds that are no longer valid. */
export interface DueRanges {
  readonly ranges: readonly KeyRange[];
  readonly obsolete: readonly DueBound[];
}

const deletesPerWrite = 50;

/**
 * Returns what remains to be checked of ranges once those are left out in which nothing is due. Removing a bound is
 * always safe: its range is then checked.
 * @param whole ranges without ends, of which none contains part of another of its kind
 * @param at.now the time of planning. A bound that was recorded later, by a clock that has been set back since, is invalid
 * @param at.revision the one that bounds must have
 * @param at.fewKeys the number of keys up to which a range is checked along with its neighbour, though nothing in it is
 *   due: so there are few bounds compared with keys, and those of emptied ranges go
 */
export function dueRanges(
  whole: readonly Pick<KeyRange, 'kind' | 'prefix'>[],
  bounds: readonly DueBound[],
  { now, revision, fewKeys }: { readonly now: number; readonly revision: string; readonly fewKeys: number },
): DueRanges {
  // The pass includes actions that become due while it runs.
  const valid = bounds.filter(
    (bound) => bound.revision === revision && bound.recordedAt <= now && bound.nothingDueBefore > now + visibilityLag,
  );
  const obsolete = new Set(bounds);
  const ranges = whole.flatMap(({ kind, prefix }) => {
    const here = valid
      .filter((bound) => bound.kind === kind && bound.prefix === prefix)
      .sort((a, b) => compareStarts(a.from, b.from) || compareEnds(a.until, b.until));
    const { gaps, kept } = gapsBetween({ kind, prefix }, here, fewKeys);
    for (const bound of kept) obsolete.delete(bound);
    return gaps;
  });
  return { ranges, obsolete: [...obsolete] };
}

/** @param bounds in order */
function gapsBetween(
  whole: Pick<KeyRange, 'kind' | 'prefix'>,
  bounds: readonly DueBound[],
  fewKeys: number,
): { gaps: readonly KeyRange[]; kept: readonly DueBound[] } {
  const gaps: KeyRange[] = [];
  const kept: DueBound[] = [];
  // The range not covered yet begins at `from`; `open` means that it is before the end of the prefix.
  let from: string | undefined;
  let open = true;
  let absorbed = 0;
  for (const bound of bounds) {
    if (!open || (kept.length > 0 && compareEnds(bound.until, kept.at(-1)!.until) <= 0)) continue;
    const hasGap = compareStarts(from, bound.from) < 0;
    if (hasGap && absorbed + bound.keys <= fewKeys) {
      absorbed += bound.keys;
      continue;
    }
    if (hasGap) gaps.push({ ...whole, from, until: bound.from });
    absorbed = 0;
    kept.push(bound);
    from = bound.until;
    open = bound.until !== undefined;
  }
  if (open) gaps.push({ ...whole, from, until: undefined });
  return { gaps, kept };
}

/** Compares starts of ranges: undefined is the first. */
function compareStarts(a: string | undefined, b: string | undefined): number {
  if (a === undefined || b === undefined) return Number(b === undefined) - Number(a === undefined);
  return compareUtf8(a, b);
}

/** Compares ends of ranges: undefined is the last. */
function compareEnds(a: string | undefined, b: string | undefined): number {
  if (a === undefined || b === undefined) return Number(a === undefined) - Number(b === undefined);
  return compareUtf8(a, b);
}

/** Returns an id for a range that is the same whenever the range begins at the same key. */
export function rangeId({ kind, prefix, from }: KeyRange): string {
  return createHash('sha256')
    .update(JSON.stringify([kind, prefix, from ?? null]))
    .digest('base64url')
    .slice(0, 22);
}

/** Returns the bounds of a bucket. */
export async function boundsOf(table: KeyValueTable, bucketId: string): Promise<readonly DueBound[]> {
  const bounds: DueBound[] = [];
  for await (const { key, attributes } of partitionItems(table, partition.lifecycleBounds(bucketId))) {
    bounds.push(decodeBound(key.sk, attributes));
  }
  return bounds;
}

/** Removes bounds of a bucket. */
export async function removeBounds(table: KeyValueTable, bucketId: string, bounds: readonly DueBound[]): Promise<void> {
  await removeAll(
    table,
    bounds.map(({ id }) => itemKey.lifecycleBound(bucketId, id)),
  );
}

/** Removes items. @throws Error if it is unknown whether all of them were removed */
export async function removeAll(table: KeyValueTable, keys: readonly ItemKey[]): Promise<void> {
  for (let at = 0; at < keys.length; at += deletesPerWrite) {
    const changes = keys.slice(at, at + deletesPerWrite).map((key): Change => ({ key, delete: true }));
    const { outcome } = await table.write(changes);
    if (outcome !== 'written') throw new Error('bounds of a lifecycle pass could not be removed');
  }
}

/** Returns the change that records a new bound. */
export function putBound(
  bucketId: string,
  { kind, prefix, from, until, nothingDueBefore, keys, revision }: Omit<DueBound, 'id' | 'recordedAt'>,
  { now, randomness }: { readonly now: number; readonly randomness: Randomness },
): Change {
  return {
    key: itemKey.lifecycleBound(bucketId, timedId(now, randomness)),
    put: {
      kind,
      prefix,
      ...(from !== undefined && { from }),
      ...(until !== undefined && { until }),
      before: nothingDueBefore,
      keys,
      revision,
    },
  };
}

function decodeBound(id: string, item: Attributes): DueBound {
  return {
    id,
    recordedAt: madeAt(id),
    kind: item['kind'] as DueBound['kind'],
    prefix: item['prefix'] as string,
    from: item['from'] as string | undefined,
    until: item['until'] as string | undefined,
    nothingDueBefore: numberOf(item['before']),
    keys: numberOf(item['keys']),
    revision: item['revision'] as string,
  };
}
