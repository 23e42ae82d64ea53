import type { Clock } from '../../ports/clock.ts';
import type { Attributes, KeyValueTable } from '../../ports/key-value-table.ts';
import type { Randomness } from '../../ports/randomness.ts';
import { billingKey } from '../table/billing-keys.ts';
import { writeToken } from '../table/ids.ts';
import { conflict, optimistically } from '../table/optimistic-write.ts';
import { dayOf } from '../days.ts';

/** What requests cost: those that write or list, those that read, and those that are free. */
export const requestClasses = ['a', 'b', 'free'] as const;
export type RequestClass = (typeof requestClasses)[number];

/** Requests of some time. */
export interface RequestTally {
  readonly a: number;
  readonly b: number;
  readonly free: number;
  readonly bytesIn: number;
  readonly bytesOut: number;
}

export const noRequests: RequestTally = { a: 0, b: 0, free: 0, bytesIn: 0, bytesOut: 0 };

/** One request, for whoever pays. */
export interface MeteredRequest {
  readonly project: string;
  readonly class: RequestClass;
  readonly bytesIn: number;
  readonly bytesOut: number;
}

interface Pending {
  readonly project: string;
  readonly day: string;
  readonly tally: RequestTally;
}

/** Processes spread over so many items of a day, so that they seldom meet. */
const slots = 16;

/**
 * Counts requests in memory, per project and day, and adds them up in the table whenever it is told to. What was not written when the
 * process ends at once is lost: requests are never billed twice, but some may be billed not at all.
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
    const day = dayOf(this.#clock.now());
    this.#add({ project, day, tally: { ...noRequests, [kind]: 1, bytesIn, bytesOut } });
  }

  /** Writes what has been counted. What could not be written is kept for the next time. @throws what the table throws */
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
    const name = `${day} ${project}`;
    const before = this.#pending.get(name)?.tally ?? noRequests;
    this.#pending.set(name, { project, day, tally: sumOf(before, tally) });
  }

  /** @returns false if others were always faster */
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
            expect: row === undefined ? { is: 'absent' } : { is: 'equal', attribute: 'r', value: row['r'] as string },
          },
        ]);
        // Whether a lost answer was a yes cannot be told once others have written too: better not billed than billed twice.
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

/** Of an item of requests, or of none. */
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
