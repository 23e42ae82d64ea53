import { emptyXml } from '../../shared/protocol/bodies/empty-xml.ts';
import { defineOperation, type DocumentBody } from '../../shared/protocol/operation.ts';
import {
  monitoringConfiguration,
  readMonitoringConfiguration,
  type MonitoringStatus,
} from '../../shared/xml/monitoring.ts';
import { parseXml } from '../../shared/xml/reader.ts';

/** Returns whether monitoring of a bucket is on. docs/monitoring.md */
export const getBucketMonitoring = defineOperation({
  name: 'GetBucketMonitoring',
  on: 'bucket',
  body: 'none',
  needs: { table: 'read' },
  parse: ({ bucket }) => ({ bucket }),
  authorise: ({ bucket }) => [{ action: 'GetBucketMonitoring', bucket }],
  act: async (_, { bucket, monitoring }) => ((await monitoring.buckets.isOn(bucket.id)) ? 'Enabled' : 'Disabled'),
  render: (status, _, { settings }) => ({ xml: monitoringConfiguration(status, settings.xmlNamespace) }),
});

const configuration: DocumentBody<MonitoringStatus> = {
  maximum: 'documentBytes',
  read: async (bytes, _, budget) => readMonitoringConfiguration(await parseXml(bytes, budget)),
};

/** Turns monitoring on or off. While it is off, alarms are in the state INSUFFICIENT_DATA. docs/monitoring.md */
export const putBucketMonitoring = defineOperation({
  name: 'PutBucketMonitoring',
  on: 'bucket',
  body: configuration,
  needs: { table: 'write' },
  parse: ({ bucket }) => ({ bucket }),
  authorise: ({ bucket }) => [{ action: 'PutBucketMonitoring', bucket }],
  act: async (_, { authorisation, document, monitoring }) => {
    const entry = await monitoring.buckets.turn(authorisation, document === 'Enabled' ? 'on' : 'off');
    if (entry?.pausing) await monitoring.alarms.pause(entry);
  },
  render: emptyXml,
});
