import { alarmListing } from '../../shared/documents/monitoring.ts';
import { parsePageSize } from '../../shared/http/listing-parameters.ts';
import { defineOperation } from '../../shared/protocol/operation.ts';
import { shownAlarm } from '../../shared/protocol/shown-alarm.ts';

/** Returns the alarms of a bucket by name, in pages like those of ListObjects. docs/monitoring.md */
export const listAlarms = defineOperation({
  name: 'ListAlarms',
  on: 'bucket',
  body: 'none',
  needs: { table: 'read' },
  parse: ({ bucket, query, settings }) => ({
    bucket,
    marker: query.get('marker') ?? '',
    maxAlarms: parsePageSize(query, 'max-alarms', settings.limits.keysPerPage),
  }),
  authorise: ({ bucket }) => [{ action: 'ListAlarms', bucket }],
  act: ({ marker, maxAlarms }, { bucket, monitoring }) =>
    monitoring.alarms.list(bucket.id, { after: marker, limit: maxAlarms }),
  render: ({ alarms, more }, input, { settings }) => ({
    xml: alarmListing.write(
      {
        ...input,
        alarms: alarms.map(shownAlarm),
        nextMarker: more ? alarms.at(-1)?.name : undefined,
        isTruncated: more,
      },
      settings.xmlNamespace,
    ),
  }),
});
