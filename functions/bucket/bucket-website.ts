import { website } from '../../shared/documents/website.ts';
import { S3Error } from '../../shared/errors/s3-error.ts';
import { bucketDocument } from '../../shared/protocol/bucket-document.ts';
import { bucketWebsite, storedWebsite } from '../../shared/protocol/website.ts';

/** https://docs.aws.amazon.com/AmazonS3/latest/userguide/EnableWebsiteHosting.html */
export const {
  get: getBucketWebsite,
  put: putBucketWebsite,
  delete: deleteBucketWebsite,
} = bucketDocument({
  get: ['GetBucketWebsite', 'GetBucketWebsite'],
  put: ['PutBucketWebsite', 'PutBucketWebsite'],
  delete: ['DeleteBucketWebsite', 'DeleteBucketWebsite'],
  absent: 'NoSuchWebsiteConfiguration',
  maximum: 'websiteBytes',
  document: website,
  check: (read, { routingRules: most }) => {
    const count = 'rules' in read ? read.rules.length : 0;
    if (count <= most) return;
    const message = `${count} routing rules provided, the number of routing rules is limited to ${most}.`;
    throw new S3Error('InvalidRequest', { message });
  },
  find: ({ bucket, buckets }) => bucketWebsite(bucket, buckets),
  store: ({ authorisation, buckets }, website) =>
    buckets.documents.set(authorisation, 'website', website && storedWebsite(website)),
});
