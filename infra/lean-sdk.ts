import type { Plugin } from 'esbuild';
import { readFile } from 'node:fs/promises';
import { basename } from 'node:path';

/** Modules that the SDK imports on demand, and that no function uses. */
const neverLoaded = /^(@smithy\/core\/event-streams|bowser)$/;

/**
 * Lets esbuild drop unused parts of the SDK, a tenth of a bundle.
 *
 * - Its protocol imports event streams dynamically, which makes esbuild keep their whole package: the import is marked external, as
 *   no used operation streams events.
 * - Its digests in plain JavaScript are for runtimes without `node:crypto`: empty classes replace them.
 * - Its schemas name properties by constants, `{ [_e]: _c }`. esbuild cannot know that evaluating them has no side effects: the
 *   constants are replaced by their values.
 * - Its clients import their package.json for the version in User-Agent: only the version is bundled.
 * - The client of DynamoDB creates a cache of discovered endpoints, which stays empty as discovery is off: a `Map` replaces it.
 */
export const leanSdk: Plugin = {
  name: 'lean-sdk',
  setup(bundling) {
    bundling.onResolve({ filter: neverLoaded }, ({ kind, path }) =>
      kind === 'dynamic-import' ? { path, external: true } : undefined,
    );
    bundling.onLoad({ filter: /\/@aws-sdk\/client-[\w-]+\/dist-es\/schemas\/schemas_0\.js$/ }, async ({ path }) => ({
      contents: withPropertyNames(await readFile(path, 'utf8')),
      loader: 'js',
    }));
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

/** `const _e = "error"; … { [_e]: _c }` → `… { "error": _c }` */
export function withPropertyNames(source: string): string {
  const constants = new Map(
    [...source.matchAll(/^const (\w+) = ("[^"\\]*");$/gm)].map(([, name, value]) => [name!, value!]),
  );
  return source.replaceAll(/\[(\w+)\]: /g, (computed, name: string) => {
    const value = constants.get(name);
    return value === undefined ? computed : `${value}: `;
  });
}
