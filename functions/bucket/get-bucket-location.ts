import { defineOperation } from '../../shared/protocol/operation.ts';
import { locationConstraint } from '../../shared/xml/buckets.ts';

/** S3's first region, which its answers leave nameless. */
const namelessRegion = 'us-east-1';

/** https://docs.aws.amazon.com/AmazonS3/latest/API/API_GetBucketLocation.html */
export const getBucketLocation = defineOperation({
  name: 'GetBucketLocation',
  on: 'bucket',
  body: 'none',
  needs: { table: 'read' },
  parse: ({ bucket }) => ({ bucket }),
  authorise: ({ bucket }) => [{ action: 'GetBucketLocation', bucket }],
  // Buckets that were asked for somewhere say so, wherever that is. The first region has no name in what clients ask for.
  act: async (_, { bucket, settings }) => bucket.location ?? settings.region,
  render: (region, _, { settings }) => ({
    xml: locationConstraint(region === namelessRegion ? '' : region, settings.xmlNamespace),
  }),
});
