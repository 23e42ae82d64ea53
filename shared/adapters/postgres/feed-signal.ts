import { setTimeout as sleep } from 'node:timers/promises';
import type { Client } from 'pg';
import type { Connections } from './connections.ts';

/** The milliseconds between two looks at the feed, for changes of other processes. */
const interval = 500;
/** The milliseconds for which writes of this process are collected before others are told of them. */
const collected = 10;
/** The most characters of a notification: https://www.postgresql.org/docs/15/sql-notify.html allows 7,999 bytes. */
const mostTold = 7900;
/** The milliseconds for which the last notification is waited for when a process ends. */
const lastWord = 1000;
/** Stands for keys that are too many for a notification. */
const many = '*';

/**
 * Tells subscribers that the feed has grown, and that certain items have changed. Other processes are told by a notification that is sent apart
 * from the writes: within them, it would take a lock of the whole database at each commit. It is a hint only, which poolers lose; what counts
 * is a look at regular intervals, and how long items are remembered.
 */
export class FeedSignal {
  readonly #connections: Connections;
  readonly #listeners = new Set<() => void>();
  readonly #followers = new Set<(keys: readonly Buffer[] | undefined) => void>();
  /** The keys of which others have not been told yet, in hexadecimal. */
  readonly #told = new Set<string>();
  readonly #timer: NodeJS.Timeout;
  #newest: bigint;
  #telling: NodeJS.Timeout | undefined;
  #sending: Promise<unknown> = Promise.resolve();
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

  /**
   * To be called after a commit.
   * @param newest its newest position; null if the feed does not have it
   * @param keys of changed items that other processes remember: these are told at once
   */
  written(newest: string | null, keys: readonly Buffer[]): void {
    if (newest !== null) this.#grown(BigInt(newest));
    for (const key of keys) this.#told.add(key.toString('hex'));
    if (keys.length > 0) this.#tell();
    else if (newest !== null) this.#telling ??= setTimeout(() => this.#tell(), collected).unref();
  }

  /** @param listener told of the keys of items that some process has changed; undefined: of any */
  follow(listener: (keys: readonly Buffer[] | undefined) => void): void {
    this.#followers.add(listener);
  }

  subscribe(listener: () => void): () => void {
    const own = (): void => listener();
    this.#listeners.add(own);
    return () => this.#listeners.delete(own);
  }

  async close(): Promise<void> {
    clearInterval(this.#timer);
    // A command ends right after its write.
    if (this.#telling !== undefined) this.#tell();
    this.#isClosed = true;
    this.#listeners.clear();
    this.#followers.clear();
    await Promise.race([this.#sending, sleep(lastWord, undefined, { ref: false })]);
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

  #tell(): void {
    clearTimeout(this.#telling);
    this.#telling = undefined;
    const keys = [...this.#told].join();
    this.#told.clear();
    const given = [this.#connections.prefix, keys.length > mostTold ? many : keys];
    // Reads are behind it on the connection, and must not wait for disk and standby: neither has anything of it.
    const text = "select set_config('synchronous_commit', 'off', true), pg_notify($1, $2)";
    // The others look by themselves, only later.
    const sent = this.#connections.read(text, given).catch(() => undefined);
    this.#sending = Promise.all([this.#sending, sent]);
  }

  #hear(payload = ''): void {
    void this.#look();
    if (payload === '') return;
    const keys = payload === many ? undefined : payload.split(',').map((key) => Buffer.from(key, 'hex'));
    for (const follower of this.#followers) follower(keys);
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
    client.on('notification', ({ payload }) => this.#hear(payload));
    client.once('end', () => (this.#listening = undefined));
    await client.query(`listen ${client.escapeIdentifier(this.#connections.prefix)}`);
    return client;
  }
}
