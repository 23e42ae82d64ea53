import { S3Error } from '../../errors/s3-error.ts';

/**
 * A commit may have happened, or it has and the state of its bucket could not be determined. Nothing that it refers to may be
 * cleaned up. It is not retried either, since it could then happen twice.
 */
export class OutcomeUnknown extends S3Error {
  constructor(cause?: unknown) {
    super('ServiceUnavailable', { cause });
  }
}

/** The version on which a change is based is gone, or no longer current: the change starts again. */
export class SourceGone extends Error {}

/** A change was conditional on a key as it was read, and the key has changed or is gone. */
export class SeenNoMore extends Error {}
