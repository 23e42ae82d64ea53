import { describe, expect, it } from 'vitest';
import { expectError, textOf, textsOf } from '../support/clients/expect-error.ts';
import { MonitoringClient, plainAlarm } from '../support/storage/monitoring.ts';
import { untilFound } from '../support/runs/eventually.ts';
import { serviceUnderTest } from '../support/programs/service-under-test.ts';

const service = serviceUnderTest({ args: ['--monitoring-seconds', '0.2'] });
const client = new MonitoringClient(service);

describe('GetAlarmHistory', () => {
  it('tells of creation, changes of state, actions and updates, the newest first', async () => {
    const bucket = await client.bucket();
    await client.put(bucket, 'alarm', { ...plainAlarm, OKAction: ['log:'] });
    await untilFound(async () => (await client.history(bucket, 'alarm')).text.includes('Action'));
    await client.put(bucket, 'alarm', { ...plainAlarm, Threshold: 20 });
    const { status, text } = await client.history(bucket, 'alarm');
    expect(status).toBe(200);
    const head = '<Name>alarm</Name><Marker/><IsTruncated>false</IsTruncated>';
    expect(text).toContain(`<AlarmHistory xmlns="http://s3.amazonaws.com/doc/2006-03-01/">${head}<Item><Timestamp>`);
    const types = ['ConfigurationUpdate', 'Action', 'StateUpdate', 'ConfigurationUpdate'];
    expect(textsOf(text, 'Type')).toEqual(types);
    const [updated, acted, changed, created] = textsOf(text, 'Summary');
    expect(updated).toBe('Alarm "alarm" updated.');
    expect(acted).toBe('Action log: was carried out.');
    expect(changed).toMatch(/^Alarm updated from INSUFFICIENT_DATA to OK\. Threshold not crossed: 1 of the last 1/);
    expect(created).toBe('Alarm "alarm" created.');
    const times = textsOf(text, 'Timestamp');
    expect(times).toEqual(times.toSorted().toReversed());
  });

  it('gives at most 100 at once, and the others behind a marker', async () => {
    const bucket = await client.bucket();
    for (let at = 0; at < 130; at += 1) {
      const put = await client.put(bucket, 'alarm', { ...plainAlarm, ActionsEnabled: at % 2 === 0 });
      expect(put.status).toBe(200);
    }
    const first = (await client.history(bucket, 'alarm')).text;
    expect(textsOf(first, 'Item')).toHaveLength(0);
    expect(first.match(/<Item>/g)).toHaveLength(100);
    expect(textOf(first, 'IsTruncated')).toBe('true');
    const marker = textOf(first, 'NextMarker')!;
    const second = (await client.history(bucket, 'alarm', { marker })).text;
    expect(textOf(second, 'IsTruncated')).toBe('false');
    expect(textsOf(second, 'Summary').at(-1)).toBe('Alarm "alarm" created.');
    const all = [...textsOf(first, 'Type'), ...textsOf(second, 'Type')];
    expect(all.filter((type) => type === 'ConfigurationUpdate')).toHaveLength(130);
  });

  it('knows no alarm that is not there, and no odd marker', async () => {
    const bucket = await client.bucket();
    expectError(await client.history(bucket, 'alarm'), 404, 'NoSuchAlarm');
    await client.put(bucket, 'alarm');
    expectError(await client.history(bucket, 'alarm', { marker: 'x/y' }), 400, 'InvalidArgument');
  });

  it('is refused to everybody else', async () => {
    const bucket = await client.bucket();
    await client.put(bucket, 'alarm');
    const request = { path: `/${bucket}`, query: 'alarm-history&name=alarm' };
    expectError(await service.send(request, { key: service.bob }), 403, 'AccessDenied');
    expectError(await service.sendUnsigned(request), 403, 'AccessDenied');
  });
});
