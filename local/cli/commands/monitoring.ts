import type { Command } from 'commander';
import { family, verb, type Named } from '../command.ts';
import * as operand from '../operands.ts';
import { recordReport } from '../../../shared/command-line/report.ts';
import { asService } from '../../../shared/storage/version-changes/service-authorisation.ts';
import { argument, command, type AdministrationDeps } from '../../../functions/admin/command.ts';
import { result } from '../../../functions/admin/results.ts';

const named = { bucket: argument.text } as const;

const turned = result.object({ bucket: result.text, monitoring: result.enum(['on', 'off']) });
const shownMonitoring = result.object({ ...turned.shape, alarms: result.count });

export const monitoringCommands = {
  show: command('monitoring show', 'read', named, shownMonitoring, async ({ buckets, monitoring }, given) => {
    const { id, name } = await buckets.load(given.bucket);
    const entry = await monitoring.buckets.find(id);
    return { bucket: name, monitoring: entry?.status ?? 'off', alarms: entry?.alarms ?? 0 };
  }),
  enable: command('monitoring enable', 'manage', named, turned, (deps, { bucket }) => turn(deps, bucket, 'on')),
  disable: command('monitoring disable', 'manage', named, turned, (deps, { bucket }) => turn(deps, bucket, 'off')),
};

async function turn({ buckets, monitoring }: AdministrationDeps, name: string, status: 'on' | 'off') {
  const entry = await monitoring.buckets.turn(asService(await buckets.load(name)), status);
  if (entry?.pausing) await monitoring.alarms.pause(entry);
  return { bucket: name, monitoring: status };
}

/** Returns `stillage monitoring`. */
export function commandLine(named: Named): Command {
  return family(named, [
    verb({
      name: 'show',
      does: 'Show whether monitoring of a bucket is on',
      operands: [operand.bucket],
      examples: ['monitoring show photos'],
      act: async (ask, [bucket]) => {
        const data = await ask(monitoringCommands.show, { bucket: bucket! });
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
    operands: [operand.bucket],
    examples: [`monitoring ${name} photos`],
    act: async (ask, [bucket]) => {
      const data = await ask(monitoringCommands[name], { bucket: bucket! });
      return { data, text: `monitoring of ${data.bucket} is ${data.monitoring}` };
    },
  });
}
