import { asService } from '../../shared/metadata/objects/service-authorisation.ts';
import { argument, command, type AdministrationDeps } from './command.ts';

const which = { bucket: argument.text } as const;

export const monitoringCommands = {
  'monitoring show': command(which, async ({ buckets, monitoring }, given) => {
    const { id, name } = await buckets.load(given.bucket);
    const entry = await monitoring.buckets.find(id);
    return { bucket: name, monitoring: entry?.status ?? 'off', alarms: entry?.alarms ?? 0 };
  }),
  'monitoring enable': command(which, (deps, { bucket }) => turn(deps, bucket, 'on')),
  'monitoring disable': command(which, (deps, { bucket }) => turn(deps, bucket, 'off')),
};

async function turn({ buckets, monitoring }: AdministrationDeps, name: string, status: 'on' | 'off') {
  const entry = await monitoring.buckets.turn(asService(await buckets.load(name)), status);
  if (entry?.pausing) await monitoring.alarms.pause(entry);
  return { bucket: name, monitoring: status };
}
