const KiB = 1024;
const MiB = 1024 * KiB;
const GiB = 1024 * MiB;
const TiB = 1024 * GiB;

/** What a deployment may set. Sizes in bytes, times in milliseconds. https://docs.aws.amazon.com/general/latest/gr/s3.html */
export interface Limits {
  /** One PUT, one part, one POST, one copy source. */
  readonly singleUploadBytes: number;
  readonly objectBytes: number;
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

export const defaultLimits: Limits = {
  singleUploadBytes: 5 * GiB,
  objectBytes: 5 * TiB,
  minimumPartBytes: 5 * MiB,
  partsPerUpload: 10_000,
  userMetadataBytes: 2 * KiB,
  headerSectionBytes: 8 * KiB,
  requestTargetBytes: 16 * KiB,
  formBytes: 20 * KiB,
  bucketsPerProject: 50,
  bucketBytes: 25 * TiB,
  bucketObjects: 50_000_000,
  alarmsPerBucket: 50,
  tagsPerObject: 10,
  tagsPerBucket: 50,
  keysPerDelete: 1000,
  keysPerPage: 1000,
  bucketsPerPage: 10_000,
  documentBytes: MiB,
  policyBytes: 20 * KiB,
  corsBytes: 64 * KiB,
  websiteBytes: 128 * KiB,
  completeDocumentBytes: 4 * MiB,
  deleteDocumentBytes: 2 * MiB,
  bodyIdle: 20_000,
  bodyGrace: 60_000,
  bodyRate: 500,
  readerIdle: 5 * 60 * 1000,
  requestDuration: 24 * 60 * 60 * 1000,
  listingEffort: 20_000,
};
