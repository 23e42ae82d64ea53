import { createHmac } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { issueCertificate, type Certificates } from '../support/clients/certificates.ts';
import { textOf, textsOf } from '../support/clients/expect-error.ts';
import { MonitoringClient, plainAlarm } from '../support/storage/monitoring.ts';
import { untilFound } from '../support/runs/eventually.ts';
import { exchange, type RawResponse } from '../support/clients/raw-client.ts';
import { accounts, alice, startService, type Service } from '../support/programs/server.ts';
import { isExternal, serviceUnderTest } from '../support/programs/service-under-test.ts';
import { signed, type Unsigned } from '../support/clients/signer.ts';
import { WebhookReceiver, type ReceivedCall } from '../support/clients/webhook-receiver.ts';

let folder: string;
let certificates: Certificates;
let receiver: WebhookReceiver;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'stillage-alarms-'));
  certificates = await issueCertificate(folder, ['127.0.0.1']);
  receiver = await WebhookReceiver.start(certificates);
});
afterAll(async () => {
  await receiver.stop();
  await rm(folder, { recursive: true });
});

/** Starts a service that evaluates its alarms continually and trusts the test's certificate authority, with its clients. */
async function start(args: readonly string[]): Promise<{
  service: Service;
  send: (request: Unsigned) => Promise<RawResponse>;
  client: MonitoringClient;
  bucket: string;
  fill: (objects: number) => Promise<void>;
  clear: (objects: number) => Promise<void>;
}> {
  const service = await startService({
    args: ['--monitoring-seconds', '0.2', ...args],
    env: { NODE_EXTRA_CA_CERTS: certificates.authority },
  });
  const { host } = new URL(service.url);
  const send = (request: Unsigned): Promise<RawResponse> =>
    exchange(service.url, signed(host, request, { key: alice }));
  const bucket = 'watched';
  const client = new MonitoringClient({ send, bucket: async () => bucket });
  expect((await send({ method: 'PUT', path: `/${bucket}` })).status).toBe(200);
  expect((await client.turn(bucket, 'Enabled')).status).toBe(200);
  const each = async (method: string, objects: number, status: number): Promise<void> => {
    for (let at = 0; at < objects; at += 1) {
      const body = method === 'PUT' ? { body: 'x'.repeat(100) } : {};
      expect((await send({ method, path: `/${bucket}/key-${at}`, ...body })).status).toBe(status);
    }
  };
  return {
    service,
    send,
    client,
    bucket,
    fill: (objects) => each('PUT', objects, 200),
    clear: (objects) => each('DELETE', objects, 204),
  };
}

const target = (): string => `https://127.0.0.1:${receiver.port}/hook`;
const stateOf = async (client: MonitoringClient, bucket: string): Promise<string | undefined> =>
  textOf((await client.alarm(bucket, 'too much')).text, 'State');
const inState = (client: MonitoringClient, bucket: string, state: string): Promise<true> =>
  untilFound(async () => (await stateOf(client, bucket)) === state);

const alarm = {
  ...plainAlarm,
  Description: 'More than it should be',
  Metric: 'BucketSizeBytes',
  Threshold: 450,
};

describe('an alarm with a webhook', () => {
  it.runIf(!isExternal)(
    'tells of a bucket that is filled and emptied, once each time, signed, in the documented form',
    async () => {
      receiver.calls.length = 0;
      const { service, client, bucket, fill, clear } = await start([
        '--alarm-webhook-allow',
        `127.0.0.1:${receiver.port}`,
      ]);
      try {
        const put = await client.put(bucket, 'too much', { ...alarm, AlarmAction: [target()], OKAction: [target()] });
        const secret = textOf(put.text, 'WebhookSecret')!;
        // Coming to rest is a transition too.
        await inState(client, bucket, 'OK');
        await untilFound(async () => receiver.calls.length === 1);
        expect(checked(receiver.calls[0]!, secret)).toMatchObject({ OldStateValue: 'INSUFFICIENT_DATA' });

        await fill(5);
        await inState(client, bucket, 'ALARM');
        await untilFound(async () => receiver.calls.length >= 2);
        const told = checked(receiver.calls[1]!, secret);
        expect(told).toEqual({
          AlarmName: 'too much',
          AlarmDescription: 'More than it should be',
          AccountId: accounts[0].id,
          NewStateValue: 'ALARM',
          OldStateValue: 'OK',
          NewStateReason: expect.stringMatching(
            /^Threshold crossed: 1 of the last 1 datapoints \[500 \(.*Z\)\] was greater than the threshold \(450\)\.$/,
          ) as string,
          StateChangeTime: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}\+0000$/) as string,
          Region: 'us-east-1',
          Trigger: {
            MetricName: 'BucketSizeBytes',
            Namespace: 'Stillage',
            Statistic: 'Maximum',
            Unit: 'Bytes',
            Dimensions: [{ name: 'BucketName', value: bucket }],
            Period: 300,
            EvaluationPeriods: 1,
            DatapointsToAlarm: 1,
            ComparisonOperator: 'GreaterThanThreshold',
            Threshold: 450,
            TreatMissingData: 'missing',
          },
        });
        const state = (await client.alarm(bucket, 'too much')).text;
        expect(textOf(state, 'StateReason')).toBe(told['NewStateReason']);
        const changed = textOf(state, 'StateUpdatedTimestamp')!.replace('Z', '+0000');
        expect(changed).toBe(told['StateChangeTime']);

        await clear(5);
        await inState(client, bucket, 'OK');
        await untilFound(async () => receiver.calls.length >= 3);
        expect(checked(receiver.calls[2]!, secret)).toMatchObject({ NewStateValue: 'OK', OldStateValue: 'ALARM' });

        // Several more evaluations leave the state unchanged, and send nothing.
        const evaluations = 5;
        const before = Date.now();
        await untilFound(async () => Date.now() - before > evaluations * 200);
        expect(receiver.calls).toHaveLength(3);
        const { text } = await client.history(bucket, 'too much');
        const types = [...Array<string[]>(3).fill(['Action', 'StateUpdate']).flat(), 'ConfigurationUpdate'];
        expect(textsOf(text, 'Type')).toEqual(types);
        expect(textsOf(text, 'Summary')[0]).toBe(`Action ${target()} was carried out.`);
        expect(service.output.stdout + service.output.stderr).not.toContain(secret);
      } finally {
        await service.stop();
      }
    },
  );

  it.runIf(!isExternal)('that takes its time does not keep the service from collecting or from stopping', async () => {
    receiver.calls.length = 0;
    const { answer } = receiver;
    receiver.answer = () => undefined;
    const { service, send, client, bucket, fill } = await start([
      '--alarm-webhook-allow',
      `127.0.0.1:${receiver.port}`,
    ]);
    try {
      await client.put(bucket, 'too much', { ...alarm, OKAction: [target()] });
      await untilFound(async () => receiver.calls.length === 1);
      await fill(5);
      const query =
        'end=2999-01-01&metric=BucketSizeBytes&metric-data&period=86400000&start=1970-01-01&statistic=Maximum';
      await untilFound(async () => {
        const { text } = await send({ path: `/${bucket}`, query });
        return textsOf(text, 'Value').at(-1) === '500' && text.includes('<Datapoint>');
      });
    } finally {
      const before = Date.now();
      expect(await service.stop()).toBe(0);
      receiver.answer = answer;
      // Four attempts of five seconds each would take longer.
      expect(Date.now() - before).toBeLessThan(15_000);
    }
    expect(service.output.stdout).not.toContain('"level":"error"');
  });

  const watched = new MonitoringClient(serviceUnderTest({ args: ['--monitoring-seconds', '0.2'] }));

  it('calls nobody on this machine or in its network unless it is allowed to', async () => {
    receiver.calls.length = 0;
    const bucket = await watched.bucket();
    const targets = [target(), 'https://169.254.169.254/latest/meta-data/', `https://localhost:${receiver.port}/`];
    await watched.put(bucket, 'too much', { ...alarm, OKAction: targets });
    const summaries = await untilFound(async () => {
      const found = textsOf((await watched.history(bucket, 'too much')).text, 'Summary');
      const actions = found.filter((summary) => summary.startsWith('Action'));
      return actions.length === targets.length ? actions : undefined;
    });
    const refusal = (to: string): string => `Action ${to} was refused: the address of the host is not public.`;
    expect(summaries.toSorted()).toEqual(targets.map(refusal).toSorted());
    expect(receiver.calls).toEqual([]);
  });
});

describe.runIf(!isExternal)('an alarm', () => {
  it('writes into the log, and nothing while its actions or monitoring are off', async () => {
    const { service, client, bucket, fill, clear } = await start([]);
    const lines = (): Record<string, unknown>[] =>
      service.output.stdout
        .split('\n')
        .filter((line) => line.startsWith('{'))
        .map((line) => JSON.parse(line) as Record<string, unknown>)
        .filter(({ message }) => message === 'alarm');
    try {
      const logs = { OKAction: ['log:'], AlarmAction: ['log:'], InsufficientDataAction: ['log:'] };
      await client.put(bucket, 'too much', { ...alarm, ...logs });
      await untilFound(async () => lines().length === 1);
      expect(lines()[0]).toMatchObject({ alarm: 'too much', state: 'OK', before: 'INSUFFICIENT_DATA' });

      await client.put(bucket, 'too much', { ...alarm, ...logs, ActionsEnabled: false });
      await fill(5);
      await inState(client, bucket, 'ALARM');
      expect((await client.turn(bucket, 'Disabled')).status).toBe(200);
      const off = (await client.alarm(bucket, 'too much')).text;
      expect(textOf(off, 'State')).toBe('INSUFFICIENT_DATA');
      expect(textOf(off, 'StateReason')).toBe('Insufficient data: monitoring of the bucket is off.');

      await clear(5);
      const before = Date.now();
      await untilFound(async () => Date.now() - before > 1000);
      expect(await stateOf(client, bucket)).toBe('INSUFFICIENT_DATA');
      expect((await client.turn(bucket, 'Enabled')).status).toBe(200);
      await inState(client, bucket, 'OK');
      const { text } = await client.history(bucket, 'too much');
      const changes = ['StateUpdate', 'StateUpdate', 'StateUpdate', 'ConfigurationUpdate'];
      expect(textsOf(text, 'Type')).toEqual([...changes, 'Action', 'StateUpdate', 'ConfigurationUpdate']);
      expect(lines()).toHaveLength(1);
    } finally {
      await service.stop();
    }
  });
});

/** Verifies the signature of a call, and returns its body. */
function checked({ method, path, headers, body }: ReceivedCall, secret: string): Record<string, unknown> {
  expect([method, path, headers['content-type']]).toEqual(['POST', '/hook', 'application/json']);
  const [, time, signature] = /^t=(\d+),v1=([0-9a-f]{64})$/.exec(headers['x-stillage-signature'] as string)!;
  expect(signature).toBe(createHmac('sha256', secret).update(`${time}.${body}`).digest('hex'));
  return JSON.parse(body) as Record<string, unknown>;
}
