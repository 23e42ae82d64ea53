// Bundles the programs of bin/: `node bin/build.mjs [name …]`.
import { readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('..', import.meta.url));

const programs = {
  stillage: 'functions/runtime/local/cli.ts',
};

/** Bundles programs into dist/<name>.mjs. lmdb stays outside, because it brings a native library, and so do the cloud's SDKs. */
export async function build(...names) {
  const { build: bundle } = await import('esbuild');
  await bundle({
    absWorkingDir: root,
    entryPoints: names.map((name) => ({ in: programs[name], out: name })),
    outdir: 'dist',
    outExtension: { '.js': '.mjs' },
    bundle: true,
    platform: 'node',
    target: 'node20',
    format: 'esm',
    sourcemap: 'linked',
    external: ['lmdb', '@aws-sdk/*'],
    banner: { js: "import { createRequire } from 'node:module'; const require = createRequire(import.meta.url);" },
    logLevel: 'warning',
  });
}

/** In a clone, where the sources are: bundles a program if one of them is newer than its bundle. */
export async function buildIfStale(name) {
  const sources = ['shared', 'functions', 'package.json', 'bin/build.mjs'].map((path) => join(root, path));
  const built = modified(join(root, 'dist', `${name}.mjs`));
  if (Math.max(...sources.map(newest)) > built) await build(name);
}

function newest(path) {
  if (!statSync(path).isDirectory()) return modified(path);
  const inside = readdirSync(path, { recursive: true }).map((entry) => modified(join(path, entry)));
  return Math.max(...inside);
}

function modified(path) {
  return statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? 0;
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const names = process.argv.slice(2);
  await build(...(names.length > 0 ? names : ['stillage']));
}
