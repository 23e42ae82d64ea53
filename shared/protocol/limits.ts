import { day, minute, second } from '../ports/durations.ts';
import type { TagLimits } from './tags.ts';

const KiB = 1024;
const MiB = 1024 * KiB;
const GiB = 1024 * MiB;
const TiB = 1024 * GiB;

/**
 * The limits that a deployment can set. Sizes in bytes, times in milliseconds.
 * https://docs.aws.amazon.com/general/latest/gr/s3.html
 */
export interface Limits {
  /** The size of one PUT, part, POST or copy source. */
  readonly singleUploadBytes: number;
  readonly objectBytes: number;
  /** The length of a key when it is written, in bytes of UTF-8. Existing longer keys can be read and deleted. */
  readonly keyBytes: number;
  /** The size of every part except the last. */
  readonly minimumPartBytes: number;
  readonly partsPerUpload: number;
  readonly userMetadataBytes: number;
  /** The total size of the names and values of all header fields. */
  readonly headerSectionBytes: number;
  readonly requestTargetBytes: number;
  /** The size of a form without the content of its file. */
  readonly formBytes: number;
  readonly bucketsPerProject: number;
  /** The default quota of a bucket: the bytes of all versions and parts, and the number of versions. */
  readonly bucketBytes: number;
  readonly bucketObjects: number;
  /** Open multipart uploads. */
  readonly uploadsPerBucket: number;
  /** Public links of an object key. */
  readonly linksPerKey: number;
  readonly alarmsPerBucket: number;
  readonly tagsPerObject: number;
  readonly tagsPerBucket: number;
  /** In Unicode characters. */
  readonly tagKeyCharacters: number;
  readonly tagValueCharacters: number;
  /** Per access control list. */
  readonly grantsPerAcl: number;
  /** Per CORS configuration. */
  readonly corsRules: number;
  /** Per lifecycle configuration. */
  readonly lifecycleRules: number;
  /** Per notification configuration. */
  readonly notificationRules: number;
  readonly webhooksPerProject: number;
  /** The events of a project that wait for their delivery. More are dropped. */
  readonly eventBacklogBytes: number;
  /** Calls of the webhooks of a project a second. More wait. */
  readonly webhookCallsPerSecond: number;
  /** How long the delivery of an event is tried. */
  readonly eventRetryTime: number;
  /** Per website configuration. */
  readonly routingRules: number;
  readonly keysPerDelete: number;
  readonly keysPerPage: number;
  readonly bucketsPerPage: number;
  /** The size of a configuration document. */
  readonly documentBytes: number;
  /** The size of a bucket policy. */
  readonly policyBytes: number;
  /** The size of a bucket's CORS rules. */
  readonly corsBytes: number;
  /** The size of a bucket's website configuration. */
  readonly websiteBytes: number;
  readonly completeDocumentBytes: number;
  readonly deleteDocumentBytes: number;
  /** The lifetime of a presigned URL. A V2 URL does not say when it begins: it is refused until so long before its end. */
  readonly presignedLifetime: number;
  /** The deviation of a client's clock. */
  readonly clockSkew: number;
  /** The lifetime of a public link. */
  readonly publicLinkLifetime: number;
  /**
   * The requests per second that one process accepts: signed ones per project and, separately, anonymous ones to its
   * buckets.
   */
  readonly requestsPerSecond: number;
  /** Connections of one service. When there are more, the longest idle one is closed; requests are refused only if none is idle. */
  readonly concurrentConnections: number;
  /** Bodies of requests in progress, except those of up to 32 KiB. */
  readonly concurrentUploads: number;
  /** Bodies of responses in progress that are streamed. */
  readonly concurrentDownloads: number;
  /** The time without progress after which a body ends in 400 RequestTimeout. */
  readonly bodyIdle: number;
  /**
   * The time during which a body may arrive at any speed. After it, the body as a whole must have arrived at
   * `bodyRate`, or it ends in 400 RequestTimeout.
   */
  readonly bodyGrace: number;
  /** Bytes per second. */
  readonly bodyRate: number;
  /** The time after which a response is aborted if the client reads nothing of it. */
  readonly readerIdle: number;
  /**
   * The time that a client may take longer for a response than it would at `readerRate`. After it, the response may be broken off, if
   * others need its place.
   */
  readonly readerGrace: number;
  /** Bytes per second. */
  readonly readerRate: number;
  /** The total time of a request, after which it ends in 408 RequestTimeout. */
  readonly requestDuration: number;
  /** The work on one page after which a listing may return fewer keys. */
  readonly listingEffort: number;
}

/** The default of a limit, and the range of its settings. */
interface LimitRow {
  /** Infinity: no limit, or it depends on the machine. */
  readonly value: number;
  readonly least: number;
  readonly most: number;
}

/** The maximum delay of Node's timers, in milliseconds. */
const maxTimerDelay = 2 ** 31 - 1;
/** The largest exact integer. */
const exact = Number.MAX_SAFE_INTEGER;
/** Fits into an item of the table (400 KB) together with its other attributes. */
const itemBytes = 256 * KiB;
/** The largest document that the XML reader accepts. */
const readerBytes = 4 * MiB;
/** Rules are evaluated one after the other, for each request or object. */
const maxRules = 1000;

/**
 * Every limit. The bounds of a range are where something else reaches its limit; comments name it unless it is obvious.
 */
export const limitTable: Readonly<Record<keyof Limits, LimitRow>> = {
  // In the cloud, a blob is an S3 object.
  singleUploadBytes: { value: 5 * GiB, least: 1, most: 5 * TiB },
  objectBytes: { value: 5 * TiB, least: 1, most: exact },
  // Keys are sort keys of the table, which DynamoDB limits to 1,024 bytes.
  keyBytes: { value: KiB, least: 1, most: KiB },
  minimumPartBytes: { value: 5 * MiB, least: 1, most: 5 * GiB },
  // With more parts, the document of CompleteMultipartUpload exceeds the XML reader's number of elements.
  partsPerUpload: { value: 10_000, least: 1, most: 10_000 },
  userMetadataBytes: { value: 2 * KiB, least: 1, most: 32 * KiB },
  // Node allows 64 KiB for the target and the header fields together; a signed request needs at least 400 bytes of
  // either.
  headerSectionBytes: { value: 8 * KiB, least: KiB, most: 32 * KiB },
  requestTargetBytes: { value: 16 * KiB, least: KiB, most: 24 * KiB },
  formBytes: { value: 20 * KiB, least: KiB, most: MiB },
  bucketsPerProject: { value: 50, least: 1, most: 1000 },
  bucketBytes: { value: 25 * TiB, least: 1, most: exact },
  bucketObjects: { value: 50_000_000, least: 1, most: exact },
  uploadsPerBucket: { value: 10_000, least: 1, most: 1_000_000 },
  linksPerKey: { value: 1000, least: 1, most: 10_000 },
  alarmsPerBucket: { value: 50, least: 1, most: 1000 },
  // Tags are stored in one item: 50 of the longest take 300 KiB.
  tagsPerObject: { value: 10, least: 1, most: 50 },
  tagsPerBucket: { value: 50, least: 1, most: 50 },
  tagKeyCharacters: { value: 128, least: 1, most: 512 },
  tagValueCharacters: { value: 256, least: 1, most: 1024 },
  grantsPerAcl: { value: 100, least: 1, most: maxRules },
  corsRules: { value: 100, least: 1, most: maxRules },
  lifecycleRules: { value: 1000, least: 1, most: maxRules },
  notificationRules: { value: 100, least: 1, most: maxRules },
  webhooksPerProject: { value: 20, least: 1, most: maxRules },
  eventBacklogBytes: { value: 64 * MiB, least: 1, most: exact },
  webhookCallsPerSecond: { value: Infinity, least: 1, most: 1_000_000 },
  eventRetryTime: { value: day, least: second, most: 14 * day },
  routingRules: { value: 50, least: 1, most: maxRules },
  keysPerDelete: { value: 1000, least: 1, most: 10_000 },
  // A thousand of the longest keys, escaped, are as much as a cloud function can return.
  keysPerPage: { value: 1000, least: 1, most: 1000 },
  bucketsPerPage: { value: 10_000, least: 1, most: 10_000 },
  documentBytes: { value: MiB, least: KiB, most: readerBytes },
  policyBytes: { value: 20 * KiB, least: KiB, most: itemBytes },
  corsBytes: { value: 64 * KiB, least: KiB, most: itemBytes },
  websiteBytes: { value: 128 * KiB, least: KiB, most: itemBytes },
  completeDocumentBytes: { value: readerBytes, least: KiB, most: readerBytes },
  deleteDocumentBytes: { value: 2 * MiB, least: KiB, most: readerBytes },
  presignedLifetime: { value: 7 * day, least: second, most: 365 * day },
  clockSkew: { value: 15 * minute, least: second, most: day },
  publicLinkLifetime: { value: day, least: second, most: 365 * day },
  requestsPerSecond: { value: Infinity, least: 1, most: 1_000_000 },
  // What memory and file handles of the machine allow: local/server/capacity.
  concurrentConnections: { value: Infinity, least: 1, most: 1_000_000 },
  concurrentUploads: { value: Infinity, least: 1, most: 1_000_000 },
  concurrentDownloads: { value: Infinity, least: 1, most: 1_000_000 },
  bodyIdle: { value: 20 * second, least: 100, most: maxTimerDelay },
  bodyGrace: { value: minute, least: 100, most: maxTimerDelay },
  bodyRate: { value: 500, least: 1, most: MiB },
  readerIdle: { value: 5 * minute, least: 100, most: maxTimerDelay },
  readerGrace: { value: minute, least: 100, most: maxTimerDelay },
  readerRate: { value: 16 * KiB, least: 1, most: GiB },
  requestDuration: { value: day, least: second, most: maxTimerDelay },
  listingEffort: { value: 20 * second, least: 100, most: maxTimerDelay },
};

export const defaultLimits: Limits = Object.fromEntries(
  Object.entries(limitTable).map(([name, { value }]) => [name, value]),
) as Record<keyof Limits, number>;

/** The limits of one machine whose default depends on its memory and file handles. */
export const limitsByMachine: ReadonlySet<keyof Limits> = new Set([
  'concurrentConnections',
  'concurrentUploads',
  'concurrentDownloads',
]);

/** Tells whether a limit with this name exists. */
export function isLimit(name: string): name is keyof Limits {
  return Object.hasOwn(limitTable, name);
}

/** Returns a sentence on why a limit cannot have a value, or undefined if it can. */
export function limitFault(name: keyof Limits, value: number): string | undefined {
  const { least, most } = limitTable[name];
  if (Number.isInteger(value) && value >= least && value <= most) return undefined;
  return `${name} must be a whole number from ${least} to ${most}.`;
}

/** Returns the limits for the tags of an object or of a bucket. */
export function tagLimits(limits: Limits, tags: 'tagsPerObject' | 'tagsPerBucket'): TagLimits {
  return { tags: limits[tags], keyCharacters: limits.tagKeyCharacters, valueCharacters: limits.tagValueCharacters };
}
