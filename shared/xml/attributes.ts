import { checksumElement, checksumElements, type DocumentChecksum, type TypedChecksum } from './checksums.ts';
import { document } from './writer.ts';

/** The requested attributes of an object; all others are undefined. */
export interface ObjectAttributes {
  /** Without quotes, unlike in other documents. */
  readonly etag?: string | undefined;
  readonly checksum?: TypedChecksum | undefined;
  /** Present only for multipart uploads. */
  readonly objectParts?: AttributeParts | undefined;
  readonly storageClass?: string | undefined;
  readonly objectSize?: number | undefined;
}

/** A page of the parts of an object. */
interface AttributeParts {
  readonly totalParts: number;
  readonly partNumberMarker: number;
  readonly nextPartNumberMarker: number | undefined;
  readonly maxParts: number;
  readonly isTruncated: boolean;
  readonly parts: readonly {
    readonly partNumber: number;
    readonly size: number;
    readonly checksum?: DocumentChecksum | undefined;
  }[];
}

/**
 * Returns the response body of GetObjectAttributes.
 * https://docs.aws.amazon.com/AmazonS3/latest/API/API_GetObjectAttributes.html
 */
export function getObjectAttributesResponse(attributes: ObjectAttributes, namespace: string): string {
  const { checksum, objectParts } = attributes;
  return document('GetObjectAttributesResponse', namespace, {
    ETag: attributes.etag,
    Checksum: checksum && checksumElements(checksum),
    ObjectParts: objectParts && {
      PartsCount: objectParts.totalParts,
      PartNumberMarker: objectParts.partNumberMarker,
      NextPartNumberMarker: objectParts.nextPartNumberMarker,
      MaxParts: objectParts.maxParts,
      IsTruncated: objectParts.isTruncated,
      Part: objectParts.parts.map((part) => ({
        PartNumber: part.partNumber,
        Size: part.size,
        ...checksumElement(part.checksum),
      })),
    },
    StorageClass: attributes.storageClass,
    ObjectSize: attributes.objectSize,
  });
}
