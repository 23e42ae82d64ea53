import {
  CompleteMultipartUploadCommand,
  CopyObjectCommand,
  CreateMultipartUploadCommand,
  DeleteObjectCommand,
  DeleteObjectTaggingCommand,
  DeleteObjectsCommand,
  GetBucketNotificationConfigurationCommand,
  PutBucketVersioningCommand,
  PutObjectAclCommand,
  PutObjectCommand,
  PutObjectTaggingCommand,
  RenameObjectCommand,
  UploadPartCommand,
} from '@aws-sdk/client-s3';
import type { S3Event } from 'aws-lambda';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { webhookSignature } from '../../shared/adapters/system/webhooks.ts';
import type { EventRecord } from '../../shared/events/event-record.ts';
import { s3Error } from '../support/clients/expect-error.ts';
import { expectDescribed } from '../support/storage/described.ts';
import type { WebhookReceiver } from '../support/clients/webhook-receiver.ts';
import { accounts } from '../support/programs/server.ts';
import { isExternal } from '../support/programs/service-under-test.ts';
import { untilFound } from '../support/runs/eventually.ts';
import { administer, runAt } from '../support/storage/administration.ts';
import { EventWorld, project, recordsIn, type AddedWebhook } from '../support/storage/event-world.ts';

/** https://docs.aws.amazon.com/AmazonS3/latest/userguide/EventNotifications.html */

let world: EventWorld;
let receiver: WebhookReceiver;
let webhook: AddedWebhook;
beforeAll(async () => {
  if (isExternal) return;
  world = await EventWorld.start({
    args: ['--limit', 'eventRetryTime=1000', '--limit', 'minimumPartBytes=1'],
    receivers: 2,
  });
  receiver = world.receivers[0]!;
  webhook = await world.add('pictures');
});
afterAll(() => world?.stop());

const send: typeof EventWorld.prototype.client.send = ((command: never) => world.client.send(command)) as never;
const put = (Bucket: string, Key: string, Body = 'content') => send(new PutObjectCommand({ Bucket, Key, Body }));
const recordsOf = (bucket: string): EventRecord[] =>
  recordsIn(receiver.calls).filter(({ s3 }) => s3.bucket.name === bucket);
const arrived = async (bucket: string, count: number): Promise<EventRecord[]> => {
  await untilFound(() => recordsOf(bucket).length >= count);
  return recordsOf(bucket);
};

describe.skipIf(isExternal)('a notification configuration', () => {
  it('is kept as it was put, with ids, and an empty one takes it away', async () => {
    const Bucket = await world.bucket('configured');
    const get = () => send(new GetBucketNotificationConfigurationCommand({ Bucket }));
    expect((await get()).QueueConfigurations).toBeUndefined();
    const rule = { Filter: { Key: { FilterRules: [{ Name: 'prefix' as const, Value: 'a b/' }] } } };
    await world.configure(Bucket, {
      QueueConfigurations: [{ ...rule, QueueArn: webhook.arn, Events: ['s3:ObjectCreated:*'] }],
      TopicConfigurations: [{ Id: 'mine', TopicArn: webhook.arn, Events: ['s3:ObjectRemoved:*'] }],
    });
    const { QueueConfigurations, TopicConfigurations } = await get();
    expect(QueueConfigurations).toEqual([
      {
        ...rule,
        Id: expect.stringMatching(/^[\w-]{10,}$/) as string,
        QueueArn: webhook.arn,
        Events: ['s3:ObjectCreated:*'],
      },
    ]);
    expect(TopicConfigurations).toEqual([{ Id: 'mine', TopicArn: webhook.arn, Events: ['s3:ObjectRemoved:*'] }]);
    await world.configure(Bucket, {});
    expect((await get()).QueueConfigurations).toBeUndefined();
  });

  it('is tested as S3 does, unless the request says otherwise', async () => {
    const Bucket = await world.bucket('tested');
    const testsOf = () => receiver.calls.filter(({ body }) => body.includes('s3:TestEvent') && body.includes(Bucket));
    const configuration = { QueueConfigurations: [{ QueueArn: webhook.arn, Events: ['s3:ObjectCreated:*' as const] }] };
    await world.configure(Bucket, configuration, true);
    expect(testsOf()).toEqual([]);
    await world.configure(Bucket, configuration);
    expect(JSON.parse(testsOf()[0]!.body)).toEqual({
      Service: 'Amazon S3',
      Event: 's3:TestEvent',
      Time: expect.stringMatching(/^\d{4}-\d\d-\d\dT.*Z$/) as string,
      Bucket,
      RequestId: expect.any(String) as string,
      HostId: expect.any(String) as string,
    });
    receiver.answer = (response) => response.writeHead(500).end();
    const refusal = s3Error('InvalidArgument', 400);
    await expect(world.configure(Bucket, configuration)).rejects.toEqual(refusal);
    receiver.answer = (response) => response.writeHead(204).end();
  });

  it('may name no target that nothing is delivered to, and none of another project', async () => {
    const Bucket = await world.bucket('refusing');
    const strange = await administer<AddedWebhook>(
      world.data,
      ...['webhook', 'add', accounts[1].project, 'pictures', `https://127.0.0.1:${receiver.port}/strange`],
    );
    const queue = (QueueArn: string) => ({
      QueueConfigurations: [{ QueueArn, Events: ['s3:ObjectCreated:*' as const] }],
    });
    const refused = [
      queue(strange.arn),
      queue(webhook.arn.replace(/pictures$/, 'unknown')),
      queue('arn:aws:sqs:us-east-1:123456789012:queue'),
      queue('queue-without-an-arn'),
      { EventBridgeConfiguration: {} },
      {
        LambdaFunctionConfigurations: [{ LambdaFunctionArn: webhook.arn, Events: ['s3:ObjectCreated:*' as const] }],
      },
    ];
    for (const configuration of refused) {
      for (const skip of [false, true]) {
        await expect(world.configure(Bucket, configuration, skip)).rejects.toEqual(s3Error('InvalidArgument', 400));
      }
    }
    expect(receiver.calls.filter(({ path }) => path === '/strange')).toEqual([]);
  });

  it('reaches neither the own network nor the service itself', async () => {
    const Bucket = await world.bucket('guarded');
    const { port } = world.service;
    for (const [name, url] of [
      ['private', 'https://10.0.0.1/hook'],
      ['itself', `https://127.0.0.1:${port}/hook`],
      ['named', `https://localhost:${port}/hook`],
      ['metadata', 'https://169.254.169.254/latest'],
      ['plain', 'http://example.com/hook'],
    ] as const) {
      const { arn } = await administer<AddedWebhook>(world.data, 'webhook', 'add', project, name, url);
      const configured = world.tell(Bucket, arn);
      await expect(configured, name).rejects.toEqual(s3Error('InvalidArgument', 400));
    }
  });
});

describe.skipIf(isExternal)('events of a bucket', () => {
  it('are records as S3 documents them, signed', async () => {
    const Bucket = await world.bucket('recorded');
    await world.tell(Bucket, webhook.arn);
    const { $metadata, ETag } = await put(Bucket, 'a folder/Grüße+1.jpg');
    const [record] = await arrived(Bucket, 1);
    const event: S3Event = { Records: [record!] };
    expect(event).toEqual({
      Records: [
        {
          eventVersion: '2.5',
          eventSource: 'stillage:s3',
          awsRegion: 'us-east-1',
          eventTime: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/) as string,
          eventName: 'ObjectCreated:Put',
          userIdentity: { principalId: `${accounts[0].id}:alice` },
          requestParameters: { sourceIPAddress: '127.0.0.1' },
          responseElements: {
            'x-amz-request-id': $metadata.requestId,
            'x-amz-id-2': $metadata.extendedRequestId,
          },
          s3: {
            s3SchemaVersion: '1.0',
            configurationId: expect.any(String) as string,
            bucket: { name: Bucket, ownerIdentity: { principalId: accounts[0].id }, arn: `arn:aws:s3:::${Bucket}` },
            object: {
              key: 'a+folder/Gr%C3%BC%C3%9Fe%2B1.jpg',
              size: 7,
              eTag: ETag!.replaceAll('"', ''),
              sequencer: expect.stringMatching(/^[0-9A-F]{34}$/) as string,
            },
          },
        },
      ],
    });
    const call = receiver.calls.find(({ body }) => body.includes(Bucket) && body.includes('Records'))!;
    const [, time] = /^t=(\d+),/.exec(String(call.headers['x-stillage-signature']))!;
    expect(call.headers['x-stillage-signature']).toBe(webhookSignature(webhook.secret, Number(time), call.body));
    expect(call.headers['content-type']).toBe('application/json');
  });

  it('are told of every change, in the order of each key', async () => {
    const Bucket = await world.bucket('changing');
    await send(new PutBucketVersioningCommand({ Bucket, VersioningConfiguration: { Status: 'Enabled' } }));
    await world.tell(Bucket, webhook.arn);
    const Key = 'key';
    const { VersionId } = await put(Bucket, Key);
    await send(new CopyObjectCommand({ Bucket, Key, CopySource: `${Bucket}/${Key}`, MetadataDirective: 'REPLACE' }));
    const { UploadId } = await send(new CreateMultipartUploadCommand({ Bucket, Key }));
    const part = await send(new UploadPartCommand({ Bucket, Key, UploadId, PartNumber: 1, Body: 'part' }));
    const MultipartUpload = { Parts: [{ PartNumber: 1, ETag: part.ETag! }] };
    await send(new CompleteMultipartUploadCommand({ Bucket, Key, UploadId, MultipartUpload }));
    await send(new PutObjectTaggingCommand({ Bucket, Key, Tagging: { TagSet: [{ Key: 'a', Value: 'b' }] } }));
    await send(new DeleteObjectTaggingCommand({ Bucket, Key }));
    await send(new PutObjectAclCommand({ Bucket, Key, ACL: 'private' }));
    await send(new DeleteObjectCommand({ Bucket, Key }));
    await send(new DeleteObjectsCommand({ Bucket, Delete: { Objects: [{ Key, VersionId }] } }));
    const records = await arrived(Bucket, 8);
    expect(records.map(({ eventName }) => eventName)).toEqual([
      'ObjectCreated:Put',
      'ObjectCreated:Copy',
      'ObjectCreated:CompleteMultipartUpload',
      'ObjectTagging:Put',
      'ObjectTagging:Delete',
      'ObjectAcl:Put',
      'ObjectRemoved:DeleteMarkerCreated',
      'ObjectRemoved:Delete',
    ]);
    const sequencers = records.map(({ s3 }) => s3.object.sequencer);
    expect(sequencers).toEqual(sequencers.toSorted());
    expect(new Set(sequencers).size).toBe(sequencers.length);
    expect(records[0]!.s3.object.versionId).toBe(VersionId);
    expect(records[7]!.s3.object.versionId).toBe(VersionId);
  });

  it('are told of what has happened only: of a deletion once, of no failure, and of a rename under both names', async () => {
    const Bucket = await world.bucket('renaming');
    await world.tell(Bucket, webhook.arn);
    await send(new DeleteObjectCommand({ Bucket, Key: 'never' }));
    await put(Bucket, 'old');
    await expect(send(new PutObjectCommand({ Bucket, Key: 'old', Body: 'x', IfNoneMatch: '*' }))).rejects.toThrow();
    await send(new RenameObjectCommand({ Bucket, Key: 'new', RenameSource: 'old' }));
    await Promise.all(Array.from({ length: 8 }, () => send(new DeleteObjectCommand({ Bucket, Key: 'new' }))));
    await put(Bucket, 'last');
    await untilFound(() => recordsOf(Bucket).some(({ s3 }) => s3.object.key === 'last'));
    await untilFound(() => recordsOf(Bucket).length >= 5);
    const told = recordsOf(Bucket).map(({ eventName, s3, ...record }) => [
      s3.object.key,
      eventName,
      ...('stillage' in record ? [record.stillage] : []),
    ]);
    const of = (key: string) => told.filter(([name]) => name === key).map(([, ...rest]) => rest);
    expect(of('old')).toEqual([['ObjectCreated:Put'], ['ObjectRemoved:Delete', { renamedTo: 'new' }]]);
    expect(of('new')).toEqual([['ObjectCreated:Copy', { renamedFrom: 'old' }], ['ObjectRemoved:Delete']]);
    expect(told).toHaveLength(5);
  });

  it('are those that a rule is about', async () => {
    const Bucket = await world.bucket('filtered');
    await world.configure(Bucket, {
      QueueConfigurations: [
        {
          QueueArn: webhook.arn,
          Events: ['s3:ObjectCreated:Put'],
          Filter: {
            Key: {
              FilterRules: [
                { Name: 'prefix', Value: 'in/' },
                { Name: 'suffix', Value: '.jpg' },
              ],
            },
          },
        },
      ],
    });
    for (const key of ['out/a.jpg', 'in/a.png', 'in/a.jpg']) await put(Bucket, key);
    await send(new DeleteObjectCommand({ Bucket, Key: 'in/a.jpg' }));
    await put(Bucket, 'in/b.jpg');
    await untilFound(() => recordsOf(Bucket).length >= 2);
    expect(recordsOf(Bucket).map(({ s3 }) => s3.object.key)).toEqual(['in/a.jpg', 'in/b.jpg']);
  });

  it('put nothing of keys into header fields', async () => {
    const Bucket = await world.bucket('injected');
    const cloud = await world.add('cloud', receiver, '--format', 'cloudevents');
    await world.tell(Bucket, cloud.arn);
    const key = 'a\r\nX-Injected: yes\r\n\r\n"\\\u0007.jpg';
    await put(Bucket, key);
    await untilFound(() =>
      receiver.calls.some(({ path, body }) => path === '/cloud' && body.includes('ObjectCreated')),
    );
    const call = receiver.calls.find(({ path, body }) => path === '/cloud' && body.includes('ObjectCreated'))!;
    expect(call.headers['x-injected']).toBeUndefined();
    expect(call.headers['content-type']).toBe('application/cloudevents+json');
    expect(JSON.stringify(call.headers)).not.toContain('Injected');
    const event = JSON.parse(call.body) as Record<string, string>;
    expect(event).toMatchObject({ specversion: '1.0', type: 'com.amazonaws.s3.ObjectCreated:Put' });
    expect(new URLSearchParams(`=${event['subject']}`).get('')).toBe(key);
  });
});

describe.skipIf(isExternal)('a webhook', () => {
  it('that is down delays no other, and what it misses can be listed, read and replayed', async () => {
    const [, down] = world.receivers;
    const dead = await world.add('dead', down);
    const [Lost, Well] = [await world.bucket('lost'), await world.bucket('well')];
    await world.tell(Lost, dead.arn);
    await world.tell(Well, webhook.arn);
    down!.answer = (response) => response.writeHead(503, { 'retry-after': '1' }).end();
    for (let at = 0; at < 5; at += 1) await put(Lost, `key-${at}`);
    await put(Well, 'key');
    await arrived(Well, 1);
    const list = () =>
      administer<{ events: { id: string; reason: string; record: EventRecord }[] }>(
        world.data,
        'events',
        'list',
        project,
      );
    await untilFound(async () => (await list()).events.length === 5);
    const { events } = await list();
    expect(new Set(events.map(({ reason }) => reason))).toEqual(new Set(['the host answered 503']));
    expect(events.map(({ record }) => record.s3.object.key).toSorted()).toEqual(
      [0, 1, 2, 3, 4].map((at) => `key-${at}`),
    );
    const shown = await administer<{ failed: string; record: EventRecord }>(
      world.data,
      'events',
      'show',
      project,
      events[0]!.id,
    );
    expect(shown.record).toEqual(events[0]!.record);
    expectDescribed('events show', { ...shown, failed: Date.parse(shown.failed) });

    down!.answer = (response) => response.writeHead(204).end();
    down!.calls.length = 0;
    expect(await administer(world.data, 'events', 'replay', project)).toEqual({ replayed: 5, left: 0 });
    await untilFound(() => recordsIn(down!.calls).length === 5);
    expect((await list()).events).toEqual([]);
    const strangers = await runAt(world.data, ['events', 'show', accounts[1].project, events[0]!.id]);
    expect(strangers.code).not.toBe(0);
  });

  it('gets many records in one message if it asks for them', async () => {
    const Bucket = await world.bucket('batched');
    const batched = await world.add('batched', receiver, '--batch', '100');
    await world.tell(Bucket, batched.arn);
    await Promise.all(Array.from({ length: 40 }, (_, at) => put(Bucket, `key-${at}`)));
    await untilFound(() => recordsIn(receiver.calls, '/batched').length >= 40);
    const calls = receiver.calls.filter(({ path, body }) => path === '/batched' && body.includes('Records'));
    expect(calls.length).toBeLessThan(40);
  });

  it('signs with a new secret at once, and is told nothing once it is removed', async () => {
    const Bucket = await world.bucket('rotated');
    const hook = await world.add('rotating');
    await world.tell(Bucket, hook.arn);
    const { secret } = await administer<{ secret: string }>(world.data, 'webhook', 'rotate', project, 'rotating');
    expect(secret).not.toBe(hook.secret);
    await put(Bucket, 'key');
    await arrived(Bucket, 1);
    const call = receiver.calls.find(({ path, body }) => path === '/rotating' && body.includes('Records'))!;
    const [, time] = /^t=(\d+),/.exec(String(call.headers['x-stillage-signature']))!;
    expect(call.headers['x-stillage-signature']).toBe(webhookSignature(secret, Number(time), call.body));
    await administer(world.data, 'webhook', 'remove', project, 'rotating');
    await put(Bucket, 'unheard');
    await put(await world.bucket('rotated-after'), 'key');
    const dropped = async (): Promise<number> =>
      (await administer<{ dropped: number }>(world.data, 'events', 'list', project)).dropped;
    await untilFound(async () => (await dropped()) > 0);
    expect(await dropped()).toBe(1);
    const names = (await administer<{ name: string }[]>(world.data, 'webhook', 'list', project)).map(
      ({ name }) => name,
    );
    expect(names).not.toContain('rotating');
  });
});
