import type { ItemKey, KeyValueTable } from '../../ports/key-value-table.ts';
import type { Randomness } from '../../ports/randomness.ts';
import type { LoggedRequests } from '../../ports/request-log.ts';
import { billingKey } from '../table/billing-keys.ts';
import { writeToken } from '../table/ids.ts';
import { itemKey } from '../table/keys.ts';
import { noRequests, requestClasses, sumOf, type RequestClass, type RequestTally } from './request-meter.ts';

/**
 * Requests of whole hours, as a log tells them. An hour is put whole and not added to, so that it may be counted as often as one
 * likes; who has read further in the log knows better.
 */
export class RequestHours {
  readonly #table: KeyValueTable;
  readonly #randomness: Randomness;

  constructor(deps: { table: KeyValueTable; randomness: Randomness }) {
    this.#table = deps.table;
    this.#randomness = deps.randomness;
  }

  /**
   * Writes down what an hour cost everybody.
   * @param hour when it begins
   * @param readUntil up to when the log was read
   * @returns for how many projects
   * @throws Error if it cannot be told whether that was written
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

  /** The first hour that is not settled; undefined if none ever was. */
  async settledUntil(): Promise<number | undefined> {
    const row = await this.#table.get(settled);
    return row && (row['until'] as number);
  }

  /** Says that the hours before this one are counted for good. */
  async settle(until: number): Promise<void> {
    const older = { is: 'less', attribute: 'until', value: until } as const;
    // A conflict: somebody is further on.
    await this.#table.write([
      {
        key: settled,
        put: { until, r: writeToken(this.#randomness) },
        expect: { is: 'any', of: [{ is: 'absent' }, older] },
      },
    ]);
  }

  async #write(key: ItemKey, tally: RequestTally, readUntil: number): Promise<void> {
    const older = { is: 'less', attribute: 'readUntil', value: readUntil } as const;
    const put = { ...tally, readUntil, r: writeToken(this.#randomness) };
    const { outcome } = await this.#table.write([{ key, put, expect: { is: 'any', of: [{ is: 'absent' }, older] } }]);
    if (outcome === 'unknown') throw new Error('whether an hour of requests was written cannot be told');
  }
}

const settled = itemKey.deployment('billed-requests');

function checkedClass(kind: string): RequestClass {
  const found = requestClasses.find((one) => one === kind);
  if (found === undefined) throw new Error(`the log knows a class of requests ${JSON.stringify(kind)}`);
  return found;
}
