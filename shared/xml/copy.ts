import { checksumElement, checksumElements, type DocumentChecksum, type TypedChecksum } from './checksums.ts';
import { document, quoted, timestamp } from './writer.ts';

interface Copied<Checksum> {
  /** Milliseconds since 1970. */
  readonly lastModified: number;
  /** Without quotes. */
  readonly etag: string;
  readonly checksum?: Checksum | undefined;
}

/**
 * Returns the response body of CopyObject.
 * https://docs.aws.amazon.com/AmazonS3/latest/API/API_CopyObject.html
 */
export function copyObjectResult(copy: Copied<TypedChecksum>, namespace: string): string {
  return document('CopyObjectResult', namespace, { ...facts(copy), ...checksumElements(copy.checksum) });
}

/**
 * Returns the response body of UploadPartCopy.
 * https://docs.aws.amazon.com/AmazonS3/latest/API/API_UploadPartCopy.html
 */
export function copyPartResult(copy: Copied<DocumentChecksum>, namespace: string): string {
  return document('CopyPartResult', namespace, { ...facts(copy), ...checksumElement(copy.checksum) });
}

function facts({ lastModified, etag }: Copied<unknown>) {
  return { LastModified: timestamp(lastModified), ETag: quoted(etag) };
}
