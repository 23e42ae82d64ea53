import { versioning } from '../../shared/documents/buckets.ts';
import { xmlBody } from '../../shared/protocol/bodies/xml-body.ts';
import { defineOperation, emptyXml } from '../../shared/protocol/operation.ts';

/** https://docs.aws.amazon.com/AmazonS3/latest/API/API_GetBucketVersioning.html */
export const getBucketVersioning = defineOperation({
  name: 'GetBucketVersioning',
  on: 'bucket',
  body: 'none',
  needs: { table: 'read' },
  parse: ({ bucket }) => ({ bucket }),
  authorise: ({ bucket }) => [{ action: 'GetBucketVersioning', bucket }],
  act: async (_, { bucket }) => bucket.versioning,
  render: (state, _, { settings }) => ({ xml: versioning.write(statusOf[state], settings.xmlNamespace) }),
});

const statusOf = { off: undefined, on: 'Enabled', suspended: 'Suspended' } as const;

/** https://docs.aws.amazon.com/AmazonS3/latest/API/API_PutBucketVersioning.html */
export const putBucketVersioning = defineOperation({
  name: 'PutBucketVersioning',
  on: 'bucket',
  body: xmlBody(versioning),
  needs: { table: 'write' },
  parse: ({ bucket }) => ({ bucket }),
  authorise: ({ bucket }) => [{ action: 'PutBucketVersioning', bucket }],
  act: (_, { authorisation, buckets, document }) =>
    buckets.setVersioning(authorisation, document === 'Enabled' ? 'on' : 'suspended'),
  render: emptyXml,
});
