import type { S3Error } from '../../errors/s3-error.ts';
import type { ErrorCode } from '../../errors/table.ts';
import type { Answer } from '../operation.ts';

/** The type of requests and answers in AWS's JSON protocol: https://smithy.io/2.0/aws/protocols/aws-json-1_1-protocol.html */
const jsonType = 'application/x-amz-json-1.1';

/** An error of these APIs, if it differs from that of S3. All but those of the service have the status 400. */
interface JsonError {
  readonly code: string;
  readonly message?: string;
}

const badToken: JsonError = {
  code: 'UnrecognizedClientException',
  message: 'The security token included in the request is invalid.',
};
const badSignature: JsonError = { code: 'InvalidSignatureException' };

/** https://docs.aws.amazon.com/awscloudtrail/latest/APIReference/CommonErrors.html */
const otherwise: Readonly<Partial<Record<ErrorCode, JsonError>>> = {
  AccessDenied: { code: 'AccessDeniedException' },
  AuthorizationHeaderMalformed: { code: 'IncompleteSignatureException' },
  InvalidAccessKeyId: badToken,
  InvalidToken: badToken,
  ExpiredToken: { code: 'ExpiredTokenException', message: 'The security token included in the request is expired' },
  RequestTimeTooSkewed: badSignature,
  SignatureDoesNotMatch: badSignature,
  XAmzContentSHA256Mismatch: badSignature,
  MaxMessageLengthExceeded: { code: 'RequestEntityTooLargeException' },
  UserSuspended: { code: 'AccessDeniedException' },
  SlowDown: { code: 'ThrottlingException', message: 'Rate exceeded' },
  InternalError: { code: 'InternalFailure' },
};

/** Renders a value as these APIs do. */
export function jsonAnswer(value: object): Answer {
  return { fields: [['content-type', jsonType]], body: Buffer.from(JSON.stringify(value)) };
}

/** Renders an error as these APIs do. */
export function jsonRefusal(error: S3Error, requestId: string): Answer {
  const { code, message = error.message } = otherwise[error.code] ?? error;
  const { fields, body } = jsonAnswer({ __type: code, message });
  return {
    status: error.code !== 'SlowDown' && error.status >= 500 ? error.status : 400,
    fields: [...fields!, ['x-amzn-requestid', requestId]],
    body,
  };
}
