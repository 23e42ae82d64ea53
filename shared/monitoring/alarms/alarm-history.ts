import { day } from '../../ports/durations.ts';
import type { Change, KeyValueTable, QueryOptions } from '../../ports/key-value-table.ts';
import type { Randomness } from '../../ports/randomness.ts';
import { expiry } from '../../storage/table/attribute-values.ts';
import { sortableTime, timedId } from '../../storage/table/keys/ids.ts';
import { monitoringKey, monitoringKeyParts, monitoringPartition } from '../../storage/table/keys/monitoring-keys.ts';
import { settled } from '../../storage/table/settled.ts';

/** The types of history entries; entries of the same millisecond sort in this order. */
export const historyTypes = ['ConfigurationUpdate', 'StateUpdate', 'Action'] as const;

type HistoryType = (typeof historyTypes)[number];

export interface HistoryEntry {
  /** Milliseconds since the epoch. */
  readonly at: number;
  readonly type: HistoryType;
  readonly summary: string;
}

/** A page of a history, and where the next page begins. */
export interface HistoryPage {
  readonly entries: readonly HistoryEntry[];
  readonly next: string | undefined;
}

const historyKept = 30 * day;
const pageSize = 100;

/** The history of alarms, kept for 30 days. */
export class AlarmHistory {
  readonly #table: KeyValueTable;
  readonly #randomness: Randomness;

  constructor(deps: { table: KeyValueTable; randomness: Randomness }) {
    this.#table = deps.table;
    this.#randomness = deps.randomness;
  }

  /** Returns the change that records an event, to be written together with the event itself. */
  note(bucketId: string, alarmId: string, { at, type, summary }: HistoryEntry): Change {
    const rank = historyTypes.indexOf(type);
    const entry = `${sortableTime(at)}${rank}${timedId(at, this.#randomness).slice(-20)}`;
    return {
      key: monitoringKey.history(bucketId, alarmId, entry),
      put: { type, summary, ...expiry(at + historyKept) },
    };
  }

  /**
   * Lists the history of an alarm, newest first.
   * @param after the `next` of the previous page
   */
  async list(
    bucketId: string,
    alarmId: string,
    { after, limit, now }: { after: string | undefined; limit: number; now: number },
  ): Promise<HistoryPage> {
    const prefix = `${alarmId}/`;
    if (limit === 0) return { entries: [], next: undefined };
    const { items, more } = await this.#table.query(monitoringPartition.history(bucketId), {
      prefix,
      reverse: true,
      limit: limit + 1,
      from: prefix + sortableTime(now - historyKept),
      ...(after !== undefined && { after: prefix + after }),
    });
    const page = items.slice(0, limit);
    const last = page.at(-1);
    return {
      entries: page.map(({ key, attributes }) => ({
        at: monitoringKeyParts.history(key).at,
        type: attributes['type'] as HistoryType,
        summary: attributes['summary'] as string,
      })),
      next: (more || items.length > page.length) && last ? monitoringKeyParts.history(last.key).entry : undefined,
    };
  }

  /** Removes the history of one alarm. */
  async remove(bucketId: string, alarmId: string): Promise<void> {
    await this.#removeWhere(bucketId, { prefix: `${alarmId}/` }, () => true);
  }

  /** Removes entries older than 30 days that the engine has not removed itself. */
  async prune(bucketId: string, now: number): Promise<void> {
    await this.#removeWhere(bucketId, { mayBeStale: true }, (expires) => expires * 1000 <= now);
  }

  async #removeWhere(
    bucketId: string,
    options: Pick<QueryOptions, 'prefix' | 'mayBeStale'>,
    goes: (expires: number) => boolean,
  ): Promise<void> {
    let after: string | undefined;
    for (;;) {
      const { items, more } = await this.#table.query(monitoringPartition.history(bucketId), {
        ...options,
        limit: pageSize,
        ...(after !== undefined && { after }),
      });
      const changes = items
        .filter(({ attributes }) => goes(attributes['expires'] as number))
        .map(({ key }): Change => ({ key, delete: true }));
      if (changes.length > 0) await settled(this.#table.write(changes));
      after = items.at(-1)?.key.sk;
      if (!more || after === undefined) return;
    }
  }
}
