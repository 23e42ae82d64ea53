/** What API Gateway answers itself, before or instead of a function, as an S3 error. */
interface GatewayError {
  readonly status: number;
  readonly code: string;
  readonly message: string;
  /** In seconds. */
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
 * Codes, statuses and sentences are those of the error table. MISSING_AUTHENTICATION_TOKEN is what API Gateway calls a path
 * that it does not know: the router sends requests there only while a deployment is upgraded, so clients are told to send them again. Its 413 (REQUEST_TOO_LARGE) cannot be changed.
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

/** The gateway responses of an OpenAPI definition. */
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
    // The template is chosen by what the client accepts, and JSON stands for whatever that is.
    responseTemplates: { 'application/xml': document, 'application/json': document },
  };
}
