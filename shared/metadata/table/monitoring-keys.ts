import type { ItemKey } from '../../ports/key-value-table.ts';
import { madeAt, sortableTime, timeOf } from './ids.ts';

/** Samples of one resolution: its name, and the milliseconds that an item of them covers. */
interface SampleSeries {
  readonly name: string;
  readonly span: number;
}

/** The partitions of monitoring. Those of one bucket are named by its id, and swept when it is removed. */
export const monitoringPartition = {
  /** Every bucket that has, or once had, monitoring. */
  monitored: 'monitored',
  samples: (bucketId: string): string => `metric/${bucketId}`,
  alarms: (bucketId: string): string => `alarm/${bucketId}`,
  history: (bucketId: string): string => `alarm-history/${bucketId}`,
  /** The names that the alarms of a project have. */
  alarmNames: (project: string): string => `alarm-name/${project}`,
  /** What alarms have to tell somebody. */
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

/** Reads back what keys were built from. */
export const monitoringKeyParts = {
  /** When the points of an item of samples begin, in milliseconds since the epoch. */
  samplesBegin: ({ sk }: ItemKey): number => timeOf(sk.slice(sk.indexOf('/') + 1)),
  /** An entry of an alarm's history, and when it was written. */
  history: ({ sk }: ItemKey): { readonly entry: string; readonly at: number } => {
    const entry = sk.slice(sk.indexOf('/') + 1);
    return { entry, at: madeAt(entry) };
  },
  /** When the alarm of a notification changed its state, and its id. */
  notification: ({ sk }: ItemKey): { readonly time: string; readonly alarmId: string } => {
    const [time, alarmId] = sk.split('/') as [string, string];
    return { time, alarmId };
  },
} as const;
