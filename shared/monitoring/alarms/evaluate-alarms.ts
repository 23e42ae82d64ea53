import type { Buckets } from '../../storage/buckets/buckets.ts';
import { alarmWindow, evaluateAlarm } from './alarm-evaluation.ts';
import type { Alarm } from './alarm.ts';
import { inParallel } from '../../storage/concurrency.ts';
import type { MonitoredBucket } from '../monitored-buckets.ts';
import type { Monitoring } from '../compose-monitoring.ts';
import type { Notifications } from './notifications.ts';
import { beginningOf, samples, samplingTime } from '../resolutions.ts';
import type { Point } from '../statistics.ts';
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
  /** Included in notifications. */
  readonly region: string;
}

/** The outcome of an evaluation, or its progress. */
export interface Evaluated {
  readonly alarms: number;
  /** The alarms that changed state. */
  readonly changed: number;
  /** The buckets whose alarms could not be evaluated. */
  readonly failed: number;
  readonly deliveries: number;
}

/** The number of buckets evaluated concurrently. */
const width = 8;

/**
 * Evaluates every alarm of every monitored bucket and delivers the notifications. Runs every five minutes, after the
 * samples were taken. Begins with the deliveries that an earlier run did not complete.
 * @param progress called after each bucket
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
  // The alarms of a deleted bucket stay silent until the bucket purge removes them.
  if ((await buckets.find(entry.bucket))?.id !== entry.bucketId) return { alarms: 0, changed: 0 };
  const alarms: Alarm[] = [];
  for await (const alarm of monitoring.alarms.all(entry.bucketId)) alarms.push(alarm);
  const end = await evaluationEnd(deps, entry.bucketId);
  const points = await samplesFor(monitoring, entry.bucketId, alarms, end);
  let changed = 0;
  for (const alarm of alarms) {
    const evaluation = evaluateAlarm(alarm.definition, alarmWindow(alarm.definition, points, end), alarm.state);
    if (evaluation.state === alarm.state) {
      // In the other states the reason explains what caused the state.
      if (alarm.state === 'INSUFFICIENT_DATA')
        await monitoring.alarms.explain(entry.bucketId, alarm, evaluation.reason);
      continue;
    }
    if (await monitoring.alarms.transition(entry, alarm, evaluation, deps.region)) changed += 1;
  }
  return { alarms: alarms.length, changed };
}

/**
 * Returns the end of every alarm's last period: of the current five minutes if they have been sampled, otherwise of the
 * previous ones.
 */
async function evaluationEnd({ monitoring, clock }: EvaluationDeps, bucketId: string): Promise<number> {
  const now = clock.now();
  const present = beginningOf(now, samplingTime);
  const latest = await monitoring.samples.latest(bucketId, present, now);
  return latest === undefined ? present : present + samplingTime;
}

/** Reads the points that the alarms of a bucket need, once for all of them. */
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
