import { routes, type OperationName } from './routes.ts';

const always: readonly string[] = [];

/**
 * The two ways from the distribution to an operation. The control lane, API Gateway with one function per operation, is
 * limited to about 4.5 MB and cannot return the Content-Length of a HEAD. The byte lane streams: servers for operations
 * that transfer content or are frequent.
 *
 * The operations of the byte lane. Where headers are listed, it handles only requests with one of them, and the control
 * lane the others: a copy moves bytes only if it changes the encryption or the checksum.
 */
export const byteLane: Readonly<Partial<Record<OperationName, readonly string[]>>> = {
  GetObject: always,
  HeadObject: always,
  PutObject: always,
  PostObject: always,
  UploadPart: always,
  UploadPartCopy: always,
  GetWebsitePage: always,
  GetPublicLink: always,
  // These transfer few bytes but are frequent: API Gateway and a function cost $4.37 per million requests.
  DeleteObject: always,
  DeleteObjects: always,
  ListObjects: always,
  ListObjectsV2: always,
  ListObjectVersions: always,
  CopyObject: [
    'x-amz-checksum-algorithm',
    'x-amz-server-side-encryption',
    'x-amz-server-side-encryption-customer-algorithm',
    'x-amz-copy-source-server-side-encryption-customer-algorithm',
  ],
};

/**
 * The operations that a server of the byte lane handles: those of the table, all operations of websites, whose
 * distribution reaches no other lane, and health, for the load balancer.
 */
export const byteLaneOperations: ReadonlySet<OperationName> = new Set([
  ...(Object.keys(byteLane) as OperationName[]),
  ...routes.flatMap(({ on, operation }) => (on === 'website' ? [operation] : [])),
  'GetHealth',
  'GetLiveness',
]);
