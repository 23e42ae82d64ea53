import { S3Error } from '../../errors/s3-error.ts';

/**
 * A commit may have happened, or has happened and it could not be told whether its bucket stands: nothing that it refers to may be
 * cleaned up. Nor is it tried again, which could make it happen twice.
 */
export class OutcomeUnknown extends S3Error {
  constructor(cause?: unknown) {
    super('ServiceUnavailable', { cause });
  }
}

/** The version that a change began with is gone, or not current any more: the change begins again. */
export class SourceGone extends Error {}

/** What was to be changed only as it was seen is not so any more, or not there. */
export class SeenNoMore extends Error {}
