import { encryption } from '../../shared/documents/bucket-settings.ts';
import { bucketDocument } from '../../shared/protocol/bucket-document.ts';

/** https://docs.aws.amazon.com/AmazonS3/latest/userguide/bucket-encryption.html */
export const {
  get: getBucketEncryption,
  put: putBucketEncryption,
  delete: deleteBucketEncryption,
} = bucketDocument({
  get: ['GetBucketEncryption', 'GetEncryptionConfiguration'],
  put: ['PutBucketEncryption', 'PutEncryptionConfiguration'],
  delete: ['DeleteBucketEncryption', 'PutEncryptionConfiguration'],
  absent: 'ServerSideEncryptionConfigurationNotFoundError',
  document: encryption,
  find: ({ bucket }) => bucket.encryption,
  store: ({ authorisation, buckets }, setting) => buckets.configure(authorisation, () => ({ encryption: setting })),
});
