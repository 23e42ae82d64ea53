// Bundles the programs of bin/: `node bin/build.mjs [name …]`.
import { readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { buildConsole } from '../console/build.mjs';

const root = fileURLToPath(new URL('..', import.meta.url));

/**
 * The programs: their sources, and what is loaded from node_modules rather than bundled. lmdb brings a native library, and the
 * cloud's SDKs are no use to most who start the service on one machine. A server of the byte lane is one file, and so is the scrub beside it.
 */
const programs = {
  stillage: { source: 'functions/runtime/cli/program.ts', external: ['lmdb', '@aws-sdk/*'] },
  'byte-lane': { source: 'functions/runtime/cloud/byte-lane.ts', external: [] },
  'cloud-scrub': { source: 'functions/runtime/cloud/scrub-task.ts', external: [] },
};

/** Bundles programs into dist/<name>.mjs. */
export async function build(...names) {
  const { build: bundle } = await import('esbuild');
  const bundles = names.map((name) =>
    bundle({
      absWorkingDir: root,
      entryPoints: [{ in: programs[name].source, out: name }],
      outdir: 'dist',
      outExtension: { '.js': '.mjs' },
      bundle: true,
      platform: 'node',
      target: 'node20',
      format: 'esm',
      mainFields: ['module', 'main'],
      sourcemap: 'linked',
      external: programs[name].external,
      banner: { js: "import { createRequire } from 'node:module'; const require = createRequire(import.meta.url);" },
      logLevel: 'warning',
    }),
  );
  await Promise.all(bundles);
}

/** In a clone, where the sources are: bundles a program, and the console, if one of their sources is newer. */
export async function buildIfStale(name) {
  const isStale = (built, ...sources) =>
    Math.max(...sources.map((path) => newest(join(root, path)))) > modified(join(root, 'dist', built));
  const shared = ['package.json', 'bin/build.mjs'];
  if (isStale(`${name}.mjs`, 'shared', 'functions', ...shared)) await build(name);
  if (isStale('console/index.html', 'console', ...shared)) await buildConsole();
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
  if (names.length > 0) await build(...names.filter((name) => name !== 'console'));
  else await build(...Object.keys(programs));
  if (names.length === 0 || names.includes('console')) await buildConsole();
}
