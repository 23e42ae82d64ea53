import { describe, expect, it } from 'vitest';
import { expectError, textOf, textsOf } from '../support/clients/expect-error.ts';
import { MonitoringClient, plainAlarm } from '../support/storage/monitoring.ts';
import { serviceUnderTest } from '../support/programs/service-under-test.ts';

const service = serviceUnderTest();
const client = new MonitoringClient(service);

describe('ListAlarms', () => {
  it('shows all fields of all alarms', async () => {
    const bucket = await client.bucket();
    await client.put(bucket, 'b', { ...plainAlarm, OKAction: ['log:', 'https://hooks.example.com/'] });
    await client.put(bucket, 'a');
    const { status, text } = await client.list(bucket);
    expect(status).toBe(200);
    const head = `<Name>${bucket}</Name><Marker/><MaxAlarms>1000</MaxAlarms><IsTruncated>false</IsTruncated>`;
    expect(text).toContain(`<ListAlarmsResult xmlns="http://s3.amazonaws.com/doc/2006-03-01/">${head}<Alarm>`);
    const listed = Array.from(text.matchAll(/<Alarm>(.*?)<\/Alarm>/g), ([, fields]) => fields);
    const single = async (name: string): Promise<string | undefined> =>
      /<Alarm [^>]*>(.*)<\/Alarm>/.exec((await client.alarm(bucket, name)).text)?.[1];
    expect(listed).toEqual([await single('a'), await single('b')]);
  });

  it('gives pages in the order of the names, as ListObjects does', async () => {
    const bucket = await client.bucket();
    const names = ['B', 'a', 'a b', 'é', '\uffee', '𐀀'];
    for (const name of names.toReversed()) expect((await client.put(bucket, name)).status).toBe(200);
    const found: string[] = [];
    let marker = '';
    for (let page = 0; page < 3; page += 1) {
      const { text } = await client.list(bucket, { 'max-alarms': '2', marker });
      expect(textOf(text, 'Marker')).toBe(marker);
      expect(textOf(text, 'MaxAlarms')).toBe('2');
      const own = textsOf(text.slice(text.indexOf('<Alarm>')), 'Name');
      found.push(...own);
      expect(textOf(text, 'IsTruncated')).toBe(String(page < 2));
      expect(textOf(text, 'NextMarker')).toBe(page < 2 ? own.at(-1) : undefined);
      marker = own.at(-1)!;
    }
    expect(found).toEqual(names);
    const none = await client.list(bucket, { 'max-alarms': '0' });
    expect([textOf(none.text, 'IsTruncated'), none.text.includes('<Alarm>')]).toEqual(['false', false]);
  });

  it('is empty where there is none', async () => {
    const { text } = await client.list(await service.bucket());
    expect(text).toContain('<IsTruncated>false</IsTruncated></ListAlarmsResult>');
  });

  it.each(['-1', 'x', '1.5', '99999999999'])('refuses max-alarms=%s', async (value) => {
    expectError(await client.list(await service.bucket(), { 'max-alarms': value }), 400, 'InvalidArgument');
  });

  it('is refused to everybody else', async () => {
    const bucket = await service.bucket();
    const request = { path: `/${bucket}`, query: 'alarms' };
    expectError(await service.send(request, { key: service.bob }), 403, 'AccessDenied');
    expectError(await service.sendUnsigned(request), 403, 'AccessDenied');
  });
});
