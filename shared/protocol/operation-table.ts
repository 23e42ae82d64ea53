import type { RequestClass } from '../billing/request-meter.ts';
import type { OtherApi } from '../http/query-api.ts';

/** The three levels of S3 requests and Stillage's own: websites, and resources under a reserved path. */
export type Level = 'service' | 'bucket' | 'object' | 'website' | 'internal';

/** Where an operation is found. A request is for it if it matches everything in one of its places. */
export interface Place {
  readonly on: Level;
  readonly method: string;
  /** The sub-resource: a query parameter whose presence, with any value, selects the operation. */
  readonly query?: string;
  /** The reserved path of Stillage's own resource; a trailing `/*` stands for one more segment. */
  readonly path?: string;
  /** An additional query parameter with exactly this value. */
  readonly parameter?: readonly [name: string, value: string];
  /** A request header that must be present. */
  readonly header?: string;
  /** The API besides S3: http/query-api.ts. */
  readonly api?: OtherApi;
}

/** What is known of an operation without its code: the router of the cloud, bills and the generated pages need no more. */
interface Facts {
  readonly routes: readonly Place[];
  /**
   * The billing class, as in S3: `a` for writes, copies and listings, `b` for reads; free for deletions and requests that never reach the
   * storage. https://aws.amazon.com/s3/pricing/
   */
  readonly billed: RequestClass;
  /**
   * The way from the distribution in the cloud. The control lane, API Gateway with one function per operation, is limited to about 4.5 MB
   * and cannot return the Content-Length of a HEAD. The byte lane streams: servers for operations that transfer content or are frequent,
   * as API Gateway and a function cost $4.37 per million requests. With `byteWith`, it handles only requests with one of these headers.
   */
  readonly lane: 'control' | 'byte' | { readonly byteWith: readonly string[] };
}

/** An operation of S3 that Stillage does not have: 501, never a different operation. */
type Unsupported = Pick<Facts, 'routes'> & { readonly billed?: never; readonly lane?: never };

const copySource = 'x-amz-copy-source';

const at =
  (on: Level) =>
  (method: string, more: Omit<Place, 'on' | 'method'> = {}): Place => ({ on, method, ...more });
const service = at('service');
const bucket = at('bucket');
const object = at('object');
const website = at('website');
const internal = at('internal');

/** Every operation of the S3 API that clients call, by S3's own names, and Stillage's own. */
const operationTable = {
  ListBuckets: { billed: 'a', lane: 'control', routes: [service('GET')] },
  GetAccount: { billed: 'b', lane: 'control', routes: [service('GET', { query: 'account' })] },

  // Webhooks of the project: Stillage's own
  GetWebhook: { billed: 'b', lane: 'control', routes: [service('GET', { query: 'webhook' })] },
  PutWebhook: { billed: 'a', lane: 'control', routes: [service('PUT', { query: 'webhook' })] },
  DeleteWebhook: { billed: 'free', lane: 'control', routes: [service('DELETE', { query: 'webhook' })] },
  ListWebhooks: { billed: 'a', lane: 'control', routes: [service('GET', { query: 'webhooks' })] },
  RotateWebhookSecret: { billed: 'a', lane: 'control', routes: [service('POST', { query: 'webhook-secret' })] },
  TestWebhook: { billed: 'a', lane: 'control', routes: [service('POST', { query: 'webhook-test' })] },

  // Accounts: each is an API of its own, with its actions
  Iam: { billed: 'free', lane: 'control', routes: [service('POST', { api: 'iam' })] },
  Sts: { billed: 'free', lane: 'control', routes: [service('POST', { api: 'sts' })] },
  // CloudTrail's
  LookupEvents: { billed: 'free', lane: 'control', routes: [service('POST', { api: 'cloudtrail' })] },

  // Buckets
  CreateBucket: { billed: 'a', lane: 'control', routes: [bucket('PUT')] },
  HeadBucket: { billed: 'b', lane: 'control', routes: [bucket('HEAD')] },
  DeleteBucket: { billed: 'free', lane: 'control', routes: [bucket('DELETE')] },
  GetBucketLocation: { billed: 'b', lane: 'control', routes: [bucket('GET', { query: 'location' })] },
  ListObjects: { billed: 'a', lane: 'byte', routes: [bucket('GET')] },
  ListObjectsV2: { billed: 'a', lane: 'byte', routes: [bucket('GET', { parameter: ['list-type', '2'] })] },
  ListObjectVersions: { billed: 'a', lane: 'byte', routes: [bucket('GET', { query: 'versions' })] },
  ListMultipartUploads: { billed: 'a', lane: 'control', routes: [bucket('GET', { query: 'uploads' })] },
  DeleteObjects: { billed: 'free', lane: 'byte', routes: [bucket('POST', { query: 'delete' })] },
  PostObject: { billed: 'a', lane: 'byte', routes: [bucket('POST')] },

  // Settings of a bucket
  GetBucketVersioning: { billed: 'b', lane: 'control', routes: [bucket('GET', { query: 'versioning' })] },
  PutBucketVersioning: { billed: 'a', lane: 'control', routes: [bucket('PUT', { query: 'versioning' })] },
  GetBucketAcl: { billed: 'b', lane: 'control', routes: [bucket('GET', { query: 'acl' })] },
  PutBucketAcl: { billed: 'a', lane: 'control', routes: [bucket('PUT', { query: 'acl' })] },
  GetBucketPolicy: { billed: 'b', lane: 'control', routes: [bucket('GET', { query: 'policy' })] },
  PutBucketPolicy: { billed: 'a', lane: 'control', routes: [bucket('PUT', { query: 'policy' })] },
  DeleteBucketPolicy: { billed: 'free', lane: 'control', routes: [bucket('DELETE', { query: 'policy' })] },
  GetBucketPolicyStatus: { billed: 'b', lane: 'control', routes: [bucket('GET', { query: 'policyStatus' })] },
  GetBucketCors: { billed: 'b', lane: 'control', routes: [bucket('GET', { query: 'cors' })] },
  PutBucketCors: { billed: 'a', lane: 'control', routes: [bucket('PUT', { query: 'cors' })] },
  DeleteBucketCors: { billed: 'free', lane: 'control', routes: [bucket('DELETE', { query: 'cors' })] },
  GetBucketWebsite: { billed: 'b', lane: 'control', routes: [bucket('GET', { query: 'website' })] },
  PutBucketWebsite: { billed: 'a', lane: 'control', routes: [bucket('PUT', { query: 'website' })] },
  DeleteBucketWebsite: { billed: 'free', lane: 'control', routes: [bucket('DELETE', { query: 'website' })] },
  GetBucketLifecycleConfiguration: { billed: 'b', lane: 'control', routes: [bucket('GET', { query: 'lifecycle' })] },
  PutBucketLifecycleConfiguration: { billed: 'a', lane: 'control', routes: [bucket('PUT', { query: 'lifecycle' })] },
  DeleteBucketLifecycle: { billed: 'free', lane: 'control', routes: [bucket('DELETE', { query: 'lifecycle' })] },
  GetBucketEncryption: { billed: 'b', lane: 'control', routes: [bucket('GET', { query: 'encryption' })] },
  PutBucketEncryption: { billed: 'a', lane: 'control', routes: [bucket('PUT', { query: 'encryption' })] },
  DeleteBucketEncryption: { billed: 'free', lane: 'control', routes: [bucket('DELETE', { query: 'encryption' })] },
  GetBucketOwnershipControls: { billed: 'b', lane: 'control', routes: [bucket('GET', { query: 'ownershipControls' })] },
  PutBucketOwnershipControls: { billed: 'a', lane: 'control', routes: [bucket('PUT', { query: 'ownershipControls' })] },
  DeleteBucketOwnershipControls: {
    billed: 'free',
    lane: 'control',
    routes: [bucket('DELETE', { query: 'ownershipControls' })],
  },
  GetPublicAccessBlock: { billed: 'b', lane: 'control', routes: [bucket('GET', { query: 'publicAccessBlock' })] },
  PutPublicAccessBlock: { billed: 'a', lane: 'control', routes: [bucket('PUT', { query: 'publicAccessBlock' })] },
  DeletePublicAccessBlock: {
    billed: 'free',
    lane: 'control',
    routes: [bucket('DELETE', { query: 'publicAccessBlock' })],
  },
  GetBucketTagging: { billed: 'b', lane: 'control', routes: [bucket('GET', { query: 'tagging' })] },
  PutBucketTagging: { billed: 'a', lane: 'control', routes: [bucket('PUT', { query: 'tagging' })] },
  DeleteBucketTagging: { billed: 'free', lane: 'control', routes: [bucket('DELETE', { query: 'tagging' })] },
  GetObjectLockConfiguration: { billed: 'b', lane: 'control', routes: [bucket('GET', { query: 'object-lock' })] },
  PutObjectLockConfiguration: { billed: 'a', lane: 'control', routes: [bucket('PUT', { query: 'object-lock' })] },
  GetBucketLogging: { billed: 'b', lane: 'control', routes: [bucket('GET', { query: 'logging' })] },
  PutBucketLogging: { billed: 'a', lane: 'control', routes: [bucket('PUT', { query: 'logging' })] },

  // Quota, monitoring and alarms: Stillage's own
  GetBucketQuota: { billed: 'b', lane: 'control', routes: [bucket('GET', { query: 'quota' })] },
  GetBucketMonitoring: { billed: 'b', lane: 'control', routes: [bucket('GET', { query: 'monitoring' })] },
  PutBucketMonitoring: { billed: 'a', lane: 'control', routes: [bucket('PUT', { query: 'monitoring' })] },
  GetMetricData: { billed: 'b', lane: 'control', routes: [bucket('GET', { query: 'metric-data' })] },
  GetAlarm: { billed: 'b', lane: 'control', routes: [bucket('GET', { query: 'alarm' })] },
  PutAlarm: { billed: 'a', lane: 'control', routes: [bucket('PUT', { query: 'alarm' })] },
  DeleteAlarm: { billed: 'free', lane: 'control', routes: [bucket('DELETE', { query: 'alarm' })] },
  ListAlarms: { billed: 'a', lane: 'control', routes: [bucket('GET', { query: 'alarms' })] },
  GetAlarmHistory: { billed: 'b', lane: 'control', routes: [bucket('GET', { query: 'alarm-history' })] },

  // Events that were not delivered
  ListEventDeliveries: { billed: 'a', lane: 'control', routes: [bucket('GET', { query: 'event-deliveries' })] },
  ReplayEvents: { billed: 'a', lane: 'control', routes: [bucket('POST', { query: 'event-deliveries' })] },

  // Probed by clients: stubs.ts answers those that are billed
  GetBucketRequestPayment: { billed: 'b', lane: 'control', routes: [bucket('GET', { query: 'requestPayment' })] },
  PutBucketRequestPayment: { billed: 'b', lane: 'control', routes: [bucket('PUT', { query: 'requestPayment' })] },
  GetBucketAccelerateConfiguration: { billed: 'b', lane: 'control', routes: [bucket('GET', { query: 'accelerate' })] },
  PutBucketAccelerateConfiguration: { routes: [bucket('PUT', { query: 'accelerate' })] },
  GetBucketNotificationConfiguration: {
    billed: 'b',
    lane: 'control',
    routes: [bucket('GET', { query: 'notification' })],
  },
  PutBucketNotificationConfiguration: {
    billed: 'a',
    lane: 'control',
    routes: [bucket('PUT', { query: 'notification' })],
  },
  GetBucketReplication: { billed: 'b', lane: 'control', routes: [bucket('GET', { query: 'replication' })] },
  PutBucketReplication: { routes: [bucket('PUT', { query: 'replication' })] },
  DeleteBucketReplication: { routes: [bucket('DELETE', { query: 'replication' })] },
  GetBucketAnalyticsConfiguration: { routes: [bucket('GET', { query: 'analytics' })] },
  PutBucketAnalyticsConfiguration: { routes: [bucket('PUT', { query: 'analytics' })] },
  DeleteBucketAnalyticsConfiguration: { routes: [bucket('DELETE', { query: 'analytics' })] },
  GetBucketInventoryConfiguration: { routes: [bucket('GET', { query: 'inventory' })] },
  PutBucketInventoryConfiguration: { routes: [bucket('PUT', { query: 'inventory' })] },
  DeleteBucketInventoryConfiguration: { routes: [bucket('DELETE', { query: 'inventory' })] },
  GetBucketMetricsConfiguration: { routes: [bucket('GET', { query: 'metrics' })] },
  PutBucketMetricsConfiguration: { routes: [bucket('PUT', { query: 'metrics' })] },
  DeleteBucketMetricsConfiguration: { routes: [bucket('DELETE', { query: 'metrics' })] },
  GetBucketIntelligentTieringConfiguration: { routes: [bucket('GET', { query: 'intelligent-tiering' })] },
  PutBucketIntelligentTieringConfiguration: { routes: [bucket('PUT', { query: 'intelligent-tiering' })] },
  DeleteBucketIntelligentTieringConfiguration: { routes: [bucket('DELETE', { query: 'intelligent-tiering' })] },
  GetBucketAbac: { routes: [bucket('GET', { query: 'abac' })] },
  PutBucketAbac: { routes: [bucket('PUT', { query: 'abac' })] },
  GetBucketMetadataConfiguration: { routes: [bucket('GET', { query: 'metadataConfiguration' })] },
  CreateBucketMetadataConfiguration: { routes: [bucket('POST', { query: 'metadataConfiguration' })] },
  DeleteBucketMetadataConfiguration: { routes: [bucket('DELETE', { query: 'metadataConfiguration' })] },
  GetBucketMetadataTableConfiguration: { routes: [bucket('GET', { query: 'metadataTable' })] },
  CreateBucketMetadataTableConfiguration: { routes: [bucket('POST', { query: 'metadataTable' })] },
  DeleteBucketMetadataTableConfiguration: { routes: [bucket('DELETE', { query: 'metadataTable' })] },
  UpdateBucketMetadataInventoryTableConfiguration: { routes: [bucket('PUT', { query: 'metadataInventoryTable' })] },
  UpdateBucketMetadataJournalTableConfiguration: { routes: [bucket('PUT', { query: 'metadataJournalTable' })] },
  CreateSession: { routes: [bucket('GET', { query: 'session' })] },

  // Objects
  PutObject: { billed: 'a', lane: 'byte', routes: [object('PUT')] },
  CopyObject: {
    billed: 'a',
    lane: {
      byteWith: [
        'x-amz-checksum-algorithm',
        'x-amz-server-side-encryption',
        'x-amz-server-side-encryption-customer-algorithm',
        'x-amz-copy-source-server-side-encryption-customer-algorithm',
      ],
    },
    routes: [object('PUT', { header: copySource })],
  },
  RenameObject: { billed: 'a', lane: 'control', routes: [object('PUT', { query: 'renameObject' })] },
  GetObject: { billed: 'b', lane: 'byte', routes: [object('GET')] },
  HeadObject: { billed: 'b', lane: 'byte', routes: [object('HEAD')] },
  DeleteObject: { billed: 'free', lane: 'byte', routes: [object('DELETE')] },
  GetObjectAttributes: { billed: 'b', lane: 'control', routes: [object('GET', { query: 'attributes' })] },
  GetObjectTagging: { billed: 'b', lane: 'control', routes: [object('GET', { query: 'tagging' })] },
  PutObjectTagging: { billed: 'a', lane: 'control', routes: [object('PUT', { query: 'tagging' })] },
  DeleteObjectTagging: { billed: 'free', lane: 'control', routes: [object('DELETE', { query: 'tagging' })] },
  GetObjectAcl: { billed: 'b', lane: 'control', routes: [object('GET', { query: 'acl' })] },
  PutObjectAcl: { billed: 'a', lane: 'control', routes: [object('PUT', { query: 'acl' })] },
  GetObjectRetention: { billed: 'b', lane: 'control', routes: [object('GET', { query: 'retention' })] },
  PutObjectRetention: { billed: 'a', lane: 'control', routes: [object('PUT', { query: 'retention' })] },
  GetObjectLegalHold: { billed: 'b', lane: 'control', routes: [object('GET', { query: 'legal-hold' })] },
  PutObjectLegalHold: { billed: 'a', lane: 'control', routes: [object('PUT', { query: 'legal-hold' })] },
  CreatePublicLink: { billed: 'a', lane: 'control', routes: [object('POST', { query: 'public-link' })] },
  ListPublicLinks: { billed: 'a', lane: 'control', routes: [object('GET', { query: 'public-link' })] },
  DeletePublicLink: { billed: 'free', lane: 'control', routes: [object('DELETE', { query: 'public-link' })] },

  // Multipart uploads
  CreateMultipartUpload: { billed: 'a', lane: 'control', routes: [object('POST', { query: 'uploads' })] },
  UploadPart: { billed: 'a', lane: 'byte', routes: [object('PUT', { query: 'uploadId' })] },
  UploadPartCopy: { billed: 'a', lane: 'byte', routes: [object('PUT', { query: 'uploadId', header: copySource })] },
  CompleteMultipartUpload: { billed: 'a', lane: 'control', routes: [object('POST', { query: 'uploadId' })] },
  AbortMultipartUpload: { billed: 'free', lane: 'control', routes: [object('DELETE', { query: 'uploadId' })] },
  ListParts: { billed: 'a', lane: 'control', routes: [object('GET', { query: 'uploadId' })] },

  // Probed by clients
  UpdateObjectEncryption: { routes: [object('PUT', { query: 'encryption' })] },
  GetObjectTorrent: { routes: [object('GET', { query: 'torrent' })] },
  SelectObjectContent: { routes: [object('POST', { query: 'select' })] },
  RestoreObject: { routes: [object('POST', { query: 'restore' })] },
  AppendObject: { routes: [object('PUT', { query: 'append' }), object('POST', { query: 'append' })] },

  // Stillage's own, beside S3
  GetHealth: {
    billed: 'free',
    lane: 'control',
    routes: [internal('GET', { path: '/_stillage/health' }), internal('HEAD', { path: '/_stillage/health' })],
  },
  GetLiveness: {
    billed: 'free',
    lane: 'control',
    routes: [internal('GET', { path: '/_stillage/live' }), internal('HEAD', { path: '/_stillage/live' })],
  },
  GetPublicLink: {
    billed: 'b',
    lane: 'byte',
    routes: [internal('GET', { path: '/_public/*' }), internal('HEAD', { path: '/_public/*' })],
  },
  GetWebsitePage: { billed: 'b', lane: 'byte', routes: [website('GET'), website('HEAD')] },
  Preflight: {
    billed: 'free',
    lane: 'control',
    routes: [
      service('OPTIONS'),
      bucket('OPTIONS'),
      object('OPTIONS'),
      website('OPTIONS', { header: 'access-control-request-method' }),
    ],
  },
} as const satisfies Readonly<Record<string, Facts | Unsupported>>;

/** The name of an operation in the table. */
export type OperationName = keyof typeof operationTable;

/** The name of an operation that is implemented. */
export type ImplementedName = {
  [Name in OperationName]: (typeof operationTable)[Name] extends Facts ? Name : never;
}[OperationName];

const rows = Object.entries<Facts | Unsupported>(operationTable) as [OperationName, Facts | Unsupported][];

/** A place with its operation. */
export interface Route extends Place {
  readonly operation: OperationName;
}

/** All places. The most specific that matches a request wins, regardless of their order. */
export const routes: readonly Route[] = rows.flatMap(([operation, { routes }]) =>
  routes.map((place) => ({ ...place, operation })),
);

/** Returns the class of an operation. Names that are not in the table are free, and refusals of what is unsupported are reads. */
export function requestClassOf(operation: string): RequestClass {
  if (!Object.hasOwn(operationTable, operation)) return 'free';
  const { billed }: Facts | Unsupported = operationTable[operation as OperationName];
  return billed ?? 'b';
}

/** The operations of the byte lane, with the headers of which one must be there; none: it handles every request. */
export const byteLane: Readonly<Partial<Record<OperationName, readonly string[]>>> = Object.fromEntries(
  rows.flatMap(([name, { lane }]) => {
    if (lane === undefined || lane === 'control') return [];
    return [[name, lane === 'byte' ? [] : lane.byteWith]];
  }),
);

/**
 * The operations that a server of the byte lane handles: its own, all operations of websites, whose distribution reaches no other lane, and
 * health, for the load balancer.
 */
export const byteLaneOperations: ReadonlySet<OperationName> = new Set([
  ...(Object.keys(byteLane) as OperationName[]),
  ...routes.flatMap(({ on, operation }) => (on === 'website' ? [operation] : [])),
  'GetHealth',
  'GetLiveness',
]);
