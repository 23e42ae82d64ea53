import { locationConstraint } from '../../shared/documents/buckets.ts';
import { defineOperation } from '../../shared/protocol/operation.ts';

/** S3's first region, for which S3 returns an empty location constraint. */
const namelessRegion = 'us-east-1';

/** https://docs.aws.amazon.com/AmazonS3/latest/API/API_GetBucketLocation.html */
export const getBucketLocation = defineOperation({
  name: 'GetBucketLocation',
  on: 'bucket',
  body: 'none',
  needs: { table: 'read' },
  parse: ({ bucket }) => ({ bucket }),
  authorise: ({ bucket }) => [{ action: 'GetBucketLocation', bucket }],
  // The location constraint that the bucket was created with, else the region of the service. S3's first region is empty.
  act: async (_, { bucket, settings }) => bucket.location ?? settings.region,
  render: (region, _, { settings }) => ({
    xml: locationConstraint.write(region === namelessRegion ? '' : region, settings.xmlNamespace),
  }),
});
