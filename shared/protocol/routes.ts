import { invalidArgument, S3Error } from '../errors/s3-error.ts';
import type { Address } from '../http/address.ts';
import type { Fields } from '../http/message.ts';
import type { Query } from '../http/query.ts';
import { reservedRoute } from '../http/reserved-paths.ts';

/** The three levels of S3 requests and Stillage's own: websites, and resources under a reserved path. */
export type Level = 'service' | 'bucket' | 'object' | 'website' | 'internal';

/**
 * A row of the route table. A request is this operation if it matches everything in the row. The most specific matching
 * row wins, regardless of the order of the rows.
 */
export interface Route {
  readonly on: Level;
  readonly method: string;
  /** The sub-resource: a query parameter whose presence, with any value, selects the row. */
  readonly query?: string;
  /** The reserved path of Stillage's own resource; a trailing `/*` stands for one more segment. */
  readonly path?: string;
  /** An additional query parameter with exactly this value. */
  readonly parameter?: readonly [name: string, value: string];
  /** A request header that must be present. */
  readonly header?: string;
  readonly operation: string;
}

const copySource = 'x-amz-copy-source';

/** Every operation of the S3 API that clients call, by S3's own names, and Stillage's own sub-resources. */
export const routes = [
  { on: 'service', method: 'GET', operation: 'ListBuckets' },
  { on: 'service', method: 'GET', query: 'account', operation: 'GetAccount' },
  { on: 'service', method: 'OPTIONS', operation: 'Preflight' },

  // Buckets
  { on: 'bucket', method: 'PUT', operation: 'CreateBucket' },
  { on: 'bucket', method: 'HEAD', operation: 'HeadBucket' },
  { on: 'bucket', method: 'DELETE', operation: 'DeleteBucket' },
  { on: 'bucket', method: 'GET', query: 'location', operation: 'GetBucketLocation' },
  { on: 'bucket', method: 'GET', operation: 'ListObjects' },
  { on: 'bucket', method: 'GET', parameter: ['list-type', '2'], operation: 'ListObjectsV2' },
  { on: 'bucket', method: 'GET', query: 'versions', operation: 'ListObjectVersions' },
  { on: 'bucket', method: 'GET', query: 'uploads', operation: 'ListMultipartUploads' },
  { on: 'bucket', method: 'POST', query: 'delete', operation: 'DeleteObjects' },
  { on: 'bucket', method: 'POST', operation: 'PostObject' },
  { on: 'bucket', method: 'OPTIONS', operation: 'Preflight' },

  // Settings of a bucket
  { on: 'bucket', method: 'GET', query: 'versioning', operation: 'GetBucketVersioning' },
  { on: 'bucket', method: 'PUT', query: 'versioning', operation: 'PutBucketVersioning' },
  { on: 'bucket', method: 'GET', query: 'acl', operation: 'GetBucketAcl' },
  { on: 'bucket', method: 'PUT', query: 'acl', operation: 'PutBucketAcl' },
  { on: 'bucket', method: 'GET', query: 'policy', operation: 'GetBucketPolicy' },
  { on: 'bucket', method: 'PUT', query: 'policy', operation: 'PutBucketPolicy' },
  { on: 'bucket', method: 'DELETE', query: 'policy', operation: 'DeleteBucketPolicy' },
  { on: 'bucket', method: 'GET', query: 'policyStatus', operation: 'GetBucketPolicyStatus' },
  { on: 'bucket', method: 'GET', query: 'cors', operation: 'GetBucketCors' },
  { on: 'bucket', method: 'PUT', query: 'cors', operation: 'PutBucketCors' },
  { on: 'bucket', method: 'DELETE', query: 'cors', operation: 'DeleteBucketCors' },
  { on: 'bucket', method: 'GET', query: 'website', operation: 'GetBucketWebsite' },
  { on: 'bucket', method: 'PUT', query: 'website', operation: 'PutBucketWebsite' },
  { on: 'bucket', method: 'DELETE', query: 'website', operation: 'DeleteBucketWebsite' },
  { on: 'bucket', method: 'GET', query: 'lifecycle', operation: 'GetBucketLifecycleConfiguration' },
  { on: 'bucket', method: 'PUT', query: 'lifecycle', operation: 'PutBucketLifecycleConfiguration' },
  { on: 'bucket', method: 'DELETE', query: 'lifecycle', operation: 'DeleteBucketLifecycle' },
  { on: 'bucket', method: 'GET', query: 'encryption', operation: 'GetBucketEncryption' },
  { on: 'bucket', method: 'PUT', query: 'encryption', operation: 'PutBucketEncryption' },
  { on: 'bucket', method: 'DELETE', query: 'encryption', operation: 'DeleteBucketEncryption' },
  { on: 'bucket', method: 'GET', query: 'ownershipControls', operation: 'GetBucketOwnershipControls' },
  { on: 'bucket', method: 'PUT', query: 'ownershipControls', operation: 'PutBucketOwnershipControls' },
  { on: 'bucket', method: 'DELETE', query: 'ownershipControls', operation: 'DeleteBucketOwnershipControls' },
  { on: 'bucket', method: 'GET', query: 'publicAccessBlock', operation: 'GetPublicAccessBlock' },
  { on: 'bucket', method: 'PUT', query: 'publicAccessBlock', operation: 'PutPublicAccessBlock' },
  { on: 'bucket', method: 'DELETE', query: 'publicAccessBlock', operation: 'DeletePublicAccessBlock' },
  { on: 'bucket', method: 'GET', query: 'tagging', operation: 'GetBucketTagging' },
  { on: 'bucket', method: 'PUT', query: 'tagging', operation: 'PutBucketTagging' },
  { on: 'bucket', method: 'DELETE', query: 'tagging', operation: 'DeleteBucketTagging' },

  // Quota, monitoring and alarms: Stillage's own
  { on: 'bucket', method: 'GET', query: 'quota', operation: 'GetBucketQuota' },
  { on: 'bucket', method: 'GET', query: 'monitoring', operation: 'GetBucketMonitoring' },
  { on: 'bucket', method: 'PUT', query: 'monitoring', operation: 'PutBucketMonitoring' },
  { on: 'bucket', method: 'GET', query: 'metric-data', operation: 'GetMetricData' },
  { on: 'bucket', method: 'GET', query: 'alarm', operation: 'GetAlarm' },
  { on: 'bucket', method: 'PUT', query: 'alarm', operation: 'PutAlarm' },
  { on: 'bucket', method: 'DELETE', query: 'alarm', operation: 'DeleteAlarm' },
  { on: 'bucket', method: 'GET', query: 'alarms', operation: 'ListAlarms' },
  { on: 'bucket', method: 'GET', query: 'alarm-history', operation: 'GetAlarmHistory' },

  // Probed by clients, answered by stubs: see stubs.ts
  { on: 'bucket', method: 'GET', query: 'requestPayment', operation: 'GetBucketRequestPayment' },
  { on: 'bucket', method: 'PUT', query: 'requestPayment', operation: 'PutBucketRequestPayment' },
  { on: 'bucket', method: 'GET', query: 'accelerate', operation: 'GetBucketAccelerateConfiguration' },
  { on: 'bucket', method: 'PUT', query: 'accelerate', operation: 'PutBucketAccelerateConfiguration' },
  { on: 'bucket', method: 'GET', query: 'logging', operation: 'GetBucketLogging' },
  { on: 'bucket', method: 'PUT', query: 'logging', operation: 'PutBucketLogging' },
  { on: 'bucket', method: 'GET', query: 'notification', operation: 'GetBucketNotificationConfiguration' },
  { on: 'bucket', method: 'PUT', query: 'notification', operation: 'PutBucketNotificationConfiguration' },
  { on: 'bucket', method: 'GET', query: 'replication', operation: 'GetBucketReplication' },
  { on: 'bucket', method: 'PUT', query: 'replication', operation: 'PutBucketReplication' },
  { on: 'bucket', method: 'DELETE', query: 'replication', operation: 'DeleteBucketReplication' },
  { on: 'bucket', method: 'GET', query: 'object-lock', operation: 'GetObjectLockConfiguration' },
  { on: 'bucket', method: 'PUT', query: 'object-lock', operation: 'PutObjectLockConfiguration' },
  { on: 'bucket', method: 'GET', query: 'analytics', operation: 'GetBucketAnalyticsConfiguration' },
  { on: 'bucket', method: 'PUT', query: 'analytics', operation: 'PutBucketAnalyticsConfiguration' },
  { on: 'bucket', method: 'DELETE', query: 'analytics', operation: 'DeleteBucketAnalyticsConfiguration' },
  { on: 'bucket', method: 'GET', query: 'inventory', operation: 'GetBucketInventoryConfiguration' },
  { on: 'bucket', method: 'PUT', query: 'inventory', operation: 'PutBucketInventoryConfiguration' },
  { on: 'bucket', method: 'DELETE', query: 'inventory', operation: 'DeleteBucketInventoryConfiguration' },
  { on: 'bucket', method: 'GET', query: 'metrics', operation: 'GetBucketMetricsConfiguration' },
  { on: 'bucket', method: 'PUT', query: 'metrics', operation: 'PutBucketMetricsConfiguration' },
  { on: 'bucket', method: 'DELETE', query: 'metrics', operation: 'DeleteBucketMetricsConfiguration' },
  { on: 'bucket', method: 'GET', query: 'intelligent-tiering', operation: 'GetBucketIntelligentTieringConfiguration' },
  { on: 'bucket', method: 'PUT', query: 'intelligent-tiering', operation: 'PutBucketIntelligentTieringConfiguration' },
  {
    on: 'bucket',
    method: 'DELETE',
    query: 'intelligent-tiering',
    operation: 'DeleteBucketIntelligentTieringConfiguration',
  },
  { on: 'bucket', method: 'GET', query: 'abac', operation: 'GetBucketAbac' },
  { on: 'bucket', method: 'PUT', query: 'abac', operation: 'PutBucketAbac' },
  { on: 'bucket', method: 'GET', query: 'metadataConfiguration', operation: 'GetBucketMetadataConfiguration' },
  { on: 'bucket', method: 'POST', query: 'metadataConfiguration', operation: 'CreateBucketMetadataConfiguration' },
  { on: 'bucket', method: 'DELETE', query: 'metadataConfiguration', operation: 'DeleteBucketMetadataConfiguration' },
  { on: 'bucket', method: 'GET', query: 'metadataTable', operation: 'GetBucketMetadataTableConfiguration' },
  { on: 'bucket', method: 'POST', query: 'metadataTable', operation: 'CreateBucketMetadataTableConfiguration' },
  { on: 'bucket', method: 'DELETE', query: 'metadataTable', operation: 'DeleteBucketMetadataTableConfiguration' },
  {
    on: 'bucket',
    method: 'PUT',
    query: 'metadataInventoryTable',
    operation: 'UpdateBucketMetadataInventoryTableConfiguration',
  },
  {
    on: 'bucket',
    method: 'PUT',
    query: 'metadataJournalTable',
    operation: 'UpdateBucketMetadataJournalTableConfiguration',
  },
  { on: 'bucket', method: 'GET', query: 'session', operation: 'CreateSession' },

  // Objects
  { on: 'object', method: 'PUT', operation: 'PutObject' },
  { on: 'object', method: 'PUT', header: copySource, operation: 'CopyObject' },
  { on: 'object', method: 'PUT', query: 'renameObject', operation: 'RenameObject' },
  { on: 'object', method: 'GET', operation: 'GetObject' },
  { on: 'object', method: 'HEAD', operation: 'HeadObject' },
  { on: 'object', method: 'DELETE', operation: 'DeleteObject' },
  { on: 'object', method: 'OPTIONS', operation: 'Preflight' },
  { on: 'object', method: 'GET', query: 'attributes', operation: 'GetObjectAttributes' },
  { on: 'object', method: 'GET', query: 'tagging', operation: 'GetObjectTagging' },
  { on: 'object', method: 'PUT', query: 'tagging', operation: 'PutObjectTagging' },
  { on: 'object', method: 'DELETE', query: 'tagging', operation: 'DeleteObjectTagging' },
  { on: 'object', method: 'GET', query: 'acl', operation: 'GetObjectAcl' },
  { on: 'object', method: 'PUT', query: 'acl', operation: 'PutObjectAcl' },
  { on: 'object', method: 'POST', query: 'public-link', operation: 'CreatePublicLink' },
  { on: 'object', method: 'GET', query: 'public-link', operation: 'ListPublicLinks' },
  { on: 'object', method: 'DELETE', query: 'public-link', operation: 'DeletePublicLink' },

  // Multipart uploads
  { on: 'object', method: 'POST', query: 'uploads', operation: 'CreateMultipartUpload' },
  { on: 'object', method: 'PUT', query: 'uploadId', operation: 'UploadPart' },
  { on: 'object', method: 'PUT', query: 'uploadId', header: copySource, operation: 'UploadPartCopy' },
  { on: 'object', method: 'POST', query: 'uploadId', operation: 'CompleteMultipartUpload' },
  { on: 'object', method: 'DELETE', query: 'uploadId', operation: 'AbortMultipartUpload' },
  { on: 'object', method: 'GET', query: 'uploadId', operation: 'ListParts' },

  // Probed by clients, answered by stubs
  { on: 'object', method: 'PUT', query: 'encryption', operation: 'UpdateObjectEncryption' },
  { on: 'object', method: 'GET', query: 'torrent', operation: 'GetObjectTorrent' },
  { on: 'object', method: 'POST', query: 'select', operation: 'SelectObjectContent' },
  { on: 'object', method: 'POST', query: 'restore', operation: 'RestoreObject' },
  { on: 'object', method: 'GET', query: 'retention', operation: 'GetObjectRetention' },
  { on: 'object', method: 'PUT', query: 'retention', operation: 'PutObjectRetention' },
  { on: 'object', method: 'GET', query: 'legal-hold', operation: 'GetObjectLegalHold' },
  { on: 'object', method: 'PUT', query: 'legal-hold', operation: 'PutObjectLegalHold' },
  { on: 'object', method: 'PUT', query: 'append', operation: 'AppendObject' },
  { on: 'object', method: 'POST', query: 'append', operation: 'AppendObject' },

  // Stillage's own, beside S3
  { on: 'internal', method: 'GET', path: '/_stillage/health', operation: 'GetHealth' },
  { on: 'internal', method: 'HEAD', path: '/_stillage/health', operation: 'GetHealth' },
  { on: 'internal', method: 'GET', path: '/_stillage/live', operation: 'GetLiveness' },
  { on: 'internal', method: 'HEAD', path: '/_stillage/live', operation: 'GetLiveness' },
  { on: 'internal', method: 'GET', path: '/_public/*', operation: 'GetPublicLink' },
  { on: 'internal', method: 'HEAD', path: '/_public/*', operation: 'GetPublicLink' },
  { on: 'website', method: 'GET', operation: 'GetWebsitePage' },
  { on: 'website', method: 'HEAD', operation: 'GetWebsitePage' },
  { on: 'website', method: 'OPTIONS', header: 'access-control-request-method', operation: 'Preflight' },
] as const satisfies readonly Route[];

/** The name of an operation in the route table. */
export type OperationName = (typeof routes)[number]['operation'];

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

const allRoutes: readonly Route[] = routes;
const subresources = new Set(allRoutes.flatMap((route) => route.query ?? []));

/** The rows by method, level and sub-resource or reserved path, the most specific first. */
const index = new Map<string, Route[]>();
for (const route of allRoutes) {
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
      ({ header, parameter }) =>
        (header === undefined || fields.has(header)) &&
        (parameter === undefined || query.get(parameter[0]) === parameter[1]),
    );
  if (row !== undefined) return row.operation as OperationName;
  if (on === 'internal' && !allRoutes.some(({ path }) => path === resource)) throw new S3Error('InvalidBucketName');
  if (resource !== undefined && absentFeatures.has(resource) && ['GET', 'PUT', 'DELETE'].includes(method)) {
    throw new S3Error('NotImplemented', { details: { Method: method, ResourceType: resource.toUpperCase() } });
  }
  throw methodNotAllowed(on, method, resource);
}

/** Returns the error for a method that a resource does not have, with the methods that it has in the Allow header. */
export function methodNotAllowed(on: Level, method: string, resource?: string): S3Error {
  const rows = allRoutes.filter((route) => route.on === on && (route.query ?? route.path) === resource);
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
export function specificity(route: Route): number {
  return (route.parameter ? 1 : 0) + (route.header ? 1 : 0);
}
