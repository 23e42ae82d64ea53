import { SharedReads } from '../../../shared/storage/shared-reads.ts';
import type { Clock } from '../../../shared/ports/clock.ts';
import type { ChangeFeed } from '../../../shared/ports/key-value-table.ts';
import type { Telemetry } from '../../../shared/ports/telemetry.ts';
import type { Follower } from '../../../functions/compose/follow-changes.ts';

const batchSize = 500;
/** Milliseconds in which changes are gathered into one batch: following them syncs the disk, and the next write waits for that. */
const gatherTime = 100;
const retryTime = 1000;

/**
 * Hands the embedded change feed to its followers in batches. A batch is trimmed after every follower has processed it, so after a
 * crash at most one is repeated.
 */
export class FeedRunner {
  readonly #feed: ChangeFeed;
  readonly #followers: readonly Follower[];
  readonly #clock: Clock;
  readonly #telemetry: Pick<Telemetry, 'problem'>;
  readonly #unsubscribe: () => void;
  /** Shares runs between drains. A drain waits for a run that begins after its call, so that it misses no change. */
  readonly #runs = new SharedReads<'feed', void>(() => this.#run());
  /** Ends the wait for the next run; undefined if nothing waits. */
  #waiting: AbortController | undefined;
  #isAbandoned = false;

  constructor(
    feed: ChangeFeed,
    followers: readonly Follower[],
    { clock, telemetry }: { readonly clock: Clock; readonly telemetry: Pick<Telemetry, 'problem'> },
  ) {
    this.#feed = feed;
    this.#followers = followers;
    this.#clock = clock;
    this.#telemetry = telemetry;
    this.#unsubscribe = feed.subscribe(() => this.#soon(gatherTime));
    this.#soon(0);
  }

  /** Resolves once everything in the feed at the time of the call has been followed. */
  drain(): Promise<void> {
    return this.#runs.get('feed');
  }

  /** Follows the remaining changes and stops. */
  async stop(): Promise<void> {
    this.#unsubscribe();
    this.#waiting?.abort();
    await this.drain();
    this.#waiting?.abort();
  }

  /** Stops without following the remaining changes. */
  abandon(): void {
    this.#isAbandoned = true;
    this.#unsubscribe();
    this.#waiting?.abort();
  }

  #soon(delay: number): void {
    if (this.#waiting === undefined && !this.#isAbandoned) void this.#after(delay);
  }

  async #after(delay: number): Promise<void> {
    const waiting = (this.#waiting = new AbortController());
    await this.#clock.sleep(delay, waiting.signal);
    this.#waiting = undefined;
    if (waiting.signal.aborted) return;
    try {
      await this.drain();
    } catch (error) {
      this.#telemetry.problem('following the change feed failed; trying again', error);
      this.#soon(retryTime);
    }
  }

  async #run(): Promise<void> {
    const end = this.#feed.newest();
    if (end === undefined) return;
    for (;;) {
      const records = await this.#feed.read(undefined, batchSize);
      const last = records.at(-1);
      if (last === undefined) return;
      for (const follow of this.#followers) await follow(records);
      await this.#feed.trim(last.position);
      if (BigInt(last.position) >= BigInt(end)) return;
    }
  }
}
