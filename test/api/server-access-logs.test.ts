import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  AbortMultipartUploadCommand,
  CompleteMultipartUploadCommand,
  CopyObjectCommand,
  CreateBucketCommand,
  CreateMultipartUploadCommand,
  DeleteBucketCommand,
  DeleteObjectCommand,
  DeleteObjectsCommand,
  GetBucketLocationCommand,
  GetObjectAclCommand,
  GetObjectCommand,
  HeadObjectCommand,
  ListObjectsV2Command,
  PutBucketLifecycleConfigurationCommand,
  PutBucketLoggingCommand,
  PutBucketPolicyCommand,
  PutBucketVersioningCommand,
  PutObjectCommand,
  PutObjectLockConfigurationCommand,
  PutPublicAccessBlockCommand,
  UploadPartCommand,
  UploadPartCopyCommand,
  type LoggingEnabled,
} from '@aws-sdk/client-s3';
import { describe, expect, it } from 'vitest';
import { fieldsOf, parseLog, type ParsedRecord } from '../support/clients/access-log.ts';
import { issueCertificate } from '../support/clients/certificates.ts';
import { sdk } from '../support/clients/clients.ts';
import { exchange } from '../support/clients/raw-client.ts';
import { signed, type Unsigned } from '../support/clients/signer.ts';
import { accounts, alice, startService, type Service } from '../support/programs/server.ts';
import { isExternal, removeBucket, serviceUnderTest } from '../support/programs/service-under-test.ts';
import { untilFound } from '../support/runs/eventually.ts';
import { freePort } from '../support/runs/free-port.ts';
import { administer } from '../support/storage/administration.ts';

/** https://docs.aws.amazon.com/AmazonS3/latest/userguide/ServerLogs.html */

const metricsPort = isExternal ? 0 : await freePort();
const service = serviceUnderTest({
  alone: true,
  args: ['--access-log-interval', '1s', '--metrics-port', String(metricsPort), '--limit', 'minimumPartBytes=1'],
});
const owner = accounts[0].id;

type Client = typeof service.client;

/** Lets access logs be put into a bucket, as AWS documents it. */
async function allow(client: Client, target: string, statement: object = {}): Promise<void> {
  const Policy = JSON.stringify({
    Version: '2012-10-17',
    Statement: [
      {
        Sid: 'S3ServerAccessLogsPolicy',
        Effect: 'Allow',
        Principal: { Service: 'logging.s3.amazonaws.com' },
        Action: ['s3:PutObject'],
        Resource: `arn:aws:s3:::${target}/*`,
        ...statement,
      },
    ],
  });
  await client.send(new PutBucketPolicyCommand({ Bucket: target, Policy }));
}

async function log(client: Client, Bucket: string, TargetBucket: string, more: Partial<LoggingEnabled> = {}) {
  const BucketLoggingStatus = { LoggingEnabled: { TargetBucket, TargetPrefix: `${Bucket}/`, ...more } };
  await client.send(new PutBucketLoggingCommand({ Bucket, BucketLoggingStatus }));
}

/** Makes a bucket whose requests are logged in another. */
async function logged(more: Partial<LoggingEnabled> = {}) {
  const [bucket, target] = [await service.bucket(), await service.bucket('logs')];
  await allow(service.client, target);
  await log(service.client, bucket, target, more);
  return { bucket, target };
}

async function keysIn(client: Client, Bucket: string): Promise<readonly string[]> {
  const { Contents = [] } = await client.send(new ListObjectsV2Command({ Bucket }));
  return Contents.map(({ Key }) => Key!);
}

/** Returns all records in a bucket. */
async function recordsIn(client: Client, Bucket: string, prefix = ''): Promise<readonly ParsedRecord[]> {
  const records: ParsedRecord[] = [];
  for (const Key of (await keysIn(client, Bucket)).filter((key) => key.startsWith(prefix))) {
    const { Body } = await client.send(new GetObjectCommand({ Bucket, Key }));
    records.push(...parseLog(await Body!.transformToString()));
  }
  return records;
}

/** Waits for records of a request that is made now: all earlier ones are there then. */
async function recordsAfter(bucket: string, target: string, marker = 'end'): Promise<readonly ParsedRecord[]> {
  await service.client.send(new HeadObjectCommand({ Bucket: bucket, Key: marker })).catch(() => undefined);
  return untilFound(async () => {
    const records = await recordsIn(service.client, target, `${bucket}/`);
    return records.some(({ key }) => key === marker) && records;
  });
}

async function metric(name: string): Promise<number> {
  const text = await (await fetch(`http://127.0.0.1:${metricsPort}/metrics`)).text();
  const line = text.split('\n').find((each) => each.startsWith(`${name} `));
  return Number(line?.slice(name.length) ?? 0);
}

/** Waits until a request to a bucket has been dropped for a reason. */
async function dropped(bucket: string, reason: string): Promise<void> {
  const name = `stillage_access_log_dropped_total{reason="${reason}"}`;
  const before = await metric(name);
  await service.client.send(new PutObjectCommand({ Bucket: bucket, Key: 'dropped', Body: 'b' }));
  await untilFound(async () => (await metric(name)) > before);
}

describe.skipIf(isExternal)('the records of what lifecycle rules do', () => {
  const dayLong = serviceUnderTest({
    alone: true,
    args: ['--access-log-interval', '1s', '--lifecycle-day-seconds', '1'],
  });

  it('name what went, and no request', async () => {
    const { client } = dayLong;
    const [Bucket, target] = [await dayLong.bucket(), await dayLong.bucket('logs')];
    await allow(client, target);
    await log(client, Bucket, target);
    await client.send(new PutObjectCommand({ Bucket, Key: 'old/gone for good', Body: 'content' }));
    const rules = [
      { ID: 'a', Filter: { Prefix: 'old/' }, Expiration: { Days: 1 } },
      { ID: 'b', Filter: { Prefix: 'up/' }, AbortIncompleteMultipartUpload: { DaysAfterInitiation: 1 } },
    ];
    const Rules = rules.map((rule) => ({ ...rule, Status: 'Enabled' as const }));
    const put = { Bucket, LifecycleConfiguration: { Rules } };
    await client.send(new PutBucketLifecycleConfigurationCommand(put));
    await client.send(new CreateMultipartUploadCommand({ Bucket, Key: 'up/load' }));
    const byRules = async (count: number): Promise<readonly ParsedRecord[]> =>
      untilFound(async () => {
        const records = (await recordsIn(client, target, `${Bucket}/`)).filter(
          ({ requester }) => requester === 'AmazonS3',
        );
        return records.length >= count && records;
      });
    await byRules(2);
    const VersioningConfiguration = { Status: 'Enabled' as const };
    await client.send(new PutBucketVersioningCommand({ Bucket, VersioningConfiguration }));
    await client.send(new PutObjectCommand({ Bucket, Key: 'old/covered', Body: 'content' }));
    const found = await byRules(3);
    const shown = found.map(({ operation, key, objectSize }) => [operation, key, objectSize].join(' ')).toSorted();
    expect(shown).toEqual([
      'S3.CREATE.DELETEMARKER old/covered -',
      'S3.DELETE.UPLOAD up/load -',
      'S3.EXPIRE.OBJECT old/gone%20for%20good 7',
    ]);
    for (const { remoteAddress, requestLine, status, bytesSent } of found)
      expect([remoteAddress, requestLine, status, bytesSent]).toEqual(['-', '-', '-', '-']);
  });
});

describe.skipIf(isExternal)('the records of an access log', () => {
  it('have all that AWS documents', async () => {
    const { bucket, target } = await logged();
    const { client } = service;
    await client.send(new PutObjectCommand({ Bucket: bucket, Key: 'a b/ü', Body: 'content' }));
    const { $metadata } = await client.send(new GetObjectCommand({ Bucket: bucket, Key: 'a b/ü', Range: 'bytes=0-2' }));
    await client.send(new HeadObjectCommand({ Bucket: bucket, Key: 'a b/ü' }));
    await client.send(new GetObjectCommand({ Bucket: bucket, Key: 'none' })).catch(() => undefined);
    await service.sendUnsigned({ path: `/${bucket}/a%20b/%C3%BC` });
    const link = await service.sendPresigned({ path: `/${bucket}/a%20b/%C3%BC` });
    await service.send({ path: `/${bucket}/bad` }, { key: { ...alice, secretAccessKey: 'another' } });

    const records = await recordsAfter(bucket, target);
    const of = (operation: string, status = '200') =>
      records.find((each) => each.operation === operation && each.status === status)!;
    const common = {
      ...{ bucketOwner: owner, bucket, requester: owner, remoteAddress: '127.0.0.1', signatureVersion: 'SigV4' },
      ...{ authenticationType: 'AuthHeader', host: service.host, errorCode: '-', referer: '-', accessPoint: '-' },
      ...{ cipher: '-', tls: '-', aclRequired: '-', sourceRegion: '-', versionId: '-' },
    };
    const got = of('REST.GET.OBJECT', '206');
    expect(got).toMatchObject({
      ...common,
      ...{ key: 'a%20b/%C3%BC', bytesSent: '3', objectSize: '7', requestId: $metadata.requestId },
      requestLine: `GET /${bucket}/a%20b/%C3%BC?x-id=GetObject HTTP/1.1`,
      hostId: $metadata.extendedRequestId,
    });
    expect(got.time).toMatch(/^\d\d\/[A-Z][a-z]{2}\/20\d\d:\d\d:\d\d:\d\d \+0000$/);
    expect(got.userAgent).toMatch(/^aws-sdk-js\/3/);
    expect(Number(got.totalTime)).toBeGreaterThanOrEqual(Number(got.turnAroundTime));
    expect(of('REST.PUT.OBJECT')).toMatchObject({ ...common, bytesSent: '-', objectSize: '7' });
    expect(of('REST.HEAD.OBJECT')).toMatchObject({ ...common, bytesSent: '-', objectSize: '7' });
    expect(of('REST.GET.OBJECT', '404')).toMatchObject({
      ...common,
      key: 'none',
      errorCode: 'NoSuchKey',
      objectSize: '-',
    });
    const denied = records.filter(({ status }) => status === '403');
    expect(denied.map(({ requester, errorCode, key }) => [requester, errorCode, key])).toEqual([
      ['-', 'AccessDenied', 'a%20b/%C3%BC'],
      ['-', 'SignatureDoesNotMatch', 'bad'],
    ]);
    expect(denied[0]).toMatchObject({ signatureVersion: '-', authenticationType: '-' });
    const linked = records.find(({ authenticationType }) => authenticationType === 'QueryString')!;
    expect(link.status).toBe(200);
    expect(linked.requestLine).toContain('X-Amz-Signature=-');
    expect(linked.requestLine).toContain('X-Amz-Date=20');
  });

  it('name operations as AWS does, and deletions and copies twice', async () => {
    const { bucket, target } = await logged();
    const source = await service.bucket('source');
    await log(service.client, source, target);
    const { client } = service;
    const at = { Bucket: bucket };
    const tooLong = 'k'.repeat(1025);
    await client.send(new PutObjectCommand({ Bucket: source, Key: 'from', Body: 'content' }));
    await client.send(new CopyObjectCommand({ ...at, Key: 'copy', CopySource: `${source}/from` }));
    const { UploadId } = await client.send(new CreateMultipartUploadCommand({ ...at, Key: 'parts' }));
    const upload = { ...at, Key: 'parts', UploadId };
    const { ETag } = await client.send(new UploadPartCommand({ ...upload, PartNumber: 1, Body: 'one' }));
    await client.send(new UploadPartCopyCommand({ ...upload, PartNumber: 2, CopySource: `${source}/from` }));
    await client.send(
      new CompleteMultipartUploadCommand({ ...upload, MultipartUpload: { Parts: [{ PartNumber: 1, ETag }] } }),
    );
    const aborted = await client.send(new CreateMultipartUploadCommand({ ...at, Key: 'aborted' }));
    await client.send(new AbortMultipartUploadCommand({ ...at, Key: 'aborted', UploadId: aborted.UploadId }));
    await client.send(
      new DeleteObjectsCommand({ ...at, Delete: { Objects: [{ Key: 'copy' }, { Key: tooLong }, { Key: 'x y' }] } }),
    );
    await client.send(new DeleteObjectCommand({ ...at, Key: 'parts' }));
    await client.send(new ListObjectsV2Command(at));
    await client.send(new GetBucketLocationCommand(at));

    const records = await recordsAfter(bucket, target);
    expect(records.map(({ operation, key, status }) => [operation, key, status])).toEqual([
      ['REST.COPY.OBJECT', 'copy', '200'],
      ['REST.POST.UPLOADS', 'parts', '200'],
      ['REST.PUT.PART', 'parts', '200'],
      ['REST.COPY.PART', 'parts', '200'],
      ['REST.POST.UPLOAD', 'parts', '200'],
      ['REST.POST.UPLOADS', 'aborted', '200'],
      ['REST.DELETE.UPLOAD', 'aborted', '204'],
      ['REST.POST.MULTI_OBJECT_DELETE', '-', '200'],
      ['BATCH.DELETE.OBJECT', 'copy', '204'],
      ['BATCH.DELETE.OBJECT', tooLong, '400'],
      ['BATCH.DELETE.OBJECT', 'x%20y', '204'],
      ['REST.DELETE.OBJECT', 'parts', '204'],
      ['REST.GET.BUCKET', '-', '200'],
      ['REST.GET.LOCATION', '-', '200'],
      ['REST.HEAD.OBJECT', 'end', '404'],
    ]);
    const ofSource = await untilFound(async () => {
      const found = await recordsIn(client, target, `${source}/`);
      return found.length >= 3 && found;
    });
    expect(ofSource.map(({ operation, key, bucket: name }) => [operation, key, name])).toEqual([
      ['REST.PUT.OBJECT', 'from', source],
      ['REST.COPY.OBJECT_GET', 'from', source],
      ['REST.COPY.PART_GET', 'from', source],
    ]);
    expect(new Set(ofSource.map(({ requestId }) => requestId)).size).toBe(3);
  });

  it('tell whether an ACL was required', async () => {
    const { bucket, target } = await logged();
    const { client, stranger } = service;
    await client.send(new PutObjectCommand({ Bucket: bucket, Key: 'open', Body: 'b', ACL: 'public-read' }));
    await stranger.send(new GetObjectCommand({ Bucket: bucket, Key: 'open' }));
    await client.send(new GetObjectAclCommand({ Bucket: bucket, Key: 'open' }));
    const records = await recordsAfter(bucket, target);
    expect(records.map(({ operation, aclRequired }) => [operation, aclRequired])).toEqual([
      ['REST.PUT.OBJECT', '-'],
      ['REST.GET.OBJECT', 'Yes'],
      ['REST.GET.ACL', '-'],
      ['REST.HEAD.OBJECT', '-'],
    ]);
    expect(records[1]!.requester).toBe(accounts[1].id);
  });

  it('cannot be forged by what clients send', async () => {
    const { bucket, target } = await logged();
    const forged = '" 200 - - - - - "-" "-" - a SigV4 - AuthHeader h TLSv1.3 - - -';
    const hostile = [`${forged}\u00fc`, '\\" x', '"', "'", '[', '] "'];
    for (const text of hostile) {
      const headers = { 'user-agent': text, referer: text };
      await service.send({ path: `/${bucket}/${encodeURIComponent(text)}`, headers });
    }
    await service.send({ path: `/${bucket}/line%0Abreak%0D%22%20x`, query: 'versionId=a%0Ab%22%20c' });
    const records = (await recordsAfter(bucket, target)).filter(({ operation }) => operation === 'REST.GET.OBJECT');
    expect(records).toHaveLength(hostile.length + 1);
    for (const [at, text] of hostile.entries()) {
      const { key, userAgent, referer, status } = records[at]!;
      expect([decodeURIComponent(key), decodeURIComponent(userAgent.replaceAll('%FC', 'ü')), status]).toEqual([
        text,
        text,
        '404',
      ]);
      expect(referer).toBe(userAgent);
    }
    expect(records.at(-1)).toMatchObject({ key: 'line%0Abreak%0D%22%20x', versionId: 'a%0Ab%22%20c' });
  });
});

describe.skipIf(isExternal)('access logs are delivered', () => {
  it('by a grant to the group of log delivery', async () => {
    const [bucket, target] = [await service.bucket(), await service.bucket('logs')];
    const headers = { 'x-amz-acl': 'log-delivery-write' };
    expect((await service.send({ method: 'PUT', path: `/${target}`, query: 'acl', headers })).status).toBe(200);
    await log(service.client, bucket, target);
    await recordsAfter(bucket, target);
  });

  it('not without a grant or a policy, and the loss is counted', async () => {
    const [bucket, target] = [await service.bucket(), await service.bucket('logs')];
    await log(service.client, bucket, target);
    await dropped(bucket, 'AccessDenied');
    // Everybody is not the service.
    await allow(service.client, target, { Principal: '*' });
    await dropped(bucket, 'AccessDenied');
    await allow(service.client, target, { Principal: { Service: 'cloudtrail.amazonaws.com' } });
    await dropped(bucket, 'AccessDenied');
    expect(await keysIn(service.client, target)).toEqual([]);
  });

  it('for the buckets and the account that a policy names, also if it is restricted', async () => {
    const [bucket, other, target] = [await service.bucket(), await service.bucket(), await service.bucket('logs')];
    const PublicAccessBlockConfiguration = { BlockPublicPolicy: true, RestrictPublicBuckets: true };
    await service.client.send(new PutPublicAccessBlockCommand({ Bucket: target, PublicAccessBlockConfiguration }));
    const { accountNumber } = await administer<{ accountNumber: string }>(
      service.place,
      'project',
      'show',
      accounts[0].project,
    );
    await allow(service.client, target, {
      Condition: {
        ArnLike: { 'aws:SourceArn': `arn:aws:s3:::${bucket}` },
        StringEquals: { 'aws:SourceAccount': accountNumber },
      },
    });
    await log(service.client, bucket, target);
    await log(service.client, other, target, { TargetPrefix: `${bucket}/` });
    await dropped(other, 'AccessDenied');
    const records = await recordsAfter(bucket, target);
    expect(new Set(records.map((each) => each.bucket))).toEqual(new Set([bucket]));

    await allow(service.client, target, {
      Condition: { StringEquals: { 'aws:SourceAccount': '000000000000' } },
    });
    await dropped(bucket, 'AccessDenied');
  });

  it('not to a bucket that has become a stranger’s', async () => {
    const { bucket, target } = await logged();
    await recordsAfter(bucket, target);
    await removeBucket(service.client, target);
    await service.stranger.send(new CreateBucketCommand({ Bucket: target }));
    try {
      await allow(service.stranger, target);
      await dropped(bucket, 'InvalidTargetBucketForLogging');
      expect(await keysIn(service.stranger, target)).toEqual([]);
    } finally {
      await service.stranger.send(new DeleteBucketCommand({ Bucket: target }));
    }
  });

  it('not to a bucket that is full, gone, or retains objects by default, and requests go on', async () => {
    const { bucket, target } = await logged();
    await administer(service.place, 'quota', 'set', target, '--bytes', '10');
    await dropped(bucket, 'QuotaExceeded');
    await administer(service.place, 'quota', 'set', target, '--bytes', 'default');
    await recordsAfter(bucket, target);

    const VersioningConfiguration = { Status: 'Enabled' as const };
    await service.client.send(new PutBucketVersioningCommand({ Bucket: target, VersioningConfiguration }));
    const Rule = { DefaultRetention: { Mode: 'GOVERNANCE' as const, Days: 1 } };
    const ObjectLockConfiguration = { ObjectLockEnabled: 'Enabled' as const, Rule };
    await service.client.send(new PutObjectLockConfigurationCommand({ Bucket: target, ObjectLockConfiguration }));
    await dropped(bucket, 'InvalidTargetBucketForLogging');

    await removeBucket(service.client, target);
    await dropped(bucket, 'NoSuchBucket');
  });

  it('into the logged bucket itself, without end only as long as it is used', async () => {
    const bucket = await service.bucket();
    await allow(service.client, bucket);
    await log(service.client, bucket, bucket);
    await recordsAfter(bucket, bucket);
    // The records of reading the log above are delivered. Then there is nothing more, since deliveries are not logged.
    const delivered = (): Promise<number> => metric('stillage_access_log_objects_total');
    await untilFound(async () => (await metric('stillage_access_log_waiting_bytes')) === 0);
    const [other, target] = [await service.bucket(), await service.bucket('logs')];
    await allow(service.client, target);
    await log(service.client, other, target);
    const before = await delivered();
    await recordsAfter(other, target, 'one');
    await recordsAfter(other, target, 'two');
    await untilFound(async () => (await metric('stillage_access_log_waiting_bytes')) === 0);
    expect((await delivered()) - before).toBe((await keysIn(service.client, target)).length);
  });

  it('under keys of both forms', async () => {
    const simple = await logged({ TargetPrefix: 'simple-' });
    const byDelivery = await logged({
      TargetObjectKeyFormat: { PartitionedPrefix: { PartitionDateSource: 'DeliveryTime' } },
      TargetPrefix: 'p/',
    });
    const byEvent = await logged({
      TargetObjectKeyFormat: { PartitionedPrefix: { PartitionDateSource: 'EventTime' } },
      TargetPrefix: '',
    });
    const keyOf = async ({ bucket, target }: { bucket: string; target: string }): Promise<string> => {
      await service.client.send(new PutObjectCommand({ Bucket: bucket, Key: 'k', Body: 'b' }));
      const keys = await untilFound(async () => {
        const found = await keysIn(service.client, target);
        return found.length > 0 && found;
      });
      return keys[0]!.replace(bucket, '<bucket>');
    };
    expect(await keyOf(simple)).toMatch(/^simple-20\d\d-\d\d-\d\d-\d\d-\d\d-\d\d-[0-9A-F]{16}$/);
    expect(await keyOf(byDelivery)).toMatch(
      /^p\/\d{12}\/us-east-1\/<bucket>\/20\d\d\/\d\d\/\d\d\/20\d\d-\d\d-\d\d-\d\d-\d\d-\d\d-[0-9A-F]{16}$/,
    );
    expect(await keyOf(byEvent)).toMatch(
      /^\d{12}\/us-east-1\/<bucket>\/20\d\d\/\d\d\/\d\d\/20\d\d-\d\d-\d\d-00-00-00-[0-9A-F]{16}$/,
    );
  });

  it('with the grants of the setting, as objects of the bucket’s owner that count', async () => {
    const URI = 'http://acs.amazonaws.com/groups/global/AuthenticatedUsers';
    const { bucket, target } = await logged({
      TargetGrants: [{ Grantee: { Type: 'Group', URI }, Permission: 'READ' }],
    });
    await recordsAfter(bucket, target);
    const [Key] = await keysIn(service.client, target);
    const { Body, ContentType, ServerSideEncryption } = await service.stranger.send(
      new GetObjectCommand({ Bucket: target, Key }),
    );
    expect([ContentType, ServerSideEncryption]).toEqual(['text/plain', undefined]);
    expect((await Body!.transformToString()).startsWith(`${owner} ${bucket} [`)).toBe(true);
    const { Owner, Grants } = await service.client.send(new GetObjectAclCommand({ Bucket: target, Key }));
    expect([Owner?.ID, Grants?.length]).toEqual([owner, 2]);
    await untilFound(async () => {
      const { used } = await administer<{ used: { bytes: number } }>(service.place, 'quota', 'show', target);
      return used.bytes > 0;
    });
  });
});

describe.skipIf(isExternal)('a service that ends', () => {
  /** Sends requests to a new service whose interval is an hour, ends it, and returns the log objects of one of the same data. */
  async function objectsAfter(
    end: (running: Service) => Promise<unknown>,
    { args = [], requests }: { args?: readonly string[]; requests: number },
  ): Promise<readonly (readonly ParsedRecord[])[]> {
    const data = await mkdtemp(join(tmpdir(), 'stillage-logs-'));
    const options = { data, args: ['--access-log-interval', '1h', ...args] };
    let running = await startService(options);
    try {
      const client = sdk(running, alice, { maxAttempts: 1 });
      await client.send(new CreateBucketCommand({ Bucket: 'logged' }));
      await client.send(new CreateBucketCommand({ Bucket: 'also' }));
      await client.send(new CreateBucketCommand({ Bucket: 'logs' }));
      await allow(client, 'logs');
      await log(client, 'logged', 'logs', { TargetPrefix: 'p' });
      await log(client, 'also', 'logs', { TargetPrefix: 'p' });
      await Promise.all(
        Array.from({ length: requests }, async (_, at) => {
          // Connections of their own, for all processes.
          const one = sdk(running, alice, { maxAttempts: 1 });
          await one.send(new PutObjectCommand({ Bucket: at % 2 ? 'logged' : 'also', Key: `k${at}`, Body: 'b' }));
          one.destroy();
        }),
      );
      client.destroy();
      await end(running);
      running = await startService(options);
      const later = sdk(running, alice);
      const all: (readonly ParsedRecord[])[] = [];
      for (const key of await keysIn(later, 'logs')) all.push(await recordsIn(later, 'logs', key));
      later.destroy();
      return all;
    } finally {
      await running.stop();
      await rm(data, { recursive: true });
    }
  }

  it.each([1, 3])('in order has delivered one object, with the records of all of %i processes', async (workers) => {
    const args = ['--workers', String(workers)];
    const objects = await objectsAfter((running) => running.stop(), { args, requests: 60 });
    expect(objects).toHaveLength(1);
    const keys = objects[0]!.flatMap(({ operation, key }) => (operation === 'REST.PUT.OBJECT' ? [key] : []));
    expect(keys.toSorted()).toEqual(Array.from({ length: 60 }, (_, at) => `k${at}`).toSorted());
  });

  it('in a crash loses what waited, and nothing else', async () => {
    expect(await objectsAfter((running) => running.kill(), { requests: 5 })).toEqual([]);
  });

  it('leaves the last field out if it is told to, and knows TLS', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'stillage-logs-'));
    const certificates = await issueCertificate(folder, ['127.0.0.1']);
    const authority = await readFile(certificates.authority, 'utf8');
    const running = await startService({
      args: ['--access-log-interval', '1s', '--no-access-log-source-region'].concat([
        '--tls-cert',
        certificates.certificate,
        '--tls-key',
        certificates.key,
      ]),
    });
    try {
      const { host } = new URL(running.url);
      const send = (request: Unsigned) => exchange(running.url, signed(host, request, { key: alice }), authority);
      await send({ method: 'PUT', path: '/logs', headers: { 'x-amz-acl': 'log-delivery-write' } });
      const body =
        '<BucketLoggingStatus><LoggingEnabled><TargetBucket>logs</TargetBucket><TargetPrefix/></LoggingEnabled></BucketLoggingStatus>';
      expect((await send({ method: 'PUT', path: '/logs', query: 'logging', body })).status).toBe(200);
      await send({ method: 'PUT', path: '/logs/key', body: 'b' });
      const key = await untilFound(async () => /<Key>(20[^<]*)</.exec((await send({ path: '/logs' })).text)?.[1]);
      const fields = fieldsOf((await send({ path: `/logs/${key}` })).text.split('\n')[0]!);
      expect(fields).toHaveLength(26);
      expect(fields.slice(20, 26)).toEqual([
        expect.stringMatching(/^TLS_AES_\w+$/),
        ...['AuthHeader', host, 'TLSv1.3', '-', '-'],
      ]);
    } finally {
      await running.stop();
      await rm(folder, { recursive: true });
    }
  });
});
