import { asService } from '../../shared/metadata/objects/service-authorisation.ts';
import { readAlarmDefinition, readAlarmName } from '../../shared/metadata/monitoring/alarm-definition.ts';
import type { Alarm } from '../../shared/metadata/monitoring/alarm.ts';
import { argument, command } from './command.ts';

const which = { bucket: argument.text, alarm: argument.text } as const;

export const alarmCommands = {
  'alarm list': command({ bucket: argument.text }, async ({ buckets, monitoring }, { bucket }) => {
    const alarms: ShownAlarm[] = [];
    for await (const alarm of monitoring.alarms.all((await buckets.load(bucket)).id)) alarms.push(shown(alarm));
    return alarms;
  }),
  'alarm show': command(which, async ({ buckets, monitoring }, { bucket, alarm }) => {
    const { id } = await buckets.load(bucket);
    return shown(await monitoring.alarms.load(id, readAlarmName(alarm)));
  }),
  /** @param fields the fields of a PutAlarm document; missing lists of actions are empty */
  'alarm put': command(
    { ...which, fields: argument.fields },
    async ({ buckets, monitoring, settings }, { bucket: bucketName, alarm, fields }) => {
      const bucket = await buckets.load(bucketName);
      const name = readAlarmName(alarm);
      const noActions = { OKAction: [], AlarmAction: [], InsufficientDataAction: [] };
      const definition = readAlarmDefinition({ ...noActions, ...fields }, monitoring.actionKinds);
      const { alarmsPerBucket } = settings.limits;
      const { webhookSecret } = await monitoring.alarms.put(asService(bucket), name, definition, alarmsPerBucket);
      const made = shown(await monitoring.alarms.load(bucket.id, name));
      return { ...made, ...(webhookSecret !== undefined && { webhookSecret }) };
    },
  ),
  'alarm history': command(which, async ({ buckets, monitoring, clock }, { bucket, alarm }) => {
    const { id: bucketId } = await buckets.load(bucket);
    const { id } = await monitoring.alarms.load(bucketId, readAlarmName(alarm));
    return (await monitoring.history.list(bucketId, id, { after: undefined, limit: 100, now: clock.now() })).entries;
  }),
  'alarm remove': command(which, async ({ buckets, monitoring }, { bucket, alarm }) => {
    await monitoring.alarms.remove(asService(await buckets.load(bucket)), readAlarmName(alarm));
  }),
};

/** Returns an alarm without its secret. */
export type ShownAlarm = Pick<Alarm, 'name' | 'definition' | 'state' | 'reason' | 'since' | 'created'>;

function shown({ name, definition, state, reason, since, created }: Alarm): ShownAlarm {
  return { name, definition, state, reason, since, created };
}
