import type { TagLimits } from '../xml/tagging.ts';
import { day, minute, second } from '../ports/durations.ts';

const KiB = 1024;
const MiB = 1024 * KiB;
const GiB = 1024 * MiB;
const TiB = 1024 * GiB;

/** What a deployment may set. Sizes in bytes, times in milliseconds. https://docs.aws.amazon.com/general/latest/gr/s3.html */
export interface Limits {
  /** One PUT, one part, one POST, one copy source. */
  readonly singleUploadBytes: number;
  readonly objectBytes: number;
  /** A key that is written, in bytes of UTF-8. Longer ones that are there already can be read and deleted. */
  readonly keyBytes: number;
  /** Every part but the last. */
  readonly minimumPartBytes: number;
  readonly partsPerUpload: number;
  readonly userMetadataBytes: number;
  /** Names and values of all header fields together. */
  readonly headerSectionBytes: number;
  readonly requestTargetBytes: number;
  /** What a form may have beside the content of its file. */
  readonly formBytes: number;
  readonly bucketsPerProject: number;
  /** What a bucket may hold, unless it has a quota of its own: bytes of all versions and parts, and versions. */
  readonly bucketBytes: number;
  readonly bucketObjects: number;
  readonly alarmsPerBucket: number;
  readonly tagsPerObject: number;
  readonly tagsPerBucket: number;
  /** In Unicode characters. */
  readonly tagKeyCharacters: number;
  readonly tagValueCharacters: number;
  /** An access control list. */
  readonly grantsPerAcl: number;
  /** Of a bucket's CORS configuration. */
  readonly corsRules: number;
  /** Of a bucket's lifecycle configuration. */
  readonly lifecycleRules: number;
  /** Of a bucket's website. */
  readonly routingRules: number;
  readonly keysPerDelete: number;
  readonly keysPerPage: number;
  readonly bucketsPerPage: number;
  /** A configuration document. */
  readonly documentBytes: number;
  /** A bucket's policy. */
  readonly policyBytes: number;
  /** A bucket's CORS rules. */
  readonly corsBytes: number;
  /** A bucket's website configuration. */
  readonly websiteBytes: number;
  readonly completeDocumentBytes: number;
  readonly deleteDocumentBytes: number;
  /** How long a presigned URL may be valid. Those of version 2 do not say since when they are. */
  readonly presignedLifetime: number;
  /** How far the clock of a client may be off. */
  readonly clockSkew: number;
  /** How long a public link may last. */
  readonly publicLinkLifetime: number;
  /** Signed requests of a project, and apart from them anonymous ones to its buckets, that one process answers in a second. */
  readonly requestsPerSecond: number;
  /** A body that stands still for so long ends in 400 RequestTimeout. */
  readonly bodyIdle: number;
  /** So long a body may come as slowly as it likes; afterwards all of it must have come at `bodyRate`, or it ends in 400 RequestTimeout. */
  readonly bodyGrace: number;
  /** Bytes a second. */
  readonly bodyRate: number;
  /** An answer of which a client takes nothing for so long is broken off. */
  readonly readerIdle: number;
  /** A request that takes longer than this altogether ends in 408 RequestTimeout. */
  readonly requestDuration: number;
  /** After so much work on one page a listing may end short. */
  readonly listingEffort: number;
}

/** What a limit is unless it is set, and what it can be set to. */
interface LimitRow {
  readonly value: number;
  readonly least: number;
  readonly most: number;
}

/** Node's timers take no more milliseconds. */
const maxTimerDelay = 2 ** 31 - 1;
/** What whole numbers are exact up to. */
const exact = Number.MAX_SAFE_INTEGER;
/** What fits into an item of the table (400 KB) with room for all else in it. */
const itemBytes = 256 * KiB;
/** The largest document that the XML reader takes. */
const readerBytes = 4 * MiB;
/** Looked at one after the other, for a request or an object. */
const maxRules = 1000;

/** Every limit. The ends of a range are where something else gives out, which is said beside them unless it is plain. */
export const limitTable: Readonly<Record<keyof Limits, LimitRow>> = {
  // A blob of the cloud is an object of S3.
  singleUploadBytes: { value: 5 * GiB, least: 1, most: 5 * TiB },
  objectBytes: { value: 5 * TiB, least: 1, most: exact },
  // Keys are sort keys of the table, which DynamoDB takes up to 1,024 bytes of.
  keyBytes: { value: KiB, least: 1, most: KiB },
  minimumPartBytes: { value: 5 * MiB, least: 1, most: 5 * GiB },
  // A Complete of more has more elements than the XML reader takes.
  partsPerUpload: { value: 10_000, least: 1, most: 10_000 },
  userMetadataBytes: { value: 2 * KiB, least: 1, most: 32 * KiB },
  // Target and header fields get 64 KiB from Node together; a signed request has at least some 400 bytes of either.
  headerSectionBytes: { value: 8 * KiB, least: KiB, most: 32 * KiB },
  requestTargetBytes: { value: 16 * KiB, least: KiB, most: 24 * KiB },
  formBytes: { value: 20 * KiB, least: KiB, most: MiB },
  bucketsPerProject: { value: 50, least: 1, most: 1000 },
  bucketBytes: { value: 25 * TiB, least: 1, most: exact },
  bucketObjects: { value: 50_000_000, least: 1, most: exact },
  alarmsPerBucket: { value: 50, least: 1, most: 1000 },
  // Tags lie in one item: 50 of the longest have 300 KiB.
  tagsPerObject: { value: 10, least: 1, most: 50 },
  tagsPerBucket: { value: 50, least: 1, most: 50 },
  tagKeyCharacters: { value: 128, least: 1, most: 512 },
  tagValueCharacters: { value: 256, least: 1, most: 1024 },
  grantsPerAcl: { value: 100, least: 1, most: maxRules },
  corsRules: { value: 100, least: 1, most: maxRules },
  lifecycleRules: { value: 1000, least: 1, most: maxRules },
  routingRules: { value: 50, least: 1, most: maxRules },
  keysPerDelete: { value: 1000, least: 1, most: 10_000 },
  // A thousand of the longest keys, escaped, are as much as a function of the cloud can answer.
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
  bodyIdle: { value: 20 * second, least: 100, most: maxTimerDelay },
  bodyGrace: { value: minute, least: 100, most: maxTimerDelay },
  bodyRate: { value: 500, least: 1, most: MiB },
  readerIdle: { value: 5 * minute, least: 100, most: maxTimerDelay },
  requestDuration: { value: day, least: second, most: maxTimerDelay },
  listingEffort: { value: 20 * second, least: 100, most: maxTimerDelay },
};

export const defaultLimits: Limits = Object.fromEntries(
  Object.entries(limitTable).map(([name, { value }]) => [name, value]),
) as Record<keyof Limits, number>;

/** Whether there is a limit of this name. */
export function isLimit(name: string): name is keyof Limits {
  return Object.hasOwn(limitTable, name);
}

/** What is wrong with a value that a limit is to be set to, in a sentence; undefined: nothing. */
export function limitFault(name: keyof Limits, value: number): string | undefined {
  const { least, most } = limitTable[name];
  if (Number.isInteger(value) && value >= least && value <= most) return undefined;
  return `${name} can be set to whole numbers from ${least} to ${most}.`;
}

/** The limits of the tags of an object, or of a bucket. */
export function tagLimits(limits: Limits, tags: 'tagsPerObject' | 'tagsPerBucket'): TagLimits {
  return { tags: limits[tags], keyCharacters: limits.tagKeyCharacters, valueCharacters: limits.tagValueCharacters };
}
