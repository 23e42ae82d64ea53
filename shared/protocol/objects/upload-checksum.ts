import { checksumAlgorithms, type ChecksumAlgorithm, type ChecksumType } from '../../checksums/algorithms.ts';
import { S3Error } from '../../errors/s3-error.ts';
import type { Fields } from '../../http/message.ts';

/** The checksum of a multipart upload. */
export interface UploadChecksum {
  readonly algorithm: ChecksumAlgorithm;
  readonly type: ChecksumType;
}

/**
 * Reads x-amz-checksum-algorithm and x-amz-checksum-type. CRC64NVME supports whole objects only, SHA only composite
 * checksums; the other CRCs support both, composite by default.
 * https://docs.aws.amazon.com/AmazonS3/latest/userguide/checking-object-integrity.html
 *
 * @throws S3Error InvalidRequest
 */
export function parseUploadChecksum(fields: Fields): UploadChecksum | undefined {
  const algorithm = parseAskedChecksum(fields);
  const type = fields.get('x-amz-checksum-type')?.toUpperCase();
  if (algorithm === undefined) {
    if (type === undefined) return undefined;
    throw new S3Error('InvalidRequest', {
      message: 'The x-amz-checksum-type header can only be used with the x-amz-checksum-algorithm header.',
    });
  }
  const possible = possibleTypes(algorithm);
  const chosen = type === undefined ? possible[0]! : possible.find((one) => one === type);
  if (chosen === undefined) {
    throw new S3Error('InvalidRequest', {
      message: `The ${type} checksum type cannot be used with the ${algorithm.toLowerCase()} checksum algorithm.`,
    });
  }
  return { algorithm, type: chosen };
}

/** Reads x-amz-checksum-algorithm. @throws S3Error InvalidRequest */
export function parseAskedChecksum(fields: Fields): ChecksumAlgorithm | undefined {
  const asked = fields.get('x-amz-checksum-algorithm')?.toUpperCase();
  if (asked === undefined) return undefined;
  const algorithm = checksumAlgorithms.find((one) => one === asked);
  if (algorithm === undefined) {
    throw new S3Error('InvalidRequest', {
      message: `Checksum algorithm provided is unsupported. Please try again with any of the valid types: [${checksumAlgorithms.join(', ')}]`,
    });
  }
  return algorithm;
}

/** Returns the types that an algorithm supports for multipart objects, the default first. */
export function possibleTypes(algorithm: ChecksumAlgorithm): readonly ChecksumType[] {
  if (algorithm === 'CRC64NVME') return ['FULL_OBJECT'];
  return algorithm.startsWith('SHA') ? ['COMPOSITE'] : ['COMPOSITE', 'FULL_OBJECT'];
}
