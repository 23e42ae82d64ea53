import { checksumAlgorithms, type Checksum } from '../../checksums/algorithms.ts';
import { parseDigest, printDigest } from '../../checksums/digest-value.ts';
import { S3Error } from '../../errors/s3-error.ts';
import type { Fields } from '../../http/message.ts';
import type { NamedPart } from '../../storage/uploads/assemble.ts';
import type { Upload } from '../../storage/uploads/upload.ts';

const prefix = 'x-amz-checksum-';

/** The checksum of the whole object according to CompleteMultipartUpload. */
export interface ExpectedChecksum extends Pick<Checksum, 'algorithm' | 'value'> {
  /** The name of the header. */
  readonly name: string;
  /** The number of parts that a composite checksum may end with. */
  readonly parts: number | undefined;
}

/**
 * Reads x-amz-checksum-* where it is for the object, not for the body.
 * https://docs.aws.amazon.com/AmazonS3/latest/API/API_CompleteMultipartUpload.html
 *
 * @throws S3Error InvalidRequest
 */
export function parseExpectedChecksum(fields: Fields): ExpectedChecksum | undefined {
  const found = checksumAlgorithms
    .map((algorithm) => ({ algorithm, name: prefix + algorithm.toLowerCase() }))
    .filter(({ name }) => fields.has(name));
  if (found.length > 1) {
    throw invalidRequest('Expecting a single x-amz-checksum- header. Multiple checksum Types are not allowed.');
  }
  const [one] = found;
  if (one === undefined) return undefined;
  const [, digest = '', parts] = /^(.*?)(?:-(\d{1,5}))?$/.exec(fields.get(one.name)!) ?? [];
  const value = parseDigest(one.algorithm, digest);
  if (value === undefined) throw invalidRequest(`Value for ${one.name} header is invalid.`);
  return {
    ...one,
    value,
    parts: parts === undefined ? undefined : Number(parts),
  };
}

/**
 * Compares checksums of an object of so many parts.
 * @throws S3Error InvalidRequest (another algorithm than the object's), BadDigest
 */
export function checkExpectedChecksum(
  expected: ExpectedChecksum | undefined,
  actual: Checksum | undefined,
  partCount: number,
): void {
  if (expected === undefined) return;
  const { algorithm, name, parts, value } = expected;
  if (actual?.algorithm !== algorithm) {
    throw invalidRequest(`The ${name} header does not match the algorithm of the upload's checksum.`);
  }
  const countsParts = parts === undefined || (actual.type === 'COMPOSITE' && parts === partCount);
  if (countsParts && Buffer.compare(value, actual.value) === 0) return;
  throw new S3Error('BadDigest', {
    message: `The ${algorithm} you specified did not match the calculated checksum.`,
    details: { ExpectedDigest: printDigest(value), CalculatedDigest: printDigest(actual.value) },
  });
}

/**
 * Compares x-amz-checksum-type with the type of the object's checksum, whether or not a checksum stands beside it.
 * @throws S3Error BadDigest
 */
export function checkExpectedType(expected: string | undefined, actual: Checksum | undefined): void {
  if (expected === undefined || expected.toUpperCase() === actual?.type) return;
  throw new S3Error('BadDigest', { message: 'The checksum type you specified is not that of the upload.' });
}

/**
 * Checks that a completion names the checksum of each part, if the upload was created with one that is made of them.
 * @throws S3Error InvalidRequest
 */
export function checkPartsAreSummed(named: readonly NamedPart[], upload: Upload['checksum']): void {
  if (upload?.type !== 'COMPOSITE') return;
  const missing = named.find(({ checksums }) => !checksums.some(({ algorithm }) => algorithm === upload.algorithm));
  if (missing === undefined) return;
  const algorithm = upload.algorithm.toLowerCase();
  throw invalidRequest(
    `The upload was created using a ${algorithm} checksum. The complete request must include the checksum for each part. It was missing for part ${missing.partNumber} in the request.`,
  );
}

function invalidRequest(message: string): S3Error {
  return new S3Error('InvalidRequest', { message });
}
