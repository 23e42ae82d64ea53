import { defineOperation, type DocumentBody } from '../../shared/protocol/operation.ts';
import {
  readVersioningConfiguration,
  versioningConfiguration,
  type VersioningStatus,
} from '../../shared/xml/buckets.ts';
import { parseXml } from '../../shared/xml/reader.ts';
import { emptyXml } from '../../shared/protocol/bodies/empty-xml.ts';

/** https://docs.aws.amazon.com/AmazonS3/latest/API/API_GetBucketVersioning.html */
export const getBucketVersioning = defineOperation({
  name: 'GetBucketVersioning',
  on: 'bucket',
  body: 'none',
  needs: { table: 'read' },
  parse: ({ bucket }) => ({ bucket }),
  authorise: ({ bucket }) => [{ action: 'GetBucketVersioning', bucket }],
  act: async (_, { bucket }) => bucket.versioning,
  render: (state, _, { settings }) => ({
    xml: versioningConfiguration(statusOf[state], settings.xmlNamespace),
  }),
});

const statusOf = { off: undefined, on: 'Enabled', suspended: 'Suspended' } as const;

const configuration: DocumentBody<VersioningStatus> = {
  maximum: 'documentBytes',
  read: async (bytes, _, budget) => readVersioningConfiguration(await parseXml(bytes, budget)),
};

/** https://docs.aws.amazon.com/AmazonS3/latest/API/API_PutBucketVersioning.html */
export const putBucketVersioning = defineOperation({
  name: 'PutBucketVersioning',
  on: 'bucket',
  body: configuration,
  needs: { table: 'write' },
  parse: ({ bucket }) => ({ bucket }),
  authorise: ({ bucket }) => [{ action: 'PutBucketVersioning', bucket }],
  act: (_, { authorisation, buckets, document }) =>
    buckets.setVersioning(authorisation, document === 'Enabled' ? 'on' : 'suspended'),
  render: emptyXml,
});
