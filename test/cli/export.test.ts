import { spawn } from 'node:child_process';
import { once } from 'node:events';
import type { IncomingMessage } from 'node:http';
import { join } from 'node:path';
import {
  CompleteMultipartUploadCommand,
  CreateBucketCommand,
  CreateMultipartUploadCommand,
  DeleteObjectCommand,
  GetBucketCorsCommand,
  GetBucketVersioningCommand,
  GetObjectCommand,
  GetObjectTaggingCommand,
  HeadObjectCommand,
  ListMultipartUploadsCommand,
  ListObjectVersionsCommand,
  PutBucketCorsCommand,
  PutBucketEncryptionCommand,
  PutBucketNotificationConfigurationCommand,
  PutBucketVersioningCommand,
  PutObjectCommand,
  UploadPartCommand,
  type ObjectVersion,
  type S3Client,
} from '@aws-sdk/client-s3';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { answerAsCeph } from '../support/programs/ceph-manners.ts';
import type { LyingProxy } from '../support/programs/lying-proxy.ts';
import type { Run } from '../support/programs/program.ts';
import { runWarm } from '../support/programs/warm-program.ts';
import type { Service } from '../support/programs/server.ts';
import { createVersioned, startTwoStores, storeEnvironment, type TwoStores } from '../support/programs/two-stores.ts';
import { untilFound } from '../support/runs/eventually.ts';

let stores: TwoStores;
let service: Service;
let store: Service;
let proxy: LyingProxy;
let here: S3Client;
let there: S3Client;
beforeAll(async () => {
  stores = await startTwoStores();
  ({ service, store, proxy, here, there } = stores);
});
afterAll(() => stores.stop());

const argsOf = (bucket: string, url: string): readonly string[] => [
  'export',
  `s3://${bucket}?endpoint=${url}&region=us-east-1`,
  ...['--data', service.data, '--json'],
];
const run = (bucket: string, more: readonly string[] = [], url = store.url): Promise<Run> =>
  runWarm([...argsOf(bucket, url), ...more], storeEnvironment);

/** Exports a bucket, and returns the report. */
async function exported(bucket: string, more: readonly string[] = [], url = store.url): Promise<object> {
  const { code, stdout, stderr } = await run(bucket, more, url);
  expect([code, code === 0 ? '' : stderr]).toEqual([0, '']);
  return JSON.parse(stdout) as object;
}

const versioned = (bucket: string): Promise<void> => createVersioned(here, bucket);

/** What a bucket holds, key by key, newest first; without times and ids. */
async function listed(client: S3Client, Bucket: string) {
  const { Versions = [], DeleteMarkers = [] } = await client.send(new ListObjectVersionsCommand({ Bucket }));
  const rows: readonly ObjectVersion[] = [...Versions, ...DeleteMarkers];
  // Ids of versions are in the order of their times.
  const order = (a: ObjectVersion, b: ObjectVersion): number =>
    a.Key!.localeCompare(b.Key!) || Number(b.IsLatest) - Number(a.IsLatest) || (a.VersionId! < b.VersionId! ? 1 : -1);
  return rows.toSorted(order).map(({ Key, IsLatest, ETag, Size }) => ({ Key, IsLatest, ETag, Size }));
}

describe('an export', () => {
  it('keeps versions in order, ETags, delete markers, metadata, tags, grants, parts and settings', async () => {
    const Bucket = 'versions';
    await versioned(Bucket);
    await here.send(
      new PutObjectCommand({
        ...{ Bucket, Key: 'ä/a+b c', Body: 'first', Metadata: { who: 'bob' }, Tagging: 'k=v%2Bw&l=' },
        ...{ ContentType: 'text/plain', CacheControl: 'no-store', StorageClass: 'STANDARD_IA', ACL: 'public-read' },
        ...{ ChecksumAlgorithm: 'SHA256' as const },
      }),
    );
    await here.send(new DeleteObjectCommand({ Bucket, Key: 'ä/a+b c' }));
    for (const Body of ['same', 'same', 'last'])
      await here.send(new PutObjectCommand({ Bucket, Key: 'ä/a+b c', Body }));
    await here.send(new PutObjectCommand({ Bucket, Key: 'empty', Body: '', ContentLength: 0 }));
    const { UploadId } = await here.send(
      new CreateMultipartUploadCommand({ Bucket, Key: 'parts', Metadata: { is: 'kept' } }),
    );
    const Parts = [];
    for (const [at, size] of [6_000_000, 5_500_000, 10].entries()) {
      const [PartNumber, Body] = [at + 1, Buffer.alloc(size, at)];
      const { ETag } = await here.send(new UploadPartCommand({ Bucket, Key: 'parts', UploadId, PartNumber, Body }));
      Parts.push({ ETag, PartNumber });
    }
    await here.send(new CompleteMultipartUploadCommand({ Bucket, Key: 'parts', UploadId, MultipartUpload: { Parts } }));
    const rule = { AllowedMethods: ['GET'], AllowedOrigins: ['https://example.com'] };
    await here.send(new PutBucketCorsCommand({ Bucket, CORSConfiguration: { CORSRules: [rule] } }));

    expect(await exported(Bucket)).toMatchObject({
      ...{ versions: 6, markers: 1, same: 0, settings: 1, examples: [] },
      notKept: 'times and version ids, which no S3 takes from others',
    });
    expect(await listed(there, Bucket)).toEqual(await listed(here, Bucket));
    const { Versions = [] } = await there.send(new ListObjectVersionsCommand({ Bucket }));
    const { VersionId, Key } = Versions.find(({ Size }) => Size === 5)!;
    const read = await there.send(new GetObjectCommand({ Bucket, Key, VersionId, ChecksumMode: 'ENABLED' }));
    expect(await read.Body!.transformToString()).toBe('first');
    expect(read).toMatchObject({
      ...{ Metadata: { who: 'bob' }, ContentType: 'text/plain', CacheControl: 'no-store' },
      ...{ StorageClass: 'STANDARD_IA', ChecksumSHA256: expect.any(String) as string },
    });
    const { TagSet } = await there.send(new GetObjectTaggingCommand({ Bucket, Key, VersionId }));
    expect(TagSet).toEqual([
      { Key: 'k', Value: 'v+w' },
      { Key: 'l', Value: '' },
    ]);
    const open = await fetch(`${store.url}/${Bucket}/${encodeURIComponent(Key!)}?versionId=${VersionId}`);
    expect([open.status, await open.text()]).toEqual([200, 'first']);
    const ofPart = await there.send(new HeadObjectCommand({ Bucket, Key: 'parts', PartNumber: 2 }));
    expect(ofPart).toMatchObject({ PartsCount: 3, ContentLength: 5_500_000, Metadata: { is: 'kept' } });
    expect((await there.send(new GetBucketCorsCommand({ Bucket }))).CORSRules).toEqual([rule]);

    await here.send(new PutObjectCommand({ Bucket, Key: 'empty', Body: 'new' }));
    expect(await exported(Bucket)).toMatchObject({ versions: 1, markers: 0, same: 7, settings: 0, examples: [] });
    expect(await listed(there, Bucket)).toEqual(await listed(here, Bucket));
  });

  it('follows objects without versions, and leaves alone what is only there unless it is told to remove it', async () => {
    const Bucket = 'plain';
    await here.send(new CreateBucketCommand({ Bucket }));
    for (const Key of ['a', 'b', 'c']) await here.send(new PutObjectCommand({ Bucket, Key, Body: Key }));
    await exported(Bucket);
    await here.send(new PutObjectCommand({ Bucket, Key: 'a', Body: 'new' }));
    await here.send(new DeleteObjectCommand({ Bucket, Key: 'b' }));
    const trial = JSON.parse((await run(Bucket, ['--dry-run'])).stdout) as object;
    expect(trial).toMatchObject({ versions: 0, same: 1, differences: { missing: 1, extra: 1 } });
    expect(await exported(Bucket)).toMatchObject({ versions: 1, same: 1, differences: { extra: 1 } });
    expect(await exported(Bucket, ['--delete'])).toMatchObject({ versions: 0, same: 2, removed: 1, examples: [] });
    expect(await listed(there, Bucket)).toEqual(await listed(here, Bucket));
  });

  it('suspends versioning only once all is there, and tells of null versions', async () => {
    const Bucket = 'suspended';
    await versioned(Bucket);
    await here.send(new PutObjectCommand({ Bucket, Key: 'a', Body: 'named' }));
    await here.send(new PutBucketVersioningCommand({ Bucket, VersioningConfiguration: { Status: 'Suspended' } }));
    await here.send(new PutObjectCommand({ Bucket, Key: 'a', Body: 'null' }));
    expect(await exported(Bucket)).toMatchObject({
      versions: 2,
      examples: [{ kind: 'changed', bucket: Bucket, what: expect.stringMatching(/1 null version/) as string }],
    });
    expect(await listed(there, Bucket)).toEqual(await listed(here, Bucket));
    expect((await there.send(new GetBucketVersioningCommand({ Bucket }))).Status).toBe('Suspended');
    expect(await exported(Bucket)).toMatchObject({ versions: 0, same: 2, examples: [] });
  });

  it('goes on after a kill, and copies nothing twice', async () => {
    const Bucket = 'killed';
    await versioned(Bucket);
    const Body = Buffer.alloc(20_000, 'x');
    for (let n = 0; n < 40; n += 1) await here.send(new PutObjectCommand({ Bucket, Key: `key-${n % 20}`, Body }));
    const child = spawn(process.execPath, ['bin/stillage.cjs', ...argsOf(Bucket, store.url), '--rate', '200kB'], {
      cwd: join(import.meta.dirname, '../..'),
      env: { ...process.env, ...storeEnvironment },
      stdio: ['ignore', 'ignore', 'pipe'],
    });
    let told = '';
    child.stderr.setEncoding('utf8').on('data', (text: string) => (told += text));
    await untilFound(() => /[1-9] versions copied/.test(told));
    child.kill('SIGKILL');
    await once(child, 'close');
    const report = (await exported(Bucket)) as { readonly same: number; readonly versions: number };
    expect(report.same).toBeGreaterThan(1);
    expect(report.versions).toBeGreaterThan(0);
    expect(report.same + report.versions).toBe(40);
    expect(await listed(there, Bucket)).toEqual(await listed(here, Bucket));
  });

  it('copies nothing twice to a target that fails now and then, before or after it has written', async () => {
    const Bucket = 'failing';
    await versioned(Bucket);
    for (const Body of ['1', '2']) {
      for (const Key of ['a', 'b', 'c', 'd']) await here.send(new PutObjectCommand({ Bucket, Key, Body }));
    }
    await here.send(new DeleteObjectCommand({ Bucket, Key: 'a' }));
    let [writes, failures] = [0, 0];
    const numbers = new WeakMap<IncomingMessage, number>();
    /** Fails one of nine writes in each of three ways. */
    const fails = (request: IncomingMessage, rest: number): boolean => {
      const isWrite = /^(?:PUT|DELETE)$/.test(request.method!) && /\/failing\/[a-d]/.test(request.url!);
      if (isWrite && !numbers.has(request)) numbers.set(request, (writes += 1));
      const failing = isWrite && numbers.get(request)! % 9 === rest;
      if (failing) failures += 1;
      return failing;
    };
    proxy.refuse = (request, response) => {
      if (!fails(request, 1)) return false;
      request.resume().once('end', () => response.writeHead(503).end());
      return true;
    };
    proxy.lie = (request, told) => {
      if (fails(request, 4)) return { ...told, status: 500, body: Buffer.alloc(0), isWhole: true };
      return fails(request, 7) ? 'lost' : undefined;
    };
    const report = await exported(Bucket, [], proxy.url);
    [proxy.refuse, proxy.lie] = [undefined, undefined];
    expect(failures).toBeGreaterThan(2);
    expect(report).toMatchObject({ versions: 8, markers: 1, same: 0, differences: { missing: 0 } });
    expect(await listed(there, Bucket)).toEqual(await listed(here, Bucket));
    expect(await exported(Bucket)).toMatchObject({ versions: 0, same: 9, examples: [] });
  });

  it('leaves nothing of what a target answers wrongly for, and copies all the rest', async () => {
    const Bucket = 'lying';
    await versioned(Bucket);
    for (const Key of ['a', 'b', 'c']) await here.send(new PutObjectCommand({ Bucket, Key, Body: Key }));
    proxy.lie = ({ method, url }, told) =>
      method === 'PUT' && url!.includes('/b') ? { ...told, headers: { ...told.headers, etag: '"lie"' } } : undefined;
    const { code, stdout } = await run(Bucket, [], proxy.url);
    proxy.lie = undefined;
    expect([code, JSON.parse(stdout)]).toMatchObject([
      1,
      {
        versions: 2,
        examples: [{ key: 'b', what: expect.stringMatching(/ETag that is not that of its bytes/) as string }],
      },
    ]);
    expect((await listed(there, Bucket)).map(({ Key }) => Key)).toEqual(['a', 'c']);
    const { Uploads = [] } = await there.send(new ListMultipartUploadsCommand({ Bucket }));
    expect(Uploads).toEqual([]);
    expect(await exported(Bucket)).toMatchObject({ versions: 1, same: 2, examples: [] });
  });

  it('copies all buckets of a project', async () => {
    const Bucket = 'one-of-all';
    await here.send(new CreateBucketCommand({ Bucket }));
    await here.send(new PutObjectCommand({ Bucket, Key: 'a', Body: 'a' }));
    expect(await exported('', ['--project', 'main@example.test'])).toMatchObject({ versions: 1, examples: [] });
    expect(await listed(there, Bucket)).toEqual(await listed(here, Bucket));
    expect(await exported('', ['--project', 'other@example.test'])).toMatchObject({ versions: 0, same: 0 });
  });

  it('to Ceph goes on after a kill, copies nothing twice, and tells of all that is not kept there', async () => {
    const Bucket = 'ceph';
    await here.send(new CreateBucketCommand({ Bucket, ObjectLockEnabledForBucket: true }));
    const { stdout } = await runWarm([
      'webhook',
      'add',
      'main@example.test',
      'of-ceph',
      'https://hooks.example.com/x',
      '--data',
      service.data,
      '--json',
    ]);
    const { arn: QueueArn } = JSON.parse(stdout) as { readonly arn: string };
    const rules = { QueueConfigurations: [{ Id: 'all', QueueArn, Events: ['s3:ObjectCreated:*' as const] }] };
    await here.send(
      new PutBucketNotificationConfigurationCommand({
        ...{ Bucket, NotificationConfiguration: rules },
        SkipDestinationValidation: true,
      }),
    );
    const byDefault = { ApplyServerSideEncryptionByDefault: { SSEAlgorithm: 'AES256' as const } };
    await here.send(
      new PutBucketEncryptionCommand({ Bucket, ServerSideEncryptionConfiguration: { Rules: [byDefault] } }),
    );
    const Body = Buffer.alloc(20_000, 'x');
    const keys = Array.from({ length: 20 }, (_, at) => `m%41+ ü&<${at}`);
    for (const Key of keys) await here.send(new PutObjectCommand({ Bucket, Key, Body }));
    await here.send(
      new PutObjectCommand({ Bucket, Key: 'held', Body: 'held', ObjectLockLegalHoldStatus: 'ON', ACL: 'public-read' }),
    );
    // Somebody has made it there, without object lock.
    await createVersioned(there, Bucket);

    answerAsCeph(proxy);
    try {
      const child = spawn(process.execPath, ['bin/stillage.cjs', ...argsOf(Bucket, proxy.url), '--rate', '200kB'], {
        cwd: join(import.meta.dirname, '../..'),
        env: { ...process.env, ...storeEnvironment },
        stdio: ['ignore', 'ignore', 'pipe'],
      });
      let told = '';
      child.stderr.setEncoding('utf8').on('data', (text: string) => (told += text));
      await untilFound(() => /[1-9] versions copied/.test(told));
      child.kill('SIGKILL');
      await once(child, 'close');

      const second = await run(Bucket, [], proxy.url);
      const report = JSON.parse(second.stdout) as {
        readonly same: number;
        readonly versions: number;
        readonly examples: readonly { readonly key?: string; readonly what: string }[];
      };
      expect(second.code).toBe(1);
      expect(report.same).toBeGreaterThan(1);
      expect(report.versions).toBeGreaterThan(0);
      expect(report.same + report.versions).toBe(21);
      expect(await listed(there, Bucket)).toEqual(await listed(here, Bucket));
      const all = told + report.examples.map(({ what }) => what).join('\n');
      for (const what of [
        /copied without its lock, as the bucket has none/,
        /objects are without their checksums, which the target does not keep/,
        /its encryption was accepted, but is not there/,
        /its object-lock is refused/,
        /its notification is refused/,
      ]) {
        expect(all).toMatch(what);
      }
      const open = await fetch(`${store.url}/${Bucket}/held`);
      expect([open.status, await open.text()]).toEqual([200, 'held']);

      const third = await run(Bucket, [], proxy.url);
      expect(JSON.parse(third.stdout)).toMatchObject({ versions: 0, markers: 0, same: 21, settings: 0 });
      expect(await listed(there, Bucket)).toEqual(await listed(here, Bucket));
    } finally {
      [proxy.refuse, proxy.lie] = [undefined, undefined];
    }
  });

  it('is refused in one line where nothing can be copied', async () => {
    const cases = [
      ['missing', [], {}, 1, /there is no bucket missing here/],
      ['plain', [], { AWS_SECRET_ACCESS_KEY: 'wrong' }, 1, /cannot use plain of/],
      ['', ['--bucket', 'one'], {}, 2, /names one bucket/],
    ] as const;
    for (const [bucket, more, environment, exitCode, reason] of cases) {
      const { code, stderr } = await runWarm([...argsOf(bucket, store.url), ...more], {
        ...storeEnvironment,
        ...environment,
      });
      expect([code, stderr]).toEqual([exitCode, expect.stringMatching(/^stillage: [^\n]*\n$/)]);
      expect(stderr).toMatch(reason);
    }
  });
});
