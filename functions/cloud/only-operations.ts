import { S3Error } from '../../shared/errors/s3-error.ts';
import type { AnyOperation } from '../../shared/protocol/operation.ts';
import { routes, type OperationName } from '../../shared/protocol/operation-table.ts';

/** The part of the route table that a process serves. */
export interface Served {
  /** Names the process in the error for a request sent to the wrong one. */
  readonly name: string;
  readonly operations: readonly AnyOperation[];
  /** Operations that are not implemented, for which this process answers so. */
  readonly unsupported?: readonly OperationName[];
}

/**
 * Returns the operations of a process that serves only some. The pipeline determines the operation from what the client signed,
 * whatever the router chose. The process refuses other operations, for which it has neither the code nor the grants.
 * That happens while routers and functions of two versions run side by side, so it answers 503 and clients retry.
 */
export function onlyOperations({
  name,
  operations,
  unsupported = [],
}: Served): ReadonlyMap<OperationName, AnyOperation> {
  const others = routes.map(({ operation }) => operation).filter((operation) => !unsupported.includes(operation));
  return new Map([
    ...others.map((operation) => [operation, misrouted(operation, name)] as const),
    ...operations.map((operation) => [operation.name, operation] as const),
  ]);
}

function misrouted(name: OperationName, served: string): AnyOperation {
  const refuse = (): never => {
    throw new S3Error('ServiceUnavailable', {
      message: `The request is a ${name}, but it was sent to where ${served} is served.`,
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
