import type { Caller } from '../../access/identity.ts';
import type { Checksum, ChecksumAlgorithm } from '../../checksums/algorithms.ts';
import { invalidArgument, S3Error } from '../../errors/s3-error.ts';
import type { Query } from '../../http/query.ts';
import type { ObjectAuthorisation } from '../../storage/version-changes/object-authorisation.ts';
import { noSuchUpload, type Part, type Upload } from '../../storage/uploads/upload.ts';
import type { Uploads } from '../../storage/uploads/uploads.ts';
import type { StoredBody } from '../bodies/store-body.ts';

/** Reads the upload id. @throws S3Error InvalidArgument if it is missing or empty */
export function requireUploadId(query: Query): string {
  const uploadId = query.get('uploadId');
  if (!uploadId)
    throw invalidArgument('uploadId', '', 'This operation does not accept a query-string without an upload id.');
  return uploadId;
}

/**
 * Checks that the caller's project initiated an upload. For others it does not exist, whatever they may write.
 * @throws S3Error NoSuchUpload
 */
export function checkInitiator(upload: Upload, caller: Caller): void {
  if (caller.kind !== 'user' || caller.project.id !== upload.initiator) throw noSuchUpload(upload.id);
}

/** Reads a part number. @throws S3Error InvalidArgument unless it is from 1 to the maximum */
export function parsePartNumber(query: Query, maximum: number): number {
  const value = query.get('partNumber') ?? '';
  const number = /^\d{1,9}$/.test(value) ? Number(value) : 0;
  if (number < 1 || number > maximum) {
    throw invalidArgument('partNumber', value, `Part number must be an integer between 1 and ${maximum}, inclusive`);
  }
  return number;
}

/**
 * Checks that a part has a checksum of the upload's algorithm.
 * @throws S3Error InvalidRequest
 */
export function checkPartChecksum(expected: ChecksumAlgorithm | undefined, actual: Checksum | undefined): void {
  if (expected === undefined || actual?.algorithm === expected) return;
  const [wanted, got] = [expected, actual?.algorithm ?? 'null'].map((one) => one.toLowerCase());
  throw new S3Error('InvalidRequest', {
    message: `Checksum Type mismatch occurred, expected checksum Type: ${wanted}, actual checksum Type: ${got}`,
  });
}

interface PartDeps {
  readonly uploads: Uploads;
  readonly authorisation: ObjectAuthorisation;
  readonly upload: Upload;
  /** The number of the part. */
  readonly number: number;
}

/**
 * Records a body as a part of an upload.
 * @throws S3Error as {@link Uploads.addPart}; the bytes then stay, and completing or aborting the upload removes them
 */
export async function addPart(stored: StoredBody, { uploads, authorisation, upload, number }: PartDeps): Promise<Part> {
  const { size, md5, checksum, blob } = stored;
  try {
    return await uploads.addPart(authorisation, upload, { number, size, md5, checksum, blob });
  } catch (error) {
    // Nothing was written to a bucket that no longer exists.
    if (error instanceof S3Error && error.code === 'NoSuchBucket') await stored.discard();
    else stored.abandon();
    throw error;
  }
}

/**
 * Refuses a part number or a version id in a write of a whole object, which always creates a version. A request with a
 * part number but no upload id has lost the id, and would replace the object by one part.
 * @throws S3Error InvalidArgument
 */
export function refuseSelection(query: Query): void {
  if (query.has('partNumber')) requireUploadId(query);
  const versionId = query.get('versionId');
  if (versionId === undefined) return;
  throw invalidArgument('versionId', versionId, 'This operation does not accept a version-id.');
}
