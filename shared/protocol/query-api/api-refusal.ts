import { actionError } from '../../documents/query-api.ts';
import type { S3Error } from '../../errors/s3-error.ts';
import type { ErrorCode } from '../../errors/table.ts';
import type { QueryApi } from '../../http/query-api.ts';
import type { Answer } from '../operation.ts';
import { apis } from './apis.ts';

/** An error of these APIs, if it differs from that of S3. */
interface ApiError {
  readonly status: number;
  readonly code: string;
  readonly message?: string;
}

const badToken = 'The security token included in the request is invalid.';
const badSignature: ApiError = { status: 403, code: 'SignatureDoesNotMatch' };

/**
 * What the errors of authentication and of the service are called outside S3:
 * https://docs.aws.amazon.com/IAM/latest/APIReference/CommonErrors.html
 */
const otherwise: Readonly<Partial<Record<ErrorCode, ApiError>>> = {
  AuthorizationHeaderMalformed: { status: 400, code: 'IncompleteSignature' },
  InvalidAccessKeyId: { status: 403, code: 'InvalidClientTokenId', message: badToken },
  InvalidToken: { status: 403, code: 'InvalidClientTokenId', message: badToken },
  ExpiredToken: { status: 403, code: 'ExpiredToken', message: 'The security token included in the request is expired' },
  RequestTimeTooSkewed: badSignature,
  SignatureDoesNotMatch: badSignature,
  XAmzContentSHA256Mismatch: badSignature,
  MalformedPolicy: { status: 400, code: 'MalformedPolicyDocument' },
  MaxMessageLengthExceeded: { status: 413, code: 'RequestEntityTooLarge' },
  InvalidRequest: { status: 400, code: 'ValidationError' },
  InvalidArgument: { status: 400, code: 'ValidationError' },
  SlowDown: { status: 400, code: 'Throttling', message: 'Rate exceeded' },
  InternalError: { status: 500, code: 'ServiceFailure' },
};

/** Renders an error as the API does. */
export function apiRefusal(error: S3Error, api: QueryApi, requestId: string): Answer {
  const { code, status, message = error.message } = otherwise[error.code] ?? error;
  return {
    status,
    xml: actionError({ code, message, isOfClient: status < 500 }, { requestId, xmlNamespace: apis[api].xmlNamespace }),
  };
}
