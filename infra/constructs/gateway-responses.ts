/** An S3 error that API Gateway returns before or instead of a function. */
interface GatewayError {
  readonly status: number;
  readonly code: string;
  readonly message: string;
  /** Seconds. */
  readonly retryAfter?: number;
}

const slowDown: GatewayError = {
  status: 503,
  code: 'SlowDown',
  message: 'Please reduce your request rate.',
  retryAfter: 1,
};
const unavailable: GatewayError = {
  status: 503,
  code: 'ServiceUnavailable',
  message: 'The service is not able to handle the request. Try again.',
};
const invalid: GatewayError = { status: 400, code: 'InvalidRequest', message: 'Invalid Request' };
const internal: GatewayError = {
  status: 500,
  code: 'InternalError',
  message: 'We encountered an internal error. Please try again.',
};

/**
 * Codes, statuses and messages are those of the error table. API Gateway returns MISSING_AUTHENTICATION_TOKEN for an unknown path. The
 * router sends requests there only during an upgrade, so clients are told to retry. Its 413 (REQUEST_TOO_LARGE) cannot be changed.
 * https://docs.aws.amazon.com/apigateway/latest/developerguide/supported-gateway-response-types.html
 */
export const gatewayErrors: Readonly<Record<string, GatewayError>> = {
  DEFAULT_4XX: invalid,
  DEFAULT_5XX: internal,
  MISSING_AUTHENTICATION_TOKEN: unavailable,
  THROTTLED: slowDown,
  QUOTA_EXCEEDED: slowDown,
  INTEGRATION_TIMEOUT: unavailable,
};

/** Returns the gateway responses of an OpenAPI definition. */
export function gatewayResponses(): Record<string, object> {
  return Object.fromEntries(Object.entries(gatewayErrors).map(([type, error]) => [type, gatewayResponse(error)]));
}

function gatewayResponse({ status, code, message, retryAfter }: GatewayError): object {
  const document =
    '<?xml version="1.0" encoding="UTF-8"?>\n' +
    `<Error><Code>${code}</Code><Message>${message}</Message><RequestId>$context.requestId</RequestId></Error>`;
  return {
    statusCode: String(status),
    responseParameters: {
      'gatewayresponse.header.Content-Type': "'application/xml'",
      'gatewayresponse.header.x-amz-request-id': 'context.requestId',
      ...(retryAfter !== undefined && { 'gatewayresponse.header.Retry-After': `'${retryAfter}'` }),
    },
    // API Gateway chooses the template by the Accept header; JSON is the default for all types.
    responseTemplates: { 'application/xml': document, 'application/json': document },
  };
}
