import type { Clock } from '../ports/clock.ts';
import { day, second } from '../ports/durations.ts';
import type { Attributes, Change, Expectation, ItemKey, KeyValueTable, Stored } from '../ports/key-value-table.ts';
import type { Randomness } from '../ports/randomness.ts';

import { timedId, writeToken } from '../storage/table/keys/ids.ts';
import { itemKey, partition } from '../storage/table/keys/keys.ts';
import { conflict, jitter, optimistically, tokenIs } from '../storage/table/optimistic-write.ts';
import { boundsOf, dueRanges, putBound, rangeId, removeBounds } from './due-bounds.ts';
import { addTallies, nothingDone, type LifecycleTally } from './lifecycle-key.ts';
import type { EnabledRule } from './lifecycle-rules.ts';
import { visibilityLag, type KeyRange } from './next-due.ts';
import { applyRechecks } from './rechecks.ts';

/** One application of all rules to all buckets that have any. Times are milliseconds since the epoch. */
export interface LifecyclePass {
  readonly id: string;
  readonly startedAt: number;
  /** The last bucket that was split into slices: buckets are processed in order of name. */
  readonly planned: string;
  readonly planComplete: boolean;
  readonly finishedAt: number | undefined;
  /**
   * The time since which only versions of Stillage with bounds have worked on passes. Undefined if an earlier version took part in
   * this one: it writes no rechecks either, so earlier bounds are invalid.
   */
  readonly boundsSince: number | undefined;
  /** The actions of its completed slices. */
  readonly tally: LifecycleTally;
  readonly token: string;
}

/** A range of a bucket's keys, or of its open uploads, and the progress in it. */
export interface LifecycleSlice extends KeyRange {
  readonly id: string;
  readonly bucket: string;
  readonly bucketId: string;
  /** The known bound of the part before the cursor; undefined: nothing is known. */
  readonly bound: SliceBound | undefined;
  /** The cursor: the last key, or position in the list of uploads, that was processed; undefined: none. */
  readonly after: string | undefined;
  readonly tally: LifecycleTally;
  readonly token: string;
}

/** The time before which nothing is due in a slice, as far as it was checked. */
export interface SliceBound {
  /** Milliseconds since the epoch. */
  readonly nothingDueBefore: number;
  /** The revision of the bucket that was checked: see `boundsRevision`. */
  readonly revision: string;
}

/** A bucket to which lifecycle rules are applied. */
export interface BucketToPlan {
  readonly name: string;
  readonly id: string;
  /** Ranges without ends. */
  readonly whole: readonly Pick<KeyRange, 'kind' | 'prefix'>[];
  readonly rules: readonly EnabledRule[];
  /** The means to skip ranges in which nothing is due; undefined: nothing is skipped. */
  readonly leaveOut:
    | {
        /** The bucket's revision: see `boundsRevision`. */
        readonly revision: string;
        /** The number of keys up to which a range next to a checked one is checked as well. */
        readonly fewKeys: number;
      }
    | undefined;
}

/**
 * The time a worker owns a slice after each sign of life. If two workers process the same slice, they only repeat
 * harmless actions: so the lease is short, and the work of a dead worker is soon taken over.
 */
const leaseTime = 10 * second;
const slicesPerWrite = 50;
const slicesPerQuery = 100;

/** Thrown when another worker has taken over a slice, or the slice is complete. */
export class SliceLost extends Error {}

/**
 * The progress of passes, stored in the table, so that a pass survives the death of all its workers and others resume
 * it. A bucket is split into slices; a worker leases one, moves its cursor page by page, and may split off the end for
 * others.
 */
export class LifecyclePasses {
  readonly #table: KeyValueTable;
  readonly #clock: Clock;
  readonly #randomness: Randomness;

  constructor(deps: { table: KeyValueTable; clock: Clock; randomness: Randomness }) {
    this.#table = deps.table;
    this.#clock = deps.clock;
    this.#randomness = deps.randomness;
  }

  /** Returns the latest pass, finished or not. */
  async latest(): Promise<LifecyclePass | undefined> {
    const item = await this.#table.get(itemKey.lifecyclePass);
    return item && decodePass(item);
  }

  /** Returns the unfinished pass, or begins a new one. */
  async begin(): Promise<LifecyclePass> {
    return optimistically(
      async (attempt) => {
        const latest = await this.latest();
        if (latest && latest.finishedAt === undefined) return latest;
        const now = this.#clock.now();
        const pass: LifecyclePass = {
          id: timedId(now, this.#randomness),
          startedAt: now,
          planned: '',
          planComplete: false,
          finishedAt: undefined,
          boundsSince: Math.min(latest?.boundsSince ?? now, now),
          tally: nothingDone,
          token: this.#token(),
        };
        const expect = latest ? tokenIs(latest.token) : absent;
        const { outcome } = await this.#table.write([{ key: itemKey.lifecyclePass, put: encodePass(pass), expect }]);
        if (outcome === 'written') return pass;
        await this.#pause(attempt);
        return conflict;
      },
      () => {
        throw new Error('the lifecycle pass could not be started');
      },
    );
  }

  /**
   * Adds the slices of the next bucket, without the ranges in which nothing is due. If two callers do this, or one
   * repeats it after a crash, no slice that still exists is added twice: one that begins at the same key, and those
   * split off it, cover what an earlier caller found. What a later one finds besides is checked by the next pass, as its
   * bounds are gone.
   */
  async plan(pass: LifecyclePass, bucket: BucketToPlan): Promise<LifecyclePass> {
    const { name, id } = bucket;
    const ranges = await this.#rangesToCheck(pass, bucket);
    for (let at = 0; at < ranges.length; at += slicesPerWrite) {
      const changes = ranges.slice(at, at + slicesPerWrite).map((range): Change => {
        const slice = { ...range, ...unchecked, bucket: name, bucketId: id, token: this.#token() };
        return { ...putSlice({ ...slice, id: `${pass.id}/${id}/${rangeId(range)}` }, 0), expect: absent };
      });
      // One that exists must not keep the others from being written.
      if (!(await this.#write(changes))) for (const change of changes) await this.#write([change]);
    }
    return this.#changePass(pass, (present) => (present.planned < name ? { ...present, planned: name } : undefined));
  }

  async #rangesToCheck(
    pass: LifecyclePass,
    { id, whole, rules, leaveOut }: BucketToPlan,
  ): Promise<readonly KeyRange[]> {
    const now = this.#clock.now();
    await applyRechecks(this.#table, id, { rules, settled: Math.min(pass.startedAt, now) - visibilityLag });
    if (leaveOut === undefined) return whole.map((one) => ({ ...one, from: undefined, until: undefined }));
    const revision = revisionIn(pass, leaveOut.revision);
    const { ranges, obsolete } = dueRanges(whole, await boundsOf(this.#table, id), { ...leaveOut, now, revision });
    await removeBounds(this.#table, id, obsolete);
    return ranges;
  }

  /** Records that every bucket has been split into slices. */
  async planned(pass: LifecyclePass): Promise<LifecyclePass> {
    return this.#changePass(pass, (present) => (present.planComplete ? undefined : { ...present, planComplete: true }));
  }

  /** Records that a pass is finished: everything was planned, and no slice is left. */
  async finish(pass: LifecyclePass): Promise<LifecyclePass> {
    const finishedAt = this.#clock.now();
    return this.#changePass(pass, (present) =>
      present.finishedAt === undefined ? { ...present, finishedAt } : undefined,
    );
  }

  /**
   * Leases a free slice to the caller. Returns `busy` if other workers have all slices, undefined if there are none.
   */
  async lease(): Promise<LifecycleSlice | 'busy' | undefined> {
    const { items } = await this.#table.query(partition.lifecycleSlices, { limit: slicesPerQuery });
    for (const { key, attributes } of items) {
      if ((attributes['leased'] as number) > this.#clock.now()) continue;
      const slice = decodeSlice(key.sk, attributes);
      const leased = { ...slice, token: this.#token() };
      if (await this.#write([this.#leased(leased, slice)])) return leased;
    }
    return items.length === 0 ? undefined : 'busy';
  }

  /** Returns the number of slices left, up to a hundred. */
  async left(): Promise<number> {
    return (await this.#table.query(partition.lifecycleSlices, { limit: slicesPerQuery })).items.length;
  }

  /** Moves the cursor and adds to the slice's tally. @throws SliceLost */
  async advance(
    slice: LifecycleSlice,
    { after, done, bound }: { after: string; done: LifecycleTally; bound: SliceBound | undefined },
  ): Promise<LifecycleSlice> {
    const moved = { ...slice, after, bound, tally: addTallies(slice.tally, done), token: this.#token() };
    if (await this.#write([this.#leased(moved, slice)])) return moved;
    throw new SliceLost();
  }

  /** Splits a slice in two: the caller keeps the keys before `middle`. @throws SliceLost */
  async split(slice: LifecycleSlice, middle: string): Promise<LifecycleSlice> {
    const kept = { ...slice, until: middle, token: this.#token() };
    const rest: LifecycleSlice = {
      ...slice,
      ...unchecked,
      id: `${slice.id}.${timedId(this.#clock.now(), this.#randomness)}`,
      from: middle,
      until: slice.until,
      token: this.#token(),
    };
    if (await this.#write([this.#leased(kept, slice), putSlice(rest, 0)])) return kept;
    throw new SliceLost();
  }

  /** Releases a slice for another worker. */
  async release(slice: LifecycleSlice): Promise<void> {
    await this.#write([{ ...putSlice({ ...slice, token: this.#token() }, 0), expect: tokenIs(slice.token) }]);
  }

  /** Removes a finished slice, adds its tally to the pass and records its bound for the next. @throws SliceLost */
  async complete(slice: LifecycleSlice): Promise<void> {
    const gone: Change = { key: itemKey.lifecycleSlice(slice.id), delete: true, expect: tokenIs(slice.token) };
    return optimistically(
      async (attempt) => {
        const pass = await this.latest();
        const isItsOwn = pass !== undefined && slice.id.startsWith(`${pass.id}/`);
        const along = isItsOwn ? [counting(pass, slice, this.#token()), ...this.#lastingBound(pass, slice)] : [];
        if (await this.#write([gone, ...along])) return;
        const present = await this.#table.get(gone.key);
        if (present?.['r'] !== slice.token) throw new SliceLost();
        await this.#pause(attempt);
        return conflict;
      },
      () => {
        throw new Error('a slice of a lifecycle pass could not be completed');
      },
    );
  }

  /**
   * Returns the change that records the bound of a slice, if the next pass, tomorrow, could leave it out.
   * @param pass the slice's own. The write is conditional on it: the next one removes rechecks that an earlier check of
   *   the range does not include
   */
  #lastingBound(pass: LifecyclePass, slice: LifecycleSlice): readonly Change[] {
    const { bound, bucketId, kind, prefix, from, until, tally } = slice;
    const now = this.#clock.now();
    // During an upgrade, some writers still write no rechecks.
    const isUpgraded = pass.boundsSince !== undefined && pass.startedAt >= pass.boundsSince + day;
    if (!isUpgraded || bound === undefined || bound.nothingDueBefore <= now + day) return [];
    const lasting = { ...bound, revision: revisionIn(pass, bound.revision), kind, prefix, from, until };
    return [putBound(bucketId, { ...lasting, keys: tally.keys }, { now, randomness: this.#randomness })];
  }

  async #changePass(
    pass: LifecyclePass,
    change: (present: LifecyclePass) => LifecyclePass | undefined,
  ): Promise<LifecyclePass> {
    return optimistically(
      async (attempt) => {
        const present = await this.latest();
        if (present?.id !== pass.id) throw new SliceLost();
        const changed = change(present);
        if (changed === undefined) return present;
        const next = { ...changed, token: this.#token() };
        const { outcome } = await this.#table.write([
          { key: itemKey.lifecyclePass, put: encodePass(next), expect: tokenIs(present.token) },
        ]);
        if (outcome === 'written') return next;
        await this.#pause(attempt);
        return conflict;
      },
      () => {
        throw new Error('the lifecycle pass could not be changed');
      },
    );
  }

  #leased(slice: LifecycleSlice, seen: LifecycleSlice): Change {
    return { ...putSlice(slice, this.#clock.now() + leaseTime), expect: tokenIs(seen.token) };
  }

  /**
   * Returns whether the changes were written.
   * @throws Error if the outcome is unknown: the worker ends, and another resumes its slice
   */
  async #write(changes: readonly Change[]): Promise<boolean> {
    const { outcome } = await this.#table.write(changes);
    if (outcome === 'unknown') throw new Error('a slice of a lifecycle pass could not be written');
    return outcome === 'written';
  }

  #token(): string {
    return writeToken(this.#randomness);
  }

  async #pause(attempt: number): Promise<void> {
    await this.#clock.sleep(jitter(attempt, this.#randomness));
  }
}

const unchecked = { after: undefined, bound: undefined, tally: nothingDone } as const;

const absent: Expectation = { is: 'absent' };

/** Returns the revision of a bound: that of its bucket, and of the passes it may be used in. */
function revisionIn({ boundsSince }: LifecyclePass, revision: string): string {
  return `${boundsSince ?? ''} ${revision}`;
}

function counting(pass: LifecyclePass, { tally }: LifecycleSlice, token: string): Change {
  return {
    key: itemKey.lifecyclePass,
    put: encodePass({ ...pass, tally: addTallies(pass.tally, tally), token }),
    expect: tokenIs(pass.token),
  };
}

function encodePass(pass: LifecyclePass): Attributes {
  return {
    id: pass.id,
    started: pass.startedAt,
    planned: pass.planned,
    ...(pass.planComplete && { complete: 1 }),
    ...(pass.finishedAt !== undefined && { finished: pass.finishedAt }),
    ...(pass.boundsSince !== undefined && { bounds: pass.boundsSince }),
    tally: { ...pass.tally },
    r: pass.token,
  };
}

function decodePass(item: Attributes): LifecyclePass {
  return {
    id: item['id'] as string,
    startedAt: item['started'] as number,
    planned: item['planned'] as string,
    planComplete: item['complete'] === 1,
    finishedAt: item['finished'] as number | undefined,
    boundsSince: item['bounds'] as number | undefined,
    tally: item['tally'] as Stored<LifecycleTally>,
    token: item['r'] as string,
  };
}

/** @param leased when the lease expires, in milliseconds since the epoch */
function putSlice(slice: LifecycleSlice, leased: number): { readonly key: ItemKey; readonly put: Attributes } {
  const { id, bucket, bucketId, kind, prefix, from, until, after, bound, tally, token } = slice;
  return {
    key: itemKey.lifecycleSlice(id),
    put: {
      bucket,
      bucketId,
      kind,
      prefix,
      ...(from !== undefined && { from }),
      ...(until !== undefined && { until }),
      ...(after !== undefined && { after }),
      ...(bound && { bound: { ...bound } }),
      tally: { ...tally },
      leased,
      r: token,
    },
  };
}

function decodeSlice(id: string, item: Attributes): LifecycleSlice {
  return {
    id,
    bucket: item['bucket'] as string,
    bucketId: item['bucketId'] as string,
    kind: item['kind'] as LifecycleSlice['kind'],
    prefix: item['prefix'] as string,
    from: item['from'] as string | undefined,
    until: item['until'] as string | undefined,
    after: item['after'] as string | undefined,
    bound: item['bound'] as Stored<SliceBound> | undefined,
    tally: item['tally'] as Stored<LifecycleTally>,
    token: item['r'] as string,
  };
}
