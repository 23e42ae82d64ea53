import { checksumAlgorithms, type ChecksumAlgorithm, type ChecksumType } from '../../checksums/algorithms.ts';
import { S3Error } from '../../errors/s3-error.ts';
import type { Fields } from '../../http/message.ts';

/** The checksum that an upload in parts will have. */
export interface UploadChecksum {
  readonly algorithm: ChecksumAlgorithm;
  readonly type: ChecksumType;
}

/**
 * Reads x-amz-checksum-algorithm and x-amz-checksum-type. CRC64NVME exists of whole objects only, SHA only of parts; the
 * other CRCs of either, and of parts unless asked for otherwise.
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

/** The types an algorithm can have for an object in parts, the default first. */
export function possibleTypes(algorithm: ChecksumAlgorithm): readonly ChecksumType[] {
  if (algorithm === 'CRC64NVME') return ['FULL_OBJECT'];
  return algorithm.startsWith('SHA') ? ['COMPOSITE'] : ['COMPOSITE', 'FULL_OBJECT'];
}
