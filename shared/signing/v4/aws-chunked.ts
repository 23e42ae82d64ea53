import { S3Error } from '../../errors/s3-error.ts';
import { ChunkCount } from '../../http/chunk-count.ts';

/**
 * A part of an aws-chunked body. `data` comes in pieces; `chunk-end` follows the data of each chunk, also of the empty
 * one.
 */
export type Frame =
  | { readonly kind: 'data'; readonly bytes: Uint8Array }
  | { readonly kind: 'chunk-end'; readonly signature: string | undefined }
  /** Once, as the last frame. `lines` are `name:value` as sent, latin1, without the signature's line. */
  | { readonly kind: 'trailers'; readonly lines: readonly string[]; readonly signature: string | undefined };

const maxSizeLineBytes = 1024;
const maxTrailerBytes = 16 * 1024;
const carriageReturn = 0x0d;
const lineFeed = 0x0a;
const sizeLine = /^0*([0-9A-Fa-f]{1,13})(?:;chunk-signature=([0-9a-f]{64}))?$/;
const signatureTrailer = 'x-amz-trailer-signature';

/**
 * Decodes the aws-chunked framing of a body that arrives in pieces of any size. Data passes through as views of those
 * pieces; only lines that span pieces are copied. Format:
 * https://docs.aws.amazon.com/AmazonS3/latest/API/sigv4-streaming.html#sigv4-chunked-body-definition
 *
 * ```
 * hex(size)[;chunk-signature=<64 hex>]\r\n <data>\r\n … 0[;chunk-signature=…]\r\n
 * name:value\r\n … [x-amz-trailer-signature:<64 hex>\r\n] \r\n
 * ```
 */
export class AwsChunkedDecoder {
  #expects: 'size' | 'data' | 'data-end' | 'trailer' | 'nothing' = 'size';
  /**
   * The incomplete current line, and its last byte: reading that from the text would flatten the string for each line
   * feed.
   */
  #line = '';
  #lastByte = 0;
  /** The bytes of data still expected in this chunk. */
  #left = 0;
  #chunkSignature: string | undefined;
  readonly #count = new ChunkCount();
  #trailerBytes = 0;
  #trailerLines: string[] = [];
  #trailerSignature: string | undefined;

  /**
   * Yields the frames that a piece of the body completes. Each must be consumed before the next call.
   *
   * @throws S3Error IncompleteBody, InvalidChunkSizeError, MalformedTrailerError
   */
  *decode(piece: Uint8Array): Generator<Frame> {
    let at = 0;
    while (at < piece.length) {
      if (this.#expects === 'nothing') throw incomplete('There are bytes after the last chunk.');
      if (this.#expects === 'data') {
        const bytes = piece.subarray(at, at + this.#left);
        at += bytes.length;
        this.#left -= bytes.length;
        if (this.#left === 0) this.#expects = 'data-end';
        yield { kind: 'data', bytes };
      } else {
        const end = piece.indexOf(lineFeed, at) + 1 || piece.length;
        const line = this.#takeLine(piece.subarray(at, end));
        at = end;
        if (line !== undefined) yield* this.#understand(line);
      }
    }
  }

  /**
   * Reports the end of the body.
   *
   * @throws S3Error IncompleteBody if it comes too early
   */
  end(): void {
    if (this.#expects !== 'nothing') throw incomplete('The body ended before its last chunk did.');
  }

  /** Appends to the current line. Returns the line without its CRLF once it is complete. */
  #takeLine(bytes: Uint8Array): string | undefined {
    this.#checkLineLength(bytes.length);
    this.#line += Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString('latin1');
    const [before, last] = [bytes[bytes.length - 2] ?? this.#lastByte, bytes[bytes.length - 1]!];
    this.#lastByte = last;
    // A bare line feed does not end a line: minio-go sends one at the end of each trailer, before the CRLF.
    if (last !== lineFeed || before !== carriageReturn) return undefined;
    const line = this.#line.slice(0, -2);
    this.#line = '';
    return line;
  }

  #checkLineLength(more: number): void {
    const length = this.#line.length + more;
    if (this.#expects === 'size' && length > maxSizeLineBytes)
      throw incomplete('The size line of a chunk is too long.');
    if (this.#expects === 'data-end' && length > '\r\n'.length) throw incomplete('A chunk is longer than its size.');
    if (this.#expects === 'trailer' && (this.#trailerBytes += more) > maxTrailerBytes) {
      throw new S3Error('MalformedTrailerError', { message: 'The trailers are too long.' });
    }
  }

  *#understand(line: string): Generator<Frame> {
    if (this.#expects === 'size') {
      yield* this.#beginChunk(line);
    } else if (this.#expects === 'data-end') {
      if (line !== '') throw incomplete('A chunk is longer than its size.');
      this.#expects = 'size';
      yield { kind: 'chunk-end', signature: this.#chunkSignature };
    } else if (line !== '') {
      for (const trailer of line.replace(/\n$/, '').split('\n')) this.#addTrailer(trailer);
    } else {
      this.#expects = 'nothing';
      yield { kind: 'trailers', lines: this.#trailerLines, signature: this.#trailerSignature };
    }
  }

  *#beginChunk(line: string): Generator<Frame> {
    const [, size, signature] = sizeLine.exec(line) ?? [];
    if (size === undefined) throw incomplete('A chunk does not begin with its size.');
    this.#left = parseInt(size, 16);
    this.#chunkSignature = signature;
    if (this.#left > 0) {
      this.#count.add(this.#left);
      this.#count.check();
      this.#expects = 'data';
    } else {
      this.#expects = 'trailer';
      yield { kind: 'chunk-end', signature };
    }
  }

  #addTrailer(line: string): void {
    if (this.#trailerSignature !== undefined || !/^[^\s:]+:/.test(line)) throw new S3Error('MalformedTrailerError');
    const colon = line.indexOf(':');
    if (line.slice(0, colon).toLowerCase() === signatureTrailer) this.#trailerSignature = line.slice(colon + 1).trim();
    else this.#trailerLines.push(line);
  }
}

function incomplete(message: string): S3Error {
  return new S3Error('IncompleteBody', { message });
}
