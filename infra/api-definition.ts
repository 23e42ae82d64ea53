import type { OperationName } from '../shared/protocol/routes.ts';
import { gatewayResponses } from './gateway-responses.ts';

export interface ApiDefinitionProps {
  readonly title: string;
  readonly timeoutMilliseconds: number;
  /** Of each operation, the address at which API Gateway invokes its function. */
  readonly invocations: ReadonlyMap<OperationName, string>;
}

/**
 * The REST API as an OpenAPI document. Two paths for each operation, since `{proxy+}` does not match nothing. The document is
 * one resource of its stack, where paths and methods of their own would be four for each operation.
 */
export function apiDefinition({ title, timeoutMilliseconds, invocations }: ApiDefinitionProps): object {
  return {
    openapi: '3.0.1',
    info: { title, version: '1' },
    // Bodies are bytes, both ways. Only the first type that a client accepts is looked at, so it must be all of them.
    'x-amazon-apigateway-binary-media-types': ['*/*'],
    'x-amazon-apigateway-gateway-responses': gatewayResponses(),
    paths: Object.fromEntries(
      [...invocations].flatMap(([operation, uri]) => {
        const method = anyMethod(uri, timeoutMilliseconds);
        return [
          [`/${operation}`, method],
          [`/${operation}/{proxy+}`, { ...method, parameters: [proxyParameter] }],
        ];
      }),
    ),
  };
}

const proxyParameter = { name: 'proxy', in: 'path', required: true, schema: { type: 'string' } };

/** Whether a method fits an operation is for the function to say, as an S3 error. */
function anyMethod(uri: string, timeoutInMillis: number): object {
  return {
    'x-amazon-apigateway-any-method': {
      responses: {},
      'x-amazon-apigateway-integration': { type: 'aws_proxy', httpMethod: 'POST', uri, timeoutInMillis },
    },
  };
}
