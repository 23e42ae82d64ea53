import { build, type Plugin } from 'esbuild';
import { join } from 'node:path';
import { type OperationDescription, type OperationSource, root } from './operation-descriptions.ts';

/**
 * Ways to credentials that a function never takes, as Lambda puts them into its environment, where the SDK looks first. The
 * SDK imports each of them when it comes to try it; left outside, they make a bundle a fifth smaller.
 */
const unusedCredentialProviders = [
  '@aws-sdk/credential-provider-http',
  '@aws-sdk/credential-provider-ini',
  '@aws-sdk/credential-provider-login',
  '@aws-sdk/credential-provider-process',
  '@aws-sdk/credential-provider-sso',
  '@aws-sdk/credential-provider-web-identity',
  '@smithy/credential-provider-imds',
];

/** An operation with the directory that holds its function: `index.mjs`, and in it `handler`. */
export interface OperationBundle extends OperationDescription {
  readonly directory: string;
}

/**
 * Bundles one function for each operation, all in one call of esbuild: they share nearly all of their sources, which are read
 * and parsed once. Each gets its operation alone, and the SDK, which loads faster from the bundle than from the runtime. What
 * an operation does not use is left out even where it is imported: `sideEffects` in package.json says that may be done.
 *
 * @param directory where the bundles go, a directory for each
 */
export async function bundleOperations(
  operations: readonly OperationSource[],
  directory: string,
): Promise<readonly OperationBundle[]> {
  await build({
    absWorkingDir: root,
    entryPoints: operations.map(({ name }) => ({ in: `operation:${name}`, out: `${name}/index` })),
    outdir: directory,
    outExtension: { '.js': '.mjs' },
    plugins: [operationEntries(operations)],
    bundle: true,
    external: unusedCredentialProviders,
    minify: true,
    // So that the stack of an error names what it names in the source.
    keepNames: true,
    platform: 'node',
    target: 'node24',
    format: 'esm',
    mainFields: ['module', 'main'],
    legalComments: 'none',
    logLevel: 'warning',
  });
  return operations.map(({ name, needs }) => ({ name, needs, directory: join(directory, name) }));
}

/** Resolves `operation:<Name>` to the entry of a function, which is never written to disk. */
function operationEntries(operations: readonly OperationSource[]): Plugin {
  const namespace = 'operation';
  return {
    name: namespace,
    setup(bundling) {
      bundling.onResolve({ filter: /^operation:/ }, ({ path }) => ({
        namespace,
        path: path.slice(namespace.length + 1),
      }));
      bundling.onLoad({ filter: /.*/, namespace }, ({ path }) => {
        const operation = operations.find(({ name }) => name === path);
        return operation && { contents: entry(operation), loader: 'ts', resolveDir: root };
      });
    },
  };
}

function entry({ name, file, export: exported }: OperationSource): string {
  return [
    `import { ${exported} as exported } from './${file}';`,
    `import { lambdaHandler } from './functions/runtime/lambda.ts';`,
    `export const handler = lambdaHandler([exported].flat().find(({ name }) => name === '${name}'));`,
  ].join('\n');
}
