import { setTimeout as sleep } from 'node:timers/promises';
import type { Connections } from './connections.ts';

/** The milliseconds that a reader waits for transactions which may still commit positions before the one it wants to read to. */
const patience = 1000;

/**
 * How far the feed can be read. Positions are given out before they are committed, so that a record may appear below others which were read
 * already. A transaction has its number before it takes a position. Hence, once every transaction has ended that had a number when the
 * newest position was looked up, there is no more to come up to that position. After a crash of the server, numbers and positions whose records
 * were not yet on its disk are given out again, so that what was known before counts no more.
 * https://www.postgresql.org/docs/15/functions-info.html#FUNCTIONS-INFO-SNAPSHOT
 */
export class FeedHorizon {
  readonly #connections: Connections;
  #reached = 0n;
  /** That of the server when {@link #reached} was found out: schema.ts. */
  #incarnation: string | undefined;

  constructor(connections: Connections) {
    this.#connections = connections;
  }

  /** Returns the position up to which no record can appear any more, soon after the newest if no transaction is left open. */
  async reach(): Promise<bigint> {
    // In this order, each with a snapshot of its own: a position that is given out between them belongs to a number before the second.
    const { position, incarnation } = await this.#newest();
    if (incarnation !== this.#incarnation) this.#reached = 0n;
    this.#incarnation = incarnation;
    const { next } = await this.#snapshot();
    const until = performance.now() + patience;
    for (let wait = 1; ; wait = Math.min(2 * wait, 50)) {
      const now = await this.#snapshot();
      if (now.incarnation !== incarnation) return this.reach();
      if (now.oldest >= next) break;
      if (performance.now() > until) return this.#reached;
      await sleep(wait);
    }
    if (position > this.#reached) this.#reached = position;
    return this.#reached;
  }

  async #newest(): Promise<{ readonly position: bigint; readonly incarnation: string }> {
    const { prefix } = this.#connections;
    const text = `select case when is_called then last_value else 0 end as at, ${this.#incarnationText} from ${prefix}feed_position`;
    const [row] = await this.#connections.read<{ at: string; incarnation: string | null }>(text);
    const { at, incarnation } = row!;
    if (incarnation !== null) return { position: BigInt(at), incarnation };
    await this.#connections.read(`insert into ${prefix}incarnation default values on conflict do nothing`);
    return this.#newest();
  }

  /** Returns the number of the oldest transaction that runs, and that of the next one. */
  async #snapshot(): Promise<{ readonly oldest: bigint; readonly next: bigint; readonly incarnation: string | null }> {
    const text = `select pg_snapshot_xmin(s)::text as oldest, pg_snapshot_xmax(s)::text as next, ${this.#incarnationText}
      from pg_current_snapshot() as s`;
    const [row] = await this.#connections.read<{ oldest: string; next: string; incarnation: string | null }>(text);
    return { ...row!, oldest: BigInt(row!.oldest), next: BigInt(row!.next) };
  }

  get #incarnationText(): string {
    return `(select id from ${this.#connections.prefix}incarnation) as incarnation`;
  }
}
