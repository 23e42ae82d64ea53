import type { Clock } from '../../ports/clock.ts';
import { second } from '../../ports/durations.ts';
import type { Attributes, Change, Expectation, ItemKey, KeyValueTable, Stored } from '../../ports/key-value-table.ts';
import type { Randomness } from '../../ports/randomness.ts';

import { timedId, writeToken } from '../table/ids.ts';
import { itemKey, partition } from '../table/keys.ts';
import { conflict, jitter, optimistically } from '../table/optimistic-write.ts';
import { addTallies, nothingDone, type LifecycleTally } from './lifecycle-key.ts';

/** One application of all rules to all buckets that have any. Times are milliseconds since the epoch. */
export interface LifecyclePass {
  readonly id: string;
  readonly startedAt: number;
  /** The last bucket that was cut into slices: buckets are taken in the order of their names. */
  readonly planned: string;
  readonly planComplete: boolean;
  readonly finishedAt: number | undefined;
  /** What its finished slices did. */
  readonly tally: LifecycleTally;
  readonly token: string;
}

/** A stretch of a bucket's keys, or of its open uploads, and how far it was worked through. */
export interface LifecycleSlice {
  readonly id: string;
  readonly bucket: string;
  readonly bucketId: string;
  readonly kind: 'keys' | 'uploads';
  readonly prefix: string;
  /** The first key that lies in it. Undefined: the first of the prefix. */
  readonly from: string | undefined;
  /** The first key that lies in it no more. Undefined: it goes on to the end of the prefix. */
  readonly until: string | undefined;
  /** The cursor: behind this key, or this place in the list of uploads, nothing was looked at yet. Undefined: nothing at all was. */
  readonly after: string | undefined;
  readonly tally: LifecycleTally;
  readonly token: string;
}

/** A slice before it has a place in the table. */
export type NewSlice = Pick<LifecycleSlice, 'bucket' | 'bucketId' | 'kind' | 'prefix'>;

/**
 * For so long a worker has a slice for itself after each sign of life. Should two work on one, they do twice what hurts nobody done twice:
 * so it is short, and what a dead worker leaves is soon taken up.
 */
const leaseTime = 10 * second;
const slicesPerWrite = 50;
const slicesPerLook = 100;

/** Another worker has taken a slice over, or it is done. */
export class SliceLost extends Error {}

/**
 * How far passes have come, in the table: so a pass survives the death of all who work on it, and those who come take up what is left.
 * A bucket is cut into slices; a worker leases one, moves its cursor page by page, and may cut off what is behind for others.
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

  /** The pass that was begun last, whether it is over or not. */
  async latest(): Promise<LifecyclePass | undefined> {
    const item = await this.#table.get(itemKey.lifecyclePass);
    return item && decodePass(item);
  }

  /** The pass that is not over yet, or a new one. */
  async begin(): Promise<LifecyclePass> {
    return optimistically(
      async (attempt) => {
        const latest = await this.latest();
        if (latest && latest.finishedAt === undefined) return latest;
        const pass: LifecyclePass = {
          id: timedId(this.#clock.now(), this.#randomness),
          startedAt: this.#clock.now(),
          planned: '',
          planComplete: false,
          finishedAt: undefined,
          tally: nothingDone,
          token: this.#token(),
        };
        const expect = latest ? tokenIs(latest) : absent;
        const { outcome } = await this.#table.write([{ key: itemKey.lifecyclePass, put: encodePass(pass), expect }]);
        if (outcome === 'written') return pass;
        await this.#pause(attempt);
        return conflict;
      },
      () => {
        throw new Error('the lifecycle pass could not be begun');
      },
    );
  }

  /**
   * Adds the slices of the bucket that comes next. Done by two, or done again after a death in the middle, it adds none twice that are still
   * there.
   */
  async plan(pass: LifecyclePass, bucket: string, slices: readonly NewSlice[]): Promise<LifecyclePass> {
    for (let at = 0; at < slices.length; at += slicesPerWrite) {
      const some = slices.slice(at, at + slicesPerWrite).map((slice, index) => ({
        ...slice,
        id: `${pass.id}/${slice.bucketId}/${at + index}`,
        ...whole,
        tally: nothingDone,
        token: this.#token(),
      }));
      const changes = some.map((slice) => ({ ...putSlice(slice, 0), expect: absent }));
      const { outcome } = await this.#table.write(changes);
      if (outcome === 'unknown') throw new Error('slices of a lifecycle pass could not be written');
    }
    return this.#changePass(pass, (present) =>
      present.planned < bucket ? { ...present, planned: bucket } : undefined,
    );
  }

  /** Notes that every bucket was cut into slices. */
  async planned(pass: LifecyclePass): Promise<LifecyclePass> {
    return this.#changePass(pass, (present) => (present.planComplete ? undefined : { ...present, planComplete: true }));
  }

  /** Notes that a pass is over: everything was planned, and no slice is left. */
  async finish(pass: LifecyclePass): Promise<LifecyclePass> {
    const finishedAt = this.#clock.now();
    return this.#changePass(pass, (present) =>
      present.finishedAt === undefined ? { ...present, finishedAt } : undefined,
    );
  }

  /** A slice that nobody works on, to be worked on by the caller. `busy`: there are slices, but others have them. */
  async lease(): Promise<LifecycleSlice | 'busy' | undefined> {
    const { items } = await this.#table.query(partition.lifecycleSlices, { limit: slicesPerLook });
    for (const { key, attributes } of items) {
      if ((attributes['leased'] as number) > this.#clock.now()) continue;
      const slice = decodeSlice(key.sk, attributes);
      const leased = { ...slice, token: this.#token() };
      if (await this.#write([this.#leased(leased, slice)])) return leased;
    }
    return items.length === 0 ? undefined : 'busy';
  }

  /** How many slices are left, up to a hundred. */
  async left(): Promise<number> {
    return (await this.#table.query(partition.lifecycleSlices, { limit: slicesPerLook })).items.length;
  }

  /** Moves the cursor, and notes what was done on the way. @throws SliceLost */
  async advance(slice: LifecycleSlice, after: string, done: LifecycleTally): Promise<LifecycleSlice> {
    const moved = { ...slice, after, tally: addTallies(slice.tally, done), token: this.#token() };
    if (await this.#write([this.#leased(moved, slice)])) return moved;
    throw new SliceLost();
  }

  /** Cuts a slice in two: the caller keeps what is before `middle`. @throws SliceLost */
  async split(slice: LifecycleSlice, middle: string): Promise<LifecycleSlice> {
    const kept = { ...slice, until: middle, token: this.#token() };
    const rest: LifecycleSlice = {
      ...slice,
      ...whole,
      id: `${slice.id}.${timedId(this.#clock.now(), this.#randomness)}`,
      from: middle,
      until: slice.until,
      tally: nothingDone,
      token: this.#token(),
    };
    if (await this.#write([this.#leased(kept, slice), putSlice(rest, 0)])) return kept;
    throw new SliceLost();
  }

  /** Gives a slice back, for the worker that leases it next. */
  async release(slice: LifecycleSlice): Promise<void> {
    await this.#write([{ ...putSlice({ ...slice, token: this.#token() }, 0), expect: tokenIs(slice) }]);
  }

  /** Drops a slice that is done, and adds what it did to the pass. @throws SliceLost */
  async complete(slice: LifecycleSlice): Promise<void> {
    const gone: Change = { key: itemKey.lifecycleSlice(slice.id), delete: true, expect: tokenIs(slice) };
    return optimistically(
      async (attempt) => {
        const pass = await this.latest();
        const counted = pass && slice.id.startsWith(`${pass.id}/`) && counting(pass, slice, this.#token());
        if (await this.#write(counted ? [gone, counted] : [gone])) return;
        const present = await this.#table.get(gone.key);
        if (present?.['r'] !== slice.token) throw new SliceLost();
        await this.#pause(attempt);
        return conflict;
      },
      () => {
        throw new Error('a slice of a lifecycle pass could not be dropped');
      },
    );
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
          { key: itemKey.lifecyclePass, put: encodePass(next), expect: tokenIs(present) },
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
    return { ...putSlice(slice, this.#clock.now() + leaseTime), expect: tokenIs(seen) };
  }

  /** Whether it was written. @throws Error if nobody can tell: the worker ends, and its slice is taken up again from where it was */
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

const whole = { from: undefined, until: undefined, after: undefined } as const;

const absent: Expectation = { is: 'absent' };

function tokenIs({ token }: { readonly token: string }): Expectation {
  return { is: 'equal', attribute: 'r', value: token };
}

function counting(pass: LifecyclePass, { tally }: LifecycleSlice, token: string): Change {
  return {
    key: itemKey.lifecyclePass,
    put: encodePass({ ...pass, tally: addTallies(pass.tally, tally), token }),
    expect: tokenIs(pass),
  };
}

function encodePass(pass: LifecyclePass): Attributes {
  return {
    id: pass.id,
    started: pass.startedAt,
    planned: pass.planned,
    ...(pass.planComplete && { complete: 1 }),
    ...(pass.finishedAt !== undefined && { finished: pass.finishedAt }),
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
    tally: item['tally'] as Stored<LifecycleTally>,
    token: item['r'] as string,
  };
}

/** @param leased until when it is somebody's */
function putSlice(slice: LifecycleSlice, leased: number): { readonly key: ItemKey; readonly put: Attributes } {
  const { id, bucket, bucketId, kind, prefix, from, until, after, tally, token } = slice;
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
    tally: item['tally'] as Stored<LifecycleTally>,
    token: item['r'] as string,
  };
}
