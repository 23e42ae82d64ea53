import { bucketQuota } from '../../shared/documents/account.ts';
import { countedByQuota, isMet, quotaOf } from '../../shared/storage/quotas/quotas.ts';
import { defineOperation } from '../../shared/protocol/operation.ts';

/** Returns the quota of a bucket, what the bucket holds, and whether the quota is met. docs/console.md */
export const getBucketQuota = defineOperation({
  name: 'GetBucketQuota',
  on: 'bucket',
  body: 'none',
  needs: { table: 'read' },
  parse: ({ bucket }) => ({ bucket }),
  authorise: ({ bucket }) => [{ action: 'GetBucketQuota', bucket }],
  act: async (_, { bucket, usage, settings: { limits } }) => {
    const limit = quotaOf(bucket, { bytes: limits.bucketBytes, objects: limits.bucketObjects });
    const held = await usage.of(bucket.id);
    const counted = countedByQuota(held);
    return {
      ...{ bytesLimit: limit.bytes, objectsLimit: limit.objects, ...held, bytesCounted: counted.bytes },
      // What refuses writes in the cloud is the flag, which follows the counters.
      isMet: bucket.full || isMet(limit, counted),
    };
  },
  render: (quota, _, { settings }) => ({ xml: bucketQuota.write(quota, settings.xmlNamespace) }),
});
