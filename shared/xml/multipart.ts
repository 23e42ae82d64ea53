import type { EventLoopBudget } from '../ports/event-loop.ts';
import {
  checksumElement,
  checksumElements,
  isChecksum,
  readChecksum,
  type DocumentChecksum,
  type TypedChecksum,
} from './checksums.ts';
import { ownerElements, type Owner } from './owner.ts';
import { readDocument, type XmlElement, type XmlSource } from './reader.ts';
import { document, quoted, timestamp } from './writer.ts';

/** The maximum number of parts of an upload. */
const maximumParts = 10_000;

/**
 * Returns the response body of CreateMultipartUpload.
 * https://docs.aws.amazon.com/AmazonS3/latest/API/API_CreateMultipartUpload.html
 */
export function initiateMultipartUploadResult(
  upload: { readonly bucket: string; readonly key: string; readonly uploadId: string },
  namespace: string,
): string {
  return document('InitiateMultipartUploadResult', namespace, {
    Bucket: upload.bucket,
    Key: upload.key,
    UploadId: upload.uploadId,
  });
}

/** The cost of reading one part, in steps. */
const stepsPerPart = 10;

/**
 * Reads the body of CompleteMultipartUpload. Does not check the order and existence of the parts.
 * https://docs.aws.amazon.com/AmazonS3/latest/API/API_CompleteMultipartUpload.html
 * @throws S3Error MalformedXML, also for a document without parts
 */
export async function readCompleteMultipartUpload(body: XmlSource, budget: EventLoopBudget) {
  const root = readDocument(body, 'CompleteMultipartUpload').onlyChildren('Part');
  const parts = root.children;
  if (parts.length === 0 || parts.length > maximumParts) throw root.fault(`there must be 1 to ${maximumParts} parts`);
  return budget.map(parts, stepsPerPart, readPart);
}

function readPart(part: XmlElement) {
  const checksums = part.children.filter(isChecksum);
  part.onlyChildren('PartNumber', 'ETag', ...checksums.map(({ name }) => name));
  return {
    partNumber: part.one('PartNumber').integer({ minimum: 0 }),
    /** Without quotes. */
    etag: part.one('ETag').text.replace(/^"(.*)"$/s, '$1'),
    checksums: checksums.map(({ name }) => readChecksum(part.one(name))),
  };
}

/** Returns the response body of CompleteMultipartUpload. */
export function completeMultipartUploadResult(
  completed: {
    readonly location: string;
    readonly bucket: string;
    readonly key: string;
    /** Without quotes. */
    readonly etag: string;
    readonly checksum?: TypedChecksum | undefined;
  },
  namespace: string,
): string {
  return document('CompleteMultipartUploadResult', namespace, {
    Location: completed.location,
    Bucket: completed.bucket,
    Key: completed.key,
    ETag: quoted(completed.etag),
    ...checksumElements(completed.checksum),
  });
}

/** https://docs.aws.amazon.com/AmazonS3/latest/API/API_ListParts.html */
export interface PartListing {
  readonly bucket: string;
  readonly key: string;
  readonly uploadId: string;
  readonly initiator: Owner;
  readonly owner: Owner;
  /** Undefined: STANDARD. */
  readonly storageClass?: string | undefined;
  readonly partNumberMarker: number;
  readonly nextPartNumberMarker: number | undefined;
  readonly maxParts: number;
  readonly isTruncated: boolean;
  /** The algorithm chosen when the upload was created. */
  readonly checksumAlgorithm?: string | undefined;
  readonly checksumType?: string | undefined;
  readonly parts: readonly {
    readonly partNumber: number;
    /** Milliseconds since 1970. */
    readonly lastModified: number;
    /** Without quotes. */
    readonly etag: string;
    readonly size: number;
    readonly checksum?: DocumentChecksum | undefined;
  }[];
}

/** Returns the response body of ListParts. */
export function listPartsResult(listing: PartListing, namespace: string): string {
  return document('ListPartsResult', namespace, {
    Bucket: listing.bucket,
    Key: listing.key,
    UploadId: listing.uploadId,
    Initiator: ownerElements(listing.initiator),
    Owner: ownerElements(listing.owner),
    StorageClass: listing.storageClass ?? 'STANDARD',
    ChecksumAlgorithm: listing.checksumAlgorithm,
    ChecksumType: listing.checksumType,
    PartNumberMarker: listing.partNumberMarker,
    NextPartNumberMarker: listing.nextPartNumberMarker,
    MaxParts: listing.maxParts,
    IsTruncated: listing.isTruncated,
    Part: listing.parts.map((part) => ({
      PartNumber: part.partNumber,
      LastModified: timestamp(part.lastModified),
      ETag: quoted(part.etag),
      Size: part.size,
      ...checksumElement(part.checksum),
    })),
  });
}
