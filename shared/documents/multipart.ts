import { checksum, checksums, typedChecksum } from './checksums.ts';
import { owner } from './owner.ts';
import {
  boolean,
  documentType,
  elements,
  etag,
  ifAny,
  integer,
  list,
  many,
  number,
  one,
  text,
  time,
} from './schema.ts';

/** https://docs.aws.amazon.com/AmazonS3/latest/API/API_CreateMultipartUpload.html */
export const initiateMultipartUploadResult = documentType(
  'InitiateMultipartUploadResult',
  elements({ bucket: one('Bucket', text), key: one('Key', text), uploadId: one('UploadId', text) }),
);

/**
 * The parts to complete an upload with. Their order and existence are not checked.
 * https://docs.aws.amazon.com/AmazonS3/latest/API/API_CompleteMultipartUpload.html
 */
export const completedParts = documentType(
  'CompleteMultipartUpload',
  list(
    'Part',
    elements({ partNumber: one('PartNumber', integer({ minimum: 0 })), etag: one('ETag', etag), checksums }),
    1,
  ),
);

/** Facts about a new object, with its address. */
const created = {
  location: one('Location', text),
  bucket: one('Bucket', text),
  key: one('Key', text),
  etag: one('ETag', etag),
};

/** The response of CompleteMultipartUpload. */
export const completeMultipartUploadResult = documentType(
  'CompleteMultipartUploadResult',
  elements({ ...created, checksum: typedChecksum }),
);

/**
 * The response of PostObject if the form asks for status 201. Its root has no namespace, as in S3.
 * https://docs.aws.amazon.com/AmazonS3/latest/API/RESTObjectPOST.html
 */
export const postResponse = documentType('PostResponse', elements(created));

/** https://docs.aws.amazon.com/AmazonS3/latest/API/API_ListParts.html */
export const partListing = documentType(
  'ListPartsResult',
  elements({
    bucket: one('Bucket', text),
    key: one('Key', text),
    uploadId: one('UploadId', text),
    initiator: one('Initiator', owner),
    owner: one('Owner', owner),
    storageClass: one('StorageClass', text),
    /** The algorithm chosen when the upload was created. */
    checksumAlgorithm: ifAny('ChecksumAlgorithm', text),
    checksumType: ifAny('ChecksumType', text),
    partNumberMarker: one('PartNumberMarker', number),
    nextPartNumberMarker: ifAny('NextPartNumberMarker', number),
    maxParts: one('MaxParts', number),
    isTruncated: one('IsTruncated', boolean),
    parts: many(
      'Part',
      elements({
        partNumber: one('PartNumber', number),
        /** Milliseconds since 1970. */
        lastModified: one('LastModified', time),
        etag: one('ETag', etag),
        size: one('Size', number),
        checksum,
      }),
    ),
  }),
);
