import type { Buckets } from '../buckets/buckets.ts';
import { alarmWindow, evaluateAlarm } from './alarm-evaluation.ts';
import type { Alarm } from './alarm.ts';
import { inParallel } from '../in-parallel.ts';
import type { MonitoredBucket } from './monitored-buckets.ts';
import type { Monitoring } from './monitoring.ts';
import type { Notifications } from './notifications.ts';
import { beginningOf, samples, samplingTime } from './resolutions.ts';
import type { Point } from './statistics.ts';
import type { Clock } from '../../ports/clock.ts';
import type { Notifier } from '../../ports/notifier.ts';
import type { Telemetry } from '../../ports/telemetry.ts';

export interface EvaluationDeps {
  readonly monitoring: Monitoring;
  readonly notifications: Notifications;
  readonly buckets: Buckets;
  readonly notifier: Notifier;
  readonly clock: Clock;
  readonly telemetry: Telemetry;
  /** Is told to whoever is notified. */
  readonly region: string;
}

/** What an evaluation did, or has done so far. */
export interface Evaluated {
  readonly alarms: number;
  /** Those that changed their state. */
  readonly changed: number;
  /** Buckets whose alarms could not be looked at. */
  readonly failed: number;
  readonly deliveries: number;
}

/** Buckets whose alarms are evaluated at the same time. */
const width = 8;

/**
 * Evaluates every alarm of every bucket that has monitoring, and delivers what they have to tell. To be run every five minutes,
 * after the samples were taken. What an earlier run could not deliver before it died is delivered first.
 * @param progress is told after each bucket
 */
export async function evaluateAlarms(
  deps: EvaluationDeps,
  progress: (soFar: Evaluated) => void = () => undefined,
): Promise<Evaluated> {
  const { monitoring, notifications, notifier, telemetry } = deps;
  let done: Evaluated = {
    alarms: 0,
    changed: 0,
    failed: 0,
    deliveries: await notifications.deliver(notifier),
  };
  await inParallel(monitoring.buckets.all(), width, async (entry) => {
    try {
      const { alarms, changed } = await evaluateBucket(deps, entry);
      done = { ...done, alarms: done.alarms + alarms, changed: done.changed + changed };
    } catch (error) {
      done = { ...done, failed: done.failed + 1 };
      telemetry.problem('the alarms of a bucket could not be evaluated', error, { bucket: entry.bucket });
    }
    progress(done);
  });
  if (done.changed > 0) {
    done = { ...done, deliveries: done.deliveries + (await notifications.deliver(notifier)) };
  }
  return done;
}

async function evaluateBucket(
  deps: EvaluationDeps,
  entry: MonitoredBucket,
): Promise<{ readonly alarms: number; readonly changed: number }> {
  const { monitoring, buckets } = deps;
  if (entry.pausing) await monitoring.alarms.pause(entry);
  if (entry.status === 'off' || entry.alarms === 0) return { alarms: 0, changed: 0 };
  // The alarms of a removed bucket are silent until they are swept.
  if ((await buckets.find(entry.bucket))?.id !== entry.bucketId) return { alarms: 0, changed: 0 };
  const alarms: Alarm[] = [];
  for await (const alarm of monitoring.alarms.all(entry.bucketId)) alarms.push(alarm);
  const end = await evaluationEnd(deps, entry.bucketId);
  const points = await samplesFor(monitoring, entry.bucketId, alarms, end);
  let changed = 0;
  for (const alarm of alarms) {
    const evaluation = evaluateAlarm(alarm.definition, alarmWindow(alarm.definition, points, end), alarm.state);
    if (evaluation.state === alarm.state) {
      // In the other states the reason is what brought them about.
      if (alarm.state === 'INSUFFICIENT_DATA')
        await monitoring.alarms.explain(entry.bucketId, alarm, evaluation.reason);
      continue;
    }
    if (await monitoring.alarms.transition(entry, alarm, evaluation, deps.region)) changed += 1;
  }
  return { alarms: alarms.length, changed };
}

/** When the last period of every alarm ends: with these five minutes if they were sampled already, or else with those before. */
async function evaluationEnd({ monitoring, clock }: EvaluationDeps, bucketId: string): Promise<number> {
  const now = clock.now();
  const present = beginningOf(now, samplingTime);
  const latest = await monitoring.samples.latest(bucketId, present, now);
  return latest === undefined ? present : present + samplingTime;
}

/** What the alarms of a bucket look at, read once for all of them. */
async function samplesFor(
  monitoring: Monitoring,
  bucketId: string,
  alarms: readonly Alarm[],
  end: number,
): Promise<readonly Point[]> {
  const lengths = alarms.map(({ definition }) => definition.period * 1000 * definition.evaluationPeriods);
  const points: Point[] = [];
  const from = Math.max(0, end - Math.max(...lengths, samplingTime));
  for await (const point of monitoring.samples.read(bucketId, samples, from, end)) points.push(point);
  return points;
}
