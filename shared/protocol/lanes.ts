import { routes, type OperationName } from './routes.ts';

const always: readonly string[] = [];

/**
 * The operations of the byte lane, one of the two ways from the distribution to an operation. The control lane, API Gateway and a
 * function for each operation, carries some 4.5 MB and no length of an answer to HEAD. The byte lane, servers for the operations
 * that carry bytes or are frequent, streams.
 *
 * Where headers are named, it takes the requests that have one of them, and the others go by
 * the control lane: a copy moves bytes only where it changes their encryption or their checksum.
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
  // These carry few bytes, but there are many of them: API Gateway and a function cost $4.37 for a million.
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
 * What a server of the byte lane serves: the operations of the table, whatever a website can be asked for, since a website's distribution
 * reaches no other lane, and health, for the load balancer.
 */
export const byteLaneOperations: ReadonlySet<OperationName> = new Set([
  ...(Object.keys(byteLane) as OperationName[]),
  ...routes.flatMap(({ on, operation }) => (on === 'website' ? [operation] : [])),
  'GetHealth',
  'GetLiveness',
]);
