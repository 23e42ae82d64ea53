import { S3Error } from '../../../shared/errors/s3-error.ts';
import type { AnyOperation } from '../../../shared/protocol/operation.ts';
import { routes, type OperationName } from '../../../shared/protocol/routes.ts';

/** What a process serves of the route table. */
export interface Served {
  /** What it is called where a client learns that a request was sent to the wrong one. */
  readonly name: string;
  readonly operations: readonly AnyOperation[];
  /** Operations that nobody serves, of which it is to say so. */
  readonly unsupported?: readonly OperationName[];
}

/**
 * The operations of a process that serves some. Wherever the router sent a request, the pipeline finds its operation from what
 * the client signed; if that is none of these, the process refuses, for it has neither the code nor the grants.
 * That happens while routers and functions of two versions serve side by side, so it answers 503: clients send the request again.
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
