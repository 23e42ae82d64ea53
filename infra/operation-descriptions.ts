import { build } from 'esbuild';
import { fileURLToPath } from 'node:url';
import type { AnyOperation, Needs } from '../shared/protocol/operation.ts';
import type { OperationName } from '../shared/protocol/routes.ts';

/** The root of the repository. */
export const root = fileURLToPath(new URL('..', import.meta.url));

/** An operation as the infrastructure knows it. */
export interface OperationDescription {
  readonly name: OperationName;
  readonly needs: Needs;
}

/** Where the code of an operation is found. */
export interface OperationSource extends OperationDescription {
  /** Relative to the root. */
  readonly file: string;
  /** The export that is the operation, or the list in which it is. */
  readonly export: string;
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
 * Asks the operations that are built for what they say of themselves. Infrastructure does not import their code: it bundles
 * the list of operations with everything in it, as the functions are bundled, evaluates that apart, and keeps the
 * declarations. So nothing is written down twice, and no manifest can be out of date.
 */
export async function describeOperations(): Promise<readonly OperationSource[]> {
  const files = await operationFiles();
  const { operations, modules } = await evaluate(files);
  return [...operations.values()].map((operation) => {
    for (const [index, file] of files.entries()) {
      const found = Object.entries(modules[index]!).find(([, value]) => [value].flat().includes(operation));
      if (found) return { name: operation.name, needs: operation.needs, file, export: found[0] };
    }
    throw new Error(`${operation.name} is exported by none of the files that ${list} imports`);
  });
}

/** The files that the list imports, of which all but types is left by the bundler. */
async function operationFiles(): Promise<string[]> {
  const { metafile } = await build({ ...options, entryPoints: [list], metafile: true });
  const imported = metafile.inputs[list]!.imports.map(({ path }) => path);
  return imported.filter((path) => path.startsWith('functions/'));
}

interface Evaluated {
  readonly operations: ReadonlyMap<OperationName, AnyOperation>;
  /** What each file exports, in the order of the files. */
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
