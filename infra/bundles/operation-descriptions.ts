import { build } from 'esbuild';
import { fileURLToPath } from 'node:url';
import type { AnyOperation, Needs } from '../../shared/protocol/operation.ts';
import type { OperationName } from '../../shared/protocol/operation-table.ts';

/** The root of the repository. */
export const root = fileURLToPath(new URL('../..', import.meta.url));

/** An operation, as far as the infrastructure needs it. */
export interface OperationDescription {
  readonly name: OperationName;
  readonly needs: Needs;
}

/** An operation with the name of its code. */
export interface OperationSource extends OperationDescription {
  /** The export of {@link everyOperation} that is the operation, or a list that contains it. */
  readonly export: string;
  /** The name of the function that serves it: that of the operation or of its list. */
  readonly function: string;
}

/** A function, as far as the infrastructure needs it. */
export interface FunctionDescription {
  readonly name: string;
  /** The operations that it serves. */
  readonly serves: readonly OperationName[];
  readonly needs: Needs;
}

/** A function with the code of its operations. */
export interface FunctionSource extends FunctionDescription {
  readonly operations: readonly OperationSource[];
}

/**
 * The name of the function for all routes that no other function serves: stubs, operations that are not implemented, and requests
 * without a route.
 */
export const otherwise = 'Stubs';

/** Returns the functions for these operations: one for each, except that operations exported as a list share one. */
export function functionsOf(operations: readonly OperationSource[]): readonly FunctionSource[] {
  const names = [...new Set([...operations.map((operation) => operation.function), otherwise])];
  return names.map((name) => {
    const own = operations.filter((operation) => operation.function === name);
    return { name, operations: own, serves: own.map((operation) => operation.name), needs: needsOfAll(own) };
  });
}

/** Returns the combined needs of operations. Without operations, a function still reads the table to authenticate requests. */
export function needsOfAll(all: readonly { readonly needs: Needs }[]): Needs {
  const table = all.some(({ needs }) => needs.table === 'write') ? 'write' : 'read';
  const blobs = (['write', 'read'] as const).find((access) => all.some(({ needs }) => needs.blobs === access));
  return blobs === undefined ? { table } : { table, blobs };
}

/** The module that exports the implemented operations, relative to the root. */
export const everyOperation = './functions/every-operation.ts';

/**
 * Returns the declarations of the implemented operations. The infrastructure does not import their code: it bundles it as functions
 * are bundled, evaluates the bundle, and keeps the declarations. So nothing is declared twice, and no manifest can be out of date.
 */
export async function describeOperations(): Promise<readonly OperationSource[]> {
  const { outputFiles } = await build({
    absWorkingDir: root,
    entryPoints: [everyOperation],
    bundle: true,
    write: false,
    format: 'esm',
    platform: 'node',
    logLevel: 'warning',
  });
  const code = Buffer.from(outputFiles[0]!.contents).toString('base64');
  const exports = (await import(`data:text/javascript;base64,${code}`)) as Record<
    string,
    AnyOperation | readonly AnyOperation[]
  >;
  return Object.entries(exports).flatMap(([exported, value]) =>
    [value].flat().map(({ name, needs }) => {
      const ofList = exported.charAt(0).toUpperCase() + exported.slice(1);
      return { name, needs, export: exported, function: Array.isArray(value) ? ofList : name };
    }),
  );
}
