import type { Command } from 'commander';
import { family, verb } from '../command.ts';
import { recordReport } from '../../command-line/report.ts';

const which = [['<bucket>', 'name of the bucket']] as const;

/** Returns `stillage monitoring`. */
export function monitoringFamily(): Command {
  return family('monitoring', 'Turn the metrics and alarms of a bucket on or off', [
    verb({
      name: 'show',
      does: 'Show whether monitoring of a bucket is on',
      operands: which,
      examples: ['monitoring show photos'],
      act: async (ask, [bucket]) => {
        const data = await ask('monitoring show', { bucket: bucket! });
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

function turning(name: 'enable' | 'disable', status: 'on' | 'off'): Command {
  return verb({
    name,
    does: `Turn monitoring of a bucket ${status}`,
    operands: which,
    examples: [`monitoring ${name} photos`],
    act: async (ask, [bucket]) => {
      const data = await ask(`monitoring ${name}`, { bucket: bucket! });
      return { data, text: `monitoring of ${data.bucket} is ${data.monitoring}` };
    },
  });
}
