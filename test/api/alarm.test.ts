import { describe, expect, it } from 'vitest';
import { expectError, textOf, textsOf } from '../support/clients/expect-error.ts';
import { alarmXml, MonitoringClient, plainAlarm, type AlarmFields } from '../support/storage/monitoring.ts';
import { serviceUnderTest } from '../support/programs/service-under-test.ts';

const service = serviceUnderTest();
const client = new MonitoringClient(service);

const elements = (xml: string): string[] => Array.from(xml.matchAll(/<(\w+)[ >/]/g), ([, name]) => name!);

describe('PutAlarm and GetAlarm', () => {
  it('keep every field, and begin without a state', async () => {
    const bucket = await client.bucket();
    const fields: AlarmFields = {
      Description: 'Too much <of> it & more',
      Metric: 'BucketSizeBytes',
      Statistic: 'Average',
      ComparisonOperator: 'LessThanOrEqualToThreshold',
      Threshold: '-1.5e3',
      Period: 3600,
      EvaluationPeriods: 6,
      DatapointsToAlarm: 4,
      TreatMissingData: 'notBreaching',
      ActionsEnabled: false,
      OKAction: ['log:'],
      AlarmAction: ['log:', 'https://hooks.example.com/a?b=c&d'],
      InsufficientDataAction: ['https://hooks.example.com/'],
    };
    const before = Date.now();
    const name = 'größer <&> als 5';
    const put = await client.put(bucket, name, fields);
    expect(put.status).toBe(200);
    expect(put.text).toContain('<PutAlarmResult xmlns="http://s3.amazonaws.com/doc/2006-03-01/"><Name>');
    expect(textOf(put.text, 'Name')).toBe(name);

    const { text, status } = await client.alarm(bucket, name);
    expect(status).toBe(200);
    for (const [field, value] of Object.entries({ ...fields, Threshold: -1500, State: 'INSUFFICIENT_DATA' })) {
      expect(textsOf(text, field)).toEqual([value].flat().map(String));
    }
    expect(elements(text)).toEqual([
      ...['Alarm', 'Name', 'Description', 'Metric', 'Statistic', 'ComparisonOperator', 'Threshold', 'Period'],
      ...['EvaluationPeriods', 'DatapointsToAlarm', 'TreatMissingData', 'ActionsEnabled', 'OKAction', 'AlarmAction'],
      ...['AlarmAction', 'InsufficientDataAction', 'State', 'StateReason', 'StateUpdatedTimestamp', 'CreationDate'],
    ]);
    for (const moment of ['StateUpdatedTimestamp', 'CreationDate']) {
      expect(Date.parse(textOf(text, moment)!)).toBeGreaterThanOrEqual(before - 1000);
    }
  });

  it('take what is left out for its default', async () => {
    const bucket = await client.bucket();
    expect((await client.put(bucket, 'plain', { ...plainAlarm, EvaluationPeriods: 3 })).status).toBe(200);
    const { text } = await client.alarm(bucket, 'plain');
    expect(textOf(text, 'DatapointsToAlarm')).toBe('3');
    expect(textOf(text, 'TreatMissingData')).toBe('missing');
    expect(textOf(text, 'ActionsEnabled')).toBe('true');
    expect(text).not.toContain('Description');
    expect(text).not.toContain('Action>');
  });

  it('show a secret once: when an alarm first gets a webhook', async () => {
    const bucket = await client.bucket();
    const hook = { ...plainAlarm, AlarmAction: ['https://hooks.example.com/'] };
    expect((await client.put(bucket, 'alarm')).text).not.toContain('WebhookSecret');
    const secret = textOf((await client.put(bucket, 'alarm', hook)).text, 'WebhookSecret');
    expect(secret).toMatch(/^[\w-]{43}$/);
    expect((await client.put(bucket, 'alarm', { ...hook, Threshold: 11 })).text).not.toContain('WebhookSecret');
    expect((await client.alarm(bucket, 'alarm')).text).not.toContain(secret!);
    const other = textOf((await client.put(bucket, 'other', hook)).text, 'WebhookSecret');
    expect(other).not.toBe(secret);
  });

  it('change an alarm and leave what is not its definition alone', async () => {
    const bucket = await client.bucket();
    await client.put(bucket, 'alarm');
    const before = (await client.alarm(bucket, 'alarm')).text;
    await client.put(bucket, 'alarm', { ...plainAlarm, Threshold: 20 });
    const after = (await client.alarm(bucket, 'alarm')).text;
    expect(textOf(after, 'Threshold')).toBe('20');
    for (const field of ['State', 'StateUpdatedTimestamp', 'CreationDate']) {
      expect(textOf(after, field)).toBe(textOf(before, field));
    }
  });

  const refused: readonly (readonly [field: string, value: AlarmFields[string], further?: AlarmFields])[] = [
    ['Metric', 'Size'],
    ['Metric', undefined],
    ['Statistic', 'p99'],
    ['Statistic', undefined],
    ['ComparisonOperator', '>'],
    ['ComparisonOperator', undefined],
    ['Threshold', 'NaN'],
    ['Threshold', 'Infinity'],
    ['Threshold', '1e999'],
    ['Threshold', '0x10'],
    ['Threshold', ''],
    ['Threshold', undefined],
    ['Period', 60],
    ['Period', 301],
    ['Period', 0],
    ['Period', -300],
    ['Period', '3e2'],
    ['Period', undefined],
    ['EvaluationPeriods', 0],
    ['EvaluationPeriods', 289],
    ['EvaluationPeriods', 1.5],
    ['EvaluationPeriods', 169, { Period: 3600 }],
    ['DatapointsToAlarm', 2],
    ['DatapointsToAlarm', 0],
    ['TreatMissingData', 'Missing'],
    ['ActionsEnabled', 'yes'],
    ['Description', 'x'.repeat(1025)],
    ['AlarmAction', ['http://hooks.example.com/']],
    ['AlarmAction', ['file:///etc/passwd']],
    ['AlarmAction', ['https://user:password@hooks.example.com/']],
    ['AlarmAction', ['log']],
    ['AlarmAction', ['']],
    ['AlarmAction', [`https://hooks.example.com/${'x'.repeat(1024)}`]],
    ['InsufficientDataAction', ['log:', 'log:', 'log:', 'log:', 'log:', 'log:']],
  ];

  const rows = refused.map(([field, value, further]) => ({ field, value, further }));

  it.each(rows)('refuse a bad $field, name it, and make no alarm: $value', async ({ field, value, further }) => {
    const bucket = await client.bucket();
    const response = await client.put(bucket, 'alarm', { ...plainAlarm, ...further, [field]: value });
    expectError(response, 400, 'InvalidArgument');
    expect(textOf(response.text, 'ArgumentName')).toBe(field);
    expect(textOf(response.text, 'Message')).toContain(field);
    expectError(await client.alarm(bucket, 'alarm'), 404, 'NoSuchAlarm');
  });

  it('refuse to publish to a topic, which are in the cloud alone', async () => {
    const bucket = await client.bucket();
    const topic = 'arn:aws:sns:eu-central-1:123456789012:topic';
    const response = await client.put(bucket, 'alarm', { ...plainAlarm, OKAction: [topic] });
    expectError(response, 400, 'InvalidArgument');
    expect(textOf(response.text, 'ArgumentName')).toBe('OKAction');
    expectError(await client.alarm(bucket, 'alarm'), 404, 'NoSuchAlarm');
  });

  it.each([
    '<Alarm><Metric>NumberOfObjects</Metric><Metric>BucketSizeBytes</Metric></Alarm>',
    '<Alarm><Colour>red</Colour></Alarm>',
    '<Rule/>',
    '<Alarm>',
    '<!DOCTYPE a [<!ENTITY b "c">]><Alarm>&b;</Alarm>',
    '',
  ])('refuse a document of another form: %s', async (body) => {
    const bucket = await client.bucket();
    const request = { method: 'PUT', path: `/${bucket}`, query: 'alarm&name=alarm', body };
    expectError(await service.send(request), 400, 'MalformedXML');
  });

  it('take the longest times there may be', async () => {
    const bucket = await client.bucket();
    for (const [at, [period, periods]] of [
      [300, 288],
      [3300, 26],
      [3600, 168],
      [604_800, 1],
    ].entries()) {
      const fields = { ...plainAlarm, Period: period!, EvaluationPeriods: periods! };
      expect((await client.put(bucket, `alarm ${at}`, fields)).status).toBe(200);
    }
  });

  it('want a document with a length of at most 1 MiB', async () => {
    const bucket = await client.bucket();
    const request = { method: 'PUT', path: `/${bucket}`, query: 'alarm&name=alarm' };
    const bare = { ...request, headers: { 'transfer-encoding': 'chunked' }, body: '0\r\n\r\n' };
    expectError(await service.send(bare, { payloadHash: 'UNSIGNED-PAYLOAD' }), 411, 'MissingContentLength');
    const body = alarmXml({ ...plainAlarm, Description: 'x'.repeat(1024 * 1024) });
    expectError(await service.send({ ...request, body }), 400, 'MaxMessageLengthExceeded');
  });

  it.each(['', 'x'.repeat(256), 'with\ttab', 'with\u0000nul'])('refuse the name %j', async (name) => {
    const bucket = await client.bucket();
    const asked = [client.put(bucket, name), client.alarm(bucket, name), client.remove(bucket, name)];
    for (const response of await Promise.all([...asked, client.history(bucket, name)])) {
      expectError(response, 400, 'InvalidArgument');
      expect(textOf(response.text, 'ArgumentName')).toBe('name');
    }
    expectError(await service.send({ path: `/${bucket}`, query: 'alarm' }), 400, 'InvalidArgument');
  });

  it('take a name of 255 characters of four bytes', async () => {
    const bucket = await client.bucket();
    const name = '𐀀'.repeat(255);
    expect((await client.put(bucket, name)).status).toBe(200);
    expect(textOf((await client.alarm(bucket, name)).text, 'Name')).toBe(name);
  });

  it('make none while monitoring is off', async () => {
    const bucket = await service.bucket();
    expectError(await client.put(bucket, 'alarm'), 409, 'InvalidBucketState');
    await client.turn(bucket, 'Enabled');
    expect((await client.put(bucket, 'alarm')).status).toBe(200);
    await client.turn(bucket, 'Disabled');
    expectError(await client.put(bucket, 'alarm'), 409, 'InvalidBucketState');
    expect(textOf((await client.alarm(bucket, 'alarm')).text, 'State')).toBe('INSUFFICIENT_DATA');
    expect((await client.remove(bucket, 'alarm')).status).toBe(204);
  });

  it('make 50 in a bucket, also when many come at once, and room when one goes', async () => {
    const bucket = await client.bucket();
    for (let first = 0; first < 48; first += 8) {
      const some = Array.from({ length: 8 }, (_, at) => client.put(bucket, `alarm ${first + at}`));
      for (const response of await Promise.all(some)) expect([200, 503]).toContain(response.status);
    }
    // Those that were asked to slow down.
    for (let at = 0; at < 48; at += 1) expect((await client.put(bucket, `alarm ${at}`)).status).toBe(200);
    const last = await Promise.all(['a', 'b', 'c', 'd'].map((name) => client.put(bucket, name)));
    expect(last.map(({ status }) => status).sort()).toEqual([200, 200, 400, 400]);
    expectError(
      last.find(({ status }) => status === 400)!,
      400,
      'TooManyAlarms',
    );
    expect((await client.put(bucket, 'alarm 0', { ...plainAlarm, Threshold: 1 })).status).toBe(200);
    expect((await client.remove(bucket, 'alarm 0')).status).toBe(204);
    expect((await client.put(bucket, 'e')).status).toBe(200);
    expectError(await client.put(bucket, 'f'), 400, 'TooManyAlarms');
  });

  it('keep a name for one bucket of a project', async () => {
    const [one, other] = [await client.bucket(), await client.bucket()];
    const name = `alarm of ${one}`;
    expect((await client.put(one, name)).status).toBe(200);
    const taken = await client.put(other, name);
    expectError(taken, 400, 'InvalidArgument');
    expect(textOf(taken.text, 'ArgumentName')).toBe('name');
    expect((await client.remove(one, name)).status).toBe(204);
    expect((await client.put(other, name)).status).toBe(200);
    // A removed bucket does not keep it.
    expect((await service.send({ method: 'DELETE', path: `/${other}` })).status).toBe(204);
    expect((await client.put(one, name)).status).toBe(200);
  });

  it('are refused to everybody else', async () => {
    const bucket = await client.bucket();
    await client.put(bucket, 'alarm');
    const body = alarmXml(plainAlarm);
    for (const method of ['GET', 'PUT', 'DELETE'] as const) {
      const request = { method, path: `/${bucket}`, query: 'alarm&name=alarm', ...(method === 'PUT' && { body }) };
      expectError(await service.send(request, { key: service.bob }), 403, 'AccessDenied');
      expectError(await service.sendUnsigned(request), 403, 'AccessDenied');
    }
    expect((await client.alarm(bucket, 'alarm')).status).toBe(200);
  });
});

describe('DeleteAlarm', () => {
  it('removes an alarm with its history', async () => {
    const bucket = await client.bucket();
    await client.put(bucket, 'alarm');
    const removed = await client.remove(bucket, 'alarm');
    expect([removed.status, removed.text]).toEqual([204, '']);
    expectError(await client.alarm(bucket, 'alarm'), 404, 'NoSuchAlarm');
    expectError(await client.history(bucket, 'alarm'), 404, 'NoSuchAlarm');
    expectError(await client.remove(bucket, 'alarm'), 404, 'NoSuchAlarm');
    await client.put(bucket, 'alarm');
    expect(textsOf((await client.history(bucket, 'alarm')).text, 'Type')).toEqual(['ConfigurationUpdate']);
  });
});
