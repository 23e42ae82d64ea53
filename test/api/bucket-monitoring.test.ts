import { describe, expect, it } from 'vitest';
import { expectError, textOf } from '../support/clients/expect-error.ts';
import { MonitoringClient } from '../support/storage/monitoring.ts';
import { serviceUnderTest } from '../support/programs/service-under-test.ts';

const service = serviceUnderTest();
const client = new MonitoringClient(service);
const document = (status: string): string =>
  '<?xml version="1.0" encoding="UTF-8"?>\n<MonitoringConfiguration xmlns="http://s3.amazonaws.com/doc/2006-03-01/">' +
  `<Status>${status}</Status></MonitoringConfiguration>`;

describe('GetBucketMonitoring and PutBucketMonitoring', () => {
  it('say that it is off at first, turn it on, and off again', async () => {
    const bucket = await service.bucket();
    expect((await client.status(bucket)).text).toBe(document('Disabled'));
    for (const status of ['Enabled', 'Enabled', 'Disabled', 'Disabled', 'Enabled']) {
      const changed = await client.turn(bucket, status);
      expect([changed.status, changed.text]).toEqual([200, '']);
      const answer = await client.status(bucket);
      expect([answer.status, answer.text]).toEqual([200, document(status)]);
    }
  });

  it('do not carry over to a bucket that takes the name of a removed one', async () => {
    const bucket = await client.bucket();
    expect((await service.send({ method: 'DELETE', path: `/${bucket}` })).status).toBe(204);
    expectError(await client.status(bucket), 404, 'NoSuchBucket');
    expect((await service.send({ method: 'PUT', path: `/${bucket}` })).status).toBe(200);
    expect((await client.status(bucket)).text).toBe(document('Disabled'));
  });

  it.each([
    '<MonitoringConfiguration><Status>On</Status></MonitoringConfiguration>',
    '<MonitoringConfiguration><Status>enabled</Status></MonitoringConfiguration>',
    '<MonitoringConfiguration/>',
    '<MonitoringConfiguration><Status>Enabled</Status><Status>Enabled</Status></MonitoringConfiguration>',
    '<MonitoringConfiguration><Status>Enabled</Status><More/></MonitoringConfiguration>',
    '<Monitoring><Status>Enabled</Status></Monitoring>',
    'Enabled',
    '',
  ])('refuse a malformed document and change nothing: %s', async (body) => {
    const bucket = await service.bucket();
    expectError(
      await service.send({ method: 'PUT', path: `/${bucket}`, query: 'monitoring', body }),
      400,
      'MalformedXML',
    );
    expect((await client.status(bucket)).text).toBe(document('Disabled'));
  });

  it('refuse a document without a length, and one above 1 MiB', async () => {
    const bucket = await service.bucket();
    const request = { method: 'PUT', path: `/${bucket}`, query: 'monitoring' };
    const bare = { ...request, headers: { 'content-length': null, 'transfer-encoding': 'chunked' } };
    expectError(
      await service.send({ ...bare, body: '0\r\n\r\n' }, { payloadHash: 'UNSIGNED-PAYLOAD' }),
      411,
      'MissingContentLength',
    );
    const long = `<MonitoringConfiguration><Status>Enabled</Status>${' '.repeat(1024 * 1024)}</MonitoringConfiguration>`;
    expectError(await service.send({ ...request, body: long }), 400, 'MaxMessageLengthExceeded');
    expect((await client.status(bucket)).text).toBe(document('Disabled'));
  });

  it('are refused to everybody else, whatever a policy says, and to anonymous callers', async () => {
    const bucket = await service.bucket();
    const policy = JSON.stringify({
      Version: '2012-10-17',
      Statement: [{ Effect: 'Allow', Principal: '*', Action: 's3:*', Resource: `arn:aws:s3:::${bucket}` }],
    });
    expect((await service.send({ method: 'PUT', path: `/${bucket}`, query: 'policy', body: policy })).status).toBe(204);
    expectError(await client.status(bucket, { key: service.bob }), 403, 'AccessDenied');
    expectError(await client.turn(bucket, 'Enabled', { key: service.bob }), 403, 'AccessDenied');
    expectError(await service.sendUnsigned({ path: `/${bucket}`, query: 'monitoring' }), 403, 'AccessDenied');
    expect(textOf((await client.status(bucket)).text, 'Status')).toBe('Disabled');
  });

  it('are not asked about two things at once', async () => {
    const bucket = await service.bucket();
    const both = await service.send({ path: `/${bucket}`, query: 'alarms&monitoring' });
    expectError(both, 400, 'InvalidArgument');
  });

  it('know no bucket that is not there', async () => {
    expectError(await client.status(service.freeName()), 404, 'NoSuchBucket');
  });
});
