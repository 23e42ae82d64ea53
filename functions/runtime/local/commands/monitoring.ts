import type { Command } from 'commander';
import { family, verb } from './command.ts';
import { withBucket } from './monitoring-rooms.ts';
import { recordReport } from './report.ts';

const which = [['<bucket>', 'name of the bucket']] as const;

/** `stillage monitoring` */
export function monitoringFamily(): Command {
  return family('monitoring', 'whether the history of a bucket is kept, and its alarms are watched', [
    verb({
      name: 'show',
      does: 'show whether a bucket has monitoring',
      operands: which,
      examples: ['monitoring show photos'],
      act: async (rooms, [name]) => {
        const { bucket, monitoring } = await withBucket(rooms, name!);
        const entry = await monitoring.buckets.find(bucket.id);
        const data = { bucket: bucket.name, monitoring: entry?.status ?? 'off', alarms: entry?.alarms ?? 0 };
        return recordReport(data, [
          ['bucket', data.bucket],
          ['monitoring', data.monitoring],
          ['alarms', String(data.alarms)],
        ]);
      },
    }),
    turning('enable', 'on'),
    turning('disable', 'off'),
  ]);
}

function turning(name: string, status: 'on' | 'off'): Command {
  return verb({
    name,
    does: `turn the monitoring of a bucket ${status}`,
    operands: which,
    examples: [`monitoring ${name} photos`],
    act: async (rooms, [bucketName]) => {
      const { bucket, monitoring } = await withBucket(rooms, bucketName!);
      const entry = await monitoring.buckets.turn(bucket, status);
      if (entry?.pausing) await monitoring.alarms.pause(entry);
      return {
        data: { bucket: bucket.name, monitoring: status },
        text: `monitoring of ${bucket.name} is ${status}`,
      };
    },
  });
}
