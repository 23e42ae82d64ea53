import { createHash, createHmac, randomFillSync } from 'node:crypto';
import { crc32 } from 'node:zlib';
import type { Key } from '../../support/clients/signer.ts';

/** How the bytes of a body are sent: as they are with their SHA-256 signed, or `aws-chunked` with a CRC-32 in the trailer. */
export type Framing = 'digest' | 'trailer';

/** A request before it is signed. Path and query are escaped, and the parameters of the query sorted. */
export interface BenchRequest {
  readonly method: 'PUT' | 'GET' | 'HEAD' | 'POST' | 'DELETE';
  readonly path: string;
  readonly query?: string;
  /** Further headers, by names in lower case. They are signed. */
  readonly headers?: Readonly<Record<string, string>>;
  /** Text, or the number of arbitrary bytes. */
  readonly body?: string | { readonly bytes: number; readonly framing?: Framing };
  /** Whether the body of the response is needed. */
  readonly keepsBody?: boolean;
}

/** A request as it is sent. */
export interface SignedRequest {
  /** The head; with the body, if that is short. */
  readonly head: Buffer;
  /** The body, if it is not in `head`. */
  readonly body: Buffer | undefined;
  readonly isHead: boolean;
  readonly keepsBody: boolean;
}

type Header = readonly [name: string, value: string];

interface WireBody {
  readonly bytes: Buffer;
  readonly hash: string;
  readonly headers: readonly Header[];
}

/** Bodies up to this size are sent in one piece with their head. */
const shortBody = 64 * 1024;
const chunkSize = 64 * 1024;
const emptyHash = createHash('sha256').digest('hex');

const hmac = (key: string | Uint8Array, text: string): Buffer => createHmac('sha256', key).update(text).digest();

/**
 * Signs requests with AWS Signature Version 4, with a key derived once, so that thousands can be signed before a measurement. Without an
 * access key they are not signed.
 */
export class RequestSigner {
  readonly #host: string;
  readonly #key: Key | undefined;
  readonly #time: string;
  readonly #scope: string;
  readonly #signingKey: Buffer | undefined;
  readonly #bodies = new Map<string, WireBody>();

  /** @param time of the signatures, in milliseconds since 1970; they are accepted for a quarter of an hour */
  constructor(host: string, key: Key | undefined, time = Date.now()) {
    this.#host = host;
    this.#key = key;
    this.#time = new Date(time).toISOString().replace(/[-:]|\.\d+/g, '');
    const day = this.#time.slice(0, 8);
    this.#scope = `${day}/us-east-1/s3/aws4_request`;
    this.#signingKey = key && ['us-east-1', 's3', 'aws4_request'].reduce(hmac, hmac(`AWS4${key.secretAccessKey}`, day));
  }

  sign(request: BenchRequest): SignedRequest {
    const { method, path, query = '', headers = {}, keepsBody = false } = request;
    const body = this.#bodyOf(request.body);
    const lines: Header[] = [['host', this.#host], ...Object.entries(headers), ...(body?.headers ?? [])];
    if (this.#key !== undefined) {
      lines.push(['x-amz-content-sha256', body?.hash ?? emptyHash], ['x-amz-date', this.#time]);
      lines.push(['authorization', this.#authorization(request, lines, this.#key)]);
    }
    const isBodyMethod = method === 'PUT' || method === 'POST';
    if (isBodyMethod) lines.push(['content-length', String(body?.bytes.length ?? 0)]);
    const fields = lines.map(([name, value]) => `${name}: ${value}\r\n`).join('');
    const text = `${method} ${path}${query === '' ? '' : `?${query}`} HTTP/1.1\r\n${fields}\r\n`;
    const isShort = body !== undefined && body.bytes.length <= shortBody;
    const head = Buffer.from(text, 'latin1');
    return {
      head: isShort ? Buffer.concat([head, body.bytes]) : head,
      body: isShort ? undefined : body?.bytes,
      isHead: method === 'HEAD',
      keepsBody,
    };
  }

  /** Returns the header that signs a request with these headers, all of them. */
  #authorization({ method, path, query = '' }: BenchRequest, headers: readonly Header[], key: Key): string {
    const signed = headers.toSorted(([a], [b]) => (a < b ? -1 : 1));
    const names = signed.map(([name]) => name).join(';');
    const fields = signed.map(([name, value]) => `${name}:${value}\n`).join('');
    const hash = headers.find(([name]) => name === 'x-amz-content-sha256')![1];
    const canonical = `${method}\n${path}\n${query}\n${fields}\n${names}\n${hash}`;
    const digest = createHash('sha256').update(canonical).digest('hex');
    const toSign = `AWS4-HMAC-SHA256\n${this.#time}\n${this.#scope}\n${digest}`;
    const signature = hmac(this.#signingKey!, toSign).toString('hex');
    const credential = `${key.accessKeyId}/${this.#scope}`;
    return `AWS4-HMAC-SHA256 Credential=${credential}, SignedHeaders=${names}, Signature=${signature}`;
  }

  /** Returns a body as it is sent, made once for each size. */
  #bodyOf(body: BenchRequest['body']): WireBody | undefined {
    if (body === undefined) return undefined;
    if (typeof body === 'string') {
      const bytes = Buffer.from(body);
      return { bytes, hash: createHash('sha256').update(bytes).digest('hex'), headers: [] };
    }
    const { bytes: size, framing = 'digest' } = body;
    const name = `${framing} ${size}`;
    const known = this.#bodies.get(name);
    if (known !== undefined) return known;
    const bytes = randomFillSync(Buffer.alloc(size));
    const made: WireBody =
      framing === 'trailer'
        ? inChunks(bytes)
        : { bytes, hash: createHash('sha256').update(bytes).digest('hex'), headers: [] };
    this.#bodies.set(name, made);
    return made;
  }
}

/** https://docs.aws.amazon.com/AmazonS3/latest/API/sigv4-streaming-trailers.html */
function inChunks(bytes: Buffer): WireBody {
  const pieces: Buffer[] = [];
  for (let at = 0; at < bytes.length; at += chunkSize) {
    const chunk = bytes.subarray(at, at + chunkSize);
    pieces.push(Buffer.from(`${chunk.length.toString(16)}\r\n`), chunk, Buffer.from('\r\n'));
  }
  const checksum = Buffer.alloc(4);
  checksum.writeUInt32BE(crc32(bytes));
  pieces.push(Buffer.from(`0\r\nx-amz-checksum-crc32:${checksum.toString('base64')}\r\n\r\n`));
  return {
    bytes: Buffer.concat(pieces),
    hash: 'STREAMING-UNSIGNED-PAYLOAD-TRAILER',
    headers: [
      ['content-encoding', 'aws-chunked'],
      ['x-amz-decoded-content-length', String(bytes.length)],
      ['x-amz-trailer', 'x-amz-checksum-crc32'],
    ],
  };
}
