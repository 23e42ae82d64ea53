import { tagging } from '../../shared/documents/tagging.ts';
import { bucketDocument } from '../../shared/protocol/bucket-document.ts';
import { tagLimits } from '../../shared/protocol/limits.ts';
import { checkTags, taggingOf, tagsOf } from '../../shared/protocol/tags.ts';

/** https://docs.aws.amazon.com/AmazonS3/latest/userguide/CostAllocTagging.html */
export const {
  get: getBucketTagging,
  put: putBucketTagging,
  delete: deleteBucketTagging,
} = bucketDocument({
  get: ['GetBucketTagging', 'GetBucketTagging'],
  put: ['PutBucketTagging', 'PutBucketTagging'],
  delete: ['DeleteBucketTagging', 'PutBucketTagging'],
  absent: 'NoSuchTagSet',
  document: tagging,
  check: (tags, limits) => checkTags(tags, tagLimits(limits, 'tagsPerBucket')),
  find: async ({ bucket, buckets }) => {
    const document = await buckets.documents.of(bucket, 'tagging');
    return document && tagsOf(document);
  },
  store: ({ authorisation, buckets }, tags) => buckets.documents.set(authorisation, 'tagging', tags && taggingOf(tags)),
});
