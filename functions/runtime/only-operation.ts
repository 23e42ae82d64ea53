import { S3Error } from '../../shared/errors/s3-error.ts';
import type { AnyOperation } from '../../shared/protocol/operation.ts';
import { routes, type OperationName } from '../../shared/protocol/routes.ts';

/**
 * The operations of a function that serves one. Whatever prefix a request was sent to, the pipeline finds its operation
 * from what the client signed; if that is another one, the function refuses, for it has neither its code nor its grants.
 */
export function onlyOperation(own: AnyOperation): ReadonlyMap<OperationName, AnyOperation> {
  return new Map(
    routes.map(({ operation }) => [operation, operation === own.name ? own : misrouted(operation, own.name)]),
  );
}

function misrouted(name: OperationName, own: OperationName): AnyOperation {
  const refuse = (): never => {
    throw new S3Error('InvalidRequest', {
      message: `The request is a ${name}, but it was sent to where ${own} is served.`,
    });
  };
  return {
    name,
    on: 'service',
    body: 'none',
    needs: { table: 'read' },
    parse: refuse,
    authorise: refuse,
    act: refuse,
    render: refuse,
  };
}
