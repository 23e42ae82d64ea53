import { checksumAlgorithms, type ChecksumAlgorithm } from '../../checksums/algorithms.ts';
import { parseDigest } from '../../checksums/digest-value.ts';
import { invalidArgument, S3Error } from '../../errors/s3-error.ts';
import type { Fields } from '../../http/message.ts';
import type { PayloadHash } from '../../signing/v4/payload-hash.ts';

/** The properties of a body according to the head of its request. The body is checked against all of them. */
export interface AnnouncedBody {
  /** Content-Length: the number of bytes as sent. */
  readonly wireLength: number | undefined;
  /** The framing of the bytes, if any. */
  readonly chunks: AnnouncedChunks | undefined;
  /** Content-MD5 of the decoded bytes. */
  readonly md5: Uint8Array | undefined;
  /** x-amz-checksum-* of the decoded bytes. */
  readonly checksum: AnnouncedChecksum | undefined;
}

/** aws-chunked framing. */
interface AnnouncedChunks {
  /** x-amz-decoded-content-length */
  readonly decodedLength: number;
  /** The trailer named in x-amz-trailer. */
  readonly trailer: AnnouncedTrailer | undefined;
}

interface AnnouncedChecksum {
  readonly algorithm: ChecksumAlgorithm;
  readonly value: Uint8Array;
}

export interface AnnouncedTrailer {
  /** In lower case. */
  readonly name: string;
  readonly algorithm: ChecksumAlgorithm;
}

/**
 * Reads the headers that describe a body. Ignores checksums in the query: presigners put that of an empty body there.
 * https://docs.aws.amazon.com/AmazonS3/latest/userguide/checking-object-integrity-upload.html
 *
 * @throws S3Error InvalidDigest, InvalidRequest (checksums), MissingContentLength, InvalidArgument (lengths),
 *   MalformedTrailerError (a trailer in a body that cannot have one)
 */
export function readAnnouncedBody(
  fields: Fields,
  hash: PayloadHash,
  checksumsDescribe: 'body' | 'object',
): AnnouncedBody {
  const framed = isFramed(fields, hash);
  const trailer = announcedTrailer(fields, framed && (hash.kind !== 'chunks' || hash.trailers));
  const checksum = checksumsDescribe === 'body' ? announcedChecksum(fields, trailer) : undefined;
  return {
    wireLength: length(fields, 'content-length'),
    chunks: framed ? { decodedLength: decodedLength(fields), trailer } : undefined,
    md5: announcedMd5(fields),
    checksum,
  };
}

/** Returns the announced length of the decoded body in bytes, or undefined if it is absent or invalid. */
export function announcedLength(fields: Fields, hash: PayloadHash): number | undefined {
  const text = fields.get(isFramed(fields, hash) ? 'x-amz-decoded-content-length' : 'content-length');
  return text === undefined ? undefined : parseLength(text);
}

/**
 * Tells whether a body is framed. Clients indicate framing in three ways, but not always in all of them. An empty body
 * has no frames, nor has one with a digest of its own and no decoded length: there, `aws-chunked` is only an encoding
 * that the program set. Without a digest the encoding alone is trusted, lest frames be stored as content.
 */
function isFramed(fields: Fields, hash: PayloadHash): boolean {
  if (hash.kind === 'chunks' || fields.has('x-amz-decoded-content-length')) return true;
  if (hash.kind === 'digest') return false;
  const encodings = list(fields.get('content-encoding'));
  const hasBody = fields.has('transfer-encoding') || (fields.get('content-length') ?? '0') !== '0';
  return encodings.includes('aws-chunked') && hasBody;
}

function decodedLength(fields: Fields): number {
  const announced = length(fields, 'x-amz-decoded-content-length');
  if (announced !== undefined) return announced;
  throw new S3Error('MissingContentLength', {
    message: 'You must provide the x-amz-decoded-content-length HTTP header.',
  });
}

/** Reads a length. @throws S3Error InvalidArgument */
function length(fields: Fields, name: string): number | undefined {
  const text = fields.get(name);
  if (text === undefined) return undefined;
  const bytes = parseLength(text);
  if (bytes === undefined) throw invalidArgument(name, text);
  return bytes;
}

function parseLength(text: string): number | undefined {
  return /^\d{1,15}$/.test(text) ? Number(text) : undefined;
}

function announcedMd5(fields: Fields): Uint8Array | undefined {
  const text = fields.get('content-md5');
  if (text === undefined) return undefined;
  const md5 = parseDigest('MD5', text);
  if (md5 === undefined) throw new S3Error('InvalidDigest', { details: { 'Content-MD5': text } });
  return md5;
}

/** Headers that look like a checksum but are settings for checksums. */
const checksumSettings = new Set(['x-amz-checksum-algorithm', 'x-amz-checksum-mode', 'x-amz-checksum-type']);
const checksumPrefix = 'x-amz-checksum-';

function announcedChecksum(fields: Fields, trailer: AnnouncedTrailer | undefined): AnnouncedChecksum | undefined {
  const found: { readonly name: string; readonly algorithm: ChecksumAlgorithm }[] = [];
  for (const name of fields.names()) {
    if (!name.startsWith(checksumPrefix) || checksumSettings.has(name)) continue;
    found.push({ name, algorithm: algorithmOf(name) });
  }
  if (found.length + (trailer ? 1 : 0) > 1) {
    throw invalidRequest('Expecting a single x-amz-checksum- header. Multiple checksum Types are not allowed.');
  }
  const [header] = found;
  checkNamedAlgorithm(fields, header ?? trailer);
  if (header === undefined) return undefined;
  const value = parseDigest(header.algorithm, fields.get(header.name)!);
  if (value === undefined) throw invalidRequest(`Value for ${header.name} header is invalid.`);
  return { algorithm: header.algorithm, value };
}

/** Checks that the algorithm that an SDK names is that of the checksum. @throws S3Error InvalidRequest */
function checkNamedAlgorithm(fields: Fields, sent: { readonly algorithm: ChecksumAlgorithm } | undefined): void {
  const named = fields.get('x-amz-sdk-checksum-algorithm')?.toUpperCase();
  if (named === undefined) return;
  if (sent === undefined) {
    throw invalidRequest(
      'x-amz-sdk-checksum-algorithm specified, but no corresponding x-amz-checksum-* or x-amz-trailer headers were found.',
    );
  }
  if (named === sent.algorithm) return;
  throw invalidRequest('Value for x-amz-sdk-checksum-algorithm header is invalid.');
}

/** @param possible whether the framing allows trailers */
function announcedTrailer(fields: Fields, possible: boolean): AnnouncedTrailer | undefined {
  const names = list(fields.get('x-amz-trailer'));
  const [name] = names;
  if (name === undefined) return undefined;
  if (!name.startsWith(checksumPrefix) || checksumSettings.has(name)) {
    throw invalidRequest('The value specified in the x-amz-trailer header is not supported');
  }
  if (names.length > 1) {
    throw invalidRequest('Expecting a single x-amz-checksum- header. Multiple checksum Types are not allowed.');
  }
  if (!possible) {
    throw new S3Error('MalformedTrailerError', { message: 'x-amz-trailer needs a body in chunks with trailers.' });
  }
  return { name, algorithm: algorithmOf(name) };
}

/**
 * Returns the checksum algorithm of a header. @throws S3Error InvalidRequest, so that an unknown checksum does not
 * count as verified
 */
function algorithmOf(name: string): ChecksumAlgorithm {
  const algorithm = checksumAlgorithms.find((known) => checksumPrefix + known.toLowerCase() === name);
  if (algorithm === undefined) throw invalidRequest(`The checksum algorithm of ${name} is not supported.`);
  return algorithm;
}

/** Returns the tokens of a comma-separated list in lower case. */
function list(value: string | undefined): readonly string[] {
  if (value === undefined) return [];
  return value
    .split(',')
    .map((token) => token.trim().toLowerCase())
    .filter((token) => token !== '');
}

function invalidRequest(message: string): S3Error {
  return new S3Error('InvalidRequest', { message });
}

/** Tells whether the length of a body is given: as it is sent or, in frames, decoded. */
export function isLengthGiven(fields: Fields): boolean {
  return fields.has('content-length') || fields.has('x-amz-decoded-content-length');
}

/**
 * Checks that the end of an upload is defined, by its length or by chunked coding.
 * @throws S3Error MissingContentLength
 */
export function checkLengthIsGiven(fields: Fields): void {
  if (!fields.has('content-length') && !fields.has('transfer-encoding')) throw new S3Error('MissingContentLength');
}
