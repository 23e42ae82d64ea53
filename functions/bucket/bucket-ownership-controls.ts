import { ownershipControls } from '../../shared/documents/bucket-settings.ts';
import { bucketAcl } from '../../shared/protocol/acls/acl-document.ts';
import { checkOwnershipAllows } from '../../shared/protocol/acls/acl-restrictions.ts';
import { bucketDocument } from '../../shared/protocol/bucket-document.ts';

/** https://docs.aws.amazon.com/AmazonS3/latest/userguide/about-object-ownership.html */
export const {
  get: getBucketOwnershipControls,
  put: putBucketOwnershipControls,
  delete: deleteBucketOwnershipControls,
} = bucketDocument({
  get: ['GetBucketOwnershipControls', 'GetBucketOwnershipControls'],
  put: ['PutBucketOwnershipControls', 'PutBucketOwnershipControls'],
  delete: ['DeleteBucketOwnershipControls', 'PutBucketOwnershipControls'],
  absent: 'OwnershipControlsNotFoundError',
  document: ownershipControls,
  find: ({ bucket }) => bucket.objectOwnership,
  store: ({ authorisation, buckets }, objectOwnership) =>
    buckets.configure(authorisation, async (bucket) => {
      if (objectOwnership !== undefined) {
        checkOwnershipAllows(objectOwnership, await bucketAcl(bucket, buckets), bucket.project);
      }
      return { objectOwnership };
    }),
});
