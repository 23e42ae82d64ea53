import { documentType, elements, number, one, text } from './schema.ts';

/** The user who signed the request, with the number of buckets that their project has and may have: GetAccount. */
export const account = documentType(
  'Account',
  elements({
    project: one(
      'Project',
      elements({ id: one('Id', text), email: one('Email', text), displayName: one('DisplayName', text) }),
    ),
    /** The name of the user. */
    user: one('User', text),
    accessKeyId: one('AccessKeyId', text),
    bucketCount: one('BucketCount', number),
    bucketLimit: one('BucketLimit', number),
  }),
);

/** The limits and the usage of a bucket, in bytes and objects: GetBucketQuota. */
export const bucketQuota = documentType(
  'BucketQuota',
  elements({
    bytesLimit: one('BytesLimit', number),
    objectsLimit: one('ObjectsLimit', number),
    bytes: one('Bytes', number),
    objects: one('Objects', number),
  }),
);
