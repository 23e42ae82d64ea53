import type { RequestClass } from '../metadata/billing/request-meter.ts';
import type { OperationName } from './routes.ts';

/**
 * The billing classes, as in S3: class A for writes, copies and listings; free for deletions and requests that never
 * reached the storage. All other operations are reads, class B. https://aws.amazon.com/s3/pricing/
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

/** Returns the class of an operation. Names that are not in the route table are free. */
export function requestClassOf(operation: string): RequestClass {
  if (operation === 'Unknown') return 'free';
  return classes.get(operation) ?? 'b';
}
