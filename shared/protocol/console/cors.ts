import type { Fields } from '../../http/message.ts';
import { varyByOrigin } from '../cors.ts';

/*
 * CORS for the console, which calls the API from another origin. Every response has the headers, regardless of the
 * bucket's rules, including errors, preflights and responses about buckets that do not exist. Credentials mode is never
 * allowed, so a page can use no more than the keys its user gave it. https://fetch.spec.whatwg.org/#http-cors-protocol
 */

type Field = readonly [name: string, value: string];

/** The parts of a request that are known before its target and signature are checked. */
interface Head {
  readonly method: string;
  readonly fields: Fields;
}

/** The time in seconds for which browsers may cache the response to a preflight; Chromium caches none for longer. */
const maxAge = 7200;

/**
 * Tells whether a request is a preflight of the console, which is answered before anything else: the bucket need not
 * exist.
 */
export function isConsolePreflight({ method, fields }: Head, origins: ReadonlySet<string>): boolean {
  return method === 'OPTIONS' && fields.has('access-control-request-method') && isOfConsole(fields, origins);
}

/** Tells whether a request names the origin of a page: only to such a request CORS headers are returned. */
export function isCrossOrigin({ fields }: Pick<Head, 'fields'>): boolean {
  return fields.has('origin');
}

/**
 * Returns the CORS headers of a response to such a request: for the console, regardless of the request; for other origins, according to
 * the bucket's rules.
 */
export async function responseCorsFields(
  head: Head,
  origins: ReadonlySet<string>,
  byRules: () => Promise<readonly Field[]>,
): Promise<readonly Field[]> {
  const forConsole = consoleCorsFields(head, origins);
  if (forConsole) return forConsole;
  const fields = await byRules();
  // The console would get a different response, even if the bucket has no rules. Responses to OPTIONS are never cached.
  return fields.length === 0 && origins.size > 0 && head.method !== 'OPTIONS' ? [varyByOrigin] : fields;
}

/**
 * Returns the CORS headers for a response to the console; undefined if the request is not from the console.
 *
 * Without credentials mode, `*` covers all headers, including object metadata, but not Authorization:
 * https://fetch.spec.whatwg.org/#cors-non-wildcard-request-header-name
 */
export function consoleCorsFields(head: Head, origins: ReadonlySet<string>): readonly Field[] | undefined {
  if (!isOfConsole(head.fields, origins)) return undefined;
  const forPreflight: readonly Field[] = [
    ['access-control-allow-methods', 'GET, HEAD, PUT, POST, DELETE'],
    ['access-control-allow-headers', '*, Authorization'],
    ['access-control-max-age', String(maxAge)],
  ];
  return [
    ['access-control-allow-origin', head.fields.get('origin')!],
    ['access-control-expose-headers', '*'],
    ...(isConsolePreflight(head, origins) ? forPreflight : []),
    varyByOrigin,
  ];
}

function isOfConsole(fields: Fields, origins: ReadonlySet<string>): boolean {
  const origin = fields.get('origin');
  return origin !== undefined && origins.has(origin);
}
