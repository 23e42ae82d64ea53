import { setTimeout as sleep } from 'node:timers/promises';
import type { Connections } from './connections.ts';

/** The milliseconds that a reader waits for transactions which may still commit positions before the one it wants to read to. */
const patience = 1000;

/**
 * How far the feed can be read. Positions are given out before they are committed, so that a record may appear below others which were read
 * already. A transaction has its number before it takes a position. Hence, once every transaction has ended that had a number when the
 * newest position was looked up, there is no more to come up to that position.
 * https://www.postgresql.org/docs/15/functions-info.html#FUNCTIONS-INFO-SNAPSHOT
 */
export class FeedHorizon {
  readonly #connections: Connections;
  #reached = 0n;

  constructor(connections: Connections) {
    this.#connections = connections;
  }

  /** Returns the position up to which no record can appear any more, soon after the newest if no transaction is left open. */
  async reach(): Promise<bigint> {
    // In this order, each with a snapshot of its own: a position that is given out between them belongs to a number before the second.
    const position = await this.#newest();
    const { next } = await this.#snapshot();
    const until = performance.now() + patience;
    for (let wait = 1; ; wait = Math.min(2 * wait, 50)) {
      const { oldest } = await this.#snapshot();
      if (oldest >= next) break;
      if (performance.now() > until) return this.#reached;
      await sleep(wait);
    }
    if (position > this.#reached) this.#reached = position;
    return this.#reached;
  }

  async #newest(): Promise<bigint> {
    const [row] = await this.#connections.read<{ at: string }>(
      `select case when is_called then last_value else 0 end as at from ${this.#connections.prefix}feed_position`,
    );
    return BigInt(row!.at);
  }

  /** Returns the number of the oldest transaction that runs, and that of the next one. */
  async #snapshot(): Promise<{ readonly oldest: bigint; readonly next: bigint }> {
    const [row] = await this.#connections.read<{ oldest: string; next: string }>(
      'select pg_snapshot_xmin(s)::text as oldest, pg_snapshot_xmax(s)::text as next from pg_current_snapshot() as s',
    );
    return { oldest: BigInt(row!.oldest), next: BigInt(row!.next) };
  }
}
