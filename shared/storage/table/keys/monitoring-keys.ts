import type { ItemKey } from '../../../ports/key-value-table.ts';
import { madeAt, sortableTime, timeOf } from './ids.ts';

/** Samples of one resolution: its name, and the milliseconds that one item covers. */
interface SampleSeries {
  readonly name: string;
  readonly span: number;
}

/** The partitions of monitoring. Those of a bucket contain its id and are purged with it. */
export const monitoringPartition = {
  /** Every bucket that has, or once had, monitoring. */
  monitored: 'monitored',
  samples: (bucketId: string): string => `metric/${bucketId}`,
  alarms: (bucketId: string): string => `alarm/${bucketId}`,
  history: (bucketId: string): string => `alarm-history/${bucketId}`,
  /** The names of a project's alarms. */
  alarmNames: (project: string): string => `alarm-name/${project}`,
  /** The notifications of alarms that are still to be delivered. */
  notifications: 'alarm-notification',
} as const;

export const monitoringKey = {
  monitored: (bucketId: string): ItemKey => ({ pk: monitoringPartition.monitored, sk: bucketId }),
  samples: (bucketId: string, { name, span }: SampleSeries, moment: number): ItemKey => ({
    pk: monitoringPartition.samples(bucketId),
    sk: `${name}/${sortableTime(Math.floor(moment / span) * span)}`,
  }),
  alarm: (bucketId: string, name: string): ItemKey => ({ pk: monitoringPartition.alarms(bucketId), sk: name }),
  alarmName: (project: string, name: string): ItemKey => ({ pk: monitoringPartition.alarmNames(project), sk: name }),
  history: (bucketId: string, alarmId: string, entry: string): ItemKey => ({
    pk: monitoringPartition.history(bucketId),
    sk: `${alarmId}/${entry}`,
  }),
  notification: (time: string, alarmId: string): ItemKey => ({
    pk: monitoringPartition.notifications,
    sk: `${time}/${alarmId}`,
  }),
} as const;

/** Parses keys: the inverse of {@link monitoringKey}. */
export const monitoringKeyParts = {
  /** Returns the start of an item of samples, in milliseconds since the epoch. */
  samplesBegin: ({ sk }: ItemKey): number => timeOf(sk.slice(sk.indexOf('/') + 1)),
  /** Returns an entry of an alarm's history, and when it was written. */
  history: ({ sk }: ItemKey): { readonly entry: string; readonly at: number } => {
    const entry = sk.slice(sk.indexOf('/') + 1);
    return { entry, at: madeAt(entry) };
  },
  /** Returns when the alarm of a notification changed state, and the alarm's id. */
  notification: ({ sk }: ItemKey): { readonly time: string; readonly alarmId: string } => {
    const [time, alarmId] = sk.split('/') as [string, string];
    return { time, alarmId };
  },
} as const;
