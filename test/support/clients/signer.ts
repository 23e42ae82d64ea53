import { createHash, createHmac } from 'node:crypto';
import type { RawRequest } from './raw-client.ts';

/*
 * Signature V4 written down from its documentation, apart from the code under test, so that a request can be signed in
 * every wrong way too: https://docs.aws.amazon.com/AmazonS3/latest/API/sig-v4-authenticating-requests.html
 */

export interface Key {
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
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

/** A request before it is signed. */
export interface Unsigned {
  /** Default: GET. */
  readonly method?: string;
  /** As sent, escaped already. */
  readonly path: string;
  /** As sent, escaped already, without the question mark. */
  readonly query?: string;
  /** Further headers. The host, and the length of a body, are added unless they are given; null leaves one out. */
  readonly headers?: Readonly<Record<string, string | null>>;
  readonly body?: string | Uint8Array;
  /** The service in the scope of its signature, if not S3. */
  readonly service?: string;
}

/** The parameters of a signature. */
export interface Signing {
  readonly key: Key;
  /** Milliseconds since 1970. Default: now. */
  readonly time?: number;
  readonly words?: Partial<Words>;
  readonly region?: string;
  /** The day in the scope, if it shall differ from that of the time. */
  readonly day?: string;
  /** Headers that are sent, and left out of the signature. */
  readonly unsigned?: readonly string[];
  /** Further headers to sign besides the host and all of x-amz-. */
  readonly alsoSigned?: readonly string[];
  /** The x-amz-content-sha256 header. Default: the hash of the body; null: none. */
  readonly payloadHash?: string | null;
}

export const sha256 = (bytes: string | Uint8Array): string => createHash('sha256').update(bytes).digest('hex');
const hmac = (key: string | Uint8Array, text: string): Buffer => createHmac('sha256', key).update(text).digest();

/** UriEncode of the documentation. */
export function uriEncode(text: string): string {
  return encodeURIComponent(text).replace(/[!'()*]/g, (mark) => `%${mark.charCodeAt(0).toString(16).toUpperCase()}`);
}

/** A path of bucket and key. */
export function pathOf(bucket: string, key = ''): string {
  return `/${bucket}${key === '' ? '' : `/${uriEncode(key).replaceAll('%2F', '/')}`}`;
}

/** A query string. A parameter without a value stands alone. */
export function queryOf(parameters: Readonly<Record<string, string>>): string {
  return Object.entries(parameters)
    .map(([name, value]) => (value === '' ? uriEncode(name) : `${uriEncode(name)}=${uriEncode(value)}`))
    .join('&');
}

/** `20260123T101112Z` */
export function basicTime(time: number): string {
  return new Date(time).toISOString().replace(/[-:]|\.\d+/g, '');
}

/** The signature and key from which the chunks of a body continue. */
export interface Seed {
  readonly signature: string;
  readonly time: string;
  readonly scope: string;
  readonly key: Buffer;
  readonly algorithm: string;
}

/** A request signed in its Authorization header. */
export function signed(host: string, unsigned: Unsigned, signing: Signing): RawRequest & { readonly seed: Seed } {
  const time = basicTime(signing.time ?? Date.now());
  const words = { ...awsWords, ...(unsigned.service !== undefined && { service: unsigned.service }), ...signing.words };
  const hash = signing.payloadHash === undefined ? sha256(unsigned.body ?? '') : signing.payloadHash;
  const headers = withDefaults(host, unsigned, {
    'x-amz-date': time,
    ...(hash !== null && { 'x-amz-content-sha256': hash }),
  });
  const names = signedNames(headers, signing);
  const day = signing.day ?? time.slice(0, 8);
  const scope = [day, signing.region ?? 'us-east-1', words.service, words.terminator].join('/');
  const canonical = canonicalRequest(unsigned, unsigned.query ?? '', headers, names, hash ?? '');
  const sentTime = new Map(headers).get('x-amz-date') ?? time;
  const key = signingKey(signing.key, scope, words);
  const signature = hmac(key, stringToSign(words, sentTime, scope, canonical)).toString('hex');
  const authorization =
    `${words.algorithm} Credential=${signing.key.accessKeyId}/${scope}, ` +
    `SignedHeaders=${names.join(';')}, Signature=${signature}`;
  return {
    method: unsigned.method ?? 'GET',
    target: targetOf(unsigned.path, unsigned.query ?? ''),
    headers: [...headers, ['authorization', authorization]],
    ...(unsigned.body !== undefined && { body: unsigned.body }),
    seed: { signature, time: sentTime, scope, key, algorithm: words.algorithm },
  };
}

/** The parameters of a presigned URL. Undefined leaves one out. */
export interface Presigning extends Signing {
  readonly parameters?: Readonly<Record<string, string | undefined>>;
}

/** Returns a request with its signature in the query. */
export function presigned(host: string, unsigned: Unsigned, presigning: Presigning): RawRequest {
  const words = { ...awsWords, ...presigning.words };
  const headers = withDefaults(host, unsigned, {});
  const names = signedNames(headers, presigning);
  const time = presigning.parameters?.['X-Amz-Date'] ?? basicTime(presigning.time ?? Date.now());
  const day = presigning.day ?? time.slice(0, 8);
  const scope = [day, presigning.region ?? 'us-east-1', words.service, words.terminator].join('/');
  const parameters: Record<string, string | undefined> = {
    'X-Amz-Algorithm': words.algorithm,
    'X-Amz-Credential': `${presigning.key.accessKeyId}/${scope}`,
    'X-Amz-Date': time,
    'X-Amz-Expires': '300',
    'X-Amz-SignedHeaders': names.join(';'),
    ...presigning.parameters,
  };
  const pairs = Object.entries(parameters).filter((pair): pair is [string, string] => pair[1] !== undefined);
  const query = [
    ...(unsigned.query ? [unsigned.query] : []),
    ...pairs.filter(([name]) => name !== 'X-Amz-Signature').map(([name, value]) => `${name}=${uriEncode(value)}`),
  ].join('&');
  const hash = new Map(headers).get('x-amz-content-sha256') ?? 'UNSIGNED-PAYLOAD';
  const canonical = canonicalRequest(unsigned, query, headers, names, hash);
  const key = signingKey(presigning.key, scope, words);
  const signature = hmac(key, stringToSign(words, time, scope, canonical)).toString('hex');
  const shown = 'X-Amz-Signature' in parameters ? parameters['X-Amz-Signature'] : signature;
  return {
    method: unsigned.method ?? 'GET',
    target: targetOf(
      unsigned.path,
      shown === undefined ? query : `${query}${query === '' ? '' : '&'}X-Amz-Signature=${shown}`,
    ),
    headers,
    ...(unsigned.body !== undefined && { body: unsigned.body }),
  };
}

/** A request without any credentials. */
export function anonymous(host: string, unsigned: Unsigned): RawRequest {
  return {
    method: unsigned.method ?? 'GET',
    target: targetOf(unsigned.path, unsigned.query ?? ''),
    headers: withDefaults(host, unsigned, {}),
    ...(unsigned.body !== undefined && { body: unsigned.body }),
  };
}

/** An aws-chunked body without signatures. */
export function chunked(chunks: readonly (string | Uint8Array)[], trailers: readonly string[] = []): Buffer {
  const framed = chunks.flatMap((chunk) => [`${Buffer.byteLength(chunk).toString(16)}\r\n`, chunk, '\r\n']);
  return concat([...framed, '0\r\n', ...trailers.map((line) => `${line}\r\n`), '\r\n']);
}

/**
 * An aws-chunked body with the signatures of its chunks, and of its trailers if there are any (an empty list too).
 * https://docs.aws.amazon.com/AmazonS3/latest/API/sigv4-streaming-trailers.html
 */
export function chunkedAndSigned(
  seed: Seed,
  chunks: readonly (string | Uint8Array)[],
  trailers?: readonly string[],
): Buffer {
  let previous = seed.signature;
  const sign = (kind: string, ...hashes: string[]): string => {
    const text = [`${seed.algorithm}-${kind}`, seed.time, seed.scope, previous, ...hashes].join('\n');
    previous = hmac(seed.key, text).toString('hex');
    return previous;
  };
  const parts = [...chunks, ''].flatMap((chunk) => [
    `${Buffer.byteLength(chunk).toString(16)};chunk-signature=${sign('PAYLOAD', sha256(''), sha256(chunk))}\r\n`,
    chunk,
    ...(chunk.length > 0 ? ['\r\n'] : []),
  ]);
  if (trailers === undefined) return concat([...parts, '\r\n']);
  const signature = sign('TRAILER', sha256(trailers.map((line) => `${line}\n`).join('')));
  const lines = [...trailers, `x-amz-trailer-signature:${signature}`].map((line) => `${line}\r\n`);
  return concat([...parts, ...lines, '\r\n']);
}

function concat(parts: readonly (string | Uint8Array)[]): Buffer {
  return Buffer.concat(parts.map((part) => Buffer.from(part)));
}

function targetOf(path: string, query: string): string {
  return query === '' ? path : `${path}?${query}`;
}

/** Adds the default headers to those of a request. */
function withDefaults(host: string, unsigned: Unsigned, defaults: Record<string, string>): [string, string][] {
  const given = unsigned.headers ?? {};
  const hasLength = unsigned.body !== undefined && !('transfer-encoding' in given);
  const all: Record<string, string | null> = {
    host,
    ...defaults,
    ...(hasLength && { 'content-length': String(Buffer.byteLength(unsigned.body)) }),
    ...given,
  };
  return Object.entries(all).filter((pair): pair is [string, string] => pair[1] !== null);
}

function signedNames(headers: readonly (readonly [string, string])[], signing: Signing): string[] {
  return headers
    .map(([name]) => name.toLowerCase())
    .filter((name) => name === 'host' || name.startsWith('x-amz-') || signing.alsoSigned?.includes(name))
    .filter((name) => !signing.unsigned?.includes(name))
    .sort();
}

function canonicalRequest(
  { method = 'GET', path }: Unsigned,
  query: string,
  headers: readonly (readonly [string, string])[],
  names: readonly string[],
  hash: string,
): string {
  const values = new Map(headers.map(([name, value]) => [name.toLowerCase(), value.trim().replace(/ +/g, ' ')]));
  const pairs = query
    .split('&')
    .filter((pair) => pair !== '')
    .map((pair) => (pair.includes('=') ? pair : `${pair}=`))
    .map((pair) => [pair.slice(0, pair.indexOf('=')), pair.slice(pair.indexOf('=') + 1)] as const)
    .sort((a, b) => (a[0] === b[0] ? (a[1] < b[1] ? -1 : 1) : a[0] < b[0] ? -1 : 1));
  const lines = names.map((name) => `${name}:${values.get(name)}\n`).join('');
  const canonicalQuery = pairs.map(([name, value]) => `${name}=${value}`).join('&');
  return [method, path, canonicalQuery, lines, names.join(';'), hash].join('\n');
}

function stringToSign(words: Words, time: string, scope: string, canonical: string): string {
  return [words.algorithm, time, scope, sha256(Buffer.from(canonical, 'latin1'))].join('\n');
}

/** Keys that were derived, by secret and scope: tests that send millions of requests use few. */
const signingKeys = new Map<string, Buffer>();
const maxSigningKeys = 100;

function signingKey({ secretAccessKey }: Key, scope: string, { prefix }: Words): Buffer {
  const secret = prefix + secretAccessKey;
  const name = `${secret} ${scope}`;
  const known = signingKeys.get(name);
  if (known !== undefined) return known;
  const derived = scope.split('/').reduce<Buffer>(hmac, Buffer.from(secret));
  if (signingKeys.size >= maxSigningKeys) signingKeys.clear();
  signingKeys.set(name, derived);
  return derived;
}
