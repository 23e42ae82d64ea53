import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  CreateBucketCommand,
  DeleteBucketCommand,
  DeleteObjectCommand,
  GetObjectCommand,
  ListObjectsV2Command,
  PutBucketAclCommand,
  PutObjectCommand,
  type S3Client,
} from '@aws-sdk/client-s3';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { bucketName, sdk } from '../support/clients/clients.ts';
import { alice, startService, type Service } from '../support/programs/server.ts';
import { runProgram } from '../support/programs/program.ts';
import { eventually } from '../support/runs/eventually.ts';
import { administer } from '../support/storage/administration.ts';
import { startPostgres, type Postgres } from '../support/storage/postgres.ts';

const onDuty = 'this server follows the changes and runs the schedules';

describe('servers that share a table and a bucket', () => {
  let postgres: Postgres;
  let blobs: Service;
  let folder: string;
  const servers = new Set<Service>();

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'stillage-servers-'));
    [postgres, blobs] = await Promise.all([startPostgres(), startService({ args: ['--buckets', 'blobs'] })]);
  });
  afterAll(async () => {
    await Promise.all(Array.from(servers, (server) => server.kill()));
    await Promise.all([postgres?.stop(), blobs?.stop()]);
    await rm(folder, { recursive: true });
  });

  const place = (schema: string): readonly string[] => [
    ...['--table', `${postgres.url}?schema=${schema}`, '--key-file', join(folder, 'key')],
  ];
  async function start(schema: string): Promise<Service> {
    const bucket = `s3://blobs/${schema}?endpoint=${blobs.url}&region=us-east-1`;
    const env = { AWS_ACCESS_KEY_ID: alice.accessKeyId, AWS_SECRET_ACCESS_KEY: alice.secretAccessKey };
    const server = await startService({ args: [...place(schema), '--blobs', bucket], env });
    servers.add(server);
    return server;
  }
  const clientOf = ({ url }: Service): S3Client => sdk({ url }, alice, { maxAttempts: 1 });
  const read = async (client: S3Client, Bucket: string, Key: string): Promise<string> =>
    (await client.send(new GetObjectCommand({ Bucket, Key }))).Body!.transformToString();

  it('show each other what was acknowledged, and take over from one that is killed', async () => {
    const [first, second] = [await start('pair'), await start('pair')];
    const [one, other] = [clientOf(first), clientOf(second)];
    const Bucket = bucketName();
    await one.send(new CreateBucketCommand({ Bucket }));
    for (let n = 0; n < 20; n += 1) {
      const [writer, reader] = n % 2 === 0 ? [one, other] : [other, one];
      await writer.send(new PutObjectCommand({ Bucket, Key: 'same', Body: `body ${n}` }));
      expect(await read(reader, Bucket, 'same')).toBe(`body ${n}`);
    }
    expect([first.output.stdout.includes(onDuty), second.output.stdout.includes(onDuty)]).toEqual([true, false]);
    const target = { args: place('pair'), env: {} };
    const used = async (): Promise<unknown> =>
      (await administer<{ used: object }>(target, 'quota', 'show', Bucket)).used;
    await eventually(async () => expect(await used()).toMatchObject({ bytesOfVersions: 7, objects: 1 }));

    await first.kill();
    servers.delete(first);
    await other.send(new PutObjectCommand({ Bucket, Key: 'later', Body: 'x'.repeat(100) }));
    await eventually(() => expect(second.output.stdout).toContain(onDuty));
    await eventually(async () => expect(await used()).toMatchObject({ bytesOfVersions: 107, objects: 2 }));
    expect(await second.stop()).toBe(0);
    servers.delete(second);
  });

  it('soon refuse what was withdrawn through another, and write nothing into a bucket that was removed through another', async () => {
    const [first, second] = [await start('withdrawn'), await start('withdrawn')];
    const [one, other] = [clientOf(first), clientOf(second)];
    const Bucket = bucketName();
    await one.send(new CreateBucketCommand({ Bucket, ObjectOwnership: 'ObjectWriter' }));
    const listed = async ({ url }: Service): Promise<number> => (await fetch(`${url}/${Bucket}`)).status;
    await one.send(new PutBucketAclCommand({ Bucket, ACL: 'public-read' }));
    await eventually(async () => expect(await listed(second)).toBe(200));
    await one.send(new PutBucketAclCommand({ Bucket, ACL: 'private' }));
    expect(await listed(first)).toBe(403);
    await eventually(async () => expect(await listed(second)).toBe(403));

    await other.send(new PutObjectCommand({ Bucket, Key: 'key', Body: 'x' }));
    await one.send(new DeleteObjectCommand({ Bucket, Key: 'key' }));
    await one.send(new DeleteBucketCommand({ Bucket }));
    const put = other.send(new PutObjectCommand({ Bucket, Key: 'key', Body: 'x' }));
    await expect(put).rejects.toMatchObject({ name: 'NoSuchBucket' });
    await one.send(new CreateBucketCommand({ Bucket }));
    expect((await one.send(new ListObjectsV2Command({ Bucket }))).KeyCount).toBe(0);
  });

  it('refuse writes into a bucket that is full, also through another, until there is room again', async () => {
    const [first, second] = [await start('quotas'), await start('quotas')];
    const [one, other] = [clientOf(first), clientOf(second)];
    const Bucket = bucketName();
    await one.send(new CreateBucketCommand({ Bucket }));
    await administer({ args: place('quotas'), env: {} }, 'quota', 'set', Bucket, '--bytes', '100');
    const put = (client: S3Client, Key: string, size: number): Promise<unknown> =>
      client.send(new PutObjectCommand({ Bucket, Key, Body: Buffer.alloc(size) }));
    await put(one, 'fills', 100);
    for (const client of [one, other]) {
      // Without bytes, so that it does not matter how many are accepted before.
      await eventually(() => expect(put(client, 'more', 0)).rejects.toMatchObject({ name: 'QuotaExceeded' }));
    }
    await other.send(new DeleteObjectCommand({ Bucket, Key: 'fills' }));
    for (const client of [one, other]) await eventually(() => put(client, 'more', 1));
  });

  it('lose nothing that they acknowledged when the database is ended again and again, and answer 503 without it', async () => {
    const clients = [clientOf(await start('kills')), clientOf(await start('kills'))];
    const Bucket = bucketName();
    await clients[0]!.send(new CreateBucketCommand({ Bucket }));
    const acknowledged: string[] = [];
    const failures = new Set<number | undefined>();
    let isOver = false;
    const write = async (client: S3Client, writer: number): Promise<void> => {
      for (let n = 0; !isOver; n += 1) {
        const Key = `${writer}/${n}`;
        await client.send(new PutObjectCommand({ Bucket, Key, Body: Key })).then(
          () => acknowledged.push(Key),
          (error: { readonly $metadata?: { readonly httpStatusCode?: number } }) =>
            failures.add(error.$metadata?.httpStatusCode),
        );
      }
    };
    const writers = Array.from({ length: 6 }, (_, writer) => write(clients[writer % 2]!, writer));
    for (let kill = 0; kill < 3; kill += 1) {
      const before = acknowledged.length;
      await eventually(() => expect(acknowledged.length).toBeGreaterThan(before + 30));
      await postgres.kill();
      failures.clear();
      await eventually(() => expect(failures.size).toBeGreaterThan(0));
      expect([...failures]).toEqual([503]);
      await postgres.restart();
    }
    const before = acknowledged.length;
    await eventually(() => expect(acknowledged.length).toBeGreaterThan(before + 30));
    isOver = true;
    await Promise.all(writers);

    const listed = new Set<string>();
    for (let ContinuationToken: string | undefined; ;) {
      const page = await clients[0]!.send(new ListObjectsV2Command({ Bucket, ContinuationToken }));
      for (const { Key } of page.Contents ?? []) listed.add(Key!);
      ContinuationToken = page.NextContinuationToken;
      if (ContinuationToken === undefined) break;
    }
    expect(acknowledged.filter((key) => !listed.has(key))).toEqual([]);
    for (const key of acknowledged.slice(-20)) expect(await read(clients[1]!, Bucket, key)).toBe(key);
  });

  it('refuse another key, and options that need a data directory, in one line', async () => {
    await (await start('refusing')).stop();
    const table = `${postgres.url}?schema=refusing`;
    const bucket = `s3://blobs?endpoint=${blobs.url}&region=us-east-1`;
    const refusal = async (...args: string[]): Promise<string> => {
      const { code, stderr } = await runProgram(['start', '--port', '0', '--console-port', '0', ...args]);
      expect([code === 0, stderr.trim().split('\n').length], stderr).toEqual([false, 1]);
      return stderr;
    };
    const other = join(folder, 'other key');
    expect(await refusal('--table', table, '--blobs', bucket, '--key-file', other)).toContain('--key-file');
    expect(await refusal('--table', table)).toContain('--table, --blobs and --key-file are needed together');
    const whole = ['--table', table, '--blobs', bucket, '--key-file', join(folder, 'key')];
    expect(await refusal(...whole, '--workers', '2')).toContain('--workers');
    expect(await refusal(...whole, '--ephemeral')).toContain('--ephemeral');
    expect(await refusal(...whole, '--backup-to', folder)).toContain('--backup-to');
    expect(await refusal('--table', 'postgres://127.0.0.1:1/none', ...whole.slice(2))).toContain('--table');
    expect(await refusal('--table', 'mysql://host/db', ...whole.slice(2))).toContain('postgres://');
  });
});
