import type { S3Error } from '../errors/s3-error.ts';
import { document } from './writer.ts';

/** What an error body tells beside the error itself. */
export interface ErrorContext {
  /** The path asked for. Left out where it would reveal something. */
  readonly resource?: string | undefined;
  readonly requestId: string;
  readonly hostId: string;
}

/**
 * The body of every error: Code, Message, the error's details in their order, then where to look.
 * Without a namespace, unlike all other documents: botocore finds no code in an `<Error>` that has one.
 * https://docs.aws.amazon.com/AmazonS3/latest/API/ErrorResponses.html#RESTErrorResponses
 */
export function errorDocument(
  error: Pick<S3Error, 'code' | 'message' | 'details'>,
  { resource, requestId, hostId }: ErrorContext,
): string {
  return document('Error', undefined, {
    Code: error.code,
    Message: error.message,
    ...error.details,
    Resource: resource,
    RequestId: requestId,
    HostId: hostId,
  });
}
