import { invalidArgument, S3Error } from '../errors/s3-error.ts';

/** A stretch of bytes, both ends included. */
export interface ByteRange {
  readonly first: number;
  readonly last: number;
}

const oneRange = /^bytes=(\d*)-(\d*)$/i;

/**
 * Reads a Range header field against the size of what is asked for (RFC 9110 §14.2). Undefined means the whole: so does
 * whatever is no range S3 knows (other units, several ranges, last before first), which servers ignore.
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

/** The Content-Range field of a 206: `bytes 0-4/10`. */
export function contentRange({ first, last }: ByteRange, size: number): string {
  return `bytes ${first}-${last}/${size}`;
}

/** 416 InvalidRange for a range that does not meet the object. */
export function unsatisfiableRange(field: string, size: number): S3Error {
  return new S3Error('InvalidRange', {
    details: { RangeRequested: field, ActualObjectSize: String(size) },
    headers: { 'content-range': `bytes */${size}` },
  });
}

const copySourceRangeField = 'x-amz-copy-source-range';

/**
 * Reads x-amz-copy-source-range, which is stricter than Range: `bytes=first-last`, both given.
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
 * A copy must find all the bytes it names: nothing is clipped.
 * @throws S3Error InvalidRange
 */
export function checkCopySourceRange(range: ByteRange, size: number): void {
  if (range.last >= size) throw unsatisfiableRange(`bytes=${range.first}-${range.last}`, size);
}
