import type { S3Error } from '../errors/s3-error.ts';
import { document } from './writer.ts';

/** What an error body tells beside the error itself. */
export interface ErrorContext {
  /** The path asked for. Left out where it would reveal something. */
  readonly resource?: string | undefined;
  /** The bucket and the key that the request named. */
  readonly bucket?: string | undefined;
  readonly key?: string | undefined;
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
  { resource, bucket, key, requestId, hostId }: ErrorContext,
): string {
  const { BucketName = bucket, Key = key, ...details } = error.details;
  return document('Error', undefined, {
    Code: error.code,
    Message: error.message,
    ...details,
    BucketName,
    Key,
    Resource: resource,
    RequestId: requestId,
    HostId: hostId,
  });
}
