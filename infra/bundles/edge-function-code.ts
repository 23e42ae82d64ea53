import { build } from 'esbuild';
import { root } from './operation-descriptions.ts';

/** The maximum size of a CloudFront Function: https://docs.aws.amazon.com/AmazonCloudFront/latest/DeveloperGuide/cloudfront-limits.html */
export const maximumEdgeFunctionBytes = 10_240;

/**
 * Syntax that the runtime of CloudFront Functions does not support. esbuild rewrites it, or fails if it cannot.
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
 * @param name the name in the error
 * @param contents a module that exports `handler`; imports are relative to the repository's root
 * @throws Error if it uses unsupported syntax, or is too long
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
  // A CloudFront Function is a script with a function `handler`, not a module.
  const exported = /export\{([\w$]+) as handler\};\s*$/;
  const code = outputFiles[0]!.text.replace(exported, 'function handler(event){return $1(event)}\n');
  const size = Buffer.byteLength(code);
  if (!code.includes('function handler(') || size >= maximumEdgeFunctionBytes) {
    throw new Error(`${name} has ${size} bytes; a CloudFront Function has fewer than ${maximumEdgeFunctionBytes}`);
  }
  return code;
}

/** Compiles the CloudFront Function that maps paths of the console to files. */
export function consolePagesCode(): Promise<string> {
  const contents = `
    import { consoleFile } from './shared/protocol/console/pages.ts';
    export const handler = (event) => {
      event.request.uri = consoleFile(event.request.uri);
      return event.request;
    };`;
  return edgeFunctionCode('the function of the console', contents);
}
