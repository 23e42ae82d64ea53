import { createContext, Script } from 'node:vm';
import type { ViewerRequest, ViewerRequestEvent } from '../../../functions/cloud/edge/router.ts';

/** A viewer's request, as CloudFront Functions receive it. */
export interface EdgeRequest {
  readonly method: string;
  /** Raw path and query. */
  readonly target: string;
  readonly headers: readonly (readonly [name: string, value: string])[];
  readonly address: string;
}

/** A request as the router passes it on. */
export interface RoutedRequest {
  readonly origin: string | undefined;
  readonly uri: string;
  readonly querystring: object;
  /** Names are lower case. */
  readonly headers: Readonly<Record<string, string>>;
}

/**
 * The globals of the runtime of CloudFront Functions. All others of a V8 context are deleted.
 * https://docs.aws.amazon.com/AmazonCloudFront/latest/DeveloperGuide/functions-javascript-runtime-20.html
 */
const present = new Set([
  ...['Object', 'String', 'Array', 'Number', 'Boolean', 'RegExp', 'Date', 'Math', 'JSON', 'Function', 'Promise'],
  ...['Error', 'EvalError', 'RangeError', 'ReferenceError', 'SyntaxError', 'TypeError', 'URIError'],
  ...[
    'decodeURI',
    'decodeURIComponent',
    'encodeURI',
    'encodeURIComponent',
    'isFinite',
    'isNaN',
    'parseFloat',
    'parseInt',
  ],
  ...['undefined', 'NaN', 'Infinity', 'globalThis'],
]);

/** Headers that functions must not change: https://docs.aws.amazon.com/AmazonCloudFront/latest/DeveloperGuide/edge-function-restrictions-all.html */
const readOnly = ['host', 'content-length', 'transfer-encoding', 'via'];

/** Loads the code of a CloudFront Function, in a context that has nothing but the language. */
export function edgeRuntime(code: string): (request: EdgeRequest) => RoutedRequest {
  let origin: string | undefined;
  const context = createContext({ cf: { selectRequestOriginById: (id: string) => (origin = id) } });
  const library = new Script('Object.getOwnPropertyNames(globalThis)').runInContext(context) as string[];
  const absent = library.filter((name) => !present.has(name) && name !== 'cf');
  for (const name of absent) new Script(`delete globalThis[${JSON.stringify(name)}]`).runInContext(context);
  // The import becomes a global variable.
  const imported = /^import (\w+) from ?"cloudfront";/;
  new Script(code.replace(imported, 'var $1 = cf;')).runInContext(context);
  const handler = new Script('handler').runInContext(context) as (event: ViewerRequestEvent) => ViewerRequest;

  return (request) => {
    origin = undefined;
    const event = eventOf(request);
    const before = JSON.stringify(readOnly.map((name) => event.request.headers[name]));
    const { uri, querystring, headers } = handler(event);
    if (JSON.stringify(readOnly.map((name) => headers[name])) !== before)
      throw new Error('a read-only header was changed');
    const values = Object.entries(headers).map(([name, header]) => [name, header!.value] as const);
    return { origin, uri, querystring, headers: Object.fromEntries(values) };
  };
}

function eventOf({ method, target, headers, address }: EdgeRequest): ViewerRequestEvent {
  const mark = target.indexOf('?');
  const [uri, query] = mark < 0 ? [target, ''] : [target.slice(0, mark), target.slice(mark + 1)];
  const byName: Record<string, { value: string }> = {};
  // If a header is repeated, `value` is the first one; the others are in `multiValue`, which the router ignores.
  for (const [name, value] of headers) byName[name.toLowerCase()] ??= { value };
  const querystring = Object.fromEntries(new URLSearchParams(query).entries());
  return {
    viewer: { ip: address },
    request: { method, uri, querystring, headers: byName, rawQueryString: () => query },
  };
}
