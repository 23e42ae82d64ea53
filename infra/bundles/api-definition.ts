import { gatewayResponses } from '../constructs/gateway-responses.ts';

export interface ApiDefinitionProps {
  readonly title: string;
  readonly timeoutMilliseconds: number;
  /** The invocation URI of each function. */
  readonly invocations: ReadonlyMap<string, string>;
}

/**
 * Returns the REST API as an OpenAPI document with one path per function. The router keeps the client's request in headers, so that
 * API Gateway cannot change its path and query. The document is a single resource of its stack; separate paths and methods would be
 * two for each function.
 */
export function apiDefinition({ title, timeoutMilliseconds, invocations }: ApiDefinitionProps): object {
  return {
    openapi: '3.0.1',
    info: { title, version: '1' },
    // Bodies are binary, both ways. API Gateway checks only the first type that a client accepts, so all types must be listed.
    'x-amazon-apigateway-binary-media-types': ['*/*'],
    'x-amazon-apigateway-gateway-responses': gatewayResponses(),
    paths: Object.fromEntries([...invocations].map(([name, uri]) => [`/${name}`, anyMethod(uri, timeoutMilliseconds)])),
  };
}

/** Any method, as the function answers unsupported ones with an S3 error. */
function anyMethod(uri: string, timeoutInMillis: number): object {
  return {
    'x-amazon-apigateway-any-method': {
      responses: {},
      'x-amazon-apigateway-integration': { type: 'aws_proxy', httpMethod: 'POST', uri, timeoutInMillis },
    },
  };
}
