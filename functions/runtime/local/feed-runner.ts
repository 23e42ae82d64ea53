import { SharedReads } from '../../../shared/metadata/shared-reads.ts';
import type { ChangeFeed } from '../../../shared/ports/key-value-table.ts';
import type { Telemetry } from '../../../shared/ports/telemetry.ts';
import type { Follower } from '../../feed/follow-changes.ts';

const batchSize = 500;
/** Changes that come close together are followed together: what follows them syncs the disk too, and whoever writes next waits for it. */
const gatherTime = 100;
const retryTime = 1000;

/**
 * Hands the embedded change feed to its followers, batch by batch. A batch is forgotten once every follower is done with it, so
 * after a crash at most one comes again.
 */
export class FeedRunner {
  readonly #feed: ChangeFeed;
  readonly #followers: readonly Follower[];
  readonly #telemetry: Telemetry;
  readonly #unsubscribe: () => void;
  /** A drain may be served by a run that began after it was asked for: then nothing it must see is missed. */
  readonly #runs = new SharedReads<'feed', void>(() => this.#run());
  #timer: NodeJS.Timeout | undefined;
  #isAbandoned = false;

  constructor(feed: ChangeFeed, followers: readonly Follower[], telemetry: Telemetry) {
    this.#feed = feed;
    this.#followers = followers;
    this.#telemetry = telemetry;
    this.#unsubscribe = feed.subscribe(() => this.#soon(gatherTime));
    this.#soon(0);
  }

  /** Resolves once everything that was in the feed when it was called has been followed. */
  drain(): Promise<void> {
    return this.#runs.get('feed');
  }

  /** Follows what is left and stops. */
  async stop(): Promise<void> {
    this.#unsubscribe();
    clearTimeout(this.#timer);
    await this.drain();
    clearTimeout(this.#timer);
  }

  /** Stops without following what is left. */
  abandon(): void {
    this.#isAbandoned = true;
    this.#unsubscribe();
    clearTimeout(this.#timer);
  }

  #soon(delay: number): void {
    if (this.#timer !== undefined || this.#isAbandoned) return;
    this.#timer = setTimeout(() => {
      this.#timer = undefined;
      this.drain().catch((error: unknown) => {
        this.#telemetry.problem('following the change feed failed; trying again', error);
        this.#soon(retryTime);
      });
    }, delay);
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
