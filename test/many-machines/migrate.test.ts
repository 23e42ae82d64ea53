import { createHash } from 'node:crypto';
import { copyFile, cp, mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  CompleteMultipartUploadCommand,
  CreateBucketCommand,
  CreateMultipartUploadCommand,
  DeleteObjectCommand,
  GetObjectCommand,
  GetObjectLegalHoldCommand,
  GetObjectRetentionCommand,
  GetObjectTaggingCommand,
  ListBucketsCommand,
  ListMultipartUploadsCommand,
  ListObjectVersionsCommand,
  ListPartsCommand,
  PutBucketVersioningCommand,
  PutObjectCommand,
  PutObjectLegalHoldCommand,
  UploadPartCommand,
  type S3Client,
} from '@aws-sdk/client-s3';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { sdk } from '../support/clients/clients.ts';
import { runProgram, type Run } from '../support/programs/program.ts';
import { alice, startService, type Service } from '../support/programs/server.ts';
import { runWarm } from '../support/programs/warm-program.ts';
import { eventually } from '../support/runs/eventually.ts';
import { administer, makeKey, type MadeKey, type Place } from '../support/storage/administration.ts';
import { startPostgres, type Postgres } from '../support/storage/postgres.ts';

const Bucket = 'migrated';
const Locked = 'locked';
const MiB = 1024 * 1024;

/** The kills in each direction, at random moments; test/unit/local/server/migration has one at each write. */
const kills = process.env['TEST_LONG'] ? 10 : 2;

/** How long a migration takes that is not killed, in milliseconds. */
let whole = 1000;
let postgres: Postgres;
let blobs: Service;
let folder: string;
let data: string;
let ci: MadeKey;
const env = { AWS_ACCESS_KEY_ID: alice.accessKeyId, AWS_SECRET_ACCESS_KEY: alice.secretAccessKey };

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'stillage-migrate-'));
  data = join(folder, 'source');
  [postgres, blobs] = await Promise.all([startPostgres(), startService({ args: ['--buckets', 'blobs'] })]);
  await fill();
});
afterAll(async () => {
  await Promise.all([postgres?.stop(), blobs?.stop()]);
  await rm(folder, { recursive: true });
});

/** The options of a table and a bucket, each with a schema and a prefix of its own. */
function shared(name: string, key = join(folder, `key-${name}`)): readonly string[] {
  const bucket = `s3://blobs/${name}?endpoint=${blobs.url}&region=us-east-1`;
  return ['--table', `${postgres.url}?schema=${name}`, '--blobs', bucket, '--key-file', key];
}

const migrating = (...more: readonly string[]): Promise<Run> => runWarm(['migrate', '--json', ...more], env);

async function migrated(...more: readonly string[]): Promise<Record<string, unknown>> {
  const { code, stdout, stderr } = await migrating(...more);
  expect([code, code === 0 ? '' : stderr]).toEqual([0, '']);
  return JSON.parse(stdout) as Record<string, unknown>;
}

async function refusal(...more: readonly string[]): Promise<string> {
  const { code, stderr } = await migrating(...more);
  expect([code, stderr.trim().split('\n').length], stderr).toEqual([1, 1]);
  return stderr;
}

/** Fills the source. */
async function fill(): Promise<void> {
  const service = await startService({ data });
  const client = sdk(service, alice);
  const put = (Key: string, Body: Buffer | string, more = {}) =>
    client.send(new PutObjectCommand({ Bucket, Key, Body, ...more }));
  await client.send(new CreateBucketCommand({ Bucket }));
  await put('null version', 'before versioning');
  await client.send(new PutBucketVersioningCommand({ Bucket, VersioningConfiguration: { Status: 'Enabled' } }));
  for (let n = 0; n < 3; n += 1) await put('small', `version ${n}`, { Tagging: `n=${n}`, Metadata: { n: `${n}` } });
  await put('large', Buffer.alloc(3 * MiB, 'large'));
  await put('secret', Buffer.alloc(100_000, 'secret'), { ServerSideEncryption: 'AES256' });
  await put('small secret', 'secret', { ServerSideEncryption: 'AES256' });
  await put('empty', '');
  await client.send(new DeleteObjectCommand({ Bucket, Key: 'null version' }));
  await client.send(new DeleteObjectCommand({ Bucket, Key: 'gone' }));
  for (let n = 0; n < 25; n += 1) await put(`many/${n}`, Buffer.alloc(50_000, `${n}`));
  const parts = await open(client, 'parts', [5 * MiB, 100]);
  const MultipartUpload = { Parts: parts.etags.map((ETag, at) => ({ ETag, PartNumber: at + 1 })) };
  await client.send(new CompleteMultipartUploadCommand({ Bucket, Key: 'parts', UploadId: parts.id, MultipartUpload }));
  await open(client, 'open', [5 * MiB, 70_000, 10]);
  await client.send(new CreateBucketCommand({ Bucket: Locked, ObjectLockEnabledForBucket: true }));
  const lock = { ObjectLockMode: 'GOVERNANCE', ObjectLockRetainUntilDate: new Date(Date.now() + 86_400_000) } as const;
  await client.send(new PutObjectCommand({ Bucket: Locked, Key: 'kept', Body: 'kept', ...lock }));
  await client.send(new PutObjectLegalHoldCommand({ Bucket: Locked, Key: 'kept', LegalHold: { Status: 'ON' } }));
  ci = await makeKey(data, 'shop:ci@acme');
  client.destroy();
  expect(await service.stop()).toBe(0);
}

async function open(
  client: S3Client,
  Key: string,
  sizes: readonly number[],
): Promise<{ readonly id: string; readonly etags: readonly string[] }> {
  const { UploadId } = await client.send(new CreateMultipartUploadCommand({ Bucket, Key }));
  const etags: string[] = [];
  for (const [at, size] of sizes.entries()) {
    const part = { Bucket, Key, UploadId, PartNumber: at + 1, Body: Buffer.alloc(size, String(at)) };
    etags.push((await client.send(new UploadPartCommand(part))).ETag!);
  }
  return { id: UploadId!, etags };
}

/** What clients see of a service, by its listings and the bytes of each version. */
async function seen(service: Service): Promise<unknown> {
  const client = sdk(service, alice);
  const all: unknown[] = [];
  for (const bucket of [Bucket, Locked]) {
    const { Versions = [], DeleteMarkers = [] } = await client.send(new ListObjectVersionsCommand({ Bucket: bucket }));
    all.push(
      DeleteMarkers.map(({ Key, VersionId, IsLatest, LastModified }) => ({ Key, VersionId, IsLatest, LastModified })),
    );
    for (const { Key, VersionId, IsLatest, ETag, LastModified } of Versions) {
      const version = { Bucket: bucket, Key, VersionId };
      const { Body, Metadata, ServerSideEncryption } = await client.send(new GetObjectCommand(version));
      const md5 = createHash('md5')
        .update(await Body!.transformToByteArray())
        .digest('hex');
      const { TagSet } = await client.send(new GetObjectTaggingCommand(version));
      all.push({ Key, VersionId, IsLatest, ETag, LastModified, Metadata, ServerSideEncryption, md5, TagSet });
    }
  }
  const locked = { Bucket: Locked, Key: 'kept' };
  all.push((await client.send(new GetObjectRetentionCommand(locked))).Retention);
  all.push((await client.send(new GetObjectLegalHoldCommand(locked))).LegalHold);
  for (const { Key, UploadId } of (await client.send(new ListMultipartUploadsCommand({ Bucket }))).Uploads ?? []) {
    const { Parts = [] } = await client.send(new ListPartsCommand({ Bucket, Key, UploadId }));
    all.push({ Key, UploadId, parts: Parts.map(({ ETag, Size, LastModified }) => ({ ETag, Size, LastModified })) });
  }
  client.destroy();
  return all;
}

/** Serves what is in a place, without making anything, while `work` runs. */
async function serving<Result>(args: readonly string[], work: (service: Service) => Promise<Result>): Promise<Result> {
  const isShared = args.includes('--table');
  const service = await startService({ ...(isShared ? { args } : { data: args[1]! }), accounts: false, env });
  try {
    return await work(service);
  } finally {
    expect(await service.stop()).toBe(0);
  }
}

/** Returns a copy of the source. */
async function copyOfSource(name: string): Promise<string> {
  const copy = join(folder, name);
  await cp(data, copy, { recursive: true });
  return copy;
}

describe('stillage migrate', () => {
  it('keeps versions, locks, tags, open uploads, encryption, keys and counters, there and back', async () => {
    const there = shared('there');
    const before = await serving(['--data', data], seen);
    const began = performance.now();
    const { code, stdout, stderr } = await runProgram(['migrate', '--json', '--data', data, ...there], { env });
    whole = performance.now() - began;
    expect(code, stderr).toBe(0);
    expect(JSON.parse(stdout)).toMatchObject({ damaged: 0, blobsBefore: 0, examples: [] });
    const used = async (place: Place): Promise<unknown> =>
      (await administer<{ used: object }>(place, 'quota', 'show', Bucket)).used;
    const usedBefore = await used({ args: ['--data', data], env: {} });
    const after = await serving(there, async (service) => {
      expect(await seen(service)).toEqual(before);
      const place = { args: [...there.slice(0, 2), ...there.slice(4)], env: {} };
      expect(await used(place)).toEqual(usedBefore);
      // Counted, as the feed goes on after the positions that the counters know.
      const client = sdk(service, alice);
      await client.send(new PutObjectCommand({ Bucket, Key: 'later', Body: 'x'.repeat(1000) }));
      const [upload] = (await client.send(new ListMultipartUploadsCommand({ Bucket }))).Uploads!;
      await completed(client, upload!.UploadId!);
      await eventually(async () =>
        expect(await used(place)).toMatchObject({ objects: (usedBefore as { objects: number }).objects + 2 }),
      );
      const own = sdk(service, ci);
      expect((await own.send(new ListBucketsCommand())).Buckets).toEqual([]);
      [client, own].forEach((one) => one.destroy());
      return seen(service);
    });

    const back = join(folder, 'back');
    expect(await migrated('--back', '--data', back, ...there)).toMatchObject({ damaged: 0, examples: [] });
    const usedThere = await used({ args: [...there.slice(0, 2), ...there.slice(4)], env: {} });
    await serving(['--data', back], async (service) => {
      expect(await seen(service)).toEqual(after);
      const client = sdk(service, alice);
      await client.send(new PutObjectCommand({ Bucket, Key: 'last', Body: 'last' }));
      const own = sdk(service, ci);
      expect((await own.send(new ListBucketsCommand())).Buckets).toEqual([]);
      [client, own].forEach((one) => one.destroy());
    });
    expect(await used({ args: ['--data', back], env: {} })).toMatchObject({
      objects: (usedThere as { objects: number }).objects + 1,
    });
    // Small blobs are in the table again: of the others, each has a file.
    const files = (await readdir(join(back, 'blobs'), { recursive: true })).filter((name) => name.includes('/'));
    expect(files.length).toBe(25 + ['large', 'secret', 'parts', 'open'].length);
    const scrubbed = await runWarm(['scrub', '--content', '--data', back]);
    expect(scrubbed.stdout).toContain('everything is consistent');
    expect(await migrated('--back', '--data', back, ...there)).toMatchObject({ isEarlier: true });
  });

  it('goes on after kills, in both directions, and ends the same', async () => {
    const source = await copyOfSource('killed');
    const there = shared('killed');
    const before = await serving(['--data', source], seen);
    // A moment of a whole migration, after the program has loaded; before the back one, it waits whether a server uses the table.
    const moment = (wait: number): number => wait + whole * (0.3 + 0.6 * Math.random());
    for (let kill = 0; kill < kills; kill += 1) {
      await runProgram(['migrate', '--data', source, ...there], { env, killAfter: moment(0) });
    }
    await migrated('--data', source, ...there);
    await serving(there, async (service) => expect(await seen(service)).toEqual(before));

    const back = join(folder, 'killed back');
    for (let kill = 0; kill < kills; kill += 1) {
      await runProgram(['migrate', '--back', '--data', back, ...there], { env, killAfter: moment(3000) });
    }
    await migrated('--back', '--data', back, ...there);
    await serving(['--data', back], async (service) => expect(await seen(service)).toEqual(before));
  });

  it('reports a damaged blob, is not finished, and nothing starts on what it has copied', async () => {
    const source = await copyOfSource('damaged');
    const there = shared('damaged');
    const path = (await readdir(join(source, 'blobs'), { recursive: true })).map((name) => join(source, 'blobs', name));
    const sizes = await Promise.all(path.map(async (file) => (await stat(file)).size));
    const large = path[sizes.findIndex((size) => size > 3 * MiB && size < 4 * MiB)]!;
    const sound = await readFile(large);
    const damaged = Buffer.from(sound);
    damaged[2_000_000]! ^= 1;
    await writeFile(large, damaged);
    const { code, stdout, stderr } = await migrating('--data', source, ...there);
    expect([code, stderr]).toEqual([1, expect.stringContaining(`damaged  ${Bucket}/large: `)]);
    expect(JSON.parse(stdout)).toMatchObject({ damaged: 1, examples: [{ where: `${Bucket}/large` }] });
    const words = ['start', '--port', '0', '--console-port', '0', ...there];
    const start = await runProgram(words, { env });
    expect([start.code, start.stderr]).toEqual([1, expect.stringContaining('a migration into it has not ended')]);
    await writeFile(large, sound);
    expect(await migrated('--data', source, ...there)).toMatchObject({ damaged: 0, blobs: 1 });
  });

  it('refuses what is used, not empty or encrypted with another key, in one line', async () => {
    const source = await copyOfSource('refused');
    const there = shared('refused');
    await serving(['--data', source], async () => {
      expect(await refusal('--data', source, ...there)).toMatch(/serves .*: stop it first/);
    });
    const otherKey = join(folder, 'other key');
    await writeFile(otherKey, Buffer.alloc(32, 1), { mode: 0o600 });
    expect(await refusal('--data', source, ...shared('refused', otherKey))).toContain('--key-file');
    expect(await refusal('--data', join(folder, 'nothing'), ...there)).toContain('is not a data directory');
    // A service with the same key.
    const key = join(folder, 'key of the source');
    await copyFile(join(source, 'master.key'), key);
    const used = shared('used', key);
    await serving(used, async () => {
      expect(await refusal('--data', source, ...used)).toContain('is not empty');
      expect(await refusal('--back', '--data', join(folder, 'new'), ...used)).toContain('a server uses the table');
    });
    expect(await refusal('--back', '--data', source, ...used)).toContain('is not empty');
    const { code, stderr } = await migrating('--data', source, '--table', there[1]!);
    expect([code, stderr]).toEqual([2, expect.stringContaining('are needed together')]);
  });
});

/** Completes the open upload of the source with all of its parts. */
async function completed(client: S3Client, UploadId: string): Promise<void> {
  const { Parts = [] } = await client.send(new ListPartsCommand({ Bucket, Key: 'open', UploadId }));
  // Parts but the last one have 5 MiB at least.
  const chosen = [Parts[0]!, Parts[2]!].map(({ ETag, PartNumber }) => ({ ETag, PartNumber }));
  await client.send(
    new CompleteMultipartUploadCommand({ Bucket, Key: 'open', UploadId, MultipartUpload: { Parts: chosen } }),
  );
}
