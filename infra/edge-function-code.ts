import { build } from 'esbuild';
import { root } from './operation-descriptions.ts';

/** The most code that a CloudFront Function may have: https://docs.aws.amazon.com/AmazonCloudFront/latest/DeveloperGuide/cloudfront-limits.html */
export const maximumEdgeFunctionBytes = 10_240;

/**
 * What the runtime of CloudFront Functions lacks and esbuild would otherwise let stand. It rewrites what it can, and fails on
 * the rest.
 * https://docs.aws.amazon.com/AmazonCloudFront/latest/DeveloperGuide/functions-javascript-runtime-20.html
 */
const missing = [
  'array-spread',
  'class',
  'default-argument',
  'destructuring',
  'for-of',
  'generator',
  'object-extensions',
];

/**
 * Compiles the code of a CloudFront Function.
 * @param name for the error
 * @param contents a module that exports `handler`; what it imports is relative to the root
 * @throws Error if it uses what the runtime has not, or is too long
 */
export async function edgeFunctionCode(name: string, contents: string): Promise<string> {
  const { outputFiles } = await build({
    absWorkingDir: root,
    stdin: { contents, resolveDir: root, loader: 'ts' },
    bundle: true,
    write: false,
    external: ['cloudfront'],
    minify: true,
    target: 'es2015',
    supported: Object.fromEntries(missing.map((feature) => [feature, false])),
    format: 'esm',
    legalComments: 'none',
    logLevel: 'warning',
  });
  // A function of CloudFront is no module that exports: it is a script with a function `handler`.
  const exported = /export\{(\w+) as handler\};\s*$/;
  const code = outputFiles[0]!.text.replace(exported, 'function handler(event){return $1(event)}\n');
  const size = Buffer.byteLength(code);
  if (!code.includes('function handler(') || size >= maximumEdgeFunctionBytes) {
    throw new Error(`${name} has ${size} bytes; a CloudFront Function has fewer than ${maximumEdgeFunctionBytes}`);
  }
  return code;
}

/** Compiles the function that finds the file of a path of the console. */
export function consolePagesCode(): Promise<string> {
  const contents = `
    import { consoleFile } from './shared/protocol/console/pages.ts';
    export const handler = (event) => {
      event.request.uri = consoleFile(event.request.uri);
      return event.request;
    };`;
  return edgeFunctionCode('the function of the console', contents);
}
