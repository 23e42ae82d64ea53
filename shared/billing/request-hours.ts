import type { ItemKey, KeyValueTable } from '../ports/key-value-table.ts';
import type { Randomness } from '../ports/randomness.ts';
import type { LoggedRequests } from '../ports/request-log.ts';
import { billingKey } from '../storage/table/keys/billing-keys.ts';
import { writeToken } from '../storage/table/keys/ids.ts';
import { itemKey } from '../storage/table/keys/keys.ts';
import { settled } from '../storage/table/settled.ts';
import { noRequests, requestClasses, sumOf, type RequestClass, type RequestTally } from './request-meter.ts';

/**
 * Request counts of whole hours, from a request log. An hour is replaced as a whole, never added to, so it may be
 * counted any number of times; the count that read further in the log wins.
 */
export class RequestHours {
  readonly #table: KeyValueTable;
  readonly #randomness: Randomness;

  constructor(deps: { table: KeyValueTable; randomness: Randomness }) {
    this.#table = deps.table;
    this.#randomness = deps.randomness;
  }

  /**
   * Stores the requests of an hour for every payer.
   * @param hour the start of the hour
   * @param readUntil the time up to which the log was read
   * @returns the number of projects
   * @throws Error if the outcome of a write is unknown
   */
  async put(hour: number, readUntil: number, requests: readonly LoggedRequests[]): Promise<number> {
    const tallies = new Map<string, RequestTally>();
    for (const { payer, class: kind, requests: count, bytesIn, bytesOut } of requests) {
      const one = { ...noRequests, [checkedClass(kind)]: count, bytesIn, bytesOut };
      tallies.set(payer, sumOf(tallies.get(payer) ?? noRequests, one));
    }
    for (const [payer, tally] of tallies) await this.#write(billingKey.requestsOfHour(payer, hour), tally, readUntil);
    return tallies.size;
  }

  /** Returns the start of the first hour not yet settled; undefined if none ever was. */
  async settledUntil(): Promise<number | undefined> {
    const row = await this.#table.get(settledHours);
    return row && (row['until'] as number);
  }

  /** Marks the hours before this one as settled. */
  async settle(until: number): Promise<void> {
    const older = { is: 'less', attribute: 'until', value: until } as const;
    // On a conflict another process has settled later hours already.
    await settled(
      this.#table.write([
        {
          key: settledHours,
          put: { until, r: writeToken(this.#randomness) },
          expect: { is: 'any', of: [{ is: 'absent' }, older] },
        },
      ]),
    );
  }

  async #write(key: ItemKey, tally: RequestTally, readUntil: number): Promise<void> {
    const older = { is: 'less', attribute: 'readUntil', value: readUntil } as const;
    const put = { ...tally, readUntil, r: writeToken(this.#randomness) };
    const { outcome } = await this.#table.write([{ key, put, expect: { is: 'any', of: [{ is: 'absent' }, older] } }]);
    if (outcome === 'unknown') throw new Error('the outcome of storing an hour of requests is unknown');
  }
}

const settledHours = itemKey.deployment('billed-requests');

function checkedClass(kind: string): RequestClass {
  const found = requestClasses.find((one) => one === kind);
  if (found === undefined) throw new Error(`the request log contains an unknown request class ${JSON.stringify(kind)}`);
  return found;
}
