import {
  AttachUserPolicyCommand,
  CreateAccessKeyCommand,
  CreateUserCommand,
  DeleteUserPolicyCommand,
  PutUserPolicyCommand,
} from '@aws-sdk/client-iam';
import { PutObjectCommand } from '@aws-sdk/client-s3';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { webhookSignature } from '../../shared/adapters/system/webhooks.ts';
import type { AuditRecord } from '../../shared/audit/audit-record.ts';
import { expectError, textOf, textsOf } from '../support/clients/expect-error.ts';
import { HeldRequest } from '../support/clients/held-request.ts';
import { allowing, iamClient } from '../support/clients/iam.ts';
import { exchange, type RawResponse } from '../support/clients/raw-client.ts';
import { anonymous, signed, type Key, type Unsigned } from '../support/clients/signer.ts';
import type { WebhookReceiver } from '../support/clients/webhook-receiver.ts';
import { alice, bob } from '../support/programs/server.ts';
import { isExternal } from '../support/programs/service-under-test.ts';
import { untilFound } from '../support/runs/eventually.ts';
import { administer } from '../support/storage/administration.ts';
import { EventWorld, recordsIn } from '../support/storage/event-world.ts';

/* The webhooks of a project over HTTP, and the events that were not delivered: docs/events.md */

let world: EventWorld;
let receiver: WebhookReceiver;
beforeAll(async () => {
  if (isExternal) return;
  world = await EventWorld.start({ args: ['--limit', 'eventRetryTime=1000', '--limit', 'webhooksPerProject=12'] });
  receiver = world.receivers[0]!;
});
afterAll(() => world?.stop());

const send = (request: Unsigned, key: Key = alice): Promise<RawResponse> => {
  const { url } = world.service;
  return exchange(url, signed(new URL(url).host, request, { key }));
};
const escaped = (text: string): string => text.replaceAll('&', '&amp;').replaceAll('<', '&lt;');
const put = (name: string, url: string, more = '', key?: Key): Promise<RawResponse> =>
  send(
    {
      ...{ method: 'PUT', path: '/', query: `webhook&name=${encodeURIComponent(name)}` },
      body: `<Webhook><Url>${escaped(url)}</Url>${more}</Webhook>`,
    },
    key,
  );
const ask = (method: string, query: string, key?: Key, path = '/'): Promise<RawResponse> =>
  send({ method, path, query }, key);
const here = (path: string): string => `https://127.0.0.1:${receiver.port}/${path}`;
/** Creates a webhook, and returns its ARN and secret. */
async function made(name: string, key?: Key): Promise<{ readonly arn: string; readonly secret: string }> {
  const { status, text } = await put(name, here(name), '', key);
  expect(status, text).toBe(200);
  return { arn: textOf(text, 'Arn')!, secret: textOf(text, 'Secret')! };
}
const callsOf = (name: string) => receiver.calls.filter(({ path }) => path === `/${name}`);

/** Returns the key of a new user of the first project. */
async function limitedUser(UserName: string, policy?: string): Promise<Key> {
  const iam = iamClient(world.service.url, alice);
  await iam.send(new CreateUserCommand({ UserName }));
  if (policy !== undefined) {
    await iam.send(new PutUserPolicyCommand({ UserName, PolicyName: 'own', PolicyDocument: policy }));
  }
  const { AccessKey } = await iam.send(new CreateAccessKeyCommand({ UserName }));
  iam.destroy();
  return { accessKeyId: AccessKey!.AccessKeyId!, secretAccessKey: AccessKey!.SecretAccessKey! };
}

describe.skipIf(isExternal)('PutWebhook, GetWebhook, ListWebhooks and DeleteWebhook', () => {
  it('make a target of the project, whose secret is shown once', async () => {
    const { status, text } = await put('shop', here('shop?a=b&c'), '<Format>s3</Format><Batch>10</Batch>');
    expect(status, text).toBe(200);
    expect(text).toContain('<WebhookSecret xmlns="http://s3.amazonaws.com/doc/2006-03-01/"><Name>shop</Name>');
    const arn = textOf(text, 'Arn')!;
    expect(arn).toMatch(/^arn:stillage:webhook::\d{12}:shop$/);
    expect(textOf(text, 'Secret')).toMatch(/^[\w-]{43}$/);

    const found = await ask('GET', 'webhook&name=shop');
    expect(textOf(found.text, 'Url')).toBe(here('shop?a=b&c'));
    expect(['Name', 'Arn', 'Format', 'Batch'].map((name) => textOf(found.text, name))).toEqual([
      'shop',
      arn,
      's3',
      '10',
    ]);
    const listed = await ask('GET', 'webhooks');
    expect(textsOf(listed.text, 'Name')).toEqual(['shop']);
    for (const answer of [found.text, listed.text]) expect(answer).not.toContain(textOf(text, 'Secret')!);

    // Repeated, it changes nothing; changed, it keeps its secret.
    const again = await put('shop', here('other'), '<Format>cloudevents</Format>');
    expect([again.status, textOf(again.text, 'Arn'), textOf(again.text, 'Secret')]).toEqual([200, arn, undefined]);
    const changed = await ask('GET', 'webhook&name=shop');
    expect(['Url', 'Format', 'Batch'].map((name) => textOf(changed.text, name))).toEqual([
      here('other'),
      'cloudevents',
      '1',
    ]);

    expect((await ask('DELETE', 'webhook&name=shop')).status).toBe(204);
    for (const [method, query] of [
      ['GET', 'webhook&name=shop'],
      ['DELETE', 'webhook&name=shop'],
      ['POST', 'webhook-secret&name=shop'],
      ['POST', 'webhook-test&name=shop'],
    ] as const) {
      expectError(await ask(method, query), 404, 'NoSuchWebhook');
    }
  });

  it('are for the own project alone', async () => {
    const { arn } = await made('mine');
    expect(textsOf((await ask('GET', 'webhooks', bob)).text, 'Name')).toEqual([]);
    for (const [method, query] of [
      ['GET', 'webhook&name=mine'],
      ['DELETE', 'webhook&name=mine'],
      ['POST', 'webhook-secret&name=mine'],
      ['POST', 'webhook-test&name=mine'],
    ] as const) {
      expectError(await ask(method, query, bob), 404, 'NoSuchWebhook');
    }
    // One of the same name is another webhook.
    const theirs = await made('mine', bob);
    expect(theirs.arn).not.toBe(arn);
    expect((await ask('DELETE', 'webhook&name=mine', bob)).status).toBe(204);
    expect((await ask('GET', 'webhook&name=mine')).status).toBe(200);

    const { url } = world.service;
    for (const query of ['webhooks', 'webhook&name=mine']) {
      const request = anonymous(new URL(url).host, { path: '/', query });
      expectError(await exchange(url, request), 403, 'AccessDenied');
    }
    expect((await ask('DELETE', 'webhook&name=mine')).status).toBe(204);
    expect(callsOf('mine')).toEqual([]);
  });

  it('are for users whose policies allow them', async () => {
    const none = await limitedUser('nobody');
    const bucketOnly = await limitedUser('bucketeer', allowing(['s3:*', 'stillage:*'], ['arn:aws:s3:::events-*']));
    const reader = await limitedUser('reader', allowing(['stillage:ListWebhooks', 'stillage:GetWebhook']));
    await made('guarded');
    for (const key of [none, bucketOnly]) {
      expectError(await ask('GET', 'webhooks', key), 403, 'AccessDenied');
      expectError(await put('guarded', here('stolen'), '', key), 403, 'AccessDenied');
    }
    expect(textsOf((await ask('GET', 'webhooks', reader)).text, 'Name')).toEqual(['guarded']);
    expectError(await put('guarded', here('stolen'), '', reader), 403, 'AccessDenied');
    for (const [method, query] of [
      ['DELETE', 'webhook&name=guarded'],
      ['POST', 'webhook-secret&name=guarded'],
      ['POST', 'webhook-test&name=guarded'],
    ] as const) {
      expectError(await ask(method, query, reader), 403, 'AccessDenied');
    }
    expect(textOf((await ask('GET', 'webhook&name=guarded', reader)).text, 'Url')).toBe(here('guarded'));
    const full = await limitedUser('chief');
    const iam = iamClient(world.service.url, alice);
    const PolicyArn = 'arn:aws:iam::aws:policy/FullAccess';
    await iam.send(new AttachUserPolicyCommand({ UserName: 'chief', PolicyArn }));
    iam.destroy();
    expect((await ask('DELETE', 'webhook&name=guarded', full)).status).toBe(204);
  });

  it('refuse targets in the own network, the service itself and what is no https URL', async () => {
    const { port } = world.service;
    const refused = [
      'https://10.0.0.1/hook',
      'https://169.254.169.254/latest/meta-data',
      'https://[::1]/',
      'https://[::ffff:127.0.0.1]/',
      'https://2130706433/',
      'https://localhost/',
      `https://127.0.0.1:${port}/hook`,
      `https://localhost:${port}/hook`,
      'http://example.com/hook',
      'ftp://example.com/',
      'file:///etc/passwd',
      'https://user:password@example.com/',
      'https://example.com/#fragment',
      'https://example.com/\r\nX-Injected: yes',
      'https://exam\tple.com/',
      `https://example.com/${'a'.repeat(2048)}`,
      'no url',
      '',
    ];
    for (const url of refused) expectError(await put('refused', url), 400, 'InvalidArgument');
    for (const more of ['<Format>xml</Format>', '<Batch>0</Batch>', '<Batch>101</Batch>', '<Batch>1e1</Batch>']) {
      expectError(await put('refused', here('x'), more), 400, 'InvalidArgument');
    }
    const tooMany = '<Format>cloudevents</Format><Batch>2</Batch>';
    expectError(await put('refused', here('x'), tooMany), 400, 'InvalidArgument');
    expectError(await put('refused', here('x'), '<Secret>mine</Secret>'), 400, 'MalformedXML');
    for (const name of ['', 'a b', 'a/b', 'a:b', 'a\r\nX-Injected: yes', 'é', 'a'.repeat(65), '../other'])
      expectError(await put(name, here('x')), 400, 'InvalidArgument');
    expectError(await ask('GET', 'webhook'), 400, 'InvalidArgument');
    expectError(await ask('GET', 'webhook&name=refused'), 404, 'NoSuchWebhook');
  });

  it('make no more than the limit, however many are made at once', async () => {
    const names = Array.from({ length: 20 }, (_, at) => `at-once-${at}`);
    const answers = await Promise.all(names.map((name) => put(name, here(name), '', bob)));
    const statuses = new Set(answers.map(({ status }) => status));
    // Those that lost to others several times in a row are asked to come again.
    expect([...statuses].filter((status) => ![200, 400, 503].includes(status))).toEqual([]);
    let more = 200;
    for (let at = 0; more === 200; at += 1) more = (await put(`more-${at}`, here('x'), '', bob)).status;
    expect(more).toBe(400);
    const listed = textsOf((await ask('GET', 'webhooks', bob)).text, 'Name');
    expect(listed).toHaveLength(12);
    // A full project can still change what it has.
    expect((await put(listed[0]!, here('changed'), '', bob)).status).toBe(200);
    for (const name of listed) expect((await ask('DELETE', `webhook&name=${name}`, bob)).status).toBe(204);
  });
});

describe.skipIf(isExternal)('RotateWebhookSecret and TestWebhook', () => {
  it('sign with the newest secret, and say what the target answered', async () => {
    const { secret } = await made('rotated');
    const test = async () => (await ask('POST', 'webhook-test&name=rotated')).text;
    expect(textOf(await test(), 'Taken')).toBe('true');
    const signedWith = (by: string): boolean => {
      const { headers, body } = callsOf('rotated').at(-1)!;
      const [, time] = /^t=(\d+),/.exec(String(headers['x-stillage-signature']))!;
      return headers['x-stillage-signature'] === webhookSignature(by, Number(time), body);
    };
    expect(signedWith(secret)).toBe(true);
    expect(JSON.parse(callsOf('rotated')[0]!.body)).toMatchObject({ Service: 'Amazon S3', Event: 's3:TestEvent' });

    const rotated = await ask('POST', 'webhook-secret&name=rotated');
    const next = textOf(rotated.text, 'Secret')!;
    expect([rotated.status, next === secret]).toEqual([200, false]);
    await test();
    expect([signedWith(secret), signedWith(next)]).toEqual([false, true]);

    receiver.answer = (response) => response.writeHead(302, { location: here('elsewhere') }).end();
    const refused = await test();
    receiver.answer = (response) => response.writeHead(204).end();
    expect([textOf(refused, 'Taken'), textOf(refused, 'Reason')]).toEqual(['false', 'the host answered 302']);
    expect(callsOf('elsewhere')).toEqual([]);
    expect((await ask('DELETE', 'webhook&name=rotated')).status).toBe(204);
  });

  it('leave no secret in the log, the output or the audit log, which has the name', async () => {
    const { secret } = await made('logged');
    const next = textOf((await ask('POST', 'webhook-secret&name=logged')).text, 'Secret')!;
    await ask('POST', 'webhook-test&name=logged');
    await ask('DELETE', 'webhook&name=logged');
    await untilFound(() => world.service.requests().some(({ operation }) => operation === 'DeleteWebhook'));
    const { stdout, stderr } = world.service.output;
    for (const one of [secret, next]) expect(stdout + stderr).not.toContain(one);
    const records = async () =>
      (await administer<AuditRecord[]>(world.data, 'audit')).filter(({ given }) => given?.['name'] === 'logged');
    await untilFound(async () => (await records()).length >= 4);
    const taken = await records();
    expect(taken.map(({ event }) => event).toSorted()).toEqual([
      'DeleteWebhook',
      'PutWebhook',
      'RotateWebhookSecret',
      'TestWebhook',
    ]);
    for (const one of [secret, next]) expect(JSON.stringify(taken)).not.toContain(one);
  });
});

describe.skipIf(isExternal)('ListEventDeliveries and ReplayEvents', () => {
  const list = (bucket: string, query = '', key?: Key): Promise<RawResponse> =>
    ask('GET', `event-deliveries${query}`, key, `/${bucket}`);
  const replay = (bucket: string, query = '', key?: Key): Promise<RawResponse> =>
    ask('POST', `event-deliveries${query}`, key, `/${bucket}`);

  it('show what waits and what was given up of one bucket, and deliver it again, for its project alone', async () => {
    const [lost, other] = [await world.bucket('events-lost'), await world.bucket('events-other')];
    const { arn } = await made('dead');
    await world.tell(lost, arn);
    await world.tell(other, arn);
    receiver.answer = (response) => response.writeHead(503).end();
    const failed = async (bucket: string): Promise<string[]> => textsOf((await list(bucket)).text, 'Id');
    await world.client.send(new PutObjectCommand({ Bucket: lost, Key: 'a b\u0001<&>', Body: 'x' }));
    await world.client.send(new PutObjectCommand({ Bucket: lost, Key: 'second', Body: 'x' }));
    await world.client.send(new PutObjectCommand({ Bucket: other, Key: 'other', Body: 'x' }));
    // It is tried at least twice within the second after which it is given up.
    await untilFound(
      async () =>
        textsOf((await list(lost, '&status=waiting')).text, 'NextTry').length > 0 || (await failed(lost)).length > 0,
    );
    await untilFound(async () => (await failed(lost)).length === 2 && (await failed(other)).length === 1);
    const { text } = await list(lost);
    expect(new Set(textsOf(text, 'Reason'))).toEqual(new Set(['the host answered 503']));
    expect(textsOf(text, 'Key').toSorted()).toEqual(['a+b%01%3C%26%3E', 'second']);
    expect(textsOf(text, 'Webhook')).toEqual(['dead', 'dead']);
    expect(text).not.toContain('other</Key>');

    const [first, second] = await failed(lost);
    const [foreign] = await failed(other);
    // Strangers, limited users, and ids of other buckets.
    const limited = await limitedUser('lister', allowing('stillage:ListEventDeliveries', `arn:aws:s3:::${lost}`));
    for (const asked of [list(lost, '', bob), replay(lost, '', bob), replay(lost, `&id=${first}`, bob)])
      expectError(await asked, 403, 'AccessDenied');
    expect((await list(lost, '', limited)).status).toBe(200);
    expectError(await list(other, '', limited), 403, 'AccessDenied');
    expectError(await replay(lost, '', limited), 403, 'AccessDenied');
    expectError(await replay(lost, `&id=${foreign}`), 404, 'NoSuchDelivery');
    for (const query of ['&id=', '&id=..%2Fx', `&id=${'a'.repeat(65)}`])
      expectError(await replay(lost, query), 400, 'InvalidArgument');
    for (const query of ['&status=all', '&marker=%00', `&marker=${'a'.repeat(300)}`])
      expectError(await list(lost, query), 400, 'InvalidArgument');
    expect((await failed(lost)).length).toBe(2);

    receiver.answer = (response) => response.writeHead(204).end();
    receiver.calls.length = 0;
    const one = await replay(lost, `&id=${second}`);
    expect([textOf(one.text, 'Replayed'), textOf(one.text, 'Left')]).toEqual(['1', '0']);
    expectError(await replay(lost, `&id=${second}`), 404, 'NoSuchDelivery');
    const rest = await replay(lost);
    expect([textOf(rest.text, 'Replayed'), textOf(rest.text, 'IsTruncated')]).toEqual(['1', 'false']);
    await untilFound(() => recordsIn(receiver.calls).length >= 2);
    expect(recordsIn(receiver.calls).map(({ s3 }) => s3.bucket.name)).toEqual([lost, lost]);
    expect(await failed(lost)).toEqual([]);
    expect(await failed(other)).toEqual([foreign]);

    // A right that ends while the request is on its way.
    const replayer = await limitedUser('replayer', allowing('stillage:ReplayEvents', `arn:aws:s3:::${other}`));
    const { url } = world.service;
    const request = { method: 'POST', path: `/${other}`, query: 'event-deliveries', body: 'ignored' };
    const held = await HeldRequest.begin({ url, host: new URL(url).host }, request, { key: replayer });
    const iam = iamClient(url, alice);
    await iam.send(new DeleteUserPolicyCommand({ UserName: 'replayer', PolicyName: 'own' }));
    iam.destroy();
    expectError(await held.finish(), 403, 'AccessDenied');
    expect(await failed(other)).toEqual([foreign]);

    expect((await ask('DELETE', 'webhook&name=dead')).status).toBe(204);
    expect(textOf((await replay(other)).text, 'Left')).toBe('1');
  });
});
