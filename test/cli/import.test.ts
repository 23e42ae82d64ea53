import { spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import type { IncomingMessage } from 'node:http';
import { join } from 'node:path';
import {
  CompleteMultipartUploadCommand,
  PutBucketCorsCommand,
  PutBucketTaggingCommand,
  PutObjectLockConfigurationCommand,
  PutBucketPolicyCommand,
  PutBucketLifecycleConfigurationCommand,
  PutBucketAclCommand,
  GetBucketCorsCommand,
  GetBucketTaggingCommand,
  GetObjectLockConfigurationCommand,
  GetBucketPolicyCommand,
  GetBucketLifecycleConfigurationCommand,
  GetBucketAclCommand,
  CreateBucketCommand,
  CreateMultipartUploadCommand,
  DeleteObjectCommand,
  GetObjectCommand,
  GetObjectTaggingCommand,
  HeadObjectCommand,
  ListObjectVersionsCommand,
  PutObjectCommand,
  UploadPartCommand,
  type ObjectVersion,
  type S3Client,
} from '@aws-sdk/client-s3';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { sdk } from '../support/clients/clients.ts';
import type { Lie, LyingProxy } from '../support/programs/lying-proxy.ts';
import type { Run } from '../support/programs/program.ts';
import { runWarm } from '../support/programs/warm-program.ts';
import { untilFound } from '../support/runs/eventually.ts';
import { bob, type Service } from '../support/programs/server.ts';
import { createVersioned, startTwoStores, storeEnvironment, type TwoStores } from '../support/programs/two-stores.ts';

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

const sourceOf = (bucket: string): string => `s3://${bucket}?endpoint=${store.url}&region=us-east-1`;
const run = (bucket: string, more: readonly string[] = [], environment = {}): Promise<Run> =>
  runWarm(['import', sourceOf(bucket), '--data', service.data, '--project', 'main@example.test', '--json', ...more], {
    ...storeEnvironment,
    ...environment,
  });

/** Imports a bucket, and returns the report. */
async function imported(bucket: string, more: readonly string[] = []): Promise<Record<string, unknown>> {
  const { code, stdout, stderr } = await run(bucket, more);
  expect([code, code === 0 ? '' : stderr]).toEqual([0, '']);
  return JSON.parse(stdout) as Record<string, unknown>;
}

const versioned = (bucket: string): Promise<void> => createVersioned(there, bucket);

/** What a listing of versions tells, without ids. */
async function listed(client: S3Client, Bucket: string) {
  const { Versions = [], DeleteMarkers = [] } = await client.send(new ListObjectVersionsCommand({ Bucket }));
  const rows: readonly ObjectVersion[] = [...Versions, ...DeleteMarkers];
  const shown = rows.map((one) => ({
    ...{ key: one.Key, at: one.LastModified?.getTime(), latest: one.IsLatest, isNull: one.VersionId === 'null' },
    ...{ etag: one.ETag, size: one.Size },
  }));
  return shown.toSorted((a, b) => a.at! - b.at!);
}

const source = (bucket: string): string => `s3://${bucket}?endpoint=${proxy.url}&region=us-east-1`;
const runThrough = async (bucket: string): Promise<Run> =>
  runWarm(
    ['import', source(bucket), '--data', service.data, '--project', 'main@example.test', '--json'],
    storeEnvironment,
  );

describe('an import', () => {
  it('keeps versions in order, their times and ETags, delete markers, metadata, tags and parts', async () => {
    const Bucket = 'versions';
    await there.send(new CreateBucketCommand({ Bucket }));
    await there.send(new PutObjectCommand({ Bucket, Key: 'a', Body: 'null version' }));
    await versioned(Bucket);
    await there.send(
      new PutObjectCommand({
        ...{ Bucket, Key: 'a', Body: 'second', Metadata: { who: 'bob' }, Tagging: 'k=v&l=w' },
        ...{ ContentType: 'text/plain', CacheControl: 'no-store', ContentDisposition: 'inline' },
        ...{ StorageClass: 'STANDARD_IA', ACL: 'public-read', ServerSideEncryption: 'AES256' },
      }),
    );
    await there.send(new DeleteObjectCommand({ Bucket, Key: 'a' }));
    await there.send(new PutObjectCommand({ Bucket, Key: 'a', Body: 'third' }));
    await there.send(new DeleteObjectCommand({ Bucket, Key: 'gone' }));
    await there.send(new PutObjectCommand({ Bucket, Key: 'empty', Body: '', ContentLength: 0 }));
    const { UploadId } = await there.send(new CreateMultipartUploadCommand({ Bucket, Key: 'parts' }));
    const part = (PartNumber: number, bytes: number) => {
      const Body = Buffer.alloc(bytes, String(PartNumber));
      return there.send(new UploadPartCommand({ Bucket, Key: 'parts', UploadId, PartNumber, Body }));
    };
    const [one, two, three] = [await part(1, 6_000_000), await part(2, 5_500_000), await part(3, 10)];
    const Parts = [one, two, three].map(({ ETag }, at) => ({ ETag, PartNumber: at + 1 }));
    await there.send(
      new CompleteMultipartUploadCommand({ Bucket, Key: 'parts', UploadId, MultipartUpload: { Parts } }),
    );

    expect(await imported(Bucket)).toMatchObject({ versions: 5, markers: 2, same: 0, examples: [] });
    expect(await listed(here, Bucket)).toEqual(await listed(there, Bucket));
    const second = (await here.send(new ListObjectVersionsCommand({ Bucket }))).Versions!.find(
      ({ Size, Key }) => Key === 'a' && Size === 6,
    )!;
    const read = await here.send(new GetObjectCommand({ Bucket, Key: 'a', VersionId: second.VersionId }));
    expect(await read.Body!.transformToString()).toBe('second');
    expect(read).toMatchObject({
      ...{ Metadata: { who: 'bob' }, ContentType: 'text/plain', CacheControl: 'no-store' },
      ...{ ContentDisposition: 'inline', StorageClass: 'STANDARD_IA', ServerSideEncryption: 'AES256', TagCount: 2 },
    });
    const { TagSet } = await here.send(new GetObjectTaggingCommand({ Bucket, Key: 'a', VersionId: second.VersionId }));
    expect(TagSet).toEqual([
      { Key: 'k', Value: 'v' },
      { Key: 'l', Value: 'w' },
    ]);
    const ofPart = await here.send(new HeadObjectCommand({ Bucket, Key: 'parts', PartNumber: 2 }));
    expect(ofPart).toMatchObject({ PartsCount: 3, ContentLength: 5_500_000 });
    const open = await fetch(`${service.url}/${Bucket}/a?versionId=${second.VersionId}`);
    expect([open.status, await open.text()]).toEqual([200, 'second']);

    expect(await imported(Bucket)).toMatchObject({ versions: 0, markers: 0, same: 7, examples: [] });
    await there.send(new PutObjectCommand({ Bucket, Key: 'a', Body: 'fourth' }));
    expect(await imported(Bucket)).toMatchObject({ versions: 1, same: 7, examples: [] });
    expect(await listed(here, Bucket)).toEqual(await listed(there, Bucket));
    const scrubbed = await runWarm(['scrub', '--content', '--data', service.data]);
    expect(scrubbed.stdout).toContain('everything is consistent');
  });

  it('goes on after a kill, copies nothing twice, and follows the rate', async () => {
    const Bucket = 'killed';
    await versioned(Bucket);
    const Body = Buffer.alloc(20_000, 'x');
    for (let n = 0; n < 60; n += 1) {
      await there.send(new PutObjectCommand({ Bucket, Key: `key-${n % 20}`, Body }));
    }
    const args = ['import', sourceOf(Bucket), '--data', service.data, '--project', 'main@example.test'];
    for (const rate of ['200kB', '300kB']) {
      const child = spawn(process.execPath, ['bin/stillage.cjs', ...args, '--rate', rate], {
        cwd: join(import.meta.dirname, '../..'),
        env: { ...process.env, ...storeEnvironment },
        stdio: ['ignore', 'ignore', 'pipe'],
      });
      let told = '';
      child.stderr.setEncoding('utf8').on('data', (text: string) => (told += text));
      await untilFound(() => /[1-9] versions copied/.test(told));
      child.kill('SIGKILL');
      await once(child, 'close');
    }
    const report = await imported(Bucket);
    expect(report['same']).toBeGreaterThan(1);
    expect(report['versions']).toBeGreaterThan(0);
    expect((report['same'] as number) + (report['versions'] as number)).toBe(60);
    expect(await listed(here, Bucket)).toEqual(await listed(there, Bucket));
    const usage = JSON.parse((await runWarm(['bucket', 'list', '--data', service.data, '--json'])).stdout) as [];
    expect(usage).toContainEqual(expect.objectContaining({ bucket: Bucket, objects: 60, bytes: 1_200_000 }));
  });

  it('takes any key', async () => {
    const Bucket = 'keys';
    await there.send(new CreateBucketCommand({ Bucket }));
    const keys = [
      '../up',
      'a/../b',
      './x',
      '/',
      'a//b',
      'é ü+%2B',
      'line\nfeed\r',
      'tab\t',
      '"<&>\'',
      '\u{1F600}',
      'k'.repeat(1024),
      '%',
      '?x=y#z',
    ];
    for (const Key of keys) await there.send(new PutObjectCommand({ Bucket, Key, Body: Key }));
    expect(await imported(Bucket)).toMatchObject({ versions: keys.length, examples: [] });
    for (const Key of keys) {
      const { Body } = await here.send(new GetObjectCommand({ Bucket, Key }));
      expect(await Body!.transformToString()).toBe(Key);
    }
  });

  it('reports what it cannot read, and goes on with the rest', async () => {
    const Bucket = 'sealed';
    await versioned(Bucket);
    const key = Buffer.alloc(32, 7);
    await there.send(new PutObjectCommand({ Bucket, Key: 'a', Body: 'open' }));
    await there.send(
      new PutObjectCommand({
        ...{ Bucket, Key: 'a', Body: 'sealed', SSECustomerAlgorithm: 'AES256' },
        ...{
          SSECustomerKey: key.toString('base64'),
          SSECustomerKeyMD5: createHash('md5').update(key).digest('base64'),
        },
      }),
    );
    await there.send(new PutObjectCommand({ Bucket, Key: 'a', Body: 'open again' }));
    const first = await run(Bucket);
    expect([first.code, JSON.parse(first.stdout)]).toMatchObject([
      1,
      {
        versions: 2,
        differences: { missing: 1 },
        examples: [{ key: 'a', what: expect.stringContaining('SSE-C') as string }],
      },
    ]);
    const again = await run(Bucket);
    expect(JSON.parse(again.stdout)).toMatchObject({ versions: 0, same: 2, differences: { missing: 1 } });
  });

  it('leaves alone what was written here, unless it is told to remove that', async () => {
    const Bucket = 'both';
    await versioned(Bucket);
    await there.send(new PutObjectCommand({ Bucket, Key: 'a', Body: '1' }));
    await imported(Bucket);
    await here.send(new PutObjectCommand({ Bucket, Key: 'a', Body: 'mine' }));
    await here.send(new PutObjectCommand({ Bucket, Key: 'mine', Body: 'mine' }));
    await there.send(new PutObjectCommand({ Bucket, Key: 'a', Body: '2' }));
    const { code, stdout } = await run(Bucket);
    expect([code, JSON.parse(stdout)]).toMatchObject([1, { versions: 0, differences: { missing: 1, extra: 2 } }]);
    const trial = await run(Bucket, ['--delete', '--dry-run']);
    expect(JSON.parse(trial.stdout)).toMatchObject({ versions: 0, removed: 0, differences: { missing: 1, extra: 2 } });
    expect(await imported(Bucket, ['--delete'])).toMatchObject({ versions: 1, removed: 2, examples: [] });
    expect(await listed(here, Bucket)).toEqual(await listed(there, Bucket));
  });

  it('follows an object without versions that was replaced or removed', async () => {
    const Bucket = 'plain';
    await there.send(new CreateBucketCommand({ Bucket }));
    for (const Key of ['a', 'b', 'c']) await there.send(new PutObjectCommand({ Bucket, Key, Body: Key }));
    await imported(Bucket);
    await there.send(new PutObjectCommand({ Bucket, Key: 'a', Body: 'new' }));
    await there.send(new DeleteObjectCommand({ Bucket, Key: 'b' }));
    expect(await imported(Bucket, ['--delete'])).toMatchObject({ versions: 1, same: 1, removed: 1 });
    expect(await listed(here, Bucket)).toEqual(await listed(there, Bucket));
    await here.send(new PutObjectCommand({ Bucket, Key: 'a', Body: 'newer here' }));
    expect((await run(Bucket)).code).toBe(1);
    const { Body } = await here.send(new GetObjectCommand({ Bucket, Key: 'a' }));
    expect(await Body!.transformToString()).toBe('newer here');
  });

  it('copies the settings of buckets, and reports what cannot be the same here', async () => {
    const Bucket = 'settings';
    await there.send(new CreateBucketCommand({ Bucket, ObjectLockEnabledForBucket: true }));
    const rule = { AllowedMethods: ['GET'], AllowedOrigins: ['https://example.com'] };
    await there.send(new PutBucketCorsCommand({ Bucket, CORSConfiguration: { CORSRules: [rule] } }));
    await there.send(new PutBucketTaggingCommand({ Bucket, Tagging: { TagSet: [{ Key: 'k', Value: 'v' }] } }));
    await there.send(
      new PutObjectLockConfigurationCommand({
        Bucket,
        ObjectLockConfiguration: {
          ObjectLockEnabled: 'Enabled',
          Rule: { DefaultRetention: { Mode: 'GOVERNANCE', Days: 1 } },
        },
      }),
    );
    const statement = {
      Effect: 'Allow',
      Principal: '*',
      Action: 's3:GetObject',
      Resource: `arn:aws:s3:::${Bucket}/open/*`,
    };
    const Policy = JSON.stringify({ Version: '2012-10-17', Statement: [statement] });
    await there.send(new PutBucketPolicyCommand({ Bucket, Policy }));
    await there.send(
      new PutBucketLifecycleConfigurationCommand({
        Bucket,
        LifecycleConfiguration: {
          Rules: [{ ID: 'old', Status: 'Enabled', Filter: { Prefix: 'tmp/' }, Expiration: { Days: 3 } }],
        },
      }),
    );
    await there.send(new PutBucketAclCommand({ Bucket, ACL: 'public-read' }));
    await there.send(new PutObjectCommand({ Bucket, Key: 'locked', Body: 'x' }));
    expect(await imported(Bucket)).toMatchObject({ versions: 1, settings: 6, examples: [] });
    const of = { Bucket };
    const shown = async (client: S3Client) => [
      (await client.send(new GetBucketCorsCommand(of))).CORSRules,
      (await client.send(new GetBucketTaggingCommand(of))).TagSet,
      (await client.send(new GetObjectLockConfigurationCommand(of))).ObjectLockConfiguration,
    ];
    expect(await shown(here)).toEqual(await shown(there));
    expect((await here.send(new GetBucketPolicyCommand(of))).Policy).toBe(Policy);
    expect((await here.send(new GetBucketLifecycleConfigurationCommand(of))).Rules).toMatchObject([{ ID: 'old' }]);
    expect((await here.send(new GetBucketAclCommand(of))).Grants).toHaveLength(2);
    const [own, theirs] = [here, there].map((one) => one.send(new HeadObjectCommand({ Bucket, Key: 'locked' })));
    expect((await own)!.ObjectLockRetainUntilDate).toEqual((await theirs)!.ObjectLockRetainUntilDate);
    expect(await imported(Bucket)).toMatchObject({ versions: 0, settings: 0, examples: [] });

    const principal = { AWS: 'arn:aws:iam::210987654321:user/nobody' };
    const unknown = JSON.stringify({ Version: '2012-10-17', Statement: [{ ...statement, Principal: principal }] });
    proxy.lie = ({ method, url }, told) =>
      method === 'GET' && url!.includes('policy') ? { ...told, body: Buffer.from(unknown), isWhole: true } : undefined;
    const { code, stdout } = await runThrough(Bucket);
    expect([code, JSON.parse(stdout)]).toMatchObject([
      1,
      { examples: [{ bucket: Bucket, what: expect.stringMatching(/its policy is refused/) as string }] },
    ]);
  });

  it('follows the source until it is told to stop', async () => {
    const Bucket = 'watched';
    await versioned(Bucket);
    await there.send(new PutObjectCommand({ Bucket, Key: 'a', Body: '1' }));
    const args = ['import', sourceOf(Bucket), '--data', service.data, '--project', 'main@example.test', '--watch'];
    const child = spawn(process.execPath, ['bin/stillage.cjs', ...args], {
      cwd: join(import.meta.dirname, '../..'),
      env: { ...process.env, ...storeEnvironment },
      stdio: ['ignore', 'pipe', 'ignore'],
    });
    let told = '';
    child.stdout.setEncoding('utf8').on('data', (text: string) => (told += text));
    const same = async (): Promise<boolean> =>
      JSON.stringify(await listed(here, Bucket).catch(() => [])) === JSON.stringify(await listed(there, Bucket));
    await untilFound(same);
    await there.send(new PutObjectCommand({ Bucket, Key: 'a', Body: '2' }));
    await there.send(new DeleteObjectCommand({ Bucket, Key: 'a' }));
    await untilFound(same);
    child.kill('SIGTERM');
    const [code] = (await once(child, 'close')) as [number];
    expect([code, told]).toEqual([0, expect.stringMatching(/^copied .*in nothing\n$/s)]);
  });

  it("leaves a bucket of the same name alone that is another project's, and tells of it", async () => {
    const Bucket = 'taken';
    await there.send(new CreateBucketCommand({ Bucket }));
    await there.send(new PutObjectCommand({ Bucket, Key: 'a', Body: 'theirs' }));
    await there.send(new PutBucketTaggingCommand({ Bucket, Tagging: { TagSet: [{ Key: 'k', Value: 'theirs' }] } }));
    const other = sdk(service, bob);
    await other.send(new CreateBucketCommand({ Bucket }));
    for (const more of [[], ['--dry-run'], ['--delete']]) {
      const { code, stdout } = await run(Bucket, more);
      expect([code, JSON.parse(stdout)]).toMatchObject([
        1,
        {
          versions: 0,
          settings: 0,
          examples: [{ what: expect.stringMatching(/belongs to another project/) as string }],
        },
      ]);
    }
    expect((await other.send(new ListObjectVersionsCommand({ Bucket }))).Versions).toBeUndefined();
    await expect(other.send(new GetBucketTaggingCommand({ Bucket }))).rejects.toThrow();
    other.destroy();
    expect(await imported(Bucket, ['--bucket', 'taken-too'])).toMatchObject({ versions: 1 });
  });

  it('of all buckets passes over a name that no bucket can have here, and tells of it', async () => {
    proxy.lie = ({ url }, told) =>
      url!.startsWith('/?')
        ? {
            ...told,
            body: Buffer.from(
              '<ListAllMyBucketsResult><Buckets><Bucket><Name>My_Bucket</Name></Bucket></Buckets></ListAllMyBucketsResult>',
            ),
            isWhole: true,
          }
        : undefined;
    const { code, stdout } = await runThrough('');
    proxy.lie = undefined;
    expect([code, JSON.parse(stdout)]).toMatchObject([
      1,
      { examples: [{ bucket: 'My_Bucket', what: expect.stringMatching(/can have this name/) as string }] },
    ]);
  });

  it('ends in one line at the quota of the bucket, and goes on once that is raised', async () => {
    const Bucket = 'full';
    await there.send(new CreateBucketCommand({ Bucket }));
    await here.send(new CreateBucketCommand({ Bucket }));
    for (const Key of ['a', 'b', 'c']) await there.send(new PutObjectCommand({ Bucket, Key, Body: 'x'.repeat(1000) }));
    const quota = (bytes: string): Promise<Run> =>
      runWarm(['quota', 'set', Bucket, '--bytes', bytes, '--data', service.data]);
    expect((await quota('2500')).code).toBe(0);
    const { code, stderr } = await run(Bucket);
    expect([code, stderr.trim().split('\n').at(-1)]).toEqual([1, expect.stringMatching(/^stillage: .*quota/i)]);
    expect((await quota('1MiB')).code).toBe(0);
    const report = await imported(Bucket);
    expect((report['same'] as number) + (report['versions'] as number)).toBe(3);
    expect(await listed(here, Bucket)).toEqual(await listed(there, Bucket));
  });

  it('is refused in one line where nothing can be copied', async () => {
    await there.send(new CreateBucketCommand({ Bucket: 'refused' }));
    const cases = [
      ['refused', [], { AWS_SECRET_ACCESS_KEY: 'wrong' }, 1, /SignatureDoesNotMatch/],
      ['refused', [], { AWS_ACCESS_KEY_ID: 'AKIDOFNOBODY' }, 1, /InvalidAccessKeyId/],
      ['missing', [], {}, 1, /NoSuchBucket/],
      ['refused', ['--project', 'nobody@example.test'], {}, 1, /there is no project/],
      ['', ['--bucket', 'one'], {}, 2, /names one bucket/],
    ] as const;
    for (const [bucket, more, environment, exitCode, reason] of cases) {
      const { code, stderr } = await run(bucket, more, environment);
      expect([code, stderr]).toEqual([exitCode, expect.stringMatching(/^stillage: [^\n]*\n$/)]);
      expect(stderr).toMatch(reason);
    }
  });
});

const refusal = Buffer.from('<Error><Code>InternalError</Code><Message>broken</Message></Error>');

describe('an import from a source that lies', () => {
  const isObject = ({ method, url }: IncomingMessage, key: string): boolean =>
    method === 'GET' && url!.includes(`/${key}`) && !url!.includes('acl');
  const lies: readonly (readonly [string, Lie, RegExp])[] = [
    [
      'other bytes',
      (request, told) => (isObject(request, 'b') ? { ...told, body: Buffer.from('lied') } : undefined),
      /its (CRC32|bytes) (is|are) not/,
    ],
    [
      'fewer bytes',
      (request, told) => (isObject(request, 'b') ? { ...told, body: told.body.subarray(1) } : undefined),
      /aborted|shorter/,
    ],
    [
      'another ETag',
      (request, told) => (isObject(request, 'b') ? { ...told, headers: { ...told.headers, etag: '"x"' } } : undefined),
      /replaced at the source/,
    ],
    [
      'errors',
      (request, told) => (isObject(request, 'b') ? { ...told, status: 500, body: refusal, isWhole: true } : undefined),
      /InternalError: broken/,
    ],
  ];
  it.each(lies)('copies nothing of %s, and all the rest', async (name, one, reason) => {
    const Bucket = `lies-${name.replaceAll(' ', '-').toLowerCase()}`;
    proxy.lie = undefined;
    await there.send(new CreateBucketCommand({ Bucket }));
    for (const Key of ['a', 'b', 'c']) await there.send(new PutObjectCommand({ Bucket, Key, Body: 'true' }));
    proxy.lie = one;
    const { code, stdout } = await runThrough(Bucket);
    expect([code, JSON.parse(stdout)]).toMatchObject([
      1,
      { versions: 2, examples: [{ key: 'b', what: expect.stringMatching(reason) as string }] },
    ]);
    proxy.lie = undefined;
    expect(JSON.parse((await runThrough(Bucket)).stdout)).toMatchObject({ versions: 1, same: 2, examples: [] });
  });

  it.each([
    ['comes again', (n: number) => `key-${n}`, 'same'],
    ['goes back', (n: number) => `key-${9 - n}`, 'other'],
  ])('ends at a listing that %s', async (_, keyOf, mark) => {
    const Bucket = `loop-${mark}`;
    await there.send(new CreateBucketCommand({ Bucket }));
    let pages = 0;
    proxy.lie = ({ url }) => {
      if (!url!.includes('list-type=2')) return undefined;
      pages += 1;
      const token = mark === 'same' ? 'x' : `x${pages}`;
      const row = `<Contents><Key>${keyOf(pages)}</Key><Size>1</Size><ETag>"e"</ETag><LastModified>2026-01-01T00:00:00Z</LastModified></Contents>`;
      const xml = `<ListBucketResult><IsTruncated>true</IsTruncated><NextContinuationToken>${token}</NextContinuationToken>${row}</ListBucketResult>`;
      return { status: 200, headers: { 'content-type': 'application/xml' }, body: Buffer.from(xml), isWhole: true };
    };
    const { code, stderr } = await runThrough(Bucket);
    expect([code, stderr]).toEqual([1, expect.stringMatching(/lists loop-\w+ wrongly: .*\n$/)]);
    expect(pages).toBeLessThan(10);
  });
});
