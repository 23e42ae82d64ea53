import { document, escapeXml, tag } from '../documents/text.ts';
import type { S3Error } from '../errors/s3-error.ts';

/** The parts of an error body besides the error itself. */
export interface ErrorContext {
  /** The requested path. Omitted where it would reveal something. */
  readonly resource?: string | undefined;
  /** The bucket and the key named in the request. */
  readonly bucket?: string | undefined;
  readonly key?: string | undefined;
  readonly requestId: string;
  readonly hostId: string;
}

/**
 * Returns the body of an error response: Code, Message, the error's details in order, then the context. Has no
 * namespace, unlike all other documents, because botocore does not find the code in an `<Error>` with one.
 * https://docs.aws.amazon.com/AmazonS3/latest/API/ErrorResponses.html#RESTErrorResponses
 */
export function errorDocument(
  error: Pick<S3Error, 'code' | 'message' | 'details'>,
  { resource, bucket, key, requestId, hostId }: ErrorContext,
): string {
  const { BucketName = bucket, Key = key, ...details } = error.details;
  return document(
    'Error',
    undefined,
    elements({
      Code: error.code,
      Message: error.message,
      ...details,
      BucketName,
      Key,
      Resource: resource,
      RequestId: requestId,
      HostId: hostId,
    }),
  );
}

/**
 * Returns the body of an error response of S3 Control, whose SDKs find the code in no other.
 * https://docs.aws.amazon.com/AmazonS3/latest/API/API_Operations_AWS_S3_Control.html
 */
export function controlErrorDocument(
  error: Pick<S3Error, 'code' | 'message'>,
  { requestId, hostId }: Pick<ErrorContext, 'requestId' | 'hostId'>,
): string {
  return document(
    'ErrorResponse',
    'http://awss3control.amazonaws.com/doc/2018-08-20/',
    tag('Error', elements({ Code: error.code, Message: error.message })) +
      elements({ RequestId: requestId, HostId: hostId }),
  );
}

/** Elements that no schema knows: the table of errors names them. */
function elements(texts: Readonly<Record<string, string | undefined>>): string {
  return Object.entries(texts)
    .map(([name, text]) => (text === undefined ? '' : tag(name, escapeXml(text))))
    .join('');
}
