import { describe, expect, it } from 'vitest';
import { AuditLog, auditPage, isAuditPlace } from '../../../shared/audit/audit-log.ts';
import { cloudTrailRecord, type Act } from '../../../shared/audit/audit-record.ts';
import { pages } from '../../../shared/storage/table/pages.ts';
import { dayOf } from '../../../shared/storage/table/keys/days.ts';
import { day, second } from '../../../shared/ports/durations.ts';
import { auditedOperations, dataOperations } from '../../../shared/protocol/audited.ts';
import { CountedBytes, SetClock } from '../../support/storage/fixed-deps.ts';
import { MemoryTable } from '../../support/storage/memory-table.ts';

const act: Act = {
  by: { kind: 'user', project: 'id', user: 'alice', key: 'AK' },
  ...{ source: 's3', event: 'PutBucketAcl', bucket: 'bucket', project: 'id' },
};

function world(days: number | undefined = 2) {
  const [table, clock, randomness] = [new MemoryTable(), new SetClock(), new CountedBytes()];
  const lost: number[] = [];
  const log = new AuditLog({ table, clock, randomness }, days, (count) => lost.push(count));
  const all = async (): Promise<string[]> => {
    const events: string[] = [];
    for await (const { records } of pages((next) =>
      auditPage(table, { from: clock.now() - day, to: clock.now() }, next),
    ))
      events.push(...records.map(({ event }) => event));
    return events;
  };
  return { table, clock, log, lost, all };
}

describe('the audit log', () => {
  it('keeps records for some days, in the order of time, and forgets older ones', async () => {
    const { clock, log, table } = world(2);
    const begun = clock.now();
    for (let today = 0; today < 6; today += 1) {
      clock.time = begun + today * day;
      log.record({ ...act, event: `day ${today}` });
      await log.flush();
    }
    const { records } = await auditPage(table, { from: begun - 30 * day, to: clock.now() });
    expect(records.map(({ event }) => event)).toEqual(['day 3', 'day 4', 'day 5']);
  });

  it('takes a record down once, with texts that are no other records, and not too long', async () => {
    const { log, table, clock } = world();
    log.record({
      ...act,
      key: 'a\nb\u2028c',
      agent: 'x'.repeat(5000),
      given: { name: 'a', document: 'y'.repeat(50_000) },
    });
    log.record({ ...act, given: { names: Array.from({ length: 20 }, () => 'z'.repeat(2000)) } });
    await log.flush();
    await log.flush();
    const { records } = await auditPage(table, { from: 0, to: clock.now() });
    expect(records).toHaveLength(2);
    expect(records[0]).toMatchObject({ key: 'a\ufffdb\ufffdc', agent: 'x'.repeat(1024) });
    expect(records.map(({ given }) => given)).toEqual([{ name: 'a', document: 'y'.repeat(1024) }, { tooLong: true }]);
  });

  it('takes refused acts twenty to a second, all others, and counts what it leaves out', async () => {
    const { log, lost, clock, all } = world();
    for (let at = 0; at < 100; at += 1) log.record({ ...act, event: 'refused', error: 'AccessDenied' });
    for (let at = 0; at < 100; at += 1) log.record({ ...act, event: 'done' });
    await log.flush();
    expect(lost).toEqual([80]);
    clock.time = clock.now() + second;
    log.record({ ...act, event: 'refused', error: 'AccessDenied' });
    await log.flush();
    const events = await all();
    expect(events.filter((event) => event === 'refused')).toHaveLength(21);
    expect(events.filter((event) => event === 'done')).toHaveLength(100);
  });

  it('takes a thousand requests for data a second, of which 200 refused, and these take no room of changes', async () => {
    const { log, lost, clock, all } = world();
    const read: Act = { ...act, event: 'GetObject', key: 'k', data: 'read' };
    for (let at = 0; at < 500; at += 1) log.record({ ...read, event: 'refused', error: 'AccessDenied' });
    for (let at = 0; at < 1500; at += 1) log.record(read);
    for (let at = 0; at < 20; at += 1) log.record({ ...act, error: 'AccessDenied' });
    for (let at = 0; at < 980; at += 1) log.record(act);
    expect(log.lost).toEqual({ management: 0, data: 1000 });
    clock.time += second;
    // The table has not taken anything yet.
    log.record(read);
    expect(log.lost).toEqual({ management: 0, data: 1001 });
    await log.flush();
    for (let at = 0; at < 1000; at += 1) log.record(read);
    await log.flush();
    expect([lost, log.lost]).toEqual([[1001], { management: 0, data: 1001 }]);
    const events = await all();
    const counted = (event: string): number => events.filter((one) => one === event).length;
    expect([counted('refused'), counted('GetObject'), counted('PutBucketAcl')]).toEqual([200, 1800, 1000]);
  });

  it('forgets a day of many records little by little, and takes others meanwhile', async () => {
    const { log, clock, table } = world(2);
    const begun = clock.now();
    for (let at = 0; at < 5; at += 1) {
      for (let count = 0; count < 999; count += 1) log.record({ ...act, event: 'old' });
      await log.flush();
    }
    clock.time = begun + 5 * day;
    const left = async (): Promise<number> => table.keysOf(`audit/${dayOf(begun)}`).length;
    log.record({ ...act, event: 'new' });
    await log.flush();
    expect(await left()).toBeGreaterThan(2000);
    for (let at = 0; at < 3; at += 1) await log.flush();
    expect(await left()).toBe(0);
    expect((await auditPage(table, { from: begun, to: clock.now() })).records.map(({ event }) => event)).toEqual([
      'new',
    ]);
  });

  it('counts what a table does not take, and goes on', async () => {
    const { log, lost, table, all } = world();
    const write = table.write.bind(table);
    table.write = () => Promise.reject(new Error('no table'));
    log.record(act);
    await log.flush().catch(() => undefined);
    table.write = write;
    log.record({ ...act, event: 'later' });
    await log.flush();
    expect([lost, await all()]).toEqual([[1], ['later']]);
  });

  it('tells of a loss to whoever answers nothing without a record', async () => {
    const [table, clock, randomness] = [new MemoryTable(), new SetClock(), new CountedBytes()];
    const log = new AuditLog({ table, clock, randomness }, 2, () => undefined, true);
    expect([log.record(act), await log.secured!()]).toEqual([true, true]);
    const write = table.write.bind(table);
    table.write = () => Promise.reject(new Error('no table'));
    log.record(act);
    expect(await log.secured!()).toBe(false);
    table.write = write;
    log.record(act);
    expect(await log.secured!()).toBe(true);
    for (let at = 0; at < 1000; at += 1) expect(log.record(act)).toBe(true);
    expect(log.record(act)).toBe(false);
    expect(world().log.secured).toBeUndefined();
  });

  it('is read in pages, by project and bucket', async () => {
    const { log, table, clock } = world();
    for (let at = 0; at < 900; at += 1) log.record({ ...act, event: `${at}`, project: at % 2 ? 'odd' : 'even' });
    await log.flush();
    for (let at = 900; at < 1800; at += 1) log.record({ ...act, event: `${at}`, project: at % 2 ? 'odd' : 'even' });
    await log.flush();
    const query = { from: 0, to: clock.now(), project: 'odd' };
    const first = await auditPage(table, query);
    const second_ = await auditPage(table, query, first.next);
    expect([first.next !== undefined, second_.next]).toEqual([true, undefined]);
    const found = [...first.records, ...second_.records];
    expect(new Set(found.map(({ event }) => event)).size).toBe(900);
    expect((await auditPage(table, { ...query, bucket: 'another' })).records).toEqual([]);
    expect(isAuditPlace(first.next!)).toBe(true);
    for (const one of ['', '2026-11-20', '2026-99-99 x', 'x 2026-11-20', `${first.next} x`])
      expect(isAuditPlace(one), one).toBe(false);
  });

  it('is read from no day before those that are asked for, whatever the place', async () => {
    const { table, clock } = world();
    await auditPage(table, { from: clock.now() - 2 * day, to: clock.now() }, '0001-01-01 x');
    expect(table.calls.query).toBe(3);
  });
});

describe('what is taken down', () => {
  it('is what changes buckets, settings and rights, and no data', () => {
    expect([...auditedOperations]).toEqual(
      expect.arrayContaining(['CreateBucket', 'DeleteBucket', 'PutBucketPolicy', 'PutObjectAcl', 'DeleteAlarm']),
    );
    const others = [
      'PutObject',
      'DeleteObject',
      'DeleteObjects',
      'PostObject',
      'GetBucketAcl',
      'ListObjects',
      'Preflight',
    ];
    expect(others.filter((name) => auditedOperations.has(name))).toEqual([]);
  });

  it('is, of buckets that ask for it, what reads or writes their data', () => {
    const reads = [
      'GetObject',
      'HeadObject',
      'ListParts',
      'GetObjectAcl',
      'ListObjectsV2',
      'GetPublicLink',
      'GetWebsitePage',
    ];
    const writes = [
      'PutObject',
      'CopyObject',
      'PostObject',
      'DeleteObjects',
      'UploadPart',
      'RenameObject',
      'PutObjectTagging',
    ];
    for (const name of reads) expect(dataOperations.get(name), name).toBe('read');
    for (const name of writes) expect(dataOperations.get(name), name).toBe('write');
    for (const name of ['PutObjectAcl', 'PutBucketPolicy', 'HeadBucket', 'ListBuckets', 'Preflight', 'GetBucketAcl'])
      expect(dataOperations.has(name), name).toBe(false);
    expect([...dataOperations.keys()].filter((name) => auditedOperations.has(name))).toEqual([]);
  });

  it('is a data event of CloudTrail with the ARN of the object', () => {
    const made = (data: 'read' | 'write', key?: string): unknown =>
      cloudTrailRecord({ ...act, event: 'X', bucket: 'photos', key, id: 'ID', time: 0, data }, 'eu-1');
    const bucket = { accountId: 'id', type: 'AWS::S3::Bucket', ARN: 'arn:aws:s3:::photos' };
    expect(made('read', 'a/b c')).toMatchObject({
      ...{ eventCategory: 'Data', managementEvent: false, readOnly: true },
      resources: [{ type: 'AWS::S3::Object', ARN: 'arn:aws:s3:::photos/a/b c' }, bucket],
    });
    expect(made('write')).toMatchObject({
      ...{ eventCategory: 'Data', managementEvent: false, readOnly: false },
      resources: [{ type: 'AWS::S3::Object', ARNPrefix: 'arn:aws:s3:::photos/' }, bucket],
    });
  });

  it('has the names and values of CloudTrail', () => {
    const record = {
      ...act,
      id: 'ID',
      time: 0,
      requestId: 'tx1',
      address: '192.0.2.1',
      agent: 'cli',
      error: 'AccessDenied',
    };
    expect(cloudTrailRecord(record, 'eu-1')).toEqual({
      eventVersion: '1.11',
      userIdentity: { type: 'IAMUser', accountId: 'id', userName: 'alice', accessKeyId: 'AK' },
      eventTime: '1970-01-01T00:00:00Z',
      eventSource: 's3.amazonaws.com',
      eventName: 'PutBucketAcl',
      awsRegion: 'eu-1',
      sourceIPAddress: '192.0.2.1',
      userAgent: 'cli',
      errorCode: 'AccessDenied',
      requestParameters: { bucketName: 'bucket' },
      responseElements: null,
      requestID: 'tx1',
      eventID: 'ID',
      readOnly: false,
      eventType: 'AwsApiCall',
      managementEvent: true,
      recipientAccountId: 'id',
      eventCategory: 'Management',
    });
  });
});
