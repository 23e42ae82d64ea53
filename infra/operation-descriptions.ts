import { build } from 'esbuild';
import { fileURLToPath } from 'node:url';
import type { AnyOperation, Needs } from '../shared/protocol/operation.ts';
import type { OperationName } from '../shared/protocol/routes.ts';

/** The root of the repository. */
export const root = fileURLToPath(new URL('..', import.meta.url));

/** An operation, as far as the infrastructure needs it. */
export interface OperationDescription {
  readonly name: OperationName;
  readonly needs: Needs;
}

/** An operation with the location of its code. */
export interface OperationSource extends OperationDescription {
  /** The file, relative to the root. */
  readonly file: string;
  /** The export that is the operation, or a list that contains it. */
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

const list = 'functions/operations.ts';

const options = {
  absWorkingDir: root,
  bundle: true,
  write: false,
  format: 'esm',
  platform: 'node',
  logLevel: 'warning',
} as const;

/**
 * Returns the declarations of the implemented operations. The infrastructure does not import their code: it bundles the list of
 * operations as functions are bundled, evaluates the bundle, and keeps the declarations. So nothing is declared twice, and no manifest
 * can be out of date.
 */
export async function describeOperations(): Promise<readonly OperationSource[]> {
  const files = await operationFiles();
  const { operations, modules } = await evaluate(files);
  return [...operations.values()].map((operation) => {
    for (const [index, file] of files.entries()) {
      const found = Object.entries(modules[index]!).find(([, value]) => [value].flat().includes(operation));
      if (found === undefined) continue;
      const [exported, value] = found;
      const { name, needs } = operation;
      return { name, needs, file, export: exported, function: Array.isArray(value) ? pascalCase(exported) : name };
    }
    throw new Error(`no file that ${list} imports exports ${operation.name}`);
  });
}

function pascalCase(camelCase: string): string {
  return camelCase.charAt(0).toUpperCase() + camelCase.slice(1);
}

/** The files that the list imports. The bundler has removed imports of types. */
async function operationFiles(): Promise<string[]> {
  const { metafile } = await build({ ...options, entryPoints: [list], metafile: true });
  const imported = metafile.inputs[list]!.imports.map(({ path }) => path);
  return imported.filter((path) => path.startsWith('functions/'));
}

interface Evaluated {
  readonly operations: ReadonlyMap<OperationName, AnyOperation>;
  /** The exports of each file, in the order of the files. */
  readonly modules: readonly Readonly<Record<string, unknown>>[];
}

async function evaluate(files: readonly string[]): Promise<Evaluated> {
  const contents = [
    `export { operations } from './${list}';`,
    ...files.map((file, index) => `import * as module${index} from './${file}';`),
    `export const modules = [${files.map((_, index) => `module${index}`).join(', ')}];`,
  ].join('\n');
  const { outputFiles } = await build({ ...options, stdin: { contents, resolveDir: root } });
  const code = Buffer.from(outputFiles[0]!.contents).toString('base64');
  return (await import(`data:text/javascript;base64,${code}`)) as Evaluated;
}
