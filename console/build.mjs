// Builds the console into dist/console, and the operators' page into dist/operators: `node console/build.mjs`.
import { cp, mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { brotliCompress, constants, gzip } from 'node:zlib';

const here = fileURLToPath(new URL('.', import.meta.url));
const root = join(here, '..');
const out = join(root, 'dist/console');
/** A folder of its own, as it is served elsewhere: by the listener of operators alone. */
const operatorsOut = join(root, 'dist/operators');

const common = {
  absWorkingDir: root,
  bundle: true,
  minify: true,
  platform: 'browser',
  target: ['es2022', 'chrome111', 'firefox115', 'safari16.4'],
  jsx: 'automatic',
  jsxImportSource: 'preact',
  legalComments: 'linked',
  logLevel: 'warning',
};

/** Builds the console, with its frame of previews and its worker of downloads, and the operators' page. */
export async function buildConsole() {
  const { build } = await import('esbuild');
  for (const folder of [out, operatorsOut]) await rm(folder, { recursive: true, force: true });
  await mkdir(join(out, 'preview'), { recursive: true });
  const [page, operators, ...others] = await Promise.all([
    build(pageOf({ console: 'console/main.tsx' }, out)),
    build(pageOf({ operators: 'console/operators/main.tsx' }, operatorsOut)),
    // A script of another origin, which the frame's is, is only loaded as a classic one.
    build({
      ...common,
      entryPoints: {
        preview: 'console/preview/preview.ts',
        pdf: 'console/preview/pdf.ts',
        'pdf-worker': 'console/preview/pdf-worker.ts',
      },
      outdir: join(out, 'preview'),
      format: 'iife',
      metafile: true,
    }),
    build({
      ...common,
      entryPoints: { download: 'console/worker/download.ts' },
      outdir: out,
      format: 'iife',
      metafile: true,
    }),
  ]);
  await writePage(page, 'index.html', out);
  await cp(join(here, 'preview/index.html'), join(out, 'preview/index.html'));
  await writeFile(join(out, 'licenses.txt'), await licensesOf([page, ...others]));
  await writePage(operators, 'operators/index.html', operatorsOut);
  await writeFile(join(operatorsOut, 'licenses.txt'), await licensesOf([operators]));
  await Promise.all([out, operatorsOut].map(compress));
}

/** How the script of a page is built. */
function pageOf(entryPoints, folder) {
  return {
    ...common,
    entryPoints,
    outdir: join(folder, 'assets'),
    entryNames: '[name]-[hash]',
    chunkNames: '[name]-[hash]',
    format: 'esm',
    splitting: true,
    metafile: true,
  };
}

/** Writes the document of a page, which names what was built. */
async function writePage({ metafile }, template, folder) {
  const { script, style, preloads } = entryOf(metafile, folder);
  const links = preloads.map((path) => `<link rel="modulepreload" href="/${path}">`).join('\n    ');
  const html = (await readFile(join(here, template), 'utf8'))
    .replace('%style%', `/${style}`)
    .replace('%script%', `/${script}`)
    .replace('<!-- preloads -->', links);
  await writeFile(join(folder, 'index.html'), html);
  await cp(join(here, 'favicon.svg'), join(folder, 'favicon.svg'));
}

/** Returns the licences of the bundled packages, which must be distributed with them. */
async function licensesOf(results) {
  const inputs = results.flatMap(({ metafile }) => Object.keys(metafile.inputs));
  const folders = inputs.map((path) => /^node_modules\/(?:@[^/]+\/)?[^/]+/.exec(path)?.[0]);
  const texts = [...new Set(folders)].filter(Boolean).sort().map(licenseOf);
  return (await Promise.all(texts)).join('\n\n');
}

async function licenseOf(folder) {
  const { name, version } = JSON.parse(await readFile(join(root, folder, 'package.json'), 'utf8'));
  const file = (await readdir(join(root, folder))).find((each) => /^licen[cs]e/i.test(each));
  return `${name} ${version}\n\n${(await readFile(join(root, folder, file), 'utf8')).trim()}\n`;
}

/** Writes a compressed copy of every file, so that requests need not compress it. */
async function compress(folder) {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  const files = entries.filter((entry) => entry.isFile()).map(({ parentPath, name }) => join(parentPath, name));
  const write = async (path) => {
    const content = await readFile(path);
    // The last percent of large files would take as long as the rest of the build.
    const quality = content.length > 256 * 1024 ? 9 : constants.BROTLI_MAX_QUALITY;
    const params = { [constants.BROTLI_PARAM_QUALITY]: quality };
    await writeFile(`${path}.br`, await promisify(brotliCompress)(content, { params }));
    await writeFile(`${path}.gz`, await promisify(gzip)(content, { level: 9 }));
  };
  await Promise.all(files.map(write));
}

/** The names of the page's script and style, and of the chunks its script imports at once. */
function entryOf({ outputs }, folder) {
  const path = (name) => relative(folder, join(root, name));
  // Chunks that are loaded later are entry points as well.
  const [name, entry] = Object.entries(outputs).find(([, { entryPoint }]) => entryPoint?.endsWith('/main.tsx'));
  const imported = entry.imports.filter(({ kind }) => kind === 'import-statement');
  return { script: path(name), style: path(entry.cssBundle), preloads: imported.map((each) => path(each.path)) };
}

if (process.argv[1] === fileURLToPath(import.meta.url)) await buildConsole();
