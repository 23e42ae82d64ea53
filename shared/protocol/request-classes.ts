import type { RequestClass } from '../metadata/billing/request-meter.ts';
import type { OperationName } from './routes.ts';

/**
 * The classes of the price list, as S3 has them: what writes, copies or lists; what is removed, or was never asked of the storage. All
 * other operations read, and are of class B. https://aws.amazon.com/s3/pricing/
 */
const named: Readonly<Record<'a' | 'free', readonly OperationName[]>> = {
  a: [
    'CompleteMultipartUpload',
    'CopyObject',
    'CreateBucket',
    'CreateMultipartUpload',
    'CreatePublicLink',
    'ListAlarms',
    'ListBuckets',
    'ListMultipartUploads',
    'ListObjects',
    'ListObjectsV2',
    'ListObjectVersions',
    'ListParts',
    'ListPublicLinks',
    'PostObject',
    'PutAlarm',
    'PutBucketAcl',
    'PutBucketCors',
    'PutBucketEncryption',
    'PutBucketLifecycleConfiguration',
    'PutBucketMonitoring',
    'PutBucketOwnershipControls',
    'PutBucketPolicy',
    'PutBucketTagging',
    'PutBucketVersioning',
    'PutBucketWebsite',
    'PutObject',
    'PutObjectAcl',
    'PutObjectTagging',
    'PutPublicAccessBlock',
    'RenameObject',
    'UploadPart',
    'UploadPartCopy',
  ],
  free: [
    'AbortMultipartUpload',
    'DeleteAlarm',
    'DeleteBucket',
    'DeleteBucketCors',
    'DeleteBucketEncryption',
    'DeleteBucketLifecycle',
    'DeleteBucketOwnershipControls',
    'DeleteBucketPolicy',
    'DeleteBucketTagging',
    'DeleteBucketWebsite',
    'DeleteObject',
    'DeleteObjects',
    'DeleteObjectTagging',
    'DeletePublicAccessBlock',
    'DeletePublicLink',
    'GetHealth',
    'GetLiveness',
    'Preflight',
  ],
};

const classes = new Map<string, RequestClass>(
  (['a', 'free'] as const).flatMap((of) => named[of].map((operation) => [operation, of] as const)),
);

/** The class of an operation. What is not an operation of the route table is free. */
export function requestClassOf(operation: string): RequestClass {
  if (operation === 'Unknown') return 'free';
  return classes.get(operation) ?? 'b';
}
