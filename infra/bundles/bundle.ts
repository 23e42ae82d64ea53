import { build, type BuildOptions, type Plugin } from 'esbuild';
import { join } from 'node:path';
import { routes, type OperationName } from '../../shared/protocol/operation-table.ts';
import { leanSdk } from './lean-sdk.ts';
import {
  everyOperation,
  functionsOf,
  otherwise,
  root,
  type FunctionDescription,
  type FunctionSource,
  type OperationSource,
} from './operation-descriptions.ts';
import type { BackgroundFunction } from '../constructs/background-functions.ts';

/**
 * Credential providers that a function never uses, as Lambda puts credentials into the environment, which the SDK checks first. The
 * SDK imports each provider when it tries it. Excluding them makes a bundle a fifth smaller.
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

/** The options of bundles for Lambda. They include the SDK, which loads faster from the bundle than from the runtime. */
export const forLambda = {
  outExtension: { '.js': '.mjs' },
  bundle: true,
  external: unusedCredentialProviders,
  plugins: [leanSdk],
  // Stacks still name methods. Names of functions would make a bundle a sixteenth larger.
  minify: true,
  // Node reads modules as UTF-8, and escapes are longer.
  charset: 'utf8',
  platform: 'node',
  target: 'node24',
  format: 'esm',
  mainFields: ['module', 'main'],
  legalComments: 'none',
  logLevel: 'warning',
} satisfies BuildOptions;

/** A function with the directory of its code: `index.mjs`, which exports `handler`. */
export interface FunctionBundle extends FunctionDescription {
  readonly directory: string;
}

/**
 * Bundles the functions of these operations in one call of esbuild, which reads their shared sources once. Each bundle contains its
 * own operations and the SDK, which loads faster from the bundle than from the runtime. Unused imports are dropped, as `sideEffects` in
 * package.json allows.
 *
 * @param directory the output directory, with a subdirectory for each
 */
export async function bundleFunctions(
  operations: readonly OperationSource[],
  directory: string,
): Promise<readonly FunctionBundle[]> {
  const functions = functionsOf(operations);
  await build({
    absWorkingDir: root,
    entryPoints: functions.map(({ name }) => ({ in: `function:${name}`, out: `${name}/index` })),
    outdir: directory,
    ...forLambda,
    plugins: [functionEntries(functions), ...forLambda.plugins],
  });
  return functions.map(({ name, serves, needs }) => ({ name, serves, needs, directory: join(directory, name) }));
}

/** Resolves `function:<Name>` to the entry module of a function, which is not written to disk. */
function functionEntries(functions: readonly FunctionSource[]): Plugin {
  const namespace = 'function';
  const served = new Set(functions.flatMap(({ serves }) => serves));
  const unsupported = [...new Set(routes.map(({ operation }) => operation))].filter(
    (operation) => !served.has(operation),
  );
  return {
    name: namespace,
    setup(bundling) {
      bundling.onResolve({ filter: /^function:/ }, ({ path }) => ({
        namespace,
        path: path.slice(namespace.length + 1),
      }));
      bundling.onLoad({ filter: /^/, namespace }, ({ path }) => {
        const found = functions.find(({ name }) => name === path);
        return (
          found && { contents: entry(found, path === otherwise ? unsupported : []), loader: 'ts', resolveDir: root }
        );
      });
    },
  };
}

/** @param unsupported the operations that the function answers as not implemented */
function entry({ name, operations, serves, needs }: FunctionSource, unsupported: readonly OperationName[]): string {
  const exports = [...new Set(operations.map((operation) => operation.export))].join(', ');
  return [
    ...(exports === '' ? [] : [`import { ${exports} } from '${everyOperation}';`]),
    `import { lambdaHandler } from './functions/cloud/lambda.ts';`,
    ...(needs.blobs ? [`import { S3BlobStore as blobs } from './shared/adapters/cloud/s3/s3-blob-store.ts';`] : []),
    `const exported = [${exports}].flat();`,
    `const operations = exported.filter(({ name }) => ${JSON.stringify(serves)}.includes(name));`,
    `export const handler = lambdaHandler({`,
    `  name: '${name}', operations, unsupported: ${JSON.stringify(unsupported)},${needs.blobs ? ' blobs,' : ''}`,
    `});`,
  ].join('\n');
}

/** A background function with the directory of its code: `index.mjs`, which exports `handler`. */
export interface BackgroundBundle extends BackgroundFunction {
  readonly directory: string;
}

/** Bundles background functions in one call of esbuild. @param directory the output directory, with a subdirectory for each */
export async function bundleBackground(
  functions: readonly BackgroundFunction[],
  directory: string,
): Promise<readonly BackgroundBundle[]> {
  await build({
    ...forLambda,
    absWorkingDir: root,
    entryPoints: functions.map(({ name, file }) => ({ in: file, out: `${name}/index` })),
    outdir: directory,
  });
  return functions.map((one) => ({ ...one, directory: join(directory, one.name) }));
}
