import {
  readAlarmDefinition,
  readAlarmName,
  type AlarmDefinition,
  type AlarmFields,
} from '../../shared/metadata/monitoring/alarm-definition.ts';
import { defineOperation, type DocumentBody } from '../../shared/protocol/operation.ts';
import { shownAlarm } from '../../shared/protocol/shown-alarm.ts';
import { alarmDocument, putAlarmResult, readAlarm } from '../../shared/xml/monitoring.ts';
import { parseXml } from '../../shared/xml/reader.ts';

/** Returns an alarm and its state. docs/monitoring.md */
export const getAlarm = defineOperation({
  name: 'GetAlarm',
  on: 'bucket',
  body: 'none',
  needs: { table: 'read' },
  parse: ({ bucket, query }) => ({ bucket, name: readAlarmName(query.get('name')) }),
  authorise: ({ bucket }) => [{ action: 'GetAlarm', bucket }],
  act: ({ name }, { bucket, monitoring }) => monitoring.alarms.load(bucket.id, name),
  render: (alarm, _, { settings }) => ({ xml: alarmDocument(shownAlarm(alarm), settings.xmlNamespace) }),
});

const alarm: DocumentBody<AlarmFields> = {
  maximum: 'documentBytes',
  read: async (bytes, _, budget) => readAlarm(await parseXml(bytes, budget)),
};

/** Creates an alarm, or replaces its definition. docs/monitoring.md */
export const putAlarm = defineOperation({
  name: 'PutAlarm',
  on: 'bucket',
  body: alarm,
  needs: { table: 'write' },
  parse: ({ bucket, query }) => ({ bucket, name: readAlarmName(query.get('name')) }),
  authorise: ({ bucket }) => [{ action: 'PutAlarm', bucket }],
  act: ({ name }, { authorisation, document, monitoring, settings }) => {
    const definition: AlarmDefinition = readAlarmDefinition(document, monitoring.actionKinds);
    return monitoring.alarms.put(authorisation, name, definition, settings.limits.alarmsPerBucket);
  },
  render: ({ webhookSecret }, { name }, { settings }) => ({
    xml: putAlarmResult(name, webhookSecret, settings.xmlNamespace),
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
