import type { IncomingHttpHeaders } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { Client } from 'pg';
import { EphemeralBlobStore } from '../../shared/adapters/ephemeral/ephemeral-blob-store.ts';
import { PostgresTable } from '../../shared/adapters/postgres/postgres-table.ts';
import { SystemClock } from '../../shared/adapters/system/system-clock.ts';
import { Fields } from '../../shared/http/message.ts';
import { isFollowed, isRemembered } from '../../shared/storage/table/keys/keys.ts';
import { RecentTable } from '../../shared/storage/table/recent-table.ts';
import { signed, type Unsigned } from '../support/clients/signer.ts';
import { CuttingProxy } from '../support/storage/cutting-proxy.ts';
import { person, PipelineInProcess } from '../support/storage/pipeline-in-process.ts';
import { eventually } from '../support/runs/eventually.ts';
import type { Response, Send } from './exchange.ts';
import { plantedFaults, type FaultName } from './planted-faults.ts';
import type { Random } from './random.ts';

const numberOfServers = 2;
const user = person('alice');

/** The faults of a server that remembers: of its table, and of its commits. */
export const faultNames = [
  ...(Object.keys(plantedFaults) as FaultName[]),
  'a commit does not check the bucket that was remembered',
] as const;
export type ServerFault = (typeof faultNames)[number];

/** The options of a run of servers. */
interface TableServersOptions {
  /** `postgres://stillage@127.0.0.1:54321/postgres` */
  readonly url: string;
  readonly schema: string;
  readonly random: Random;
  /** False: the servers do not tell each other what has changed, as behind a pooler. */
  readonly notifies: boolean;
  readonly fault?: ServerFault | undefined;
}

/**
 * A server of many: connections of its own, through a proxy that can cut them, and a memory of its own. What is in this process is the
 * pipeline with its table; the blobs are those of all servers.
 */
class TableServer {
  /** What its connections are called in the database. */
  readonly name: string;
  /** Its problems that no lost connection explains. */
  readonly problems: readonly unknown[];
  readonly #table: PostgresTable;
  readonly #proxy: CuttingProxy;
  readonly #pipeline: PipelineInProcess<RecentTable>;
  /** Of the requests in progress. */
  readonly #rejections = new Set<(error: Error) => void>();

  private constructor(
    name: string,
    table: PostgresTable,
    proxy: CuttingProxy,
    { blobs, fault }: { readonly blobs: EphemeralBlobStore; readonly fault: ServerFault | undefined },
  ) {
    this.name = name;
    const clock = new SystemClock();
    const remembering = new RecentTable(table, clock);
    if (fault !== undefined && fault in plantedFaults) plantedFaults[fault as FaultName](remembering);
    this.#table = table;
    this.#proxy = proxy;
    this.#pipeline = new PipelineInProcess([user], { table: remembering, before: () => blobs, clock });
    this.problems = this.#pipeline.problems;
    if (fault === 'a commit does not check the bucket that was remembered') {
      this.#pipeline.services.buckets.commitConditions = () => [];
    }
  }

  static async start(name: string, options: TableServersOptions, blobs: EphemeralBlobStore): Promise<TableServer> {
    const url = new URL(options.url);
    url.searchParams.set('application_name', name);
    const proxy = await CuttingProxy.before(Number(url.port));
    url.port = String(proxy.port);
    const told = { isFollowed, ...(options.notifies && { isRemembered }) };
    const table = await PostgresTable.open({ url: url.href, schema: options.schema, ...told });
    return new TableServer(name, table, proxy, { blobs, fault: options.fault });
  }

  /** Rejects as a broken connection does if the server is killed meanwhile. */
  send(unsigned: Unsigned): Promise<Response> {
    return new Promise((resolve, reject) => {
      this.#rejections.add(reject);
      const isOver = (): void => void this.#rejections.delete(reject);
      this.#answer(unsigned).then(resolve, reject).then(isOver, isOver);
    });
  }

  /** Cuts its connections to the database, and each new one until {@link mend}. */
  cut(): void {
    this.#proxy.cut();
  }

  mend(): void {
    this.#proxy.mend();
  }

  /** Loses the answer of its next commit, and all connections with it. Resolves when that has happened. */
  async loseAnswer(): Promise<void> {
    this.#proxy.holds = (way, bytes) => way === 'to the client' && bytes.includes('COMMIT');
    await this.#proxy.whenHeld();
    this.#proxy.cut();
  }

  /** Ends it in the middle of its requests: none is answered any more, and nothing more of it reaches the database. */
  async kill(): Promise<void> {
    const broken = Object.assign(new Error('the server was killed'), { code: 'ECONNRESET' });
    for (const reject of this.#rejections) reject(broken);
    await this.#proxy.close();
  }

  async stop(): Promise<void> {
    await this.#proxy.close();
    await this.#table.close();
  }

  async #answer(unsigned: Unsigned): Promise<Response> {
    const { host } = this.#pipeline;
    const { method, target, headers, body = '' } = signed(host, unsigned, { key: user.key });
    const answered = await this.#pipeline.handle({
      ...{ method, target, fields: new Fields(headers), secure: false, remoteAddress: '192.0.2.7' },
      body: once(Buffer.from(body)),
    });
    const whole = await wholeOf(answered.body);
    const received: IncomingHttpHeaders = {};
    for (const [name, value] of answered.fields) received[name] = value;
    return { status: answered.status, headers: received, body: whole, text: whole.toString() };
  }
}

/** Servers that share a database and blobs but no memory. */
export class TableServers {
  readonly #options: TableServersOptions;
  readonly #blobs = new EphemeralBlobStore();
  #servers: readonly TableServer[] = [];
  readonly #killed: TableServer[] = [];
  readonly #problems: unknown[] = [];
  #started = 0;

  private constructor(options: TableServersOptions) {
    this.#options = options;
  }

  static async start(options: TableServersOptions): Promise<TableServers> {
    const servers = new TableServers(options);
    for (let server = 0; server < numberOfServers; server += 1) {
      await servers.#start();
    }
    return servers;
  }

  /** What the servers logged, but for what lost connections explain. */
  get problems(): readonly string[] {
    const all = [...this.#problems, ...this.#servers.flatMap(({ problems }) => problems)];
    return all.map(String).filter((problem) => !busy.test(problem));
  }

  /** Connects a client to all servers. Each of its requests goes to a random one. */
  connect(random: Random): { send: Send; close: () => void } {
    return { send: (unsigned) => random.oneOf(this.#servers).send(unsigned), close: () => undefined };
  }

  /**
   * Lets something go wrong for a random server, until a number of requests is reached. Of a server that was killed, the database has then
   * carried out what it was sent.
   */
  async disturb(reaches: (requests: number) => Promise<void>): Promise<void> {
    const { random } = this.#options;
    const victim = random.oneOf(this.#servers);
    switch (random.oneOf(['cut', 'lost answer', 'kill'] as const)) {
      case 'cut':
        victim.cut();
        await reaches(random.below(10));
        victim.mend();
        break;
      case 'lost answer':
        await victim.loseAnswer();
        await reaches(random.below(3));
        victim.mend();
        break;
      case 'kill':
        this.#servers = this.#servers.filter((server) => server !== victim);
        await victim.kill();
        this.#killed.push(victim);
        this.#problems.push(...victim.problems);
        await this.#start();
        await this.#connectionsEnd(victim.name);
    }
  }

  /** Cuts all connections, waits until the database has carried out what it was sent, and mends them. */
  async settle(): Promise<void> {
    for (const server of this.#servers) server.cut();
    await this.#connectionsEnd('server %');
    for (const server of this.#servers) server.mend();
  }

  async stop(): Promise<void> {
    await Promise.all([...this.#servers, ...this.#killed].map((server) => server.stop()));
    await this.#blobs.close();
  }

  async #start(): Promise<void> {
    const name = `server ${(this.#started += 1)}`;
    this.#servers = [...this.#servers, await TableServer.start(name, this.#options, this.#blobs)];
  }

  /** Waits until the database has ended the connections of servers. @param names a pattern of SQL */
  async #connectionsEnd(names: string): Promise<void> {
    const client = new Client({ connectionString: this.#options.url });
    await client.connect();
    try {
      await eventually(async () => {
        const { rows } = await client.query('select from pg_stat_activity where application_name like $1', [names]);
        if (rows.length > 0) throw new Error('the database has not ended all connections');
      });
    } finally {
      await client.end();
    }
  }
}

/** Problems that lost connections explain. The client notices them, too: by a 503. */
const busy = /TableBusy|SlowDown|ServiceUnavailable|no response from the table to a write/;

async function* once(bytes: Uint8Array): AsyncGenerator<Uint8Array> {
  // The turn in which a transport would hand it over.
  await sleep(0);
  if (bytes.length > 0) yield bytes;
}

async function wholeOf(body: string | Uint8Array | AsyncIterable<Uint8Array> | undefined): Promise<Buffer> {
  if (body === undefined) return Buffer.alloc(0);
  if (typeof body === 'string') return Buffer.from(body);
  if (body instanceof Uint8Array) return Buffer.from(body);
  const chunks: Uint8Array[] = [];
  for await (const chunk of body) chunks.push(chunk);
  return Buffer.concat(chunks);
}
