import {
  AbortMultipartUploadCommand,
  CopyObjectCommand,
  CreateBucketCommand,
  CreateMultipartUploadCommand,
  DeleteBucketCommand,
  DeleteBucketLifecycleCommand,
  DeleteObjectCommand,
  GetObjectCommand,
  PutBucketLifecycleConfigurationCommand,
  PutBucketVersioningCommand,
  PutObjectCommand,
  RenameObjectCommand,
  UploadPartCommand,
} from '@aws-sdk/client-s3';
import { rm } from 'node:fs/promises';
import { afterAll, beforeEach, describe, expect, it } from 'vitest';
import type { BilledRequests } from '../../shared/billing/bill-requests.ts';
import type { NewKey } from '../../shared/accounts/key-administration.ts';
import { operations } from '../../functions/operations.ts';
import { startCloudService } from '../../functions/cloud/composition.ts';
import { readCloudSettings } from '../../functions/cloud/settings.ts';
import { S3BlobStore } from '../../shared/adapters/cloud/s3/s3-blob-store.ts';
import { bundleBackground } from '../../infra/bundles/bundle.ts';
import { backgroundFunctions } from '../../infra/constructs/background-functions.ts';
import { synthesiseBackground } from '../infra/background-synthesis.ts';
import { temporaryDirectory } from '../infra/synthesis.ts';
import { sdk } from '../support/clients/clients.ts';
import { s3Error } from '../support/clients/expect-error.ts';
import { LogInsightsEngine } from '../support/cloud/log-insights.ts';
import { alarmXml } from '../support/storage/monitoring.ts';
import { startEngines } from '../support/cloud/engines.ts';
import { noEngine } from '../support/cloud/moto.ts';
import { markerBytes } from '../../shared/storage/version-changes/new-version.ts';
import { exchange, type RawResponse } from '../support/clients/raw-client.ts';
import { signed, type Unsigned } from '../support/clients/signer.ts';
import { BackgroundUnderTest, tableName } from './background-under-test.ts';

// Through an engine in Python every call of S3 takes its time.
const engines = await startEngines();
if (engines === undefined) console.warn(`SKIPPED, what runs in the background as it is deployed: ${noEngine}`);
const directory = await temporaryDirectory();
const deployment =
  engines &&
  (await BackgroundUnderTest.start(
    engines,
    (await synthesiseBackground({ context: { releaseGraceDays: '3' } })).schedule.toJSON(),
    await bundleBackground(backgroundFunctions, directory),
  ));

beforeEach((context) => {
  if (deployment === undefined) context.skip(noEngine);
});
afterAll(async () => {
  await deployment?.stop();
  await engines?.stop();
  await rm(directory, { recursive: true });
});

const hour = 60 * 60 * 1000;
const day = 24 * hour;
const grace = 3 * day;

let key: NewKey;
const client = () => sdk(deployment!, key, { maxAttempts: 1 });
const ask = (request: Unsigned): Promise<RawResponse> =>
  exchange(deployment!.url, signed(new URL(deployment!.url).host, request, { key }));

interface Held {
  readonly used: { readonly bytesOfVersions: number; readonly bytesBesides: number; readonly objects: number };
  readonly quota: object;
}
/** What a bucket holds: the bytes of versions, and those besides. */
async function held(bucket: string): Promise<{ versions: number; besides: number; objects: number }> {
  const { used } = await deployment!.administer<Held>('quota show bucket', { bucket });
  return { versions: used.bytesOfVersions, besides: used.bytesBesides, objects: used.objects };
}

describe('administration', () => {
  it('makes the first key of a deployment', async () => {
    await deployment!.administer('customer create', { customer: 'acme' });
    await deployment!.administer('project create', { project: 'shop@acme' });
    await deployment!.administer('user create', { user: 'shop:ci@acme' });
    key = await deployment!.administer<NewKey>('key create', { user: 'shop:ci@acme' });
    expect(key.accessKeyId).toMatch(/^STIL[A-Z2-7]{16}$/);
    await client().send(new CreateBucketCommand({ Bucket: 'first' }));
  });

  it('refuses in words, and logs no secret', async () => {
    await expect(deployment!.administer('key make')).rejects.toThrow('unknown command "key make"');
    await expect(deployment!.administer('key create', { user: 'shop:nobody@acme' })).rejects.toThrow('does not exist');
    await expect(deployment!.administer('user create', {})).rejects.toThrow('user must be a string');
    expect(await deployment!.log('Administer')).not.toContain(key.secretAccessKey);
  });

  it('removes what it made', async () => {
    const { accessKeyId } = await deployment!.administer<NewKey>('key rotate', {
      key: key.accessKeyId,
      overlapSeconds: 3600,
    });
    await deployment!.administer('key remove', { key: accessKeyId });
    await deployment!.administer('user create', { user: 'shop:gone@acme' });
    await deployment!.administer('user remove', { user: 'shop:gone@acme' });
    const listed = await deployment!.administer<{ users: object[] }>('user list', { project: 'shop@acme' });
    expect(listed.users).toHaveLength(1);
  });
});

/** Uploads a part more often than its uploads are kept. */
async function uploadAgainAndAgain(upload: { Bucket: string; Key: string; UploadId: string }): Promise<void> {
  for (let time = 0; time < 10; time += 1) {
    await client().send(new UploadPartCommand({ ...upload, PartNumber: 1, Body: 'part' }));
  }
}

describe('the change feed', () => {
  const Bucket = 'first';

  it('becomes counters', async () => {
    await client().send(new PutObjectCommand({ Bucket, Key: 'kept', Body: 'one' }));
    await client().send(new PutObjectCommand({ Bucket, Key: 'kept', Body: 'second!' }));
    await client().send(new PutObjectCommand({ Bucket, Key: 'gone', Body: 'three' }));
    await client().send(new DeleteObjectCommand({ Bucket, Key: 'gone' }));
    await deployment!.follow();
    expect(await held(Bucket)).toEqual({ versions: 7, besides: 0, objects: 1 });
  });

  it('may come again, in other batches, and changes nothing', async () => {
    for (const mapping of deployment!.mappings.values()) {
      const Records = mapping.delivered.flatMap((batch) => batch.Records!);
      const { shardId } = mapping.delivered[0]!;
      await mapping.again({ Records, shardId: shardId! });
      await mapping.again({ Records: Records.slice(2), shardId: shardId! });
    }
    expect(await held(Bucket)).toEqual({ versions: 7, besides: 0, objects: 1 });
  });

  it('has shards that are closed, whose counters do not stay', async () => {
    deployment!.mappings.get('CountUsage')!.rotate(3 * day);
    await client().send(new PutObjectCommand({ Bucket, Key: 'later', Body: '12' }));
    await deployment!.follow();
    expect(await deployment!.counterRows()).toEqual([['base', expect.stringContaining('-1-') as string]]);
    expect(await held(Bucket)).toEqual({ versions: 9, besides: 0, objects: 2 });
    await client().send(new DeleteObjectCommand({ Bucket, Key: 'later' }));
    await deployment!.follow();
    expect(await held(Bucket)).toEqual({ versions: 7, besides: 0, objects: 1 });
  });

  it('is not followed where the shard is not told', async () => {
    await expect(deployment!.invoke('CountUsage', { Records: [] })).rejects.toThrow('the batch has no shard id');
    // As the query in docs/cloud-operations.md finds it.
    expect(await deployment!.log('CountUsage')).toMatch(/^\{.*"level":"error","message":"count-usage failed"/m);
  });

  it('is not followed where it is that of another table, nor replayed', async () => {
    const { shardId, Records } = deployment!.mappings.get('CountUsage')!.delivered[0]!;
    const eventSourceARN = 'arn:aws:dynamodb:us-east-1:123456789012:table/stillage-table-restored/stream/2026-11-21';
    const refusal = `${eventSourceARN} is not the stream of ${tableName}`;
    for (const follower of ['CountUsage', 'ReleaseContent']) {
      await expect(deployment!.invoke(follower, { shardId, Records, eventSourceARN })).rejects.toThrow(refusal);
    }
    const stretch = { shardId, startSequenceNumber: '1', endSequenceNumber: '2' };
    const letter = { DDBStreamBatchInfo: { ...stretch, streamArn: eventSourceARN } };
    await expect(deployment!.invoke('ReplayChanges', letter)).rejects.toThrow(refusal);
  });

  it('fails as a whole on a record that cannot be read, so that Lambda cuts the batch in two', async () => {
    const good = deployment!.mappings.get('CountUsage')!.delivered[0]!;
    const bad = { dynamodb: { SequenceNumber: '9'.repeat(30), Keys: { pk: { S: 'head/x' }, sk: { S: 'k' } } } };
    const failing = deployment!.invoke('CountUsage', { ...good, Records: [...good.Records!, bad] });
    await expect(failing).rejects.toThrow('the stream has no images');
  });

  it('has replaced and removed content freed after the days of the setting, and not before', async () => {
    expect(await deployment!.blobs()).toBe(4);
    const nothing = { things: 0, blobs: 0, bytes: 0 };
    expect(await deployment!.invoke('SweepReleased', {}, grace - hour)).toEqual({
      freed: 0,
      blobs: 0,
      bytes: 0,
      held: nothing,
      complete: true,
    });
    expect(await deployment!.invoke('SweepReleased', {}, grace + hour)).toEqual({
      freed: expect.any(Number) as number,
      blobs: expect.any(Number) as number,
      bytes: expect.any(Number) as number,
      // Requests that read are known to a service on one machine only.
      held: nothing,
      complete: true,
    });
    expect(await deployment!.blobs()).toBe(1);
    const { Body } = await client().send(new GetObjectCommand({ Bucket, Key: 'kept' }));
    expect(await Body!.transformToString()).toBe('second!');
  });

  it('has the parts of an aborted upload freed with the next sweep', async () => {
    const upload = { Bucket, Key: 'large' };
    const { UploadId } = await client().send(new CreateMultipartUploadCommand(upload));
    await deployment!.follow();
    const { besides } = await held(Bucket);
    await uploadAgainAndAgain({ ...upload, UploadId: UploadId! });
    await deployment!.follow();
    // The newest eight are kept, each with its item in the table.
    expect(await held(Bucket)).toEqual({ versions: 7, besides: besides + 8 * (4 + 256), objects: 1 });
    await client().send(new AbortMultipartUploadCommand({ ...upload, UploadId }));
    await deployment!.follow();
    await deployment!.invoke('SweepReleased');
    await deployment!.follow();
    expect(await held(Bucket)).toEqual({ versions: 7, besides: 0, objects: 1 });
    expect(await deployment!.blobs()).toBe(1);
  });

  it('flags a bucket that is full', async () => {
    await deployment!.administer('quota set bucket', { bucket: Bucket, objects: 1 });
    await client().send(new PutObjectCommand({ Bucket, Key: 'kept', Body: 'as large' }));
    await deployment!.follow();
    const more = client().send(new PutObjectCommand({ Bucket, Key: 'another', Body: '1' }));
    await expect(more).rejects.toEqual(s3Error('QuotaExceeded', 403));
    await deployment!.administer('quota set bucket', { bucket: Bucket, objects: 'default' });
    await client().send(new DeleteObjectCommand({ Bucket, Key: 'kept' }));
    await deployment!.follow();
    await client().send(new PutObjectCommand({ Bucket, Key: 'kept', Body: 'as large' }));
    await deployment!.follow();
  });

  it('is replayed from a dead letter', async () => {
    await client().send(new PutObjectCommand({ Bucket, Key: 'replaced', Body: 'first' }));
    await deployment!.follow();
    const before = await deployment!.blobs();
    const upload = { Bucket, Key: 'large' };
    const { UploadId } = await client().send(new CreateMultipartUploadCommand(upload));
    await uploadAgainAndAgain({ ...upload, UploadId: UploadId! });
    await client().send(new DeleteObjectCommand({ Bucket, Key: 'replaced' }));
    const letter = await deployment!.mappings.get('ReleaseContent')!.giveUp();
    expect(await deployment!.blobs()).toBe(before + 10);
    expect(await deployment!.invoke('ReplayChanges', letter)).toEqual({ replayed: expect.any(Number) as number });
    await client().send(new AbortMultipartUploadCommand({ ...upload, UploadId }));
    await deployment!.follow();
    await deployment!.invoke('SweepReleased');
    expect(await deployment!.blobs()).toBe(before);
    await deployment!.invoke('SweepReleased', {}, grace + hour);
    await deployment!.follow();
    expect(await deployment!.blobs()).toBe(1);
  });

  it('lets go of content that is shared when the last has let go', async () => {
    await client().send(new CopyObjectCommand({ Bucket, Key: 'copy', CopySource: `${Bucket}/kept` }));
    await client().send(new DeleteObjectCommand({ Bucket, Key: 'kept' }));
    await deployment!.follow();
    await deployment!.invoke('SweepReleased', {}, grace + hour);
    const { Body } = await client().send(new GetObjectCommand({ Bucket, Key: 'copy' }));
    expect(await Body!.transformToString()).toBe('as large');
    await client().send(new DeleteObjectCommand({ Bucket, Key: 'copy' }));
    await deployment!.follow();
    await deployment!.invoke('SweepReleased', {}, grace + hour);
    expect(await deployment!.blobs()).toBe(0);
  });
});

describe('a lifecycle pass', () => {
  const Bucket = 'expiring';

  it('goes through planner, queue and workers', async () => {
    await client().send(new CreateBucketCommand({ Bucket }));
    for (const Key of ['old/1', 'old/2', 'kept']) {
      await client().send(new PutObjectCommand({ Bucket, Key, Body: 'bytes' }));
    }
    await client().send(new CreateMultipartUploadCommand({ Bucket, Key: 'old/upload' }));
    await client().send(
      new PutBucketLifecycleConfigurationCommand({
        Bucket,
        LifecycleConfiguration: {
          Rules: [
            {
              ID: 'old',
              Status: 'Enabled',
              Filter: { Prefix: 'old/' },
              Expiration: { Days: 1 },
              AbortIncompleteMultipartUpload: { DaysAfterInitiation: 1 },
            },
          ],
        },
      }),
    );
    const later = 3 * day;
    const plan = (await deployment!.invoke('PlanLifecycle', {}, later))!;
    expect(plan).toMatchObject({ slices: 2, workers: 2 });
    expect(await deployment!.work(later)).toBe(2);
    expect(await deployment!.invoke('PlanLifecycle', {}, later)).toMatchObject({ workers: 0 });
    const expired = client().send(new GetObjectCommand({ Bucket, Key: 'old/1' }));
    await expect(expired).rejects.toEqual(s3Error('NoSuchKey', 404));
    await deployment!.follow();
    expect(await held(Bucket)).toEqual({ versions: 5, besides: 0, objects: 1 });
  });

  it('makes markers where there are versions', async () => {
    await client().send(new PutBucketVersioningCommand({ Bucket, VersioningConfiguration: { Status: 'Enabled' } }));
    await client().send(new PutObjectCommand({ Bucket, Key: 'old/3', Body: 'bytes' }));
    const later = 5 * day;
    await deployment!.invoke('PlanLifecycle', {}, later);
    // A worker that runs out of time calls the next one.
    await deployment!.invoke('ApplyLifecycle', {}, later, 0);
    expect(await deployment!.work(later)).toBe(3);
    await expect(client().send(new GetObjectCommand({ Bucket, Key: 'old/3' }))).rejects.toEqual(
      s3Error('NoSuchKey', 404),
    );
    await deployment!.follow();
    expect(await held(Bucket)).toEqual({ versions: 10, besides: markerBytes('old/3'), objects: 2 });
  });

  it('ends for a message that comes late', async () => {
    expect(await deployment!.invoke('ApplyLifecycle', {}, 5 * day)).toEqual({ over: true });
  });

  it('leaves out ranges in which nothing is due', async () => {
    const Logs = 'expiring-logs';
    await client().send(new DeleteBucketLifecycleCommand({ Bucket }));
    await client().send(new CreateBucketCommand({ Bucket: Logs }));
    for (const Key of ['logs/1', 'other']) await client().send(new PutObjectCommand({ Bucket: Logs, Key, Body: 'b' }));
    await client().send(
      new PutBucketLifecycleConfigurationCommand({
        Bucket: Logs,
        LifecycleConfiguration: {
          Rules: [{ ID: 'logs', Status: 'Enabled', Filter: { Prefix: 'logs/' }, Expiration: { Days: 10 } }],
        },
      }),
    );
    const slicesOn = async (days: number): Promise<unknown> => {
      const plan = await deployment!.invoke('PlanLifecycle', {}, days * day);
      await deployment!.work(days * day);
      return plan!['slices'];
    };
    expect(await slicesOn(6)).toBe(1);
    expect(await slicesOn(7)).toBe(0);
    await client().send(new RenameObjectCommand({ Bucket: Logs, Key: 'logs/2', RenameSource: 'other' }));
    expect(await slicesOn(8)).toBe(0);
    expect(await slicesOn(12)).toBe(1);
    for (const Key of ['logs/1', 'logs/2']) {
      await expect(client().send(new GetObjectCommand({ Bucket: Logs, Key }))).rejects.toEqual(
        s3Error('NoSuchKey', 404),
      );
    }
  });
});

describe('what is swept', () => {
  it('are removed buckets, at last with their tombstones', async () => {
    await client().send(new CreateBucketCommand({ Bucket: 'removed' }));
    await client().send(new PutObjectCommand({ Bucket: 'removed', Key: 'k', Body: 'bytes' }));
    await client().send(new CreateMultipartUploadCommand({ Bucket: 'removed', Key: 'open' }));
    await deployment!.follow();
    await client().send(new DeleteObjectCommand({ Bucket: 'removed', Key: 'k' }));
    await client().send(new DeleteBucketCommand({ Bucket: 'removed' }));
    await deployment!.invoke('SweepRemovedBuckets', {}, 11 * 60 * 1000);
    await deployment!.invoke('SweepRemovedBuckets', {}, 25 * hour);
    await deployment!.follow();
  });

  it('is nothing while the table is in a layout of a later version', async () => {
    await deployment!.withLayout(9, async () => {
      await expect(deployment!.invoke('SweepPublicLinks')).rejects.toThrow('the data is in layout 9');
      const environment = readCloudSettings(process.env);
      await expect(startCloudService(environment, operations, S3BlobStore)).rejects.toThrow('the data is in layout 9');
    });
  });

  it('are links whose time is over', async () => {
    const query = 'public-link';
    const made = await ask({ method: 'POST', path: '/expiring/kept', query });
    expect(made.status, made.body.toString()).toBe(201);
    await deployment!.invoke('SweepPublicLinks', {}, 400 * day);
    expect((await ask({ path: '/expiring/kept', query })).body.toString()).not.toContain('<Id>');
  });
});

/** The call that an alarm of a user attempts without a grant. */
const refused = 'MonitorBuckets: sns:Publish on topics';

describe('monitoring', () => {
  it('samples, and lets an alarm speak in a topic of another account', async () => {
    const body = '<MonitoringConfiguration><Status>Enabled</Status></MonitoringConfiguration>';
    expect((await ask({ method: 'PUT', path: '/expiring', query: 'monitoring', body })).status).toBe(200);
    const alarm = alarmXml({
      ...{ Metric: 'NumberOfObjects', Statistic: 'Maximum', ComparisonOperator: 'GreaterThanThreshold', Threshold: 0 },
      ...{ Period: 300, EvaluationPeriods: 1, AlarmAction: [deployment!.topic] },
    });
    const put = await ask({ method: 'PUT', path: '/expiring', query: 'alarm&name=too-many', body: alarm });
    expect(put.status, put.body.toString()).toBe(200);
    expect(await deployment!.invoke('MonitorBuckets')).toMatchObject({
      collected: { sampled: 1, failed: 0 },
      evaluated: { alarms: 1, changed: 1, failed: 0 },
    });
    await deployment!.invoke('MonitorBuckets', {}, 100 * day);
    expect((await deployment!.heard()).join()).toContain('too-many');
  });

  it('does not let it speak in a topic of the deployment', async () => {
    const alarm = alarmXml({
      ...{ Metric: 'NumberOfObjects', Statistic: 'Maximum', ComparisonOperator: 'GreaterThanThreshold', Threshold: 0 },
      ...{ Period: 300, EvaluationPeriods: 1, AlarmAction: ['arn:aws:sns:us-east-1:000000000000:operators'] },
    });
    expect((await ask({ method: 'PUT', path: '/expiring', query: 'alarm&name=nosy', body: alarm })).status).toBe(200);
    await deployment!.invoke('MonitorBuckets');
    expect(deployment!.gate.denied).toEqual([refused]);
  });
});

describe('the bill of requests', () => {
  it('is counted from the logs of both lanes', async () => {
    const line = JSON.stringify({
      ...{ time: new Date().toISOString(), message: 'request', payer: 'some-project', class: 'b' },
      ...{ bytesIn: 0, bytesOut: 1 },
    });
    deployment!.gate.logs = new LogInsightsEngine(async () => [line]);
    const billed = await deployment!.invoke<BilledRequests>('BillRequests', {}, hour);
    expect(billed.hours).toBeGreaterThan(24);
    // The metric of the alarm is made of this line.
    expect(await deployment!.log('BillRequests')).toMatch(/^\{.*"behindSeconds":\d+\}$/m);
    const groups = deployment!.gate.logs.queries.map(({ logGroupNames }) => logGroupNames);
    expect(new Set(groups.flat())).toEqual(new Set(['/stillage/prod/api', '/stillage/prod/byte-lane']));
  });
});

/** Granted though nothing here asks for it, and why. */
const unusedWithReason: Readonly<Record<string, string>> = {
  // Calls of Lambda itself, according to its documented permissions.
  'CountUsage: dynamodb:ListStreams on *': 'documented as needed by event source mappings',
  'ReleaseContent: dynamodb:ListStreams on *': 'documented as needed by event source mappings',
  'CountUsage: sqs:SendMessage on FeedDeadLetters': 'Lambda sends dead letters',
  'ReleaseContent: sqs:SendMessage on FeedDeadLetters': 'Lambda sends dead letters',
  'ProbeEndpoint: cloudwatch:GetMetricData on *':
    'no distribution here keeps metrics: test/unit/metadata/monitoring/probe-endpoint.test.ts',
};

describe('the grants of the roles', () => {
  it('are enough', () => {
    expect(deployment!.gate.denied.filter((one) => one !== refused)).toEqual([]);
  });

  it('are all used, but for those that Lambda uses itself', () => {
    const unused = deployment!.gate.unused().filter((grant) => !/ScheduleDeadLetters$/.test(grant));
    expect(unused.filter((grant) => !(grant in unusedWithReason))).toEqual([]);
  });
});
