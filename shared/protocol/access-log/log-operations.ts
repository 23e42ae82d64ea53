import { routes, type OperationName } from '../operation-table.ts';

/** What AWS calls the resource of a subresource, where that is not its name in capitals. */
const resources: Readonly<Record<string, string>> = {
  attributes: 'OBJECT_ATTRIBUTES',
  delete: 'MULTI_OBJECT_DELETE',
  'legal-hold': 'OBJECT_LOCK_LEGALHOLD',
  logging: 'LOGGING_STATUS',
  'object-lock': 'OBJECT_LOCK_CONFIGURATION',
  policy: 'BUCKETPOLICY',
  retention: 'OBJECT_LOCK_RETENTION',
  uploadId: 'UPLOAD',
  versions: 'BUCKETVERSIONS',
};

/** Operations with a name of their own. */
const named: Readonly<Partial<Record<OperationName, string>>> = {
  CopyObject: 'REST.COPY.OBJECT',
  UploadPart: 'REST.PUT.PART',
  UploadPartCopy: 'REST.COPY.PART',
  PostObject: 'REST.POST.OBJECT',
};

const kinds = { object: 'OBJECT', bucket: 'BUCKET', service: 'SERVICE', internal: 'PUBLIC_LINK', website: 'OBJECT' };

const resourceOf = new Map<string, string>(
  routes.map(({ operation, on, method, query }) => {
    if (method === 'OPTIONS') return [operation, 'PREFLIGHT'];
    if (query === undefined) return [operation, kinds[on]];
    if (on === 'object' && query === 'tagging') return [operation, 'OBJECT_TAGGING'];
    return [operation, resources[query] ?? capitals(query)];
  }),
);

/** Returns `PUBLIC_ACCESS_BLOCK` for `publicAccessBlock`. */
function capitals(query: string): string {
  return query
    .replaceAll('-', '_')
    .replaceAll(/[A-Z]/g, (letter) => `_${letter}`)
    .toUpperCase();
}

/**
 * Returns the name that AWS's access logs have for an operation: `REST.GET.OBJECT`.
 * https://docs.aws.amazon.com/AmazonS3/latest/userguide/LogFormat.html
 */
export function loggedOperation(operation: string, method: string): string {
  const own = named[operation as OperationName];
  if (own !== undefined) return own;
  const by = operation === 'GetWebsitePage' ? 'WEBSITE' : 'REST';
  return `${by}.${method}.${resourceOf.get(operation) ?? 'UNKNOWN'}`;
}

/** The name of a copy in the log of its source: `REST.COPY.OBJECT_GET`. */
export function loggedSource(operation: string): string {
  return `${named[operation as OperationName] ?? 'REST.COPY.OBJECT'}_GET`;
}

/** What lifecycle rules do: https://docs.aws.amazon.com/AmazonS3/latest/userguide/lifecycle-and-other-bucket-config.html */
export const ofLifecycle = {
  expired: 'S3.EXPIRE.OBJECT',
  covered: 'S3.CREATE.DELETEMARKER',
  aborted: 'S3.DELETE.UPLOAD',
} as const;

/** The name of what DeleteObjects does to each of its keys. */
export const batchDelete = 'BATCH.DELETE.OBJECT';
