import { alarm, putAlarmResult, writtenAlarm } from '../../shared/documents/monitoring.ts';
import {
  readAlarmDefinition,
  readAlarmName,
  type AlarmDefinition,
} from '../../shared/monitoring/alarms/alarm-definition.ts';
import { xmlBody } from '../../shared/protocol/bodies/xml-body.ts';
import { defineOperation } from '../../shared/protocol/operation.ts';
import { shownAlarm } from '../../shared/protocol/shown-alarm.ts';

/** Returns an alarm and its state. docs/monitoring.md */
export const getAlarm = defineOperation({
  name: 'GetAlarm',
  on: 'bucket',
  body: 'none',
  needs: { table: 'read' },
  parse: ({ bucket, query }) => ({ bucket, name: readAlarmName(query.get('name')) }),
  authorise: ({ bucket }) => [{ action: 'GetAlarm', bucket }],
  act: ({ name }, { bucket, monitoring }) => monitoring.alarms.load(bucket.id, name),
  render: (found, _, { settings }) => ({ xml: alarm.write(shownAlarm(found), settings.xmlNamespace) }),
});

/** Creates an alarm, or replaces its definition. docs/monitoring.md */
export const putAlarm = defineOperation({
  name: 'PutAlarm',
  on: 'bucket',
  body: xmlBody(writtenAlarm),
  needs: { table: 'write' },
  parse: ({ bucket, query }) => ({ bucket, name: readAlarmName(query.get('name')) }),
  authorise: ({ bucket }) => [{ action: 'PutAlarm', bucket }],
  act: ({ name }, { authorisation, document, monitoring, settings }) => {
    const definition: AlarmDefinition = readAlarmDefinition(document, monitoring.actionKinds);
    return monitoring.alarms.put(authorisation, name, definition, settings.limits.alarmsPerBucket);
  },
  render: ({ webhookSecret }, { name }, { settings }) => ({
    xml: putAlarmResult.write({ name, webhookSecret }, settings.xmlNamespace),
  }),
});

/** Removes an alarm and its history. docs/monitoring.md */
export const deleteAlarm = defineOperation({
  name: 'DeleteAlarm',
  on: 'bucket',
  body: 'none',
  needs: { table: 'write' },
  parse: ({ bucket, query }) => ({ bucket, name: readAlarmName(query.get('name')) }),
  authorise: ({ bucket }) => [{ action: 'DeleteAlarm', bucket }],
  act: ({ name }, { authorisation, monitoring }) => monitoring.alarms.remove(authorisation, name),
  render: () => ({ status: 204 }),
});
