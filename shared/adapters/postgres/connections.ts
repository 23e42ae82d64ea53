import { Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { Client, type ClientConfig, type QueryResult, type QueryResultRow } from 'pg';
import { TableBusy } from '../../ports/key-value-table.ts';
import { isBusy } from './failures.ts';

export interface ConnectionOptions {
  /** `postgres://user@host:5432/database` */
  readonly url: string;
  /** The schema of the table. Default: `stillage`. */
  readonly schema?: string;
  /** The most connections on which transactions run. Default: 10. */
  readonly writers?: number;
  /** The connections on which reads share the way. Default: 4. */
  readonly readers?: number;
}

/** The milliseconds after which a connection whose answer has not come is given up. */
const answerTime = 15_000;
const connectTime = 5000;
/** The milliseconds for which the server is waited for when connections are closed. */
const farewellTime = 1000;

/**
 * The connections of a process. Reads are sent one behind the other without waiting for answers, on a few connections that they share; a
 * transaction has a connection of its own while it lasts. Nothing is set on a connection for longer than a transaction, and no statement
 * has a name, so that a pooler which passes connections on after each transaction may stand between.
 */
export class Connections {
  readonly #config: ClientConfig;
  readonly #schema: string;
  readonly #mostWriters: number;
  readonly #readers: (Promise<Client> | undefined)[];
  readonly #idle: Client[] = [];
  readonly #open = new Map<Client, Socket>();
  readonly #waiting: (() => void)[] = [];
  #writers = 0;
  #next = 0;
  #isClosed = false;

  constructor({ url, schema = 'stillage', writers = 10, readers = 4 }: ConnectionOptions) {
    this.#config = {
      connectionString: url,
      pipeline: true,
      application_name: 'stillage',
      connectionTimeoutMillis: connectTime,
      query_timeout: answerTime,
      keepAlive: true,
    };
    this.#schema = schema;
    this.#mostWriters = writers;
    this.#readers = Array.from({ length: readers }, () => undefined);
  }

  /** The schema's name, quoted, with a dot. */
  get prefix(): string {
    return `"${this.#schema.replaceAll('"', '""')}".`;
  }

  get isClosed(): boolean {
    return this.#isClosed;
  }

  /** Opens a connection that the caller closes. @throws the reason why there is none, or TableBusy if this is closed */
  async connect(): Promise<Client> {
    if (this.#isClosed) throw new TableBusy();
    const socket = new Socket();
    const client = new Client({ ...this.#config, stream: () => socket });
    this.#open.set(client, socket);
    const ended = new Promise<never>((_, reject) => {
      client.once('end', () => {
        this.#open.delete(client);
        // Who waits for a connection that is closed meanwhile is not told by `connect`.
        reject(new Error('Connection terminated'));
      });
    });
    // Those who wait for an answer hear of it as well.
    client.on('error', () => this.#open.delete(client));
    try {
      await Promise.race([client.connect(), ended]);
    } catch (error) {
      this.#open.delete(client);
      throw error;
    }
    return client;
  }

  /**
   * Reads by one statement, which is a transaction of its own.
   * @throws TableBusy
   */
  async read<Row extends QueryResultRow>(text: string, values: readonly unknown[] = []): Promise<Row[]> {
    // Once more, as an idle connection may have been cut by what stands between.
    for (let attempt = 0; ; attempt += 1) {
      const at = (this.#next = (this.#next + 1) % this.#readers.length);
      try {
        const client = await this.#reader(at);
        const { rows }: QueryResult<Row> = await client.query<Row>(text, [...values]);
        return rows;
      } catch (error) {
        if (!isBusy(error) || this.#isClosed) throw error;
        if (attempt > 0) throw new TableBusy({ cause: error });
      }
    }
  }

  /**
   * Gives a connection to one caller. It is closed, instead of being used again, if the caller fails.
   * @param until a moment of `performance.now()` until which a connection is waited for that others have
   * @throws what the caller throws, or the reason why there is no connection: TableBusy if none was free in time
   */
  async alone<Answer>(work: (client: Client) => Promise<Answer>, until = Infinity): Promise<Answer> {
    const client = await this.#writer(until);
    try {
      const answer = await work(client);
      if (this.#open.has(client)) this.#idle.push(client);
      else this.#writers -= 1;
      return answer;
    } catch (error) {
      this.#writers -= 1;
      void client.end().catch(() => undefined);
      throw error;
    } finally {
      this.#waiting.shift()?.();
    }
  }

  /** Closes all connections, also those to a server that answers nothing any more. */
  async close(): Promise<void> {
    this.#isClosed = true;
    for (const wake of this.#waiting.splice(0)) wake();
    const open = [...this.#open];
    const ended = Promise.all(open.map(([client]) => client.end().catch(() => undefined)));
    await Promise.race([ended, sleep(farewellTime, undefined, { ref: false })]);
    for (const [, socket] of open) socket.destroy();
    await ended;
  }

  #reader(at: number): Promise<Client> {
    const present = this.#readers[at];
    if (present) return present;
    const opening = this.connect().then((client) => {
      client.once('end', () => this.#forget(at, opening));
      client.once('error', () => this.#forget(at, opening));
      return client;
    });
    opening.catch(() => this.#forget(at, opening));
    return (this.#readers[at] = opening);
  }

  #forget(at: number, reader: Promise<Client>): void {
    if (this.#readers[at] === reader) this.#readers[at] = undefined;
  }

  async #writer(until: number): Promise<Client> {
    for (;;) {
      if (this.#isClosed) throw new TableBusy();
      const client = this.#idle.pop();
      if (client && this.#open.has(client)) return client;
      if (client) this.#writers -= 1;
      else if (this.#writers < this.#mostWriters) break;
      else if (performance.now() > until) throw new TableBusy();
      else await this.#turn(until);
    }
    this.#writers += 1;
    try {
      return await this.connect();
    } catch (error) {
      this.#writers -= 1;
      this.#waiting.shift()?.();
      throw error;
    }
  }

  /** Waits until a connection may be free, or until this moment. */
  #turn(until: number): Promise<void> {
    return new Promise((resolve) => {
      const wake = (): void => resolve();
      this.#waiting.push(wake);
      if (until === Infinity) return;
      const leave = (): void => {
        // Otherwise it could be woken in the place of another.
        const at = this.#waiting.indexOf(wake);
        if (at !== -1) this.#waiting.splice(at, 1);
        resolve();
      };
      setTimeout(leave, Math.max(0, Math.ceil(until - performance.now())) + 1).unref();
    });
  }
}
