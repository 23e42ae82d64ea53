import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { CreateBucketCommand, GetObjectCommand, PutObjectCommand, type S3Client } from '@aws-sdk/client-s3';
import { Client } from 'pg';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { bucketName, sdk } from '../support/clients/clients.ts';
import { alice, startService, type Service } from '../support/programs/server.ts';
import { eventually } from '../support/runs/eventually.ts';
import { CuttingProxy } from '../support/storage/cutting-proxy.ts';
import { startPostgres, startStandby, type Postgres } from '../support/storage/postgres.ts';

const numberOfKeys = 6;
/** Answers that show that the service goes on. */
const some = 30;

const portOf = ({ url }: Postgres): number => Number(new URL(url).port);

async function query<Row extends object>({ url }: Postgres, text: string): Promise<Row[]> {
  const client = new Client({ connectionString: url });
  await client.connect();
  try {
    return (await client.query<Row>(text)).rows;
  } finally {
    await client.end();
  }
}

/** Clients that write rising numbers under each key, and read what another server says of it. */
class Traffic {
  acknowledged = 0;
  read = 0;
  /** The statuses of what failed. */
  readonly failures = new Set<number | undefined>();
  /** Answers that no order of the requests explains. */
  readonly wrong: string[] = [];
  /** The least number that a read which begins now must find. */
  readonly #least = new Map<string, number>();
  readonly #sent = new Map<string, number>();
  readonly #bucket: string;
  readonly #clients: readonly S3Client[];
  readonly #running: Promise<unknown>;
  #isOver = false;

  constructor(bucket: string, clients: readonly S3Client[]) {
    this.#bucket = bucket;
    this.#clients = clients;
    const keys = Array.from({ length: numberOfKeys }, (_, key) => `key ${key}`);
    const loops = keys.flatMap((key, at) => [
      this.#write(key, this.#client(at)),
      this.#reads(key, this.#client(at + 1)),
    ]);
    this.#running = Promise.all(loops);
  }

  async stop(): Promise<void> {
    this.#isOver = true;
    await this.#running;
    for (const client of this.#clients) for (const key of this.#sent.keys()) await this.#look(key, client);
  }

  #client(at: number): S3Client {
    return this.#clients[at % this.#clients.length]!;
  }

  async #write(Key: string, client: S3Client): Promise<void> {
    for (let n = 1; !this.#isOver; n += 1) {
      this.#sent.set(Key, n);
      await this.#unlessBusy(async () => {
        await client.send(new PutObjectCommand({ Bucket: this.#bucket, Key, Body: String(n) }));
        this.#sees(Key, n);
        this.acknowledged += 1;
      });
    }
  }

  async #reads(key: string, client: S3Client): Promise<void> {
    while (!this.#isOver) await this.#unlessBusy(() => this.#look(key, client));
  }

  async #look(Key: string, client: S3Client): Promise<void> {
    const least = this.#least.get(Key) ?? 0;
    const found = await client
      .send(new GetObjectCommand({ Bucket: this.#bucket, Key }))
      .then(async ({ Body }) => Number(await Body!.transformToString()))
      .catch((error: Error) => {
        if (error.name === 'NoSuchKey') return 0;
        throw error;
      });
    const most = this.#sent.get(Key)!;
    if (found < least || found > most) this.wrong.push(`${Key} was read as ${found}, not ${least} to ${most}`);
    this.#sees(Key, found);
    this.read += 1;
  }

  #sees(key: string, n: number): void {
    this.#least.set(key, Math.max(n, this.#least.get(key) ?? 0));
  }

  async #unlessBusy(request: () => Promise<void>): Promise<void> {
    try {
      await request();
    } catch (error) {
      const { $metadata } = error as { readonly $metadata?: { readonly httpStatusCode?: number } };
      this.failures.add($metadata?.httpStatusCode);
    }
  }
}

describe('servers whose database fails over', () => {
  let primary: Postgres;
  let standby: Postgres;
  let balancer: CuttingProxy;
  let blobs: Service;
  let folder: string;
  const servers: Service[] = [];

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'stillage-failover-'));
    [primary, blobs] = await Promise.all([startPostgres(), startService({ args: ['--buckets', 'blobs'] })]);
    standby = await startStandby(primary);
    await query(primary, "alter system set synchronous_standby_names = '*'");
    await query(primary, 'select pg_reload_conf()');
    await eventually(async () => {
      const states = await query(primary, 'select sync_state from pg_stat_replication');
      expect(states).toEqual([{ sync_state: 'sync' }]);
    });
    balancer = await CuttingProxy.before(portOf(primary));
    const url = new URL(primary.url);
    url.port = String(balancer.port);
    const place = ['--table', url.href, '--blobs', `s3://blobs?endpoint=${blobs.url}&region=us-east-1`];
    const env = { AWS_ACCESS_KEY_ID: alice.accessKeyId, AWS_SECRET_ACCESS_KEY: alice.secretAccessKey };
    for (let n = 0; n < 2; n += 1) {
      servers.push(await startService({ args: [...place, '--key-file', join(folder, 'key')], env }));
    }
  });
  afterAll(async () => {
    await Promise.all(servers.map((server) => server.kill()));
    await balancer?.close();
    await Promise.all([primary?.stop(), standby?.stop(), blobs?.stop()]);
    await rm(folder, { recursive: true });
  });

  it('lose nothing that they acknowledged, and read nothing older than before: the primary is paused, its synchronous standby promoted, and it comes back', async () => {
    const clients = servers.map(({ url }) => sdk({ url }, alice, { maxAttempts: 1 }));
    const Bucket = bucketName();
    await clients[0]!.send(new CreateBucketCommand({ Bucket }));
    const traffic = new Traffic(Bucket, clients);
    const goesOn = async (): Promise<void> => {
      const { acknowledged, read } = traffic;
      await eventually(() => {
        expect(traffic.acknowledged).toBeGreaterThan(acknowledged + some);
        expect(traffic.read).toBeGreaterThan(read + some);
      });
    };
    await goesOn();
    expect([...traffic.failures]).toEqual([]);

    primary.pause();
    // A server that gets no answer cannot know.
    await eventually(() => expect(traffic.failures.size).toBeGreaterThan(0));
    await standby.promote();
    const { acknowledged } = traffic;
    traffic.failures.clear();
    primary.resume();
    // It takes itself for the primary, and writes down what it was sent and is sent, but has nobody who confirms it.
    expect(await query(primary, 'select pg_is_in_recovery() as standby')).toEqual([{ standby: false }]);
    await eventually(async () => {
      const waiting = await query(primary, "select from pg_stat_activity where wait_event = 'SyncRep'");
      expect(waiting.length).toBeGreaterThan(0);
    });
    await eventually(() => expect(traffic.failures.size).toBeGreaterThan(0));
    // What was confirmed before it was paused may be answered late.
    expect(traffic.acknowledged).toBeLessThanOrEqual(acknowledged + numberOfKeys);

    balancer.moveTo(portOf(standby));
    await goesOn();
    // The former primary stays there, and is not asked.
    await goesOn();
    await traffic.stop();
    expect(traffic.wrong).toEqual([]);
    expect([...traffic.failures]).toEqual([503]);
  });
});
