import { otherApiOf } from '../../../shared/http/query-api.ts';
import { isReservedPath, reservedRoute } from '../../../shared/http/reserved-paths.ts';
import { keptHeaders } from '../../../shared/protocol/kept-headers.ts';
import type { CompiledRoutes, CompiledRow } from './compiled-routes.ts';

/*
 * The router at the edge: a CloudFront Function that finds the operation of a request and selects its origin. It does
 * the same as `resolveTarget` and `findRoute`, and a test holds it to them. Requests that they would refuse go to a
 * function that refuses them in the same way, since every function determines its operation again from what the client
 * signed.
 *
 * Limited to what its runtime supports: no classes, no destructuring, no for…of, no Map, no Set.
 * https://docs.aws.amazon.com/AmazonCloudFront/latest/DeveloperGuide/functions-javascript-runtime-20.html
 */

/** The event of a viewer request. Header names are lower case. */
export interface ViewerRequestEvent {
  readonly viewer: { readonly ip: string };
  readonly request: ViewerRequest;
}

export interface ViewerRequest {
  readonly method: string;
  /** The raw path. */
  uri: string;
  querystring: Readonly<Record<string, unknown>>;
  readonly headers: Record<string, { value: string } | undefined>;
  /** Returns the query as sent, undecoded and without the `?`. */
  rawQueryString(): string | undefined;
}

/** Selects the origin of a request: the runtime's `selectRequestOriginById`. */
export type SelectOrigin = (id: 'control' | 'byte') => void;

/** Returns the handler of viewer requests. */
export function router(
  routes: CompiledRoutes,
  selectOrigin: SelectOrigin,
): (event: ViewerRequestEvent) => ViewerRequest {
  return (event) => {
    const request = event.request;
    const rawQuery = request.rawQueryString() || '';
    const on = levelOf(routes, request);
    const operation = operationOf(routes, on, request, rawQuery);
    // Every website request goes to the origin of the pages: the website distribution forwards the viewer's Host, which
    // API Gateway refuses.
    const wanted = own(routes.byteLane, on === 'website' ? websitePages : operation);
    const has = (name: string): boolean => request.headers[name] !== undefined;
    const isOfByteLane = wanted && (wanted.length === 0 || wanted.some(has)) && !routes.withheld.some(has);
    selectOrigin(isOfByteLane ? 'byte' : 'control');
    keepOriginals(request, rawQuery, event.viewer.ip);
    // Hides what API Gateway would decode, collapse or refuse.
    request.uri = '/' + operation;
    request.querystring = {};
    return request;
  };
}

function keepOriginals(request: ViewerRequest, rawQuery: string, address: string): void {
  const headers = request.headers;
  const keep = (name: string, value: string | undefined): void => {
    if (value === undefined) delete headers[name];
    else headers[name] = { value: value };
  };
  keep(keptHeaders.proof, undefined);
  keep(keptHeaders.target, request.uri + (rawQuery === '' ? '' : '?' + rawQuery));
  keep(keptHeaders.host, valueOf(request, 'host') || '');
  keep(keptHeaders.authorization, valueOf(request, 'authorization'));
  keep(keptHeaders.length, valueOf(request, 'content-length'));
  keep(keptHeaders.address, address);
  delete headers['authorization'];
}

function valueOf(request: ViewerRequest, name: string): string | undefined {
  const header = request.headers[name];
  return header && header.value;
}

const websitePages = 'GetWebsitePage';

function operationOf(routes: CompiledRoutes, on: string, request: ViewerRequest, rawQuery: string): string {
  const parameters = on === 'website' ? [] : parse(rawQuery);
  const resource = parameters && resourceOf(routes, on, request, parameters);
  if (!parameters || resource === undefined) return routes.otherwise;
  const rows = own(routes.rows, on + ' ' + request.method + ' ' + resource) || [];
  const row = rows.find((candidate) => matches(candidate, request, parameters));
  return row ? row[0] : routes.otherwise;
}

function matches(row: CompiledRow, request: ViewerRequest, parameters: readonly Parameter[]): boolean {
  const header = row[1];
  const parameter = row[2];
  const api = row[3];
  if (header && !request.headers[header]) return false;
  if (
    api &&
    (parameters.length > 0 || api !== otherApiOf(valueOf(request, 'authorization'), valueOf(request, 'content-type')))
  )
    return false;
  if (!parameter) return true;
  const first = parameters.find((candidate) => candidate[0] === parameter[0]);
  return first !== undefined && first[1] === parameter[1];
}

/** Returns the level that a request addresses, from its host and path alone. */
function levelOf(routes: CompiledRoutes, request: ViewerRequest): string {
  const name = (valueOf(request, 'host') || '').toLowerCase().replace(/:\d*$/, '').replace(/\.$/, '');
  if (isBelow(name, routes.websiteDomain)) return 'website';
  const path = request.uri;
  if (isBelow(name, routes.domain)) return path === '/' ? 'bucket' : 'object';
  if (isReservedPath(path)) return 'internal';
  if (path === '/') return 'service';
  const slash = path.indexOf('/', 1);
  return slash < 0 || slash === path.length - 1 ? 'bucket' : 'object';
}

function isBelow(name: string, domain: string): boolean {
  return name.length > domain.length + 1 && name.endsWith('.' + domain);
}

/** Returns the sub-resource or reserved path, '' if there is none, undefined if there are two. */
function resourceOf(
  routes: CompiledRoutes,
  on: string,
  request: ViewerRequest,
  parameters: readonly Parameter[],
): string | undefined {
  if (on === 'internal') return reservedRoute(request.uri);
  if (on === 'website' || request.method === 'OPTIONS') return '';
  const found = parameters.map((parameter) => parameter[0]).filter((name) => own(routes.subresources, name));
  return found.every((name) => name === found[0]) ? found[0] || '' : undefined;
}

type Parameter = readonly [name: string, value: string];

/** Returns the decoded parameters of a query, or undefined if one cannot be decoded. */
function parse(rawQuery: string): readonly Parameter[] | undefined {
  try {
    return rawQuery
      .split('&')
      .filter((pair) => pair !== '')
      .map((pair) => {
        const equals = pair.indexOf('=');
        return equals < 0 ? [decode(pair), ''] : [decode(pair.slice(0, equals)), decode(pair.slice(equals + 1))];
      });
  } catch {
    return undefined;
  }
}

function decode(raw: string): string {
  return decodeURIComponent(raw.replace(/\+/g, ' '));
}

/** Returns a table's own entry: names come from clients, and `constructor` must not find an inherited property. */
function own<Value>(table: Readonly<Record<string, Value>>, name: string): Value | undefined {
  return Object.prototype.hasOwnProperty.call(table, name) ? table[name] : undefined;
}
