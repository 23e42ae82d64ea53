import type { Change, Item, KeyValueTable } from '../ports/key-value-table.ts';
import type { Randomness } from '../ports/randomness.ts';
import { numberOf } from '../storage/table/attribute-values.ts';
import { FoldedDays } from './folded-days.ts';
import { billed } from './storage-day.ts';
import { writeToken } from '../storage/table/keys/ids.ts';
import { itemKey } from '../storage/table/keys/keys.ts';
import { baseShard, encodeCounters, sumOfRows, usageRows } from '../storage/quotas/usage-rows.ts';
import { asRead } from '../storage/table/optimistic-write.ts';

/**
 * The maximum number of rows considered for one transaction, and of items in it:
 * https://docs.aws.amazon.com/amazondynamodb/latest/APIReference/API_TransactWriteItems.html
 */
const maxRows = 40;
const maxItems = 100;
/**
 * The maximum number of transactions per call. The rest waits for the next call: after an upgrade a year of rows may be
 * left.
 */
const maxFolds = 25;

/**
 * Merges the rows of closed shards, and their days of the bill, into the base row of their bucket. DynamoDB Streams
 * closes shards after some hours and never reuses their ids: without folding, each would leave a row for good.
 */
export class UsageFold {
  readonly #table: KeyValueTable;
  readonly #randomness: Randomness;
  readonly #shardLifetime: number;

  /**
   * @param deps.shardLifetime the time after a shard's last record, in milliseconds, after which the shard cannot
   * deliver that record again. Any later record is new and is counted in a new row
   */
  constructor(deps: { table: KeyValueTable; randomness: Randomness; shardLifetime: number }) {
    this.#table = deps.table;
    this.#randomness = deps.randomness;
    this.#shardLifetime = deps.shardLifetime;
  }

  /**
   * Folds the rows of a bucket that can be folded. A concurrent change of a row wins: the rows are then folded next
   * time.
   */
  async fold(bucketId: string, now: number): Promise<void> {
    for (let folds = 0; folds < maxFolds; folds += 1) {
      const changes = await this.#changes(bucketId, now);
      if (changes.length === 0 || (await this.#table.write(changes)).outcome !== 'written') return;
    }
  }

  async #changes(bucketId: string, now: number): Promise<readonly Change[]> {
    const rows = await usageRows(this.#table, bucketId);
    const base = rows.find(({ key }) => key.sk === baseShard);
    const old = rows
      .filter((row) => row !== base && numberOf(row.attributes['at']) + this.#shardLifetime < now)
      .sort((one, other) => numberOf(one.attributes['at']) - numberOf(other.attributes['at']));
    const project = base?.attributes['project'] ?? old[0]?.attributes['project'];
    // Without a project there is no bill: the bucket has been deleted, and its counters are about to be removed.
    const candidates = old.filter(({ attributes }) => attributes['project'] === project).slice(0, maxRows);
    if (candidates.length === 0 || typeof project !== 'string') return [];
    const shards = candidates.map(({ key }) => key.sk);
    const days = await FoldedDays.read(this.#table, { project, bucketId }, baseShard, shards);
    const folded: Item[] = [];
    for (const row of candidates) {
      // Besides the days of the bill there are the rows and the base.
      if (days.sizeWith(row.key.sk) + folded.length + 2 > maxItems) break;
      days.fold(row.key.sk);
      folded.push(row);
    }
    if (folded.length === 0) return [];
    const counted = sumOfRows([...(base ? [base] : []), ...folded]);
    days.settle(now, billed(counted));
    const put = {
      ...encodeCounters(counted),
      ...{ at: numberOf(folded.at(-1)!.attributes['at']), project },
      // A reader that sees one of these rows together with this base has seen half of this write.
      folded: new Set(folded.map(({ attributes }) => attributes['r'] as string)),
      r: writeToken(this.#randomness),
    };
    return [
      { key: itemKey.usage(bucketId, baseShard), put, expect: asRead(base?.attributes) },
      ...folded.map((row) => ({ key: row.key, delete: true as const, expect: asRead(row.attributes) })),
      ...days.changes(),
    ];
  }
}
