import { PutObjectCommand } from '@aws-sdk/client-s3';
import { describe, expect, it, onTestFinished } from 'vitest';
import { administer, makeKey, runAt } from '../support/storage/administration.ts';
import { bucketName } from '../support/clients/clients.ts';
import { expectError, textOf } from '../support/clients/expect-error.ts';
import { MonitoringClient } from '../support/storage/monitoring.ts';
import { isAdministered, serviceUnderTest } from '../support/programs/service-under-test.ts';
import { eventually } from '../support/runs/eventually.ts';

// It leaves collecting and evaluating to the commands.
const service = serviceUnderTest({ args: ['--monitoring-seconds', '86400'] });
const client = new MonitoringClient(service);
// Each command is a process of its own.
interface ShownAlarm {
  readonly name: string;
  readonly state: string;
  readonly threshold: number;
  readonly webhookSecret?: string;
}

describe.runIf(isAdministered)('monitoring by commands', () => {
  const run = <Answer>(...args: string[]): Promise<Answer> => administer<Answer>(service.place, ...args);

  it('is turned on and off, beside the running service', async () => {
    const bucket = await service.bucket();
    expect(await run('monitoring', 'show', bucket)).toEqual({ bucket, monitoring: 'off', alarms: 0 });
    expect(await run('monitoring', 'enable', bucket)).toMatchObject({ monitoring: 'on' });
    expect(textOf((await client.status(bucket)).text, 'Status')).toBe('Enabled');
    await run('monitoring', 'disable', bucket);
    expect(textOf((await client.status(bucket)).text, 'Status')).toBe('Disabled');
    const missing = await runAt(service.place, ['monitoring', 'show', 'no-such-bucket']);
    expect([missing.code, missing.stderr]).toEqual([1, expect.stringContaining('NoSuchBucket')]);
  });

  it('collects, draws, watches and tells', async () => {
    const bucket = await service.bucket();
    await run('monitoring', 'enable', bucket);
    for (const Key of ['a', 'b', 'c']) {
      await service.client.send(new PutObjectCommand({ Bucket: bucket, Key, Body: 'x'.repeat(1024) }));
    }
    expect(await run<{ sampled: number }>('run', 'collect-metrics')).toMatchObject({ failed: 0 });
    const shown = await run<{ current: object; datapoints: object[] }>('metrics', 'show', bucket, '--last', '3h');
    expect(shown).toMatchObject({
      ...{ bucket, metric: 'BucketSizeBytes', statistic: 'Average', unit: 'Bytes', period: 300 },
      current: { value: 3072 },
    });
    expect(shown.datapoints.at(-1)).toMatchObject({ value: 3072 });
    const objects = ['metrics', 'show', bucket, '--metric', 'NumberOfObjects', '--statistic', 'Maximum'];
    const drawn = await runAt(service.place, objects);
    expect(drawn.stdout).toMatch(new RegExp(`^${bucket}: NumberOfObjects, Maximum of 30 minutes; now 3\n +3 ┤ +█\n`));

    const put = [
      'alarm',
      'put',
      bucket,
      'full',
      '--threshold',
      '2',
      '--metric',
      'NumberOfObjects',
      '--on-alarm',
      'log:',
    ];
    const made = await run<ShownAlarm>(...put, '--on-ok', 'https://hooks.example.com/');
    expect(made).toMatchObject({ name: 'full', state: 'INSUFFICIENT_DATA', threshold: 2 });
    expect(made.webhookSecret).toMatch(/^[\w-]{43}$/);
    expect(textOf((await client.alarm(bucket, 'full')).text, 'AlarmAction')).toBe('log:');

    const evaluated = await runAt(service.place, ['run', 'evaluate-alarms', '--json']);
    expect(JSON.parse(evaluated.stdout)).toMatchObject({ changed: 1, deliveries: 1 });
    expect(evaluated.stderr).toContain('"alarm":"full","state":"ALARM"');
    expect(await run('run', 'evaluate-alarms')).toMatchObject({ changed: 0, deliveries: 0 });
    expect(await run('alarm', 'list', bucket)).toEqual([expect.objectContaining({ name: 'full', state: 'ALARM' })]);
    const { webhookSecret: _, ...known } = made;
    expect(Object.keys(await run<ShownAlarm>('alarm', 'show', bucket, 'full'))).toEqual(Object.keys(known));
    const history = await run<{ type: string }[]>('alarm', 'history', bucket, 'full');
    expect(history.map(({ type }) => type)).toEqual(['Action', 'StateUpdate', 'ConfigurationUpdate']);
    const people = await runAt(service.place, ['alarm', 'show', bucket, 'full']);
    expect(people.stdout).toContain('Average NumberOfObjects > 2 in 1 of 1 periods of 300 s');

    await run('alarm', 'remove', bucket, 'full');
    expectError(await client.alarm(bucket, 'full'), 404, 'NoSuchAlarm');
  });

  it('refuses what the service would refuse, in one line', async () => {
    const bucket = await service.bucket();
    const lines = async (...args: string[]): Promise<string> => {
      const { code, stderr } = await runAt(service.place, args);
      expect(code).not.toBe(0);
      return stderr;
    };
    expect(await lines('alarm', 'put', bucket, 'a', '--threshold', 'x')).toContain('Threshold must be a number');
    expect(await lines('alarm', 'put', bucket, 'a', '--threshold', '1')).toContain('InvalidBucketState');
    expect(await lines('alarm', 'show', bucket, 'a')).toContain('NoSuchAlarm');
    expect(await lines('metrics', 'show', bucket, '--period', '7m')).toContain('multiple of 5m');
    expect(await lines('metrics', 'show', bucket, '--last', 'long')).toContain('3h, 2d or 4w');
  });
});

describe.runIf(isAdministered)('the privilege of monitoring', () => {
  it('is needed for everything about it, and for nothing else', async () => {
    const key = await makeKey(service.place, 'shop:ci@watched');
    const path = `/${bucketName()}`;
    const send = (method: string, query: string, body?: string) =>
      service.send({ method, path, query, ...(body && { body }) }, { key });
    expect((await send('PUT', '')).status).toBe(200);
    onTestFinished(async () => void (await send('DELETE', '')));
    const enabled = '<MonitoringConfiguration><Status>Enabled</Status></MonitoringConfiguration>';
    expect((await send('PUT', 'monitoring', enabled)).status).toBe(200);
    await administer(service.place, 'user', 'revoke', 'shop:ci@watched', 'monitoring');
    const period = 'end=2026-01-02&metric=BucketSizeBytes&metric-data&period=300&start=2026-01-01&statistic=Sum';
    const asked = [
      ['GET', 'monitoring'],
      ['PUT', 'monitoring', enabled],
      ['GET', period],
      ['GET', 'alarm&name=a'],
      ['PUT', 'alarm&name=a', '<Alarm/>'],
      ['DELETE', 'alarm&name=a'],
      ['GET', 'alarms'],
      ['GET', 'alarm-history&name=a'],
    ] as const;
    // Each process caches a user for a while.
    for (const [method, query, body] of asked) {
      await eventually(async () => expectError(await send(method, query, body), 403, 'AccessDenied'));
    }
    expect((await send('GET', '')).status).toBe(200);
  });
});
