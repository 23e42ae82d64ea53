import { describe, expect, it } from 'vitest';
import { AuditLog, auditPage, isAuditPlace } from '../../../shared/audit/audit-log.ts';
import { cloudTrailRecord, type Act } from '../../../shared/audit/audit-record.ts';
import { day, second } from '../../../shared/ports/durations.ts';
import { auditedOperations } from '../../../shared/protocol/audited.ts';
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
    const { records } = await auditPage(table, { from: 0, to: clock.now() });
    return records.map(({ event }) => event);
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
    log.record({ ...act, key: 'a\nb\u2028c', agent: 'x'.repeat(5000), given: { document: 'y'.repeat(50_000) } });
    await log.flush();
    await log.flush();
    const { records } = await auditPage(table, { from: 0, to: clock.now() });
    expect(records).toHaveLength(1);
    expect(records[0]).toMatchObject({ key: 'a\ufffdb\ufffdc', agent: 'x'.repeat(1024), given: { tooLong: true } });
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
