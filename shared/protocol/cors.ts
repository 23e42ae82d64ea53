import type { CorsRule } from '../documents/cors.ts';
import type { Fields } from '../http/message.ts';
import type { Bucket } from '../storage/buckets/bucket.ts';
import type { Buckets } from '../storage/buckets/buckets.ts';
import type { Attributes, Stored } from '../ports/key-value-table.ts';

/*
 * Cross-origin resource sharing: https://docs.aws.amazon.com/AmazonS3/latest/userguide/cors.html,
 * https://fetch.spec.whatwg.org/#http-cors-protocol.
 *
 * Credentials mode is never allowed: no response has Access-Control-Allow-Credentials. Requests are signed, and browsers
 * store no credentials for this service that a page could use.
 */

type Field = readonly [name: string, value: string];

/** The facts that a browser sends about a cross-origin request. */
export interface CorsRequest {
  readonly origin: string;
  /** The method that the page requests, which in a preflight differs from the request's own. */
  readonly method: string;
  /** The names of the header fields that the page wants to send, as written. */
  readonly headers: readonly string[];
}

/** A rule that allows a request, and the resulting allowed origin. */
export interface CorsMatch {
  readonly rule: CorsRule;
  /** `*` only if the rule has just that, otherwise the request's origin. */
  readonly allowOrigin: string;
}

const requestedMethod = 'access-control-request-method';
const requestedHeaders = 'access-control-request-headers';

/** Browsers ask for few headers, but each is matched against every pattern of a rule. */
const maxHeaders = 100;

/**
 * Reads the CORS fields of a request, or returns undefined if it has no Origin. An actual request may also name a
 * method and headers.
 */
export function readCorsRequest(fields: Fields, method: string): CorsRequest | undefined {
  const origin = fields.get('origin');
  if (origin === undefined || origin === '') return undefined;
  const headers = (fields.get(requestedHeaders) ?? '').split(',').map((name) => name.trim());
  return {
    origin,
    method: fields.get(requestedMethod) ?? method,
    headers: headers.filter((name) => name !== ''),
  };
}

/** Returns the first rule that allows the request's origin, method and headers, or undefined. */
export function matchCors(rules: readonly CorsRule[], request: CorsRequest): CorsMatch | undefined {
  if (request.headers.length > maxHeaders) return undefined;
  const wanted = request.headers.map((name) => name.toLowerCase());
  for (const rule of rules) {
    if (!rule.methods.includes(request.method)) continue;
    const origin = rule.origins.find((pattern) => matchesPattern(pattern, request.origin));
    if (origin === undefined) continue;
    const allowed = (rule.headers ?? []).map((pattern) => pattern.toLowerCase());
    if (!wanted.every((name) => allowed.some((pattern) => matchesPattern(pattern, name)))) continue;
    return { rule, allowOrigin: origin === '*' ? '*' : request.origin };
  }
  return undefined;
}

/** Tells whether a text matches a pattern, in which one `*` stands for any number of characters. Takes linear time. */
export function matchesPattern(pattern: string, text: string): boolean {
  const star = pattern.indexOf('*');
  if (star < 0) return pattern === text;
  return (
    text.length >= pattern.length - 1 &&
    text.startsWith(pattern.slice(0, star)) &&
    text.endsWith(pattern.slice(star + 1))
  );
}

/** Prevents caches from serving one origin the response for another. */
export const varyByOrigin: Field = ['vary', 'Origin, Access-Control-Request-Headers, Access-Control-Request-Method'];

/** Returns the response headers for a request that a rule allows. */
export function corsFields({ rule, allowOrigin }: CorsMatch): Field[] {
  return [
    ['access-control-allow-origin', allowOrigin],
    ['access-control-allow-methods', rule.methods.join(', ')],
    ...(rule.expose ? [['access-control-expose-headers', rule.expose.join(', ')] as const] : []),
    ...(rule.maxAge === undefined ? [] : [['access-control-max-age', String(rule.maxAge)] as const]),
  ];
}

type StoredRules = Stored<readonly CorsRule[]>;

/** Returns the CORS rules of a bucket, or undefined if it has none. */
export async function bucketCors(bucket: Bucket, buckets: Buckets): Promise<readonly CorsRule[] | undefined> {
  const found = await buckets.documents.of(bucket, 'cors');
  return found && (found['rules'] as StoredRules);
}

/** Returns CORS rules in their stored form. */
export function storedCors(rules: readonly CorsRule[]): Attributes {
  const stored: StoredRules = rules;
  return { rules: stored };
}

/**
 * Returns the CORS headers for the response to an actual request, including errors. Reads nothing if the request has no
 * Origin or the bucket has no rules.
 * @param find returns the addressed bucket
 */
export async function actualCorsFields(
  { method, fields }: { readonly method: string; readonly fields: Fields },
  find: () => Promise<Bucket | undefined>,
  buckets: Buckets,
): Promise<readonly Field[]> {
  const request = readCorsRequest(fields, method);
  if (request === undefined || method === 'OPTIONS') return [];
  const bucket = await find();
  const rules = bucket && (await bucketCors(bucket, buckets));
  if (rules === undefined) return [];
  const match = matchCors(rules, request);
  return match ? [...corsFields(match), varyByOrigin] : [varyByOrigin];
}
