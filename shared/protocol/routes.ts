import { invalidArgument, S3Error } from '../errors/s3-error.ts';
import type { Address } from '../http/address.ts';
import type { Fields } from '../http/message.ts';
import type { Query } from '../http/query.ts';
import { otherApiOf, type OtherApi } from '../http/query-api.ts';
import { reservedRoute } from '../http/reserved-paths.ts';
import { routes, type Level, type OperationName, type Place, type Route } from './operation-table.ts';

/**
 * Sub-resources of unsupported features. Every request for one, for buckets and objects alike, is answered as not
 * implemented, even if S3 has no such method there: clients that probe for the feature expect no other response.
 */
const absentFeatures: ReadonlySet<string> = new Set([
  'location', // can be read, but not changed after the bucket is created
  'requestPayment',
  'accelerate',
  'logging',
  'notification',
  'encryption', // of objects
  'replication',
  'object-lock',
  'analytics',
  'inventory',
  'metrics',
  'intelligent-tiering',
  'abac',
  'metadataConfiguration',
  'metadataTable',
  'metadataInventoryTable',
  'metadataJournalTable',
  'session',
  'torrent',
  'select',
  'restore',
  'retention',
  'legal-hold',
  'append',
]);

const subresources = new Set(routes.flatMap((route) => route.query ?? []));

/** The rows by method, level and sub-resource or reserved path, the most specific first. */
const index = new Map<string, Route[]>();
for (const route of routes) {
  const where = place(route.on, route.method, route.query ?? route.path);
  index.set(
    where,
    [...(index.get(where) ?? []), route].toSorted((a, b) => specificity(b) - specificity(a)),
  );
}

/**
 * Returns the operation of a request.
 *
 * A known sub-resource without a row for this method and level never falls through to the plain operation: executing
 * `PUT /bucket/key?retention` as a PutObject would destroy data.
 *
 * @throws S3Error InvalidArgument (two sub-resources), MethodNotAllowed with an Allow header, NotImplemented
 */
export function findRoute(address: Address, method: string, query: Query, fields: Fields): OperationName {
  const on = address.kind;
  const resource = resourceOf(address, method, query);
  const row = index
    .get(place(on, method, resource))
    ?.find(
      ({ header, parameter, api }) =>
        (header === undefined || fields.has(header)) &&
        (api === undefined || api === apiAddressed(address, method, query, fields)) &&
        (parameter === undefined || query.get(parameter[0]) === parameter[1]),
    );
  if (row !== undefined) return row.operation;
  if (on === 'internal' && !routes.some(({ path }) => path === resource)) throw new S3Error('InvalidBucketName');
  if (resource !== undefined && absentFeatures.has(resource) && ['GET', 'PUT', 'DELETE'].includes(method)) {
    throw new S3Error('NotImplemented', { details: { Method: method, ResourceType: resource.toUpperCase() } });
  }
  throw methodNotAllowed(on, method, resource);
}

/** Returns the API besides S3 that a request is for; '' for S3. */
export function apiAddressed(address: Address, method: string, query: Query, fields: Fields): OtherApi | '' {
  if (address.kind !== 'service' || method !== 'POST' || query.parameters.length > 0) return '';
  return otherApiOf(fields.get('authorization'), fields.get('content-type'));
}

/** Returns the error for a method that a resource does not have, with the methods that it has in the Allow header. */
export function methodNotAllowed(on: Level, method: string, resource?: string): S3Error {
  const rows = routes.filter(
    (route) => route.on === on && (route.query ?? route.path) === resource && route.api === undefined,
  );
  return new S3Error('MethodNotAllowed', {
    details: { Method: method, ResourceType: (resource ?? on).toUpperCase() },
    headers: { allow: [...new Set(rows.map((route) => route.method))].join(', ') },
  });
}

/**
 * Returns the sub-resource that a query selects, if any.
 *
 * @throws S3Error InvalidArgument (two sub-resources)
 */
export function subresource(query: Query): string | undefined {
  let found: string | undefined;
  for (const { name } of query.parameters) {
    if (name === found || !subresources.has(name)) continue;
    if (found !== undefined) {
      const message = `Conflicting query string parameters: ${found}, ${name}`;
      throw invalidArgument('ResourceType', found, message);
    }
    found = name;
  }
  return found;
}

/**
 * Returns the sub-resource or reserved path of a request. A preflight has none: its query is that of the actual
 * request.
 */
function resourceOf(address: Address, method: string, query: Query): string | undefined {
  if (address.kind === 'internal') return reservedRoute(address.path);
  return address.kind === 'website' || method === 'OPTIONS' ? undefined : subresource(query);
}

function place(on: Level, method: string, resource: string | undefined): string {
  return `${on} ${method} ${resource ?? ''}`;
}

/** Returns the number of conditions of a row besides its sub-resource. */
export function specificity(route: Place): number {
  return (route.parameter ? 1 : 0) + (route.header ? 1 : 0) + (route.api ? 1 : 0);
}
