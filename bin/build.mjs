// Bundles the programs of bin/ into dist/: `node bin/build.mjs [name …]`.
import { copyFileSync, mkdirSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { buildConsole } from '../console/build.mjs';
import { writeLicences } from './licences.mjs';
import { sources } from './roots.mjs';

const root = fileURLToPath(new URL('..', import.meta.url));

/**
 * The programs: their sources, and the packages that are loaded from node_modules rather than bundled. lmdb has a native library, and
 * few who start the service on one machine need the SDKs of the cloud or the client of PostgreSQL. What the program loads on demand is in files
 * of its own, as compiling all of its code took longer than most commands: docs/adr/0095-code-is-loaded-on-demand.md. The byte lane and its scrub are single files with everything.
 */
export const programs = {
  stillage: { source: 'local/cli/program.ts', external: ['lmdb', 'pg', '@aws-sdk/*'], isSplit: true },
  // Started by it as threads: local/server/digests.
  'digest-thread': { source: 'local/server/digests/digest-thread.ts', external: [] },
  'byte-lane': { source: 'functions/cloud/byte-lane.ts', external: [] },
  'cloud-scrub': { source: 'functions/cloud/scrub-task.ts', external: [] },
};

/** The options of a bundle that runs as a module of Node.js. Packages in CommonJS call `require`, which modules lack. */
export const forNode = {
  bundle: true,
  platform: 'node',
  target: 'node20',
  format: 'esm',
  mainFields: ['module', 'main'],
  banner: { js: "import { createRequire } from 'node:module'; const require = createRequire(import.meta.url);" },
  logLevel: 'warning',
};

/**
 * Makes the program require the engine of the table. That is a single file; its ES modules are many, and take half as much processor time again
 * to load.
 */
const requiredEngine = {
  name: 'required-engine',
  setup({ onResolve, onLoad }) {
    const namespace = 'required';
    onResolve({ filter: /^lmdb$/ }, ({ path, kind }) =>
      kind === 'import-statement' ? { path, namespace } : { path, external: true },
    );
    onLoad({ filter: /^/, namespace }, ({ path }) => ({
      contents: `module.exports = require(${JSON.stringify(path)});`,
    }));
  },
};

/**
 * Bundles programs to dist/<name>.mjs. A split one has more files beside it, dist/<name>-*.mjs, of which those of former builds are removed.
 */
export async function build(...names) {
  const { build: bundle } = await import('esbuild');
  const bundles = names.map(async (name) => {
    const { source, external, isSplit } = programs[name];
    const { metafile } = await bundle({
      absWorkingDir: root,
      entryPoints: [{ in: source, out: name }],
      outdir: 'dist',
      outExtension: { '.js': '.mjs' },
      ...forNode,
      // A process that writes its coverage copies the map of what it ran into it, if that is linked: bin/coverage.mjs reads the file instead.
      sourcemap: process.env.TEST_COVERAGE ? 'external' : 'linked',
      external,
      plugins: [requiredEngine],
      splitting: isSplit,
      chunkNames: `${name}-[name]-[hash]`,
      metafile: true,
    });
    if (!isSplit) return;
    const former = readdirSync(join(root, 'dist')).filter((file) => file.startsWith(`${name}-`));
    for (const file of former) if (!(`dist/${file}` in metafile.outputs)) rmSync(join(root, 'dist', file));
  });
  await Promise.all(bundles);
}

/** The entry points of the package, by the name after `stillage/`. */
export const modules = ['index', 'embedded', 'jest', 'jest-teardown', 's3rver', 'testcontainers', 'vitest'];

function moduleSource(name) {
  return `local/package/${name}.ts`;
}

/**
 * Bundles what package.json exports: dist/package/<module>.cjs for `require`, and <module>.mjs for `import`, with declarations for TypeScript,
 * those of `require` in a folder whose package.json declares CommonJS; and dist/THIRD-PARTY-LICENSES.txt.
 * @param into the folder of dist: this clone, unless given
 */
export async function buildPackage(into = root) {
  const { build: bundle } = await import('esbuild');
  const outdir = join(into, 'dist/package');
  rmSync(outdir, { recursive: true, force: true });
  const common = {
    absWorkingDir: root,
    entryPoints: modules.map((name) => ({ in: moduleSource(name), out: name })),
    bundle: true,
    outdir,
    platform: 'node',
    target: 'node20',
    mainFields: ['module', 'main'],
    external: ['lmdb', 'pg', '@aws-sdk/*', 'testcontainers'],
    logLevel: 'warning',
  };
  const banner = { js: '"use strict"; require("./node-version.cjs");' };
  const outExtension = { '.js': '.cjs' };
  const [{ metafile }] = await Promise.all([
    bundle({ ...common, format: 'esm', write: false, metafile: true, logLevel: 'silent' }),
    bundle({ ...common, format: 'cjs', outExtension, banner, plugins: [onlyOneService] }),
  ]);
  copyFileSync(join(root, 'bin/node-version.cjs'), join(outdir, 'node-version.cjs'));
  for (const { entryPoint, exports } of Object.values(metafile.outputs)) writeModule(outdir, entryPoint, exports);
  await declareTypes(outdir);
  await writeLicences([programs.stillage.source, ...modules.map(moduleSource)], common.external, join(into, 'dist'));
}

/**
 * Writes the module for `import`, which loads that for `require`: a program that has both has one service, and a Node.js that is too old
 * is refused before it links a name that it has not.
 */
function writeModule(outdir, entryPoint, exports) {
  const name = modules.find((one) => moduleSource(one) === entryPoint);
  const names = exports.filter((one) => one !== 'default');
  const lines = [`import module from './${name}.cjs';`];
  if (names.length > 0) lines.push(`export const { ${names.join(', ')} } = module;`);
  if (exports.includes('default')) lines.push('export default module.default;');
  writeFileSync(join(outdir, `${name}.mjs`), `${lines.join('\n')}\n`);
}

/** Makes the kits require the service instead of bundling it again, as esbuild cannot split CommonJS. */
const onlyOneService = {
  name: 'only-one-service',
  setup: ({ onResolve }) =>
    onResolve({ filter: /^\.\/embedded\.ts$/ }, () => ({ path: './embedded.cjs', external: true })),
};

/** Writes the declarations of the modules and of their imports, without type checks. */
async function declareTypes(outdir) {
  const { default: typescript } = await import('typescript');
  const { config } = typescript.readConfigFile(join(root, 'tsconfig.json'), typescript.sys.readFile);
  const { options } = typescript.convertCompilerOptionsFromJson(config.compilerOptions, root);
  const left = modules.map(moduleSource);
  const program = typescript.createProgram({
    rootNames: [...left, moduleSource('testcontainers-api.d')].map((source) => join(root, source)),
    options: { ...options, noEmit: false, declaration: true, emitDeclarationOnly: true, stripInternal: true },
  });
  const done = new Set();
  for (let source = left.pop(); source !== undefined; source = left.pop()) {
    if (done.has(source)) continue;
    done.add(source);
    const write = (_, text) => {
      const names = typescript.preProcessFile(text).importedFiles.map(({ fileName }) => fileName);
      const own = names.filter((name) => name.startsWith('.'));
      left.push(...own.map((name) => relative(root, join(root, dirname(source), name))));
      // TypeScript finds declarations by the name of the script.
      const found = text.replaceAll(/\.ts(?=['"][;)])/g, '.js');
      for (const folder of ['types', 'types-cjs']) {
        const target = join(outdir, folder, source.replace(/\.ts$/, '.d.ts'));
        mkdirSync(dirname(target), { recursive: true });
        writeFileSync(target, found.replaceAll(/^\/\/# sourceMappingURL.*$/gm, ''));
      }
    };
    program.emit(program.getSourceFile(join(root, source)), write, undefined, true);
  }
  writeFileSync(join(outdir, 'types-cjs/package.json'), '{ "type": "commonjs" }\n');
}

/** Bundles a program and its threads, and the console, if one of their sources is newer. For clones, which have the sources. */
export async function buildIfStale(name) {
  const isStale = (built, ...sources) =>
    Math.max(...sources.map((path) => newest(join(root, path)))) > modified(join(root, 'dist', built));
  const shared = ['package.json', 'bin/build.mjs'];
  if (isStale(`${name}.mjs`, ...sources, ...shared)) await build(name, 'digest-thread');
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
  if (names.length > 0) await build(...names.filter((name) => name in programs));
  else await build(...Object.keys(programs));
  if (names.length === 0 || names.includes('console')) await buildConsole();
  if (names.length === 0 || names.includes('package')) await buildPackage();
}
