import { S3Error } from '../errors/s3-error.ts';

const shape = /^[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]$/;
const forbidden = /\.\.|\.-|-\./;
const dottedQuad = /^\d{1,3}(?:\.\d{1,3}){3}$/;
/** API Gateway answers these paths itself at the root of a path-style address, so they cannot be bucket names. */
const reserved = new Set(['ping', 'sping']);

/**
 * Checks a bucket name: 3 to 63 lower-case letters, digits, dots and hyphens, beginning and ending with a letter or
 * digit; without `..`, `.-` and `-.`; not an IP address.
 * https://docs.aws.amazon.com/AmazonS3/latest/userguide/bucketnamingrules.html
 *
 * @throws S3Error InvalidBucketName
 */
export function checkBucketName(name: string): void {
  if (!shape.test(name) || forbidden.test(name) || dottedQuad.test(name) || reserved.has(name)) {
    throw new S3Error('InvalidBucketName', { details: { BucketName: name } });
  }
}
