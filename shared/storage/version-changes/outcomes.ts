import { S3Error } from '../../errors/s3-error.ts';

/**
 * Thrown if a commit may have happened, or has happened but the state of its bucket could not be determined. Its contents must not be
 * cleaned up. It must not be retried either, since it could then happen twice.
 */
export class OutcomeUnknown extends S3Error {
  constructor(cause?: unknown) {
    super('ServiceUnavailable', { cause });
  }
}

/** Thrown if the version on which a change is based was removed, or is no longer current: the change starts again. */
export class SourceGone extends Error {}

/** Thrown if a change was conditional on a key as it was read, and the key has changed or was removed. */
export class SeenNoMore extends Error {}
