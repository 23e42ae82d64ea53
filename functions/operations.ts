import type { AnyOperation } from '../shared/protocol/operation.ts';
import type { OperationName } from '../shared/protocol/operation-table.ts';
import * as every from './every-operation.ts';

/** Anything else that a file of an operation exports is an error here. */
const exported: Readonly<Record<string, Pick<AnyOperation, 'name' | 'needs'> | readonly AnyOperation[]>> = every;

/** All implemented operations. Routes whose operation is not listed here answer 501 NotImplemented. */
export const operations: ReadonlyMap<OperationName, AnyOperation> = new Map(
  (Object.values(exported) as (AnyOperation | readonly AnyOperation[])[])
    .flat()
    .map((operation) => [operation.name, operation]),
);
