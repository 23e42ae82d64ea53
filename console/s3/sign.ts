import { deriveSigningKey, sha256Hex, signText, type SecretKey } from './secret-key.ts';
import { encodePath, encodeQuery, type Query } from './address.ts';
import { toHeader } from './header-text.ts';

/** An access key, and the key derived from its secret. */
interface Credentials {
  readonly accessKeyId: string;
  readonly secret: SecretKey;
}

/** The address of the API, and the credentials of its caller. */
export interface Signer {
  readonly endpoint: string;
  readonly region: string;
  readonly credentials: Credentials;
}

/** The services that requests are signed for. */
type Service = 's3' | 'iam';

export interface UnsignedRequest {
  readonly service: Service;
  readonly method: string;
  /** The path before encoding: `/bucket/key`. */
  readonly path: string;
  readonly query: Query;
  /** Names in lower case. */
  readonly headers: Readonly<Record<string, string>>;
  /** The SHA-256 of the body in hexadecimal, or `UNSIGNED-PAYLOAD`. */
  readonly payloadHash: string;
}

export interface SignedRequest {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
}

/** Headers that browsers set themselves, so that they cannot be signed. */
const unsigned = new Set(['content-length']);

/** Signs a request in its headers, with AWS Signature Version 4. */
export async function signRequest(signer: Signer, request: UnsignedRequest, now: Date): Promise<SignedRequest> {
  const date = amzDate(now);
  const headers: Record<string, string> = {
    ...Object.fromEntries(Object.entries(request.headers).map(([name, value]) => [name, toHeader(value)])),
    'x-amz-date': date,
    'x-amz-content-sha256': request.payloadHash,
  };
  const names = ['host', ...Object.keys(headers).filter((name) => !unsigned.has(name))].sort();
  const query = encodeQuery(request.query);
  const path = encodePath(request.path);
  const canonical = [
    request.method,
    path,
    query,
    ...names.map((name) => `${name}:${name === 'host' ? hostOf(signer) : trimmed(headers[name]!)}`),
    '',
    names.join(';'),
    request.payloadHash,
  ].join('\n');
  const scope = `${date.slice(0, 8)}/${signer.region}/${request.service}/aws4_request`;
  const signature = await signatureOf(signer, request.service, date, scope, canonical);
  headers['authorization'] =
    `AWS4-HMAC-SHA256 Credential=${signer.credentials.accessKeyId}/${scope}, ` +
    `SignedHeaders=${names.join(';')}, Signature=${signature}`;
  return { url: `${signer.endpoint}${path}${query === '' ? '' : `?${query}`}`, headers };
}

/** Returns a URL that anybody can use for this one request, for so many seconds: at most 604,800. */
export async function presign(
  signer: Signer,
  request: { readonly method: string; readonly path: string; readonly query?: Query },
  seconds: number,
  now: Date,
): Promise<string> {
  const date = amzDate(now);
  const scope = `${date.slice(0, 8)}/${signer.region}/s3/aws4_request`;
  const query = encodeQuery({
    ...request.query,
    'X-Amz-Algorithm': 'AWS4-HMAC-SHA256',
    'X-Amz-Credential': `${signer.credentials.accessKeyId}/${scope}`,
    'X-Amz-Date': date,
    'X-Amz-Expires': String(seconds),
    'X-Amz-SignedHeaders': 'host',
  });
  const path = encodePath(request.path);
  const canonical = [request.method, path, query, `host:${hostOf(signer)}`, '', 'host', 'UNSIGNED-PAYLOAD'].join('\n');
  const signature = await signatureOf(signer, 's3', date, scope, canonical);
  return `${signer.endpoint}${path}?${query}&X-Amz-Signature=${signature}`;
}

async function signatureOf(
  signer: Signer,
  service: Service,
  date: string,
  scope: string,
  canonical: string,
): Promise<string> {
  const key = await signingKey(signer, date.slice(0, 8), service);
  return signText(key, ['AWS4-HMAC-SHA256', date, scope, await sha256Hex(bytesOf(canonical))].join('\n'));
}

interface Derived {
  readonly day: string;
  readonly key: Promise<SecretKey>;
}

const derived: Readonly<Record<Service, WeakMap<Credentials, Derived>>> = { s3: new WeakMap(), iam: new WeakMap() };

/** The signing key of a day, derived once. */
function signingKey({ credentials, region }: Signer, date: string, service: Service): Promise<SecretKey> {
  const day = `${date}/${region}`;
  const known = derived[service].get(credentials);
  if (known?.day === day) return known.key;
  const key = deriveSigningKey(credentials.secret, date, region, service);
  derived[service].set(credentials, { day, key });
  return key;
}

/** The bytes of a canonical request, whose characters are bytes: {@link toHeader}. */
const bytesOf = (text: string): ArrayBuffer => Uint8Array.from(text, (char) => char.charCodeAt(0)).buffer;

const hostOf = ({ endpoint }: Signer): string => new URL(endpoint).host;
/** Folds blanks as the service does. What `trim` takes off besides is a byte of some letters: `à` ends in a no-break space. */
const trimmed = (value: string): string => value.replace(/[ \t]+/g, ' ').replace(/^ | $/g, '');

/** `20261122T154500Z` */
function amzDate(date: Date): string {
  return `${date.toISOString().slice(0, 19).replace(/[-:]/g, '')}Z`;
}
