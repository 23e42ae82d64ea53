import { createHash, createHmac, type Hash, type Hmac } from 'node:crypto';
import { SignatureV4 } from '@smithy/signature-v4';
import { resolveTarget, type Target } from '../../../shared/http/address.ts';
import { Fields, type RequestMessage } from '../../../shared/http/message.ts';

/** A request to sign: the path is as it will be sent, names and values of the query are not escaped yet. */
export interface Unsigned {
  readonly method?: string;
  readonly path?: string;
  readonly query?: Record<string, string | string[]>;
  readonly headers?: Record<string, string>;
  readonly body?: string | Uint8Array;
}

export const credentials = {
  accessKeyId: 'project:user@customer',
  secretAccessKey: 'wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY',
};
export const host = 's3.example.com:9000';
export const signingDate = new Date('2026-11-20T10:11:12Z');
const timestamp = '20261120T101112Z';

/** A digest of node:crypto, as Smithy asks for it. */
class Sha256 {
  readonly #hash: Hash | Hmac;

  constructor(secret?: string | ArrayBuffer | ArrayBufferView) {
    this.#hash = secret === undefined ? createHash('sha256') : createHmac('sha256', secret as string);
  }

  update(bytes: Uint8Array): void {
    this.#hash.update(bytes);
  }

  digest(): Promise<Uint8Array> {
    return Promise.resolve(new Uint8Array(this.#hash.digest()));
  }

  reset(): void {}
}

function smithy(secretAccessKey: string): SignatureV4 {
  return new SignatureV4({
    credentials: { ...credentials, secretAccessKey },
    region: 'us-east-1',
    service: 's3',
    sha256: Sha256,
    uriEscapePath: false,
    applyChecksum: true,
  });
}

/** UriEncode of the S3 documentation. */
export function uriEncode(text: string): string {
  return encodeURIComponent(text).replace(/[!'()*]/g, (mark) => `%${mark.charCodeAt(0).toString(16).toUpperCase()}`);
}

function queryString(query: Record<string, string | string[]>): string {
  return Object.entries(query)
    .flatMap(([name, values]) => [values].flat().map((value) => `${uriEncode(name)}=${uriEncode(value)}`))
    .join('&');
}

export async function* stream(...pieces: (string | Uint8Array)[]): AsyncGenerator<Uint8Array> {
  for (const piece of pieces) yield typeof piece === 'string' ? Buffer.from(piece) : piece;
}

/** A request as a transport hands it over. */
export function message(
  method: string,
  target: string,
  headers: Iterable<readonly [string, string]>,
  ...body: (string | Uint8Array)[]
): RequestMessage {
  return {
    method,
    target,
    fields: new Fields(headers),
    body: stream(...body),
    secure: false,
    remoteAddress: '127.0.0.1',
  };
}

export function targetOf(request: RequestMessage): Target {
  return resolveTarget(request.target, request.fields.get('host'), {
    domain: 's3.example.com',
    websiteDomain: 'website.example.com',
  });
}

function smithyRequest({ method = 'GET', path = '/bucket/key', query = {}, headers = {}, body }: Unsigned) {
  return { method, protocol: 'http:', hostname: 's3.example.com', path, query, headers: { host, ...headers }, body };
}

function target(path: string, query: Record<string, string | string[]>): string {
  const text = queryString(query);
  return text === '' ? path : `${path}?${text}`;
}

/** Signs in the Authorization header, by Amazon's own code. */
export async function signHeader(unsigned: Unsigned, secret = credentials.secretAccessKey): Promise<RequestMessage> {
  const signed = await smithy(secret).sign(smithyRequest(unsigned), { signingDate });
  const body = unsigned.body === undefined ? [] : [unsigned.body];
  return message(
    signed.method,
    target(signed.path, signed.query as Record<string, string>),
    Object.entries(signed.headers as Record<string, string>),
    ...body,
  );
}

/** Signs a URL, by Amazon's own code. */
export async function presign(
  unsigned: Unsigned,
  options: { expiresIn?: number; unhoistableHeaders?: Set<string> } = {},
): Promise<RequestMessage> {
  const signed = await smithy(credentials.secretAccessKey).presign(
    smithyRequest({ ...unsigned, headers: { 'x-amz-content-sha256': 'UNSIGNED-PAYLOAD', ...unsigned.headers } }),
    { signingDate, expiresIn: 3600, ...options },
  );
  const body = unsigned.body === undefined ? [] : [unsigned.body];
  return message(
    signed.method,
    target(signed.path, signed.query as Record<string, string>),
    Object.entries(signed.headers as Record<string, string>),
    ...body,
  );
}

/** The words of a signature. */
export interface Words {
  readonly algorithm: string;
  readonly prefix: string;
  readonly service: string;
  readonly terminator: string;
}

export const awsWords: Words = {
  algorithm: 'AWS4-HMAC-SHA256',
  prefix: 'AWS4',
  service: 's3',
  terminator: 'aws4_request',
};
export const neutralWords: Words = {
  algorithm: 'SVC4-HMAC-SHA256',
  prefix: 'SVC4',
  service: 'svc',
  terminator: 'svc4_request',
};

const sha256 = (text: string | Uint8Array) => createHash('sha256').update(text).digest('hex');
const hmac = (key: string | Uint8Array, text: string) => createHmac('sha256', key).update(text).digest();

function scopeOf(words: Words, day = timestamp.slice(0, 8), region = 'us-east-1'): string {
  return `${day}/${region}/${words.service}/${words.terminator}`;
}

function keyOf(words: Words, secret: string, day = timestamp.slice(0, 8), region = 'us-east-1'): Buffer {
  return [day, region, words.service, words.terminator].reduce<Buffer>(hmac, Buffer.from(words.prefix + secret));
}

/**
 * Signs in the header, written down a second time from the documentation: for the words Amazon's code does not know, and
 * for canonical forms it does not produce. `canonical` may replace lines of the canonical request.
 */
export function signByTheBook(
  unsigned: Unsigned & {
    rawQuery?: string;
    canonicalUri?: string;
    canonicalQuery?: string;
    time?: string;
    region?: string;
    unsigned?: string[];
  },
  words: Words = awsWords,
): RequestMessage {
  const {
    method = 'GET',
    path = '/bucket/key',
    query = {},
    body = '',
    time = timestamp,
    region = 'us-east-1',
  } = unsigned;
  const headers: Record<string, string> = {
    host,
    'x-amz-date': time,
    'x-amz-content-sha256': sha256(body),
    ...unsigned.headers,
  };
  const names = Object.keys(headers)
    .filter((name) => !(unsigned.unsigned ?? []).includes(name))
    .sort();
  const rawQuery = unsigned.rawQuery ?? queryString(query);
  const canonical = [
    method,
    unsigned.canonicalUri ?? path,
    unsigned.canonicalQuery ?? rawQuery.split('&').sort().join('&'),
    ...names.map((name) => `${name}:${headers[name]!.trim()}`),
    '',
    names.join(';'),
    headers['x-amz-content-sha256']!,
  ].join('\n');
  const day = time.slice(0, 8);
  const scope = scopeOf(words, day, region);
  const text = [words.algorithm, time, scope, sha256(Buffer.from(canonical, 'latin1'))].join('\n');
  const signature = hmac(keyOf(words, credentials.secretAccessKey, day, region), text).toString('hex');
  const authorization = `${words.algorithm} Credential=${credentials.accessKeyId}/${scope}, SignedHeaders=${names.join(';')}, Signature=${signature}`;
  return message(
    method,
    rawQuery === '' ? path : `${path}?${rawQuery}`,
    [...Object.entries(headers), ['authorization', authorization]],
    ...(body === '' ? [] : [body]),
  );
}

/** Signs a URL by the book. */
export function presignByTheBook(
  {
    method = 'GET',
    path = '/bucket/key',
    query = {},
    headers = {},
    parameters = {},
    body,
  }: Unsigned & { parameters?: Record<string, string | undefined> },
  words: Words = awsWords,
): RequestMessage {
  const sent: Record<string, string> = { host, ...headers };
  const names = Object.keys(sent).sort();
  const scope = scopeOf(words, (parameters['X-Amz-Date'] ?? timestamp).slice(0, 8));
  const signing: Record<string, string | undefined> = {
    'X-Amz-Algorithm': words.algorithm,
    'X-Amz-Credential': `${credentials.accessKeyId}/${scope}`,
    'X-Amz-Date': timestamp,
    'X-Amz-Expires': '3600',
    'X-Amz-SignedHeaders': names.join(';'),
    ...parameters,
  };
  const all = Object.entries({ ...query, ...signing }).filter(([, value]) => value !== undefined) as [string, string][];
  const rawQuery = queryString(Object.fromEntries(all));
  const canonical = [
    method,
    path,
    rawQuery.split('&').sort().join('&'),
    ...names.map((name) => `${name}:${sent[name]}`),
    '',
    names.join(';'),
    sent['x-amz-content-sha256'] ?? 'UNSIGNED-PAYLOAD',
  ].join('\n');
  const text = [signing['X-Amz-Algorithm'], signing['X-Amz-Date'], scope, sha256(canonical)].join('\n');
  const key = keyOf(words, credentials.secretAccessKey, scope.slice(0, 8));
  const signature = hmac(key, text).toString('hex');
  return message(
    method,
    `${path}?${rawQuery}&X-Amz-Signature=${signature}`,
    Object.entries(sent),
    ...(body === undefined ? [] : [body]),
  );
}

/** The signature that an Authorization header ends in, or a presigned query. */
export function signatureOf({ fields, target }: RequestMessage): string {
  return /Signature=([0-9a-f]{64})/.exec(fields.get('authorization') ?? target)![1]!;
}

/** The elements of an aws-chunked body. */
export interface Chunked {
  readonly chunks: readonly (string | Uint8Array)[];
  /** `name:value`, each. */
  readonly trailers?: readonly string[];
  /** Ends a trailer's line as minio-go does, `\n\r\n`. */
  readonly lineFeeds?: boolean;
}

/** Frames a body without signatures. */
export function frame({ chunks, trailers = [] }: Chunked): Buffer {
  const parts = chunks
    .map((chunk) => Buffer.from(chunk))
    .flatMap((chunk) => [`${chunk.length.toString(16)}\r\n`, chunk, '\r\n']);
  return concat([...parts, '0\r\n', ...trailers.map((trailer) => `${trailer}\r\n`), '\r\n']);
}

/** Frames a body and signs its chunks and trailers, by the book. */
export function frameSigned(
  { chunks, trailers, lineFeeds = false }: Chunked,
  seed: string,
  { words = awsWords, secret = credentials.secretAccessKey, time = timestamp } = {},
): Buffer {
  const key = keyOf(words, secret, time.slice(0, 8));
  const scope = scopeOf(words, time.slice(0, 8));
  let previous = seed;
  const sign = (kind: string, ...hashes: string[]) => {
    previous = hmac(key, [`${words.algorithm}-${kind}`, time, scope, previous, ...hashes].join('\n')).toString('hex');
    return previous;
  };
  const parts: (string | Uint8Array)[] = [];
  for (const chunk of [...chunks.map((one) => Buffer.from(one)), Buffer.alloc(0)]) {
    parts.push(`${chunk.length.toString(16)};chunk-signature=${sign('PAYLOAD', sha256(''), sha256(chunk))}\r\n`, chunk);
    if (chunk.length > 0) parts.push('\r\n');
  }
  if (trailers) {
    const lines = trailers.map((trailer) => `${trailer}\n`).join('');
    const signature = sign('TRAILER', sha256(lines));
    parts.push(lineFeeds ? `${lines}\r\n` : lines.replaceAll('\n', '\r\n'), `x-amz-trailer-signature:${signature}\r\n`);
  }
  return concat([...parts, '\r\n']);
}

function concat(parts: readonly (string | Uint8Array)[]): Buffer {
  return Buffer.concat(parts.map((part) => Buffer.from(part)));
}
