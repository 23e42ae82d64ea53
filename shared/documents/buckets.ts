import { owner } from './owner.ts';
import {
  checked,
  documentType,
  elements,
  ifAny,
  list,
  mapped,
  one,
  oneOf,
  oneInRequests,
  optional,
  refused,
  text,
  time,
} from './schema.ts';
import { tag } from './tagging.ts';

/** https://docs.aws.amazon.com/AmazonS3/latest/API/API_ListBuckets.html */
export const bucketList = documentType(
  'ListAllMyBucketsResult',
  elements({
    owner: one('Owner', owner),
    buckets: one(
      'Buckets',
      list(
        'Bucket',
        elements({
          name: one('Name', text),
          creationDate: one('CreationDate', time),
          /** Shown if the request has parameters. */
          region: ifAny('BucketRegion', text),
        }),
      ),
    ),
    /** The token of the next page, if there is one. */
    continuationToken: ifAny('ContinuationToken', text),
    /** Echoed if the request has one. */
    prefix: ifAny('Prefix', text),
  }),
);

/**
 * The region of a bucket; '' for S3's first region, which has no name here.
 * https://docs.aws.amazon.com/AmazonS3/latest/API/API_GetBucketLocation.html
 */
export const locationConstraint = documentType('LocationConstraint', text);

const ofDirectoryBuckets = refused('Directory buckets are not implemented.');

/**
 * The body of CreateBucket. Many clients send an empty one instead, which is not to be read as this document.
 * https://docs.aws.amazon.com/AmazonS3/latest/API/API_CreateBucketConfiguration.html
 */
export const createBucketConfiguration = documentType(
  'CreateBucketConfiguration',
  elements({
    location: optional('Location', ofDirectoryBuckets),
    bucket: optional('Bucket', ofDirectoryBuckets),
    locationConstraint: optional('LocationConstraint', text),
    tags: optional('Tags', list('Tag', tag)),
  }),
);

const mfaDelete = checked(oneOf('Enabled', 'Disabled'), (status, element) => {
  if (status === 'Enabled') throw element.refusal('NotImplemented', 'MFA delete is not implemented.');
});

/**
 * The versioning of a bucket: undefined, with an empty document, if it was never enabled.
 * https://docs.aws.amazon.com/AmazonS3/latest/API/API_GetBucketVersioning.html
 */
export const versioning = documentType(
  'VersioningConfiguration',
  mapped(
    elements({
      status: oneInRequests('Status', oneOf('Enabled', 'Suspended')),
      mfaDelete: optional('MfaDelete', mfaDelete),
    }),
    ({ status }) => status,
    (status) => (status === undefined ? {} : { status, mfaDelete: 'Disabled' as const }),
  ),
);
