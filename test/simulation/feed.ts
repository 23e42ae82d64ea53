import { followChanges, type Follower } from '../../functions/compose/follow-changes.ts';
import type { Clock } from '../../shared/ports/clock.ts';
import { hour } from '../../shared/ports/durations.ts';
import type { FeedRecord } from '../../shared/ports/key-value-table.ts';
import type { SimulatedProcess } from './scheduler.ts';
import type { World } from './table.ts';

/** The number of shards that take writes at the same time, and the time after which another shard replaces one. */
const lanes = 2;
const shardLifetime = 4 * hour;
/** The longest time until a record can be read, in milliseconds. */
const longestLag = 300;
const largestBatch = 20;

type Loses = (records: readonly FeedRecord[]) => readonly FeedRecord[];

/** The position of a lane's reader: kept by the event source mapping, not by the function. */
class Checkpoint {
  /** The number of records of the table that are passed, of this lane or another. */
  passed = 0;
}

/**
 * The stream of the simulated table, and readers as event source mappings are: records of an item come in order, within a shard and from
 * one to its successor; those of other shards are anywhere before or after; a batch comes again if its acknowledgement is lost, also while
 * the first function is still at work on it.
 *
 * https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/Streams.html,
 * https://docs.aws.amazon.com/lambda/latest/dg/with-ddb.html
 */
export class SimulatedStream {
  readonly #world: World;
  readonly #feed: readonly FeedRecord[];
  readonly #loses: Loses;
  readonly #checkpoints = new Map<string, Checkpoint>();
  /** The processes at work on a batch, also after its caller gave up: each once for every batch. */
  readonly #running = new Map<object, SimulatedProcess>();

  /** @param loses a planted fault: returns the records that are left of a batch */
  constructor(world: World, feed: readonly FeedRecord[], loses: Loses = (records) => records) {
    this.#world = world;
    this.#feed = feed;
    this.#loses = loses;
  }

  /** Reads a lane for a function until the function's process ends. */
  async read(
    name: string,
    lane: number,
    { process, clock }: { readonly process: SimulatedProcess; readonly clock: Clock },
    prefixes: readonly string[],
    followers: readonly Follower[],
  ): Promise<never> {
    const { random } = this.#world.scheduler;
    const checkpoint = this.#checkpointOf(name, lane);
    for (;;) {
      const { batch, passed } = this.#next(checkpoint, lane, prefixes);
      if (batch.length === 0) {
        checkpoint.passed = passed;
        await clock.sleep(20 + random.next() * 100);
        continue;
      }
      const { lost } = this.#world.adversity.now;
      const work = this.#follow(process, followers, this.#loses(batch));
      // The function's time is up, and another begins before it has ended.
      if (random.next() < lost) await clock.sleep(random.next() * 50);
      else {
        const failed = await work;
        if (failed !== undefined) await clock.sleep(100);
        else if (random.next() >= lost) checkpoint.passed = passed;
      }
    }
  }

  /** True if every reader has passed all records written until now. */
  get isDrained(): boolean {
    const isAtWork = [...this.#running.values()].some(({ isAlive }) => isAlive);
    return !isAtWork && [...this.#checkpoints.values()].every(({ passed }) => passed >= this.#feed.length);
  }

  async #follow(
    process: SimulatedProcess,
    followers: readonly Follower[],
    batch: readonly FeedRecord[],
  ): Promise<unknown> {
    const work = {};
    this.#running.set(work, process);
    try {
      return await followChanges(followers, batch);
    } finally {
      this.#running.delete(work);
    }
  }

  /** Returns the next records of a lane, all of one shard, and how many records of the table are passed with them. */
  #next(checkpoint: Checkpoint, lane: number, prefixes: readonly string[]) {
    const { scheduler } = this.#world;
    const until = scheduler.now - scheduler.random.next() * longestLag;
    const most = 1 + scheduler.random.below(largestBatch);
    const batch: FeedRecord[] = [];
    let { passed } = checkpoint;
    for (; passed < this.#feed.length && batch.length < most; passed += 1) {
      const record = this.#feed[passed]!;
      if (record.at > until) break;
      if (laneOf(record) !== lane || !prefixes.some((prefix) => record.key.pk.startsWith(prefix))) continue;
      const shardId = `shard-${lane}-${Math.floor(record.at / shardLifetime)}`;
      if (batch.length > 0 && batch[0]!.shardId !== shardId) break;
      // The times of DynamoDB are in seconds.
      batch.push({ ...record, shardId, at: Math.round(record.at / 1000) * 1000 });
    }
    return { batch, passed };
  }

  #checkpointOf(name: string, lane: number): Checkpoint {
    const id = `${name} ${lane}`;
    const checkpoint = this.#checkpoints.get(id) ?? new Checkpoint();
    this.#checkpoints.set(id, checkpoint);
    return checkpoint;
  }
}

/** The numbers of the lanes. */
export const everyLane = Array.from({ length: lanes }, (_, lane) => lane);

/** All records of an item are in one lane. */
function laneOf({ key: { pk } }: FeedRecord): number {
  let sum = 0;
  for (let at = 0; at < pk.length; at += 1) sum = (sum * 31 + pk.charCodeAt(at)) | 0;
  return Math.abs(sum) % lanes;
}
