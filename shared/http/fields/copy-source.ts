import { invalidArgument } from '../../errors/s3-error.ts';
import { decodeKey } from '../address.ts';
import { checkBucketName } from '../bucket-name.ts';
import { utf8Of } from '../message.ts';

/** The source object of a copy, as a header names it. */
export interface CopySource {
  readonly bucket: string;
  readonly key: string;
  readonly versionId: string | undefined;
}

const field = 'x-amz-copy-source';

/**
 * Parses x-amz-copy-source, `[/]bucket/key[?versionId=v]`. Splits off the version at the last `?versionId=` of the raw
 * value and the bucket at the first slash, then decodes the key once.
 * https://docs.aws.amazon.com/AmazonS3/latest/API/API_CopyObject.html
 *
 * @throws S3Error InvalidArgument, InvalidBucketName, InvalidURI, InvalidObjectName, InvalidRequest
 */
export function parseCopySource(value: string): CopySource {
  const mark = value.lastIndexOf('?versionId=');
  const name = mark < 0 ? value : value.slice(0, mark);
  const versionId = mark < 0 ? undefined : value.slice(mark + '?versionId='.length);
  // Some clients encode the whole value, including slashes.
  const bare = name.replace(/^\//, '');
  const path = bare.includes('/') ? bare : bare.replaceAll(/%2f/gi, '/').replace(/^\//, '');
  const slash = path.indexOf('/');
  if (slash <= 0 || slash === path.length - 1) {
    const message = `Copy Source must mention the source bucket and key: ${field}: sourcebucket/sourcekey`;
    throw invalidArgument(field, value, message);
  }
  const bucket = decodeKey(path.slice(0, slash));
  checkBucketName(bucket);
  return { bucket, key: decodeSourceKey(path.slice(slash + 1)), versionId };
}

/**
 * Decodes a key in a header that names the source of a copy or a rename. As in a form, and unlike in a path, `+` is a blank and `%2B` a
 * plus sign, which is what clients send that encode for queries: https://github.com/aws/aws-cli/issues/614
 * @throws S3Error InvalidURI, InvalidObjectName, InvalidRequest
 */
export function decodeSourceKey(raw: string): string {
  return decodeKey(utf8Of(raw.replaceAll('+', ' ')));
}
