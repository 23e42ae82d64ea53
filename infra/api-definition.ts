import { gatewayResponses } from './gateway-responses.ts';

export interface ApiDefinitionProps {
  readonly title: string;
  readonly timeoutMilliseconds: number;
  /** Of each function, the address at which API Gateway invokes it. */
  readonly invocations: ReadonlyMap<string, string>;
}

/**
 * The REST API as an OpenAPI document: one path for each function. What the client asked for stands in the headers that the
 * router keeps, so that nothing of it passes through what API Gateway does to paths and queries. The document is one
 * resource of its stack, where paths and methods of their own would be two for each function.
 */
export function apiDefinition({ title, timeoutMilliseconds, invocations }: ApiDefinitionProps): object {
  return {
    openapi: '3.0.1',
    info: { title, version: '1' },
    // Bodies are bytes, both ways. Only the first type that a client accepts is looked at, so it must be all of them.
    'x-amazon-apigateway-binary-media-types': ['*/*'],
    'x-amazon-apigateway-gateway-responses': gatewayResponses(),
    paths: Object.fromEntries([...invocations].map(([name, uri]) => [`/${name}`, anyMethod(uri, timeoutMilliseconds)])),
  };
}

/** Whether a method fits an operation is for the function to say, as an S3 error. */
function anyMethod(uri: string, timeoutInMillis: number): object {
  return {
    'x-amazon-apigateway-any-method': {
      responses: {},
      'x-amazon-apigateway-integration': { type: 'aws_proxy', httpMethod: 'POST', uri, timeoutInMillis },
    },
  };
}
