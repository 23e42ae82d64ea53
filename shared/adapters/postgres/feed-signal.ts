import type { Connections } from './connections.ts';
import type { Client } from 'pg';

/** The milliseconds between two looks at the feed, for changes of other processes. */
const interval = 500;
/** The milliseconds for which writes of this process are collected before others are told of them. */
const collected = 10;

/**
 * Tells subscribers that the feed has grown. Other processes are told by a notification that is sent apart from the writes: within them, it
 * would take a lock of the whole database at each commit. It is a hint only, which poolers lose; what counts is a look at regular intervals.
 */
export class FeedSignal {
  readonly #connections: Connections;
  readonly #listeners = new Set<() => void>();
  readonly #timer: NodeJS.Timeout;
  #newest: bigint;
  #telling: NodeJS.Timeout | undefined;
  #called = false;
  #listening: Promise<Client | undefined> | undefined;
  #isClosed = false;

  private constructor(connections: Connections, newest: bigint) {
    this.#connections = connections;
    this.#newest = newest;
    this.#timer = setInterval(() => void this.#look(), interval).unref();
    this.#listen();
  }

  static async open(connections: Connections): Promise<FeedSignal> {
    const [row] = await connections.read<{ at: string }>(
      `select case when is_called then last_value else 0 end as at from ${connections.prefix}feed_position`,
    );
    return new FeedSignal(connections, BigInt(row!.at));
  }

  /** The newest position that this process knows of; 0 if there was never any. */
  get newest(): bigint {
    return this.#newest;
  }

  /** To be called after a commit. @param newest its newest position; null if the feed does not have it */
  written(newest: string | null): void {
    if (newest === null) return;
    this.#grown(BigInt(newest));
    this.#telling ??= setTimeout(() => {
      this.#telling = undefined;
      if (!this.#isClosed) void this.#tell();
    }, collected).unref();
  }

  subscribe(listener: () => void): () => void {
    const own = (): void => listener();
    this.#listeners.add(own);
    return () => this.#listeners.delete(own);
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    clearInterval(this.#timer);
    clearTimeout(this.#telling);
    this.#listeners.clear();
    await this.#listening;
  }

  /** Calls the subscribers once for all writes in a turn of the event loop. */
  #grown(newest: bigint): void {
    if (newest > this.#newest) this.#newest = newest;
    if (this.#called) return;
    this.#called = true;
    setImmediate(() => {
      this.#called = false;
      for (const listener of this.#listeners) listener();
    });
  }

  async #tell(): Promise<void> {
    const channel = this.#connections.prefix;
    // The others look by themselves, only later.
    await this.#connections.read('select pg_notify($1, $2)', [channel, '']).catch(() => undefined);
  }

  async #look(): Promise<void> {
    this.#listen();
    const text = `select max(position) as at from ${this.#connections.prefix}feed where position > $1`;
    const rows = await this.#connections.read<{ at: string | null }>(text, [String(this.#newest)]).catch(() => []);
    const at = rows[0]?.at;
    if (at && !this.#isClosed) this.#grown(BigInt(at));
  }

  /** Listens on a connection of its own, unless it does. */
  #listen(): void {
    this.#listening ??= this.#listenOn().catch(() => {
      this.#listening = undefined;
      return undefined;
    });
  }

  async #listenOn(): Promise<Client> {
    const client = await this.#connections.connect();
    client.on('notification', () => void this.#look());
    client.once('end', () => (this.#listening = undefined));
    await client.query(`listen ${client.escapeIdentifier(this.#connections.prefix)}`);
    return client;
  }
}
