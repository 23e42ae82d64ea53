import { checksum, typedChecksum } from './checksums.ts';
import { boolean, documentType, elements, ifAny, many, number, one, text } from './schema.ts';

/**
 * The requested attributes of an object; all others are undefined.
 * https://docs.aws.amazon.com/AmazonS3/latest/API/API_GetObjectAttributes.html
 */
export const objectAttributes = documentType(
  'GetObjectAttributesResponse',
  elements({
    /** Without quotes, unlike in other documents. */
    etag: ifAny('ETag', text),
    checksum: ifAny('Checksum', elements({ typed: typedChecksum })),
    /** A page of the parts. Present only for multipart uploads. */
    objectParts: ifAny(
      'ObjectParts',
      elements({
        totalParts: one('PartsCount', number),
        partNumberMarker: one('PartNumberMarker', number),
        nextPartNumberMarker: ifAny('NextPartNumberMarker', number),
        maxParts: one('MaxParts', number),
        isTruncated: one('IsTruncated', boolean),
        parts: many('Part', elements({ partNumber: one('PartNumber', number), size: one('Size', number), checksum })),
      }),
    ),
    storageClass: ifAny('StorageClass', text),
    objectSize: ifAny('ObjectSize', number),
  }),
);
