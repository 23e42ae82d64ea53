import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  CreateBucketCommand,
  GetObjectCommand,
  ListObjectsV2Command,
  PutBucketAclCommand,
  PutObjectCommand,
} from '@aws-sdk/client-s3';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { PostgresTable } from '../../shared/adapters/postgres/postgres-table.ts';
import { SystemClock } from '../../shared/adapters/system/system-clock.ts';
import { RecentTable } from '../../shared/storage/table/recent-table.ts';
import { describeChangeFeed } from '../contract/change-feed.ts';
import { describeKeyValueTable } from '../contract/key-value-table.ts';
import { bucketName, sdk } from '../support/clients/clients.ts';
import { isInstalled, skip } from '../support/programs/programs.ts';
import { alice, startService, type Service } from '../support/programs/server.ts';
import { eventually } from '../support/runs/eventually.ts';
import { startPgbouncer, type Pooler } from '../support/storage/pgbouncer.ts';
import { startPostgres, type Postgres } from '../support/storage/postgres.ts';

const isThere = isInstalled('pgbouncer');
/** Fewer connections than a single server opens, so that each is passed on all the time. */
const connections = 5;

let postgres: Postgres;
let pooler: Pooler;
beforeAll(async () => {
  if (!isThere) return;
  postgres = await startPostgres();
  pooler = await startPgbouncer(postgres.url, connections);
});
afterAll(async () => {
  await pooler?.stop();
  await postgres?.stop();
});
beforeEach((context) => {
  if (!isThere) skip(context, 'pgbouncer is not installed: apt-get install pgbouncer');
});

let opened = 0;
async function open(): Promise<{ table: RecentTable; feed: RecentTable; close: () => Promise<void> }> {
  const inner = await PostgresTable.open({ url: pooler.url, schema: `pooled "${(opened += 1)}"` });
  const table = new RecentTable(inner, new SystemClock());
  return { table, feed: table, close: () => table.close() };
}

describeKeyValueTable('PostgresTable behind a pooler', { open, effort: 0.2, timeout: 120_000 });
describeChangeFeed('PostgresTable behind a pooler', { open });

describe('servers behind a pooler', () => {
  let blobs: Service;
  let folder: string;
  const servers: Service[] = [];
  beforeAll(async () => {
    if (!isThere) return;
    folder = await mkdtemp(join(tmpdir(), 'stillage-pooled-'));
    blobs = await startService({ args: ['--buckets', 'blobs'] });
    const place = ['--table', `${pooler.url}?schema=servers`, '--key-file', join(folder, 'key')];
    const bucket = ['--blobs', `s3://blobs?endpoint=${blobs.url}&region=us-east-1`];
    const env = { AWS_ACCESS_KEY_ID: alice.accessKeyId, AWS_SECRET_ACCESS_KEY: alice.secretAccessKey };
    for (let n = 0; n < 2; n += 1) servers.push(await startService({ args: [...place, ...bucket], env }));
  });
  afterAll(async () => {
    for (const server of servers) await server.stop();
    await blobs?.stop();
    if (isThere) await rm(folder, { recursive: true });
  });

  it('show each other what was acknowledged, also what a server remembers, and log no problem', async () => {
    const [one, other] = [sdk(servers[0]!, alice, { maxAttempts: 1 }), sdk(servers[1]!, alice, { maxAttempts: 1 })];
    const Bucket = bucketName();
    await one.send(new CreateBucketCommand({ Bucket, ObjectOwnership: 'ObjectWriter' }));
    const keys = Array.from({ length: 60 }, (_, n) => `key ${String(n).padStart(2, '0')}`);
    await Promise.all(
      keys.map(async (Key, n) => {
        const [writer, reader] = n % 2 === 0 ? [one, other] : [other, one];
        await writer.send(new PutObjectCommand({ Bucket, Key, Body: Key }));
        const { Body } = await reader.send(new GetObjectCommand({ Bucket, Key }));
        expect(await Body!.transformToString()).toBe(Key);
      }),
    );
    const { Contents } = await other.send(new ListObjectsV2Command({ Bucket }));
    expect(Contents!.map(({ Key }) => Key)).toEqual(keys);

    const listed = async ({ url }: Service): Promise<number> => (await fetch(`${url}/${Bucket}`)).status;
    await one.send(new PutBucketAclCommand({ Bucket, ACL: 'public-read' }));
    await eventually(async () => expect(await listed(servers[1]!)).toBe(200));
    await one.send(new PutBucketAclCommand({ Bucket, ACL: 'private' }));
    // No notification reaches it.
    await eventually(async () => expect(await listed(servers[1]!)).toBe(403));
    const problems = servers.flatMap(({ output }) => output.stdout.split('\n').filter((line) => /"error"/.test(line)));
    expect(problems).toEqual([]);
  });
});
