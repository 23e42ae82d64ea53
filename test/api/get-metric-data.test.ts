import { PutObjectCommand } from '@aws-sdk/client-s3';
import { describe, expect, it } from 'vitest';
import { expectError, textOf, textsOf } from '../support/clients/expect-error.ts';
import { MonitoringClient } from '../support/storage/monitoring.ts';
import { untilFound } from '../support/runs/eventually.ts';
import { serviceUnderTest } from '../support/programs/service-under-test.ts';

const service = serviceUnderTest({ args: ['--monitoring-seconds', '0.2'] });
const client = new MonitoringClient(service);

const minute = 60_000;
const ago = (milliseconds: number): string => new Date(Date.now() - milliseconds).toISOString();
const lastHour = (): Record<string, string> => ({ period: '300', start: ago(60 * minute), end: ago(-minute) });
const size = { metric: 'BucketSizeBytes', statistic: 'Maximum' };

async function fill(bucket: string, bodies: readonly string[]): Promise<void> {
  for (const [at, Body] of bodies.entries()) {
    await service.client.send(new PutObjectCommand({ Bucket: bucket, Key: `key ${at}`, Body }));
  }
}

describe('GetMetricData', () => {
  it('says what is there now, with monitoring or without', async () => {
    const bucket = await service.bucket();
    await fill(bucket, ['12345', '123']);
    // In a deployment with many servers, counters lag behind.
    const { status, text } = await untilFound(async () => {
      const answer = await client.metricData(bucket, { ...size, ...lastHour() });
      return textOf(answer.text, 'Value') === '8' ? answer : undefined;
    });
    expect(status).toBe(200);
    expect(text).toContain(
      `<MetricData xmlns="http://s3.amazonaws.com/doc/2006-03-01/"><Bucket>${bucket}</Bucket>` +
        '<Metric>BucketSizeBytes</Metric><Statistic>Maximum</Statistic><Unit>Bytes</Unit><Period>300</Period><Current>',
    );
    expect(textsOf(text, 'Value')).toEqual(['8']);
    expect(text).not.toContain('Datapoint');
    expect(Math.abs(Date.parse(textOf(text, 'Timestamp')!) - Date.now())).toBeLessThan(minute);
    const objects = await client.metricData(bucket, { ...size, ...lastHour(), metric: 'NumberOfObjects' });
    expect([textOf(objects.text, 'Unit'), textOf(objects.text, 'Value')]).toEqual(['Count', '2']);
  });

  it('gives datapoints at the beginnings of periods, each sample counted once', async () => {
    const bucket = await client.bucket();
    await fill(bucket, ['12345', '123']);
    const datapoint = async (parameters: Record<string, string>): Promise<[string, string] | undefined> => {
      const { text } = await client.metricData(bucket, { ...size, ...lastHour(), ...parameters });
      const found = /<Datapoint><Timestamp>([^<]*)<\/Timestamp><Value>([^<]*)<\/Value><\/Datapoint><\/MetricData>$/;
      const match = found.exec(text);
      return match ? [match[1]!, match[2]!] : undefined;
    };
    await untilFound(async () => (await datapoint({}))?.[1] === '8');
    const [time] = (await datapoint({}))!;
    expect(Date.parse(time) % (5 * minute)).toBe(0);
    // Several samples were taken in these five minutes, and only the last counts.
    expect((await datapoint({ statistic: 'SampleCount' }))?.[1]).toBe('1');
    for (const statistic of ['Average', 'Minimum', 'Maximum', 'Sum']) {
      expect((await datapoint({ statistic }))?.[1]).toBe('8');
    }
    expect((await datapoint({ metric: 'NumberOfObjects' }))?.[1]).toBe('2');
    for (const [period, start] of [
      ['3600', ago(3 * 60 * minute)],
      ['86400', ago(3 * 24 * 60 * minute)],
    ] as const) {
      const found = await datapoint({ period, start });
      expect(Date.parse(found![0]) % (Number(period) * 1000)).toBe(0);
      expect(found![1]).toBe('8');
    }
  });

  it.each([
    ['metric', 'Size'],
    ['metric', ''],
    ['statistic', 'p50'],
    ['period', '60'],
    ['period', '0'],
    ['period', '-300'],
    ['period', '450'],
    ['period', '300.0'],
    ['start', 'yesterday'],
    ['end', '2026-02-30T00:00:00Z'],
    ['end', '2026-01-01T00:00:00'],
  ])('refuses %s=%s and names it', async (name, value) => {
    const response = await client.metricData(await service.bucket(), { ...size, ...lastHour(), [name]: value });
    expectError(response, 400, 'InvalidArgument');
    expect(textOf(response.text, 'ArgumentName')).toBe(name);
  });

  it.each(['metric', 'statistic', 'period', 'start', 'end'])('wants to know the %s', async (name) => {
    const { [name]: _, ...others }: Record<string, string> = { ...size, ...lastHour() };
    const response = await client.metricData(await service.bucket(), others);
    expectError(response, 400, 'InvalidArgument');
    expect(textOf(response.text, 'ArgumentName')).toBe(name);
  });

  it('gives at most 1,440 datapoints, from start to a later end', async () => {
    const bucket = await service.bucket();
    const ask = (start: string, end: string): Promise<{ status: number }> =>
      client.metricData(bucket, { ...size, period: '300', start, end });
    expect((await ask('2026-01-01T00:00:00Z', '2026-01-06T00:00:00Z')).status).toBe(200);
    expect((await ask('2026-01-01', '2026-01-06')).status).toBe(200);
    expect((await ask('2026-01-01T00:00:00Z', '2026-01-06T00:00:01Z')).status).toBe(400);
    expect((await ask('2026-01-01T00:00:00Z', '2026-01-01T00:00:00Z')).status).toBe(400);
    expect((await ask('2026-01-02T00:00:00Z', '2026-01-01T00:00:00Z')).status).toBe(400);
    const ever = { ...size, period: '864000000', start: '0001-01-01', end: '9999-12-31' };
    expect((await client.metricData(bucket, ever)).status).toBe(200);
  });

  it('is refused to everybody else', async () => {
    const bucket = await service.bucket();
    const request = { path: `/${bucket}`, query: 'metric-data' };
    const asked = {
      path: `/${bucket}`,
      query: 'end=2026-01-02&metric=BucketSizeBytes&metric-data&period=300&start=2026-01-01&statistic=Sum',
    };
    expectError(await service.send(asked, { key: service.bob }), 403, 'AccessDenied');
    expectError(await service.sendUnsigned(asked), 403, 'AccessDenied');
    expectError(await service.send(request), 400, 'InvalidArgument');
  });
});
