import { policyStatus } from '../../shared/documents/stubs.ts';
import { S3Error } from '../../shared/errors/s3-error.ts';
import { bucketPolicy } from '../../shared/protocol/authorisation/bucket-policy.ts';
import { defineOperation } from '../../shared/protocol/operation.ts';

/** https://docs.aws.amazon.com/AmazonS3/latest/API/API_GetBucketPolicyStatus.html */
export const getBucketPolicyStatus = defineOperation({
  name: 'GetBucketPolicyStatus',
  on: 'bucket',
  body: 'none',
  needs: { table: 'read' },
  parse: ({ bucket }) => ({ bucket }),
  authorise: ({ bucket }) => [{ action: 'GetBucketPolicyStatus', bucket }],
  act: async (_, { bucket, buckets, projects }) => {
    const found = await bucketPolicy(bucket, { buckets, projects });
    if (found === undefined) throw new S3Error('NoSuchBucketPolicy', { details: { BucketName: bucket.name } });
    return found.isPublic;
  },
  render: (open, _, { settings }) => ({ xml: policyStatus.write(open, settings.xmlNamespace) }),
});
