import { publicAccessBlock } from '../../shared/documents/bucket-settings.ts';
import { bucketDocument } from '../../shared/protocol/bucket-document.ts';

/** https://docs.aws.amazon.com/AmazonS3/latest/userguide/access-control-block-public-access.html */
export const {
  get: getPublicAccessBlock,
  put: putPublicAccessBlock,
  delete: deletePublicAccessBlock,
} = bucketDocument({
  get: ['GetPublicAccessBlock', 'GetBucketPublicAccessBlock'],
  put: ['PutPublicAccessBlock', 'PutBucketPublicAccessBlock'],
  delete: ['DeletePublicAccessBlock', 'PutBucketPublicAccessBlock'],
  absent: 'NoSuchPublicAccessBlockConfiguration',
  document: publicAccessBlock,
  find: ({ bucket }) => bucket.publicAccessBlock,
  store: ({ authorisation, buckets }, block) => buckets.configure(authorisation, () => ({ publicAccessBlock: block })),
});
