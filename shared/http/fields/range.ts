import { invalidArgument, S3Error } from '../../errors/s3-error.ts';

/** A range of bytes, both ends inclusive. */
export interface ByteRange {
  readonly first: number;
  readonly last: number;
}

const oneRange = /^bytes=(\d*)-(\d*)$/i;

/**
 * Parses a Range header field for a representation of this size (RFC 9110 §14.2). Returns undefined for the whole
 * object, as also for ranges that S3 ignores (other units, several ranges, last before first).
 * https://docs.aws.amazon.com/AmazonS3/latest/API/API_GetObject.html#API_GetObject_RequestSyntax
 */
export function parseRange(field: string | undefined, size: number): ByteRange | 'unsatisfiable' | undefined {
  const match = field === undefined ? null : oneRange.exec(field.trim());
  if (match === null) return undefined;
  const [, first = '', last = ''] = match;
  if (first === '') {
    if (last === '') return undefined;
    const length = Math.min(Number(last), size);
    return length === 0 ? 'unsatisfiable' : { first: size - length, last: size - 1 };
  }
  if (last !== '' && BigInt(last) < BigInt(first)) return undefined;
  if (Number(first) >= size) return 'unsatisfiable';
  return { first: Number(first), last: last === '' ? size - 1 : Math.min(Number(last), size - 1) };
}

/** Returns the Content-Range field of a 206 response: `bytes 0-4/10`. */
export function contentRange({ first, last }: ByteRange, size: number): string {
  return `bytes ${first}-${last}/${size}`;
}

/** Creates a 416 InvalidRange error for a range outside the object. */
export function unsatisfiableRange(field: string, size: number): S3Error {
  return new S3Error('InvalidRange', {
    details: { RangeRequested: field, ActualObjectSize: String(size) },
    headers: { 'content-range': `bytes */${size}` },
  });
}

const copySourceRangeField = 'x-amz-copy-source-range';

/**
 * Parses x-amz-copy-source-range, which is stricter than Range: `bytes=first-last`, both required.
 * https://docs.aws.amazon.com/AmazonS3/latest/API/API_UploadPartCopy.html
 * @throws S3Error InvalidArgument
 */
export function parseCopySourceRange(value: string): ByteRange {
  const match = /^bytes=(\d{1,15})-(\d{1,15})$/.exec(value);
  const range = { first: Number(match?.[1]), last: Number(match?.[2]) };
  if (match === null || range.last < range.first) {
    throw invalidArgument(
      copySourceRangeField,
      value,
      `The ${copySourceRangeField} value must be of the form bytes=first-last where first and last are the zero-based offsets of the first and last bytes to copy`,
    );
  }
  return range;
}

/**
 * Checks that all bytes of a copy's range exist; unlike Range, it is not clipped.
 * @throws S3Error InvalidRange
 */
export function checkCopySourceRange(range: ByteRange, size: number): void {
  if (range.last >= size) throw unsatisfiableRange(`bytes=${range.first}-${range.last}`, size);
}
