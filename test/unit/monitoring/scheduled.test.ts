import { asService, byOperator } from '../../../shared/storage/version-changes/service-authorisation.ts';
import { beforeEach, describe, expect, it } from 'vitest';
import { collectMetrics } from '../../../shared/monitoring/collect-metrics.ts';
import { evaluateAlarms } from '../../../shared/monitoring/alarms/evaluate-alarms.ts';
import type { Bucket } from '../../../shared/storage/buckets/bucket.ts';
import { Buckets } from '../../../shared/storage/buckets/buckets.ts';
import { BucketPurge } from '../../../shared/storage/removal/bucket-purge.ts';
import { Manifests } from '../../../shared/storage/objects/manifests.ts';
import { Objects } from '../../../shared/storage/objects/objects.ts';
import { readAlarmDefinition, type AlarmFields } from '../../../shared/monitoring/alarms/alarm-definition.ts';
import type { Alarm } from '../../../shared/monitoring/alarms/alarm.ts';
import { monitoringPartition } from '../../../shared/storage/table/keys/monitoring-keys.ts';
import { composeMonitoring, type Monitoring } from '../../../shared/monitoring/compose-monitoring.ts';
import { Notifications } from '../../../shared/monitoring/alarms/notifications.ts';
import { samples, samplingTime } from '../../../shared/monitoring/resolutions.ts';
import { Uploads } from '../../../shared/storage/uploads/uploads.ts';
import type { BlobStore } from '../../../shared/ports/blob-store.ts';
import type { Delivery, Notification } from '../../../shared/ports/notifier.ts';
import type { Telemetry } from '../../../shared/ports/telemetry.ts';
import { alarmAdapters, CountedBytes, SetClock } from '../../support/storage/fixed-deps.ts';
import { MemoryTable } from '../../support/storage/memory-table.ts';

const minute = 60_000;
const day = 24 * 60 * minute;

let table: MemoryTable;
let clock: SetClock;
let monitoring: Monitoring;
let notifications: Notifications;
let buckets: Buckets;
let bucketPurge: BucketPurge;
let bucket: Bucket;
/** How many objects each bucket has, by its id. */
let objects: Map<string, number>;
let sent: Notification[];
let answer: (notification: Notification) => Promise<Delivery>;
let problems: unknown[];

beforeEach(async () => {
  table = new MemoryTable();
  clock = new SetClock(Date.UTC(2026, 0, 2, 3, 2));
  const deps = { table, clock, randomness: new CountedBytes(), blobs: {} as BlobStore };
  buckets = new Buckets(deps);
  monitoring = composeMonitoring({ ...deps, ...alarmAdapters, buckets });
  notifications = new Notifications({ ...deps, ...alarmAdapters, history: monitoring.history });
  bucketPurge = new BucketPurge({
    ...deps,
    objects: new Objects({ ...deps, buckets, recorder: undefined }),
    uploads: new Uploads({ ...deps, buckets, manifests: new Manifests(deps) }),
  });
  objects = new Map();
  sent = [];
  answer = async () => ({ outcome: 'delivered' });
  problems = [];
  bucket = await monitored('bucket');
});

async function monitored(name: string, project = 'project'): Promise<Bucket> {
  await buckets.create(byOperator, name, project, 10);
  const made = await buckets.load(name);
  await monitoring.buckets.turn(asService(made), 'on');
  return made;
}

const telemetry: Telemetry = {
  request: () => undefined,
  note: () => undefined,
  problem: (message, error) => void problems.push(error ?? message),
};

const deps = () => ({
  monitoring,
  notifications,
  buckets,
  clock,
  telemetry,
  region: 'here',
  usage: {
    of: async (id: string) => {
      const count = objects.get(id) ?? 0;
      if (count < 0) throw new Error('the counters are out of reach');
      return { objects: count, bytesOfVersions: count * 100, bytesBesides: 7 };
    },
  },
  notifier: {
    send: async (notification: Notification) => {
      sent.push(notification);
      return answer(notification);
    },
  },
});

const collect = () => collectMetrics(deps());
const evaluate = () => evaluateAlarms(deps());

/** Five minutes pass, with so many objects in the bucket. */
async function pass(count: number): Promise<void> {
  clock.time += samplingTime;
  objects.set(bucket.id, count);
  await collect();
  await evaluate();
}

const fields: AlarmFields = {
  Metric: 'NumberOfObjects',
  Statistic: 'Average',
  ComparisonOperator: 'GreaterThanThreshold',
  Threshold: '10',
  Period: '300',
  EvaluationPeriods: '1',
  OKAction: ['https://hooks.test/ok'],
  AlarmAction: ['https://hooks.test/alarm'],
  InsufficientDataAction: ['https://hooks.test/nothing'],
};

async function alarm(further: Partial<AlarmFields> = {}, on = bucket, name = 'alarm'): Promise<string | undefined> {
  const definition = readAlarmDefinition({ ...fields, ...further }, monitoring.actionKinds);
  return (await monitoring.alarms.put(asService(on), name, definition, 50)).webhookSecret;
}

const state = async (): Promise<Alarm> => monitoring.alarms.load(bucket.id, 'alarm');

async function pointsOf({ id }: Bucket): Promise<number[]> {
  const values: number[] = [];
  for await (const point of monitoring.samples.read(id, samples, 0, clock.time + day)) {
    values.push(point.values.NumberOfObjects.sum);
  }
  return values;
}

async function history(): Promise<string[]> {
  const { id } = await state();
  const { entries } = await monitoring.history.list(bucket.id, id, { after: undefined, limit: 100, now: clock.now() });
  return entries.map(({ type, summary }) => `${type}: ${summary.replace(/\. .*/, '.')}`);
}

describe('a collection', () => {
  it('samples those buckets that have monitoring, and looks at no other', async () => {
    await buckets.create(byOperator, 'plain', 'project', 10);
    const off = await monitored('off');
    await monitoring.buckets.turn(asService(off), 'off');
    objects.set(bucket.id, 7);
    const gets = table.calls.get;
    expect(await collect()).toEqual({ sampled: 1, failed: 0 });
    expect(table.calls.get - gets).toBe(1);
    expect(await pointsOf(bucket)).toEqual([7]);
    expect(await pointsOf(off)).toEqual([]);
  });

  it('that is repeated within five minutes counts once', async () => {
    for (const count of [3, 5, 4]) {
      objects.set(bucket.id, count);
      await collect();
    }
    expect(await pointsOf(bucket)).toEqual([4]);
    clock.time += samplingTime;
    await collect();
    expect(await pointsOf(bucket)).toEqual([4, 4]);
  });

  it('goes on where one bucket fails, and says so', async () => {
    const other = await monitored('other');
    objects.set(bucket.id, -1);
    const told: unknown[] = [];
    const done = await collectMetrics(deps(), (soFar) => told.push(soFar));
    expect(done).toEqual({ sampled: 1, failed: 1 });
    expect(told).toHaveLength(2);
    expect(problems).toEqual([new Error('the counters are out of reach')]);
    expect(await pointsOf(other)).toEqual([0]);
  });

  it('of hundreds of buckets samples each', async () => {
    const many: Bucket[] = [];
    for (let at = 0; at < 250; at += 1) many.push(await monitored(`bucket-${at}`, `project-${at}`));
    expect((await collect()).sampled).toBe(251);
    for (const one of many) expect(await pointsOf(one)).toEqual([0]);
  });

  it('lets go of what is too old, also where monitoring was turned off', async () => {
    await collect();
    await monitoring.buckets.turn(asService(bucket), 'off');
    clock.time = Math.ceil((clock.time + 70 * day) / samples.span) * samples.span;
    await collect();
    expect(table.keysOf(monitoringPartition.samples(bucket.id)).map((sk) => sk.slice(0, 2))).toEqual(['1d', '1h']);
  });
});

describe('an evaluation', () => {
  it('tells of each change once, and of nothing else', async () => {
    const secret = await alarm();
    for (const count of [0, 0, 11, 12, 13, 10, 10]) await pass(count);
    expect(sent.map(({ target }) => target)).toEqual([
      'https://hooks.test/ok',
      'https://hooks.test/alarm',
      'https://hooks.test/ok',
    ]);
    expect(sent.every((one) => one.secret === secret)).toBe(true);
    expect(new Set(sent.map(({ id }) => id)).size).toBe(3);
    expect(await history()).toEqual([
      'Action: Action https://hooks.test/ok was carried out.',
      'StateUpdate: Alarm updated from ALARM to OK.',
      'Action: Action https://hooks.test/alarm was carried out.',
      'StateUpdate: Alarm updated from OK to ALARM.',
      'Action: Action https://hooks.test/ok was carried out.',
      'StateUpdate: Alarm updated from INSUFFICIENT_DATA to OK.',
      'ConfigurationUpdate: Alarm "alarm" created.',
    ]);
    expect(table.keysOf(monitoringPartition.notifications)).toEqual([]);
  });

  it('that is made by two at once changes a state once', async () => {
    await alarm();
    clock.time += samplingTime;
    await collect();
    await Promise.all([evaluate(), evaluate(), evaluate()]);
    expect(sent).toHaveLength(1);
    expect((await history()).filter((line) => line.startsWith('StateUpdate'))).toHaveLength(1);
  });

  it('waits for the sample of these five minutes, and does not take it for missing', async () => {
    await alarm();
    await pass(0);
    clock.time += samplingTime;
    await evaluate();
    expect((await state()).state).toBe('OK');
    // Nothing was collected for five whole minutes: now it is missing.
    clock.time += samplingTime;
    await evaluate();
    expect((await state()).state).toBe('INSUFFICIENT_DATA');
    expect(sent.at(-1)!.target).toBe('https://hooks.test/nothing');
  });

  it('says why a state is kept, and keeps since when it is', async () => {
    await alarm({ TreatMissingData: 'ignore' });
    const before = await state();
    expect(before.reason).toContain('it has not been evaluated yet');
    clock.time += 3 * samplingTime;
    await evaluate();
    const { state: kept, reason, since } = await state();
    expect([kept, reason, since]).toEqual(['INSUFFICIENT_DATA', 'Unchecked: too few datapoints.', before.since]);
    await pass(0);
    expect((await state()).state).toBe('OK');
  });

  it('counts M of N', async () => {
    await alarm({ EvaluationPeriods: '4', DatapointsToAlarm: '2' });
    const states: string[] = [];
    for (const count of [0, 0, 0, 20, 0, 20, 0, 0, 0]) {
      await pass(count);
      states.push((await state()).state);
    }
    const ok = 'OK';
    expect(states).toEqual([ok, ok, ok, ok, ok, 'ALARM', 'ALARM', ok, ok]);
  });

  it('looks back over periods of a day', async () => {
    await alarm({ Period: '86400', Statistic: 'SampleCount', Threshold: '287', TreatMissingData: 'notBreaching' });
    for (let slot = 0; slot < 287; slot += 1) await pass(0);
    expect((await state()).state).toBe('OK');
    await pass(0);
    expect((await state()).state).toBe('ALARM');
  });

  it('sleeps while monitoring is off, and knows nothing', async () => {
    await alarm();
    await pass(20);
    expect((await state()).state).toBe('ALARM');
    const entry = await monitoring.buckets.turn(asService(bucket), 'off');
    // The process that turned it off was killed before it updated the alarms: the next evaluation does so.
    expect(entry?.pausing).toBe(true);
    await evaluate();
    expect(await state()).toMatchObject({
      state: 'INSUFFICIENT_DATA',
      reason: expect.stringContaining('off') as string,
    });
    expect((await monitoring.buckets.find(bucket.id))?.pausing).toBe(false);
    await pass(0);
    expect((await state()).state).toBe('INSUFFICIENT_DATA');
    expect(sent).toHaveLength(1);
    await monitoring.buckets.turn(asService(bucket), 'on');
    await pass(0);
    expect((await state()).state).toBe('OK');
  });

  it('changes nothing if monitoring is turned off, or the alarm is changed, in between', async () => {
    await alarm();
    clock.time += samplingTime;
    objects.set(bucket.id, 20);
    await collect();
    let between: (() => Promise<unknown>) | undefined = () => monitoring.buckets.turn(asService(bucket), 'off');
    table.beforeWrite = async (changes) => {
      const isTransition = changes.some(({ key }) => key.pk === monitoringPartition.alarms(bucket.id));
      if (!isTransition || between === undefined) return;
      const once = between;
      between = undefined;
      await once();
    };
    expect((await evaluate()).changed).toBe(0);
    expect((await state()).state).toBe('INSUFFICIENT_DATA');
    await monitoring.buckets.turn(asService(bucket), 'on');
    between = () => alarm({ Threshold: '30' });
    expect((await evaluate()).changed).toBe(0);
    expect((await evaluate()).changed).toBe(1);
    expect((await state()).state).toBe('OK');
    expect(sent.map(({ target }) => target)).toEqual(['https://hooks.test/ok']);
  });

  it('says nothing where actions are off', async () => {
    await alarm({ ActionsEnabled: 'false' });
    await pass(20);
    expect((await state()).state).toBe('ALARM');
    expect(sent).toEqual([]);
  });

  it('goes on where one bucket fails, and says so', async () => {
    await alarm();
    const other = await monitored('other');
    await alarm({}, other, 'other alarm');
    clock.time += samplingTime;
    await collect();
    table.beforeWrite = async (changes) => {
      if (changes.some(({ key }) => key.pk === monitoringPartition.alarms(other.id))) throw new Error('out of reach');
    };
    expect(await evaluate()).toEqual({ alarms: 1, changed: 1, failed: 1, deliveries: 1 });
    expect(problems).toEqual([new Error('out of reach')]);
  });
});

describe('a delivery', () => {
  it('that a crash cut off is made by the next evaluation, with the same id, and not again', async () => {
    await alarm({ AlarmAction: ['https://hooks.test/1', 'https://hooks.test/2', 'https://hooks.test/3'] });
    const { beforeWrite } = table;
    // The process is killed when it records the first delivery.
    table.beforeWrite = async (changes) => {
      const left = changes.find(({ key }) => key.pk === monitoringPartition.notifications);
      if (left && 'put' in left && (left.put['targets'] as readonly string[]).length === 1) throw new Error('killed');
    };
    await expect(pass(20)).rejects.toThrow('killed');
    table.beforeWrite = beforeWrite;
    expect(sent).toHaveLength(3);
    // Another process may still be delivering.
    await evaluate();
    expect(sent).toHaveLength(3);
    clock.time += samplingTime;
    await collect();
    await evaluate();
    expect(sent.slice(3).map(({ target }) => target)).toEqual(['https://hooks.test/2', 'https://hooks.test/3']);
    expect(new Set(sent.map(({ id }) => id)).size).toBe(1);
    expect((await history()).filter((line) => line.startsWith('Action'))).toHaveLength(3);
    await pass(20);
    expect(sent).toHaveLength(5);
  });

  it('that fails or is refused is told of in the history, and is over', async () => {
    await alarm({ AlarmAction: ['https://hooks.test/failed', 'https://hooks.test/refused'] });
    answer = async ({ target }) => ({
      outcome: target.endsWith('refused') ? 'refused' : 'failed',
      reason: 'it is so',
    });
    await pass(20);
    await pass(20);
    expect(sent).toHaveLength(2);
    expect(await history()).toEqual(
      expect.arrayContaining([
        'Action: Action https://hooks.test/failed failed: it is so.',
        'Action: Action https://hooks.test/refused was refused: it is so.',
      ]),
    );
  });
});

describe('a history', () => {
  it('tells of 30 days, and then forgets', async () => {
    await alarm();
    await pass(0);
    const entries = (): number => table.keysOf(monitoringPartition.history(bucket.id)).length;
    expect(await history()).toHaveLength(3);
    clock.time += 30 * day - samplingTime + 1;
    expect(await history()).toHaveLength(2);
    clock.time += 2 * samplingTime;
    expect(await history()).toEqual([]);
    expect(entries()).toBe(3);
    // The sample begins a new item, which is the time to clear up.
    await collect();
    expect(entries()).toBe(0);
    expect((await state()).state).toBe('OK');
  });
});

describe('a removed bucket', () => {
  it('is watched no more, and leaves nothing behind', async () => {
    await alarm();
    await alarm({}, bucket, 'other');
    await pass(0);
    await buckets.remove(asService(await buckets.load('bucket')));
    objects.set(bucket.id, 20);
    clock.time += samplingTime;
    expect((await collect()).sampled).toBe(0);
    expect(await evaluate()).toMatchObject({ alarms: 0, changed: 0 });

    clock.time += 20 * minute;
    await buckets.create(byOperator, 'bucket', 'project', 10);
    const again = await buckets.load('bucket');
    await monitoring.buckets.turn(asService(again), 'on');
    // An alarm's name is free as soon as its bucket is removed, and the sweep does not touch a new alarm of that name.
    await alarm({}, again);
    await bucketPurge.sweep();
    const { samples: samplesOf, alarms, history: historyOf, alarmNames, monitored: list } = monitoringPartition;
    for (const partition of [samplesOf, alarms, historyOf]) expect(table.keysOf(partition(bucket.id))).toEqual([]);
    expect(table.keysOf(alarmNames('project'))).toEqual(['alarm']);
    expect(table.keysOf(list)).toEqual([again.id]);
    await monitoring.alarms.remove(asService(again), 'alarm');
    expect(table.keysOf(alarmNames('project'))).toEqual([]);
  });

  it('cannot be given monitoring by a request that loaded it before', async () => {
    await buckets.create(byOperator, 'late', 'project', 10);
    const late = await buckets.load('late');
    await buckets.remove(asService(await buckets.load('late')));
    await expect(monitoring.buckets.turn(asService(late), 'on')).rejects.toMatchObject({ code: 'NoSuchBucket' });
    expect(table.keysOf(monitoringPartition.monitored)).toEqual([bucket.id]);
  });
});
