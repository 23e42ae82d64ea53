import type { Clock } from '../ports/clock.ts';
import type { Attributes, KeyValueTable } from '../ports/key-value-table.ts';
import type { Randomness } from '../ports/randomness.ts';
import { billingKey } from '../storage/table/keys/billing-keys.ts';
import { writeToken } from '../storage/table/keys/ids.ts';
import { asRead, conflict, optimistically } from '../storage/table/optimistic-write.ts';
import { dayOf } from '../storage/table/keys/days.ts';

/** The price classes of requests: `a` writes and lists, `b` reads, `free` costs nothing. */
export const requestClasses = ['a', 'b', 'free'] as const;
export type RequestClass = (typeof requestClasses)[number];

/** The requests of a period. */
export interface RequestTally {
  readonly a: number;
  readonly b: number;
  readonly free: number;
  readonly bytesIn: number;
  readonly bytesOut: number;
}

export const noRequests: RequestTally = { a: 0, b: 0, free: 0, bytesIn: 0, bytesOut: 0 };

/** One request, with the project that pays for it. */
export interface MeteredRequest {
  readonly project: string;
  readonly class: RequestClass;
  readonly bytesIn: number;
  readonly bytesOut: number;
}

/** The requests of a period that has not ended. */
type RunningTally = { -readonly [Count in keyof RequestTally]: number };

interface Pending {
  readonly project: string;
  readonly day: string;
  readonly tally: RunningTally;
}

/** The number of items per project and day over which processes are spread, so that they seldom conflict. */
const slots = 16;

/**
 * Counts requests in memory, per project and day, and adds the counts to the table on {@link flush}. Counts not yet
 * written are lost if the process crashes: requests are never billed twice, but some may not be billed at all.
 */
export class RequestMeter {
  readonly #table: KeyValueTable;
  readonly #clock: Clock;
  readonly #randomness: Randomness;
  readonly #slot: number;
  #pending = new Map<string, Pending>();

  constructor(deps: { table: KeyValueTable; clock: Clock; randomness: Randomness }) {
    this.#table = deps.table;
    this.#clock = deps.clock;
    this.#randomness = deps.randomness;
    this.#slot = deps.randomness.bytes(1)[0]! % slots;
  }

  /** Counts a request that has just ended. */
  count({ project, class: kind, bytesIn, bytesOut }: MeteredRequest): void {
    const tally = this.#pendingOf(project, dayOf(this.#clock.now()));
    tally[kind] += 1;
    tally.bytesIn += bytesIn;
    tally.bytesOut += bytesOut;
  }

  /**
   * Writes the pending counts. Counts that could not be written are kept for the next call.
   * @throws the table's errors
   */
  async flush(): Promise<void> {
    const batch = [...this.#pending.values()];
    this.#pending = new Map();
    for (const [at, one] of batch.entries()) {
      try {
        if (!(await this.#write(one))) this.#add(one);
      } catch (error) {
        for (const rest of batch.slice(at)) this.#add(rest);
        throw error;
      }
    }
  }

  #add({ project, day, tally }: Pending): void {
    const pending = this.#pendingOf(project, day);
    Object.assign(pending, sumOf(pending, tally));
  }

  #pendingOf(project: string, day: string): RunningTally {
    const name = `${day} ${project}`;
    const known = this.#pending.get(name);
    if (known !== undefined) return known.tally;
    const tally = { ...noRequests };
    this.#pending.set(name, { project, day, tally });
    return tally;
  }

  /** @returns false if every attempt met a conflict */
  async #write({ project, day, tally }: Pending): Promise<boolean> {
    const key = billingKey.requests(project, day, this.#slot);
    return optimistically(
      async () => {
        const row = await this.#table.get(key);
        const r = writeToken(this.#randomness);
        const { outcome } = await this.#table.write([
          {
            key,
            put: { ...sumOf(decodeTally(row), tally), r },
            expect: asRead(row),
          },
        ]);
        // Once others have written too, the outcome of a write without an answer is unknown: better unbilled than
        // billed twice.
        if (outcome !== 'conflict') return true;
        return conflict;
      },
      () => false,
    );
  }
}

export function sumOf(one: RequestTally, other: RequestTally): RequestTally {
  return {
    a: one.a + other.a,
    b: one.b + other.b,
    free: one.free + other.free,
    bytesIn: one.bytesIn + other.bytesIn,
    bytesOut: one.bytesOut + other.bytesOut,
  };
}

/** Decodes an item of requests, or no item as no requests. */
export function decodeTally(item: Attributes | undefined): RequestTally {
  if (item === undefined) return noRequests;
  return {
    a: item['a'] as number,
    b: item['b'] as number,
    free: item['free'] as number,
    bytesIn: item['bytesIn'] as number,
    bytesOut: item['bytesOut'] as number,
  };
}
