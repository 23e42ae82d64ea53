import { bucketQuota } from '../../shared/documents/account.ts';
import { quotaOf } from '../../shared/storage/quotas/quotas.ts';
import { defineOperation } from '../../shared/protocol/operation.ts';

/** Returns the quota of a bucket, and its use as in HeadBucket. docs/console.md */
export const getBucketQuota = defineOperation({
  name: 'GetBucketQuota',
  on: 'bucket',
  body: 'none',
  needs: { table: 'read' },
  parse: ({ bucket }) => ({ bucket }),
  authorise: ({ bucket }) => [{ action: 'GetBucketQuota', bucket }],
  act: async (_, { bucket, usage, settings: { limits } }) => {
    const limit = quotaOf(bucket, { bytes: limits.bucketBytes, objects: limits.bucketObjects });
    const used = await usage.of(bucket.id);
    return { bytesLimit: limit.bytes, objectsLimit: limit.objects, ...used };
  },
  render: (quota, _, { settings }) => ({ xml: bucketQuota.write(quota, settings.xmlNamespace) }),
});
