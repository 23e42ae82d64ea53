import type { Fields } from '../../http/message.ts';
import { varyByOrigin } from '../cors.ts';

/*
 * CORS for the console, which calls the API from an origin of its own. Every response says what it may do, whatever the rules of
 * the bucket: errors, preflights and buckets that do not exist included. Credentials mode is never allowed, so that a page can
 * use no more than the keys its user gave it. https://fetch.spec.whatwg.org/#http-cors-protocol
 */

type Field = readonly [name: string, value: string];

/** What one may know of a request before its target and signature are looked at. */
interface Head {
  readonly method: string;
  readonly fields: Fields;
}

/** How long browsers may keep the answer to a preflight, in seconds: Chromium keeps none for longer. */
const maxAge = 7200;

/** Returns whether a request is a preflight of the console's. It is answered before anything else: no bucket need exist. */
export function isConsolePreflight({ method, fields }: Head, origins: ReadonlySet<string>): boolean {
  return method === 'OPTIONS' && fields.has('access-control-request-method') && isOfConsole(fields, origins);
}

/**
 * Returns the CORS headers of a response: to the console, whatever it asked for; to pages of any other origin, what the rules of
 * the bucket say.
 */
export async function responseCorsFields(
  head: Head,
  origins: ReadonlySet<string>,
  byRules: () => Promise<readonly Field[]>,
): Promise<readonly Field[]> {
  if (!head.fields.has('origin')) return [];
  const forConsole = consoleCorsFields(head, origins);
  if (forConsole) return forConsole;
  const fields = await byRules();
  // The console would get another response, also where a bucket has no rules. Responses to OPTIONS are never cached.
  return fields.length === 0 && origins.size > 0 && head.method !== 'OPTIONS' ? [varyByOrigin] : fields;
}

/**
 * Returns the CORS headers of any response to the console; undefined if the request is not the console's.
 *
 * Without credentials mode `*` stands for all headers, metadata of objects among them. It does not stand for Authorization:
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
