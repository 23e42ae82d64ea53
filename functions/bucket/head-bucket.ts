import { checkBucketName } from '../../shared/http/bucket-name.ts';
import { defineOperation } from '../../shared/protocol/operation.ts';

/** https://docs.aws.amazon.com/AmazonS3/latest/API/API_HeadBucket.html, with the counters of Ceph RGW */
export const headBucket = defineOperation({
  name: 'HeadBucket',
  on: 'bucket',
  body: 'none',
  needs: { table: 'read' },
  parse: ({ bucket }) => {
    checkBucketName(bucket);
    return { bucket };
  },
  authorise: ({ bucket }) => [{ action: 'ListBucket', bucket }],
  act: (_, { bucket, usage }) => usage.of(bucket.id),
  render: ({ objects, bytesOfVersions }, _, { settings }) => ({
    fields: [
      ['x-rgw-object-count', String(objects)],
      ['x-rgw-bytes-used', String(bytesOfVersions)],
      ['x-amz-bucket-region', settings.region],
      ['content-length', '0'],
    ],
  }),
});
