import type { Fields } from '../http/message.ts';
import type { Bucket } from '../metadata/buckets/bucket.ts';
import type { Buckets } from '../metadata/buckets/buckets.ts';
import type { Attributes, Stored } from '../ports/key-value-table.ts';
import type { CorsRule } from '../xml/cors.ts';

/*
 * Cross-origin resource sharing: https://docs.aws.amazon.com/AmazonS3/latest/userguide/cors.html,
 * https://fetch.spec.whatwg.org/#http-cors-protocol.
 *
 * Credentials are never allowed: no answer says Access-Control-Allow-Credentials. Requests here are signed, and a browser
 * has nothing of its own to add that would be worth stealing.
 */

type Field = readonly [name: string, value: string];

/** What a browser says of the page that a request comes from. */
export interface CorsRequest {
  readonly origin: string;
  /** The method that the page asks for, whatever that of this request is. */
  readonly method: string;
  /** Names of the header fields that the page wants to send, as it wrote them. */
  readonly headers: readonly string[];
}

/** A rule that allows a request, and what it says of the origin. */
export interface CorsMatch {
  readonly rule: CorsRule;
  /** `*` only if the rule says just that, or else the origin itself. */
  readonly allowOrigin: string;
}

const requestedMethod = 'access-control-request-method';
const requestedHeaders = 'access-control-request-headers';

/** Browsers ask for a handful. Each is held against every pattern of a rule. */
const maxHeaders = 100;

/** Reads what a browser said, or undefined if there is no Origin. An actual request may name method and headers as well. */
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

/** The first rule whose origin, method and headers all fit, or undefined. */
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

/** Whether a text is what a pattern says, in which one `*` stands for any characters or none. Takes no longer than both are. */
export function matchesPattern(pattern: string, text: string): boolean {
  const star = pattern.indexOf('*');
  if (star < 0) return pattern === text;
  return (
    text.length >= pattern.length - 1 &&
    text.startsWith(pattern.slice(0, star)) &&
    text.endsWith(pattern.slice(star + 1))
  );
}

/** That a cache must not give one origin what was answered to another. */
export const varyByOrigin: Field = ['vary', 'Origin, Access-Control-Request-Headers, Access-Control-Request-Method'];

/** What an answer says of a request that a rule allows. */
export function corsFields({ rule, allowOrigin }: CorsMatch): Field[] {
  return [
    ['access-control-allow-origin', allowOrigin],
    ['access-control-allow-methods', rule.methods.join(', ')],
    ...(rule.expose ? [['access-control-expose-headers', rule.expose.join(', ')] as const] : []),
    ...(rule.maxAge === undefined ? [] : [['access-control-max-age', String(rule.maxAge)] as const]),
  ];
}

type StoredRules = Stored<readonly CorsRule[]>;

/** The CORS rules of a bucket, or undefined if it has none. */
export async function bucketCors(bucket: Bucket, buckets: Buckets): Promise<readonly CorsRule[] | undefined> {
  const found = await buckets.documents.of(bucket, 'cors');
  return found && (found['rules'] as StoredRules);
}

/** CORS rules as they are stored. */
export function storedCors(rules: readonly CorsRule[]): Attributes {
  const stored: StoredRules = rules;
  return { rules: stored };
}

/**
 * What the answer to an actual request, errors included, says to the page that it comes from. Costs nothing where there is
 * no Origin, and no read where the bucket has no rules.
 * @param find the bucket that was addressed
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
