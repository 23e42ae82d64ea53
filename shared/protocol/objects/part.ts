import type { Caller } from '../../access/identity.ts';
import type { Checksum, ChecksumAlgorithm } from '../../checksums/algorithms.ts';
import { invalidArgument, S3Error } from '../../errors/s3-error.ts';
import type { Query } from '../../http/query.ts';
import { noSuchUpload, type Upload } from '../../metadata/uploads/uploads.ts';

/** @throws S3Error InvalidArgument if it is missing or empty */
export function requireUploadId(query: Query): string {
  const uploadId = query.get('uploadId');
  if (!uploadId)
    throw invalidArgument('uploadId', '', 'This operation does not accept a query-string without an upload id.');
  return uploadId;
}

/**
 * An upload is added to and completed by the project that began it. For others it does not exist, whatever they may write.
 * @throws S3Error NoSuchUpload
 */
export function checkInitiator(upload: Upload, caller: Caller): void {
  if (caller.kind !== 'user' || caller.project.id !== upload.initiator) throw noSuchUpload(upload.id);
}

/** @throws S3Error InvalidArgument for what is not from 1 to the maximum */
export function parsePartNumber(query: Query, maximum: number): number {
  const value = query.get('partNumber') ?? '';
  const number = /^\d{1,9}$/.test(value) ? Number(value) : 0;
  if (number < 1 || number > maximum) {
    throw invalidArgument('partNumber', value, `Part number must be an integer between 1 and ${maximum}, inclusive`);
  }
  return number;
}

/**
 * An upload with a checksum algorithm takes parts that bring a checksum of it.
 * @throws S3Error InvalidRequest
 */
export function checkPartChecksum(expected: ChecksumAlgorithm | undefined, actual: Checksum | undefined): void {
  if (expected === undefined || actual?.algorithm === expected) return;
  const [wanted, got] = [expected, actual?.algorithm ?? 'null'].map((one) => one.toLowerCase());
  throw new S3Error('InvalidRequest', {
    message: `Checksum Type mismatch occurred, expected checksum Type: ${wanted}, actual checksum Type: ${got}`,
  });
}
