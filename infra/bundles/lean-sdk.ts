import type { Plugin } from 'esbuild';
import { readFile } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';

/** Modules that the SDK imports on demand, and that no function uses. */
const neverLoaded = /^(@smithy\/core\/event-streams|bowser)$/;

/**
 * Lets esbuild drop unused parts of the SDK: a tenth of a bundle, a sixth of one with the client of S3 (ADR 19).
 *
 * - Its protocol imports event streams dynamically, which makes esbuild keep their whole package: the import is marked external, as
 *   no used operation streams events. The S3 client configures their marshaller: it gets none.
 * - Its digests in plain JavaScript are for runtimes without `node:crypto`: empty classes replace them.
 * - Its schemas name properties by constants, `{ [_e]: _c }`. esbuild cannot know that evaluating them has no side effects: the
 *   constants are replaced by their values.
 * - Its clients register a class for each of their service's errors. Those with nothing but a message are left out: such an error has
 *   its name and message as before, as one has that the service introduced after the client, but is of the base class.
 * - Its clients import their package.json for the version in User-Agent: only the version is bundled.
 * - The client of DynamoDB creates a cache of discovered endpoints, which stays empty as discovery is off: a `Map` replaces it.
 */
export const leanSdk: Plugin = {
  name: 'lean-sdk',
  setup(bundling) {
    bundling.onResolve({ filter: neverLoaded }, ({ kind, path }) =>
      kind === 'dynamic-import' ? { path, external: true } : undefined,
    );
    bundling.onLoad({ filter: /\/event-streams\/eventstream-serde\/EventStreamMarshaller\.js$/ }, () => ({
      contents: 'export class EventStreamMarshaller {}\nexport const eventStreamSerdeProvider = () => undefined;',
      loader: 'js',
    }));
    bundling.onLoad({ filter: /\/@aws-sdk\/client-[\w-]+\/dist-es\/schemas\/schemas_0\.js$/ }, async ({ path }) => {
      const schemas = await readFile(path, 'utf8');
      const errors = schemas.includes('/errors"') ? await readFile(errorsBeside(path), 'utf8') : '';
      return { contents: withPropertyNames(withoutPlainErrors(schemas, errors)), loader: 'js' };
    });
    bundling.onLoad({ filter: /\/(Sha1|Sha256|Md5)Js\.js$/ }, ({ path }) => ({
      contents: `export class ${basename(path, '.js')} {}`,
      loader: 'js',
    }));
    bundling.onResolve({ filter: /^mnemonist\/lru-cache(\.js)?$/ }, ({ path }) => ({ path, namespace: 'map' }));
    bundling.onLoad({ filter: /^/, namespace: 'map' }, () => ({
      contents: 'export default class extends Map { constructor() { super(); } peek(key) { return this.get(key); } }',
    }));
    bundling.onLoad({ filter: /\/@aws-sdk\/client-[\w-]+\/package\.json$/ }, async ({ path }) => {
      const { version } = JSON.parse(await readFile(path, 'utf8')) as { version: string };
      return { contents: JSON.stringify({ version }), loader: 'json' };
    });
  },
};

/** Returns the module of a client's error classes. @param schemas the path of its schemas */
function errorsBeside(schemas: string): string {
  return join(dirname(schemas), '../models/errors.js');
}

/**
 * Removes the registration of errors that have no property of their own but a message, and that the SDK would not retry because of
 * their class.
 * @param errors the source of the client's error classes
 */
export function withoutPlainErrors(schemas: string, errors: string): string {
  const retryable = new Set(
    errors
      .split(/^export class /m)
      .filter((source) => source.includes('$retryable'))
      .map((source) => /^\w+/.exec(source)?.[0]),
  );
  const constants = constantsOf(schemas);
  return schemas.replaceAll(
    /(export var (\w+)\$ = \[-3, n0, \w+,\s*(?:0|\{[^}]*\}),\s*\[(\w*)\],\s*\[0?\]\s*\];\n)n0_registry\.registerError\(\2\$, \2\);\n/g,
    (whole, schema: string, name: string, property: string) => {
      const isPlain = property === '' || constants.get(property)?.toLowerCase() === '"message"';
      return isPlain && !retryable.has(name) ? schema : whole;
    },
  );
}

/** `const _e = "error"; … { [_e]: _c }` → `… { "error": _c }` */
export function withPropertyNames(source: string): string {
  const constants = constantsOf(source);
  return source.replaceAll(/\[(\w+)\]: /g, (computed, name: string) => {
    const value = constants.get(name);
    return value === undefined ? computed : `${value}: `;
  });
}

/** Returns the texts, in quotes, of the constants that are texts. */
function constantsOf(source: string): ReadonlyMap<string, string> {
  return new Map([...source.matchAll(/^const (\w+) = ("[^"\\]*");$/gm)].map(([, name, value]) => [name!, value!]));
}
