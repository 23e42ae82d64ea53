import { alarmHistory } from '../../shared/documents/monitoring.ts';
import { invalidArgument } from '../../shared/errors/s3-error.ts';
import { parsePageSize } from '../../shared/http/listing-parameters.ts';
import { readAlarmName } from '../../shared/monitoring/alarms/alarm-definition.ts';
import { defineOperation } from '../../shared/protocol/operation.ts';

const itemsPerPage = 100;

/** Returns the history of an alarm in the last 30 days, newest first. docs/monitoring.md */
export const getAlarmHistory = defineOperation({
  name: 'GetAlarmHistory',
  on: 'bucket',
  body: 'none',
  needs: { table: 'read' },
  parse: ({ bucket, query }) => {
    const marker = query.get('marker') ?? '';
    // It is part of a sort key, whose length is limited.
    if (!/^[\w-]{0,64}$/.test(marker)) throw invalidArgument('marker', marker);
    const limit = parsePageSize(query, 'max-items', itemsPerPage);
    return { bucket, name: readAlarmName(query.get('name')), marker, limit };
  },
  authorise: ({ bucket }) => [{ action: 'GetAlarmHistory', bucket }],
  act: async ({ name, marker, limit }, { bucket, clock, monitoring }) => {
    const { id } = await monitoring.alarms.load(bucket.id, name);
    const after = marker === '' ? undefined : marker;
    return monitoring.history.list(bucket.id, id, { after, limit, now: clock.now() });
  },
  render: ({ entries, next }, { name, marker }, { settings }) => ({
    xml: alarmHistory.write(
      { name, marker, nextMarker: next, isTruncated: next !== undefined, entries },
      settings.xmlNamespace,
    ),
  }),
});
