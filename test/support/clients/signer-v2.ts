import { createHmac } from 'node:crypto';
import type { RawRequest } from './raw-client.ts';
import type { Key, Unsigned } from './signer.ts';

/*
 * Signature V2 written down from its documentation, apart from the code under test, so that a request can be signed in every
 * wrong way too: https://docs.aws.amazon.com/AmazonS3/latest/userguide/RESTAuthentication.html
 */

/** The parameters of a signature. */
export interface SigningV2 {
  readonly key: Key;
  /** The resource to sign, if it is not the path with the parameters that version 2 signs. */
  readonly resource?: string;
  /** The bucket, if the host names it. */
  readonly bucket?: string;
}

export interface HeaderSigningV2 extends SigningV2 {
  /** The word before key id and signature. */
  readonly word?: '' | 'AWS ' | 'SVC ';
  /** The header Date. Default: now; null: none. */
  readonly date?: string | null;
}

export interface PresigningV2 extends SigningV2 {
  /** Seconds since the epoch. Default: in five minutes. */
  readonly expires?: string;
  readonly keyName?: string;
  /** True to sign x-amz- parameters of the query as the headers that they replace. */
  readonly hoisted?: boolean;
}

/** The signed parameters of the documentation, as botocore lists them. */
const signedParameters = new Set(
  (
    'accelerate acl analytics cors defaultObjectAcl delete inventory lifecycle location logging metrics notification ' +
    'object-lock partNumber policy replication requestPayment restore select select-type storageClass tagging torrent ' +
    'uploadId uploads versionId versioning versions website response-cache-control response-content-disposition ' +
    'response-content-encoding response-content-language response-content-type response-expires'
  ).split(' '),
);

/** A request signed in its Authorization header. */
export function signedV2(host: string, unsigned: Unsigned, signing: HeaderSigningV2): RawRequest {
  const date = signing.date === undefined ? new Date().toUTCString() : signing.date;
  const headers = headersOf(host, unsigned, date === null ? {} : { date });
  const hasAmzDate = headers.some(([name]) => name.toLowerCase() === 'x-amz-date');
  const signature = sign(stringToSignV2(unsigned, headers, hasAmzDate ? '' : (date ?? ''), signing), signing.key);
  const authorization = `${signing.word ?? 'AWS '}${signing.key.accessKeyId}:${signature}`;
  return { ...sent(unsigned, unsigned.query), headers: [...headers, ['authorization', authorization]] };
}

/** Returns a request with its signature in the query. */
export function presignedV2(host: string, unsigned: Unsigned, signing: PresigningV2): RawRequest {
  const expires = signing.expires ?? String(Math.floor(Date.now() / 1000) + 300);
  const headers = headersOf(host, unsigned, {});
  const lines = signing.hoisted ? [...headers, ...hoistedOf(unsigned)] : headers;
  const signature = sign(stringToSignV2(unsigned, lines, expires, signing), signing.key);
  const parameters = [
    ...(unsigned.query ? [unsigned.query] : []),
    `${signing.keyName ?? 'AWSAccessKeyId'}=${encodeURIComponent(signing.key.accessKeyId)}`,
    `Expires=${encodeURIComponent(expires)}`,
    `Signature=${encodeURIComponent(signature)}`,
  ];
  return { ...sent(unsigned, parameters.join('&')), headers };
}

function hoistedOf({ query = '' }: Unsigned): [string, string][] {
  const pairs = query.split('&').filter((pair) => /^x-amz-/i.test(pair));
  return pairs.map((pair) => pair.split('=').map(decodeURIComponent) as [string, string]);
}

/** The string that is signed. */
export function stringToSignV2(
  { method = 'GET', path, query = '' }: Unsigned,
  headers: readonly (readonly [string, string])[],
  dateLine: string,
  { resource, bucket }: Pick<SigningV2, 'resource' | 'bucket'>,
): string {
  const values = new Map<string, string>();
  for (const [name, value] of headers) {
    const before = values.get(name.toLowerCase());
    values.set(name.toLowerCase(), before === undefined ? value.trim() : `${before},${value.trim()}`);
  }
  const amz = [...values].filter(([name]) => name.startsWith('x-amz-')).sort(([a], [b]) => (a < b ? -1 : 1));
  const parameters = query
    .split('&')
    .filter((pair) => signedParameters.has(pair.split('=')[0]!))
    .sort((a, b) => (a.split('=')[0]! < b.split('=')[0]! ? -1 : 1))
    .map((pair) => pair.replace(/=.*/, (value) => decodeURIComponent(value)));
  const where = `${bucket === undefined ? '' : `/${bucket}`}${path}`;
  return [
    method,
    values.get('content-md5') ?? '',
    values.get('content-type') ?? '',
    dateLine,
    ...amz.map(([name, value]) => `${name}:${value}`),
    resource ?? (parameters.length === 0 ? where : `${where}?${parameters.join('&')}`),
  ].join('\n');
}

function sign(text: string, { secretAccessKey }: Key): string {
  return createHmac('sha1', secretAccessKey).update(text).digest('base64');
}

function headersOf(host: string, { headers = {}, body }: Unsigned, more: Record<string, string>): [string, string][] {
  const length = body === undefined ? {} : { 'content-length': String(Buffer.byteLength(body)) };
  const all: Record<string, string | null> = { host, ...length, ...more, ...headers };
  return Object.entries(all).filter((pair): pair is [string, string] => pair[1] !== null);
}

function sent({ method = 'GET', path, body }: Unsigned, query = ''): Omit<RawRequest, 'headers'> {
  return { method, target: query === '' ? path : `${path}?${query}`, ...(body !== undefined && { body }) };
}
