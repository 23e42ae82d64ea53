import { monitoring as monitoringDocument } from '../../shared/documents/monitoring.ts';
import { xmlBody } from '../../shared/protocol/bodies/xml-body.ts';
import { defineOperation, emptyXml } from '../../shared/protocol/operation.ts';

/** Returns whether monitoring of a bucket is on. docs/monitoring.md */
export const getBucketMonitoring = defineOperation({
  name: 'GetBucketMonitoring',
  on: 'bucket',
  body: 'none',
  needs: { table: 'read' },
  parse: ({ bucket }) => ({ bucket }),
  authorise: ({ bucket }) => [{ action: 'GetBucketMonitoring', bucket }],
  act: async (_, { bucket, monitoring }) => ((await monitoring.buckets.isOn(bucket.id)) ? 'Enabled' : 'Disabled'),
  render: (status, _, { settings }) => ({ xml: monitoringDocument.write(status, settings.xmlNamespace) }),
});

/** Turns monitoring on or off. While it is off, alarms are in the state INSUFFICIENT_DATA. docs/monitoring.md */
export const putBucketMonitoring = defineOperation({
  name: 'PutBucketMonitoring',
  on: 'bucket',
  body: xmlBody(monitoringDocument),
  needs: { table: 'write' },
  parse: ({ bucket }) => ({ bucket }),
  authorise: ({ bucket }) => [{ action: 'PutBucketMonitoring', bucket }],
  act: async (_, { authorisation, document, monitoring }) => {
    const entry = await monitoring.buckets.turn(authorisation, document === 'Enabled' ? 'on' : 'off');
    if (entry?.pausing) await monitoring.alarms.pause(entry);
  },
  render: emptyXml,
});
