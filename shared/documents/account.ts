import { boolean, documentType, elements, number, one, text } from './schema.ts';

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

/** The limits of a bucket, and what it holds: GetBucketQuota. */
export const bucketQuota = documentType(
  'BucketQuota',
  elements({
    bytesLimit: one('BytesLimit', number),
    objectsLimit: one('ObjectsLimit', number),
    /** As in HeadBucket. */
    bytesOfVersions: one('Bytes', number),
    objects: one('Objects', number),
    /** Of what is no object. */
    bytesBesides: one('BytesBesides', number),
    /** Both together, which the limit is for. */
    bytesCounted: one('BytesCounted', number),
    isMet: one('IsMet', boolean),
  }),
);
