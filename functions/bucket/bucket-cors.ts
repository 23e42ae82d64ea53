import { cors } from '../../shared/documents/cors.ts';
import { S3Error } from '../../shared/errors/s3-error.ts';
import { bucketDocument } from '../../shared/protocol/bucket-document.ts';
import { bucketCors, storedCors } from '../../shared/protocol/cors.ts';

/** https://docs.aws.amazon.com/AmazonS3/latest/userguide/cors.html */
export const {
  get: getBucketCors,
  put: putBucketCors,
  delete: deleteBucketCors,
} = bucketDocument({
  get: ['GetBucketCors', 'GetBucketCORS'],
  put: ['PutBucketCors', 'PutBucketCORS'],
  delete: ['DeleteBucketCors', 'PutBucketCORS'],
  absent: 'NoSuchCORSConfiguration',
  maximum: 'corsBytes',
  document: cors,
  check: (rules, { corsRules: most }) => {
    if (rules.length <= most) return;
    const message = `The number of CORS rules should not exceed allowed limit of ${most} rules.`;
    throw new S3Error('InvalidRequest', { message });
  },
  find: ({ bucket, buckets }) => bucketCors(bucket, buckets),
  store: ({ authorisation, buckets }, rules) =>
    buckets.documents.set(authorisation, 'cors', rules && storedCors(rules)),
});
