// Gathers the licences of what is bundled: `npm pack` puts them beside the bundles, as the licences ask.
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('..', import.meta.url));

/** Licences whose terms are met by their text. */
const permitted = new Set(['MIT', 'ISC', 'BSD-2-Clause', 'BSD-3-Clause', 'Apache-2.0', '0BSD']);

/** The sources that are bundled for a browser: see console/build.mjs. */
const consoleSources = [
  'console/main.tsx',
  'console/operators/main.tsx',
  'console/preview/preview.ts',
  'console/preview/pdf-worker.ts',
  'console/worker/download.ts',
];

/** The terms of the ISC licence, for a package that names it and has no file of it: https://spdx.org/licenses/ISC.html */
const isc = `Permission to use, copy, modify, and/or distribute this software for any purpose with or without fee is hereby granted, provided that the
above copyright notice and this permission notice appear in all copies.

THE SOFTWARE IS PROVIDED "AS IS" AND THE AUTHOR DISCLAIMS ALL WARRANTIES WITH REGARD TO THIS SOFTWARE INCLUDING ALL IMPLIED WARRANTIES OF
MERCHANTABILITY AND FITNESS. IN NO EVENT SHALL THE AUTHOR BE LIABLE FOR ANY SPECIAL, DIRECT, INDIRECT, OR CONSEQUENTIAL DAMAGES OR ANY DAMAGES
WHATSOEVER RESULTING FROM LOSS OF USE, DATA OR PROFITS, WHETHER IN AN ACTION OF CONTRACT, NEGLIGENCE OR OTHER TORTIOUS ACTION, ARISING OUT OF OR
IN CONNECTION WITH THE USE OR PERFORMANCE OF THIS SOFTWARE.`;

/**
 * Writes THIRD-PARTY-LICENSES.txt.
 * @param sources of programs and modules for Node.js
 * @param external what these load from node_modules instead
 * @param directory the directory to write it to
 */
export async function writeLicences(sources, external, directory) {
  const { build } = await import('esbuild');
  const options = {
    absWorkingDir: root,
    bundle: true,
    metafile: true,
    write: false,
    outdir: 'dist',
    logLevel: 'silent',
  };
  const results = await Promise.all([
    build({
      ...options,
      entryPoints: sources,
      platform: 'node',
      format: 'esm',
      mainFields: ['module', 'main'],
      external,
    }),
    build({ ...options, entryPoints: consoleSources, jsx: 'automatic', jsxImportSource: 'preact' }),
  ]);
  const inputs = results.flatMap(({ metafile }) => Object.keys(metafile.inputs));
  const packages = new Set(inputs.map(packageOf).filter((folder) => folder !== undefined));
  const notices = [...packages].sort().map(noticeOf);
  const head = 'Stillage is bundled with these packages. Each is under its own licence.\n';
  writeFileSync(join(directory, 'THIRD-PARTY-LICENSES.txt'), [head, ...notices].join(`\n${'-'.repeat(80)}\n\n`));
}

/** `node_modules/@noble/hashes/sha2.js` → `node_modules/@noble/hashes`. */
function packageOf(path) {
  return /^(?:.*\/)?node_modules\/(?:@[^/]+\/)?[^/]+/.exec(path)?.[0];
}

function noticeOf(folder) {
  const { name, version, license, author } = JSON.parse(readFileSync(join(root, folder, 'package.json'), 'utf8'));
  if (!permitted.has(license)) throw new Error(`${name} is under ${license}, which bin/licences.mjs does not permit`);
  const file = readdirSync(join(root, folder)).find((one) => /^(?:licen[cs]e|copying)(?:\.(?:md|txt))?$/i.test(one));
  const text = file ? readFileSync(join(root, folder, file), 'utf8') : isc.trim();
  if (!file && license !== 'ISC') throw new Error(`${name} has no file with its licence`);
  const notice = existsSync(join(root, folder, 'NOTICE')) ? readFileSync(join(root, folder, 'NOTICE'), 'utf8') : '';
  const by = file ? '' : `Copyright (c) ${typeof author === 'string' ? author : author.name}\n\n`;
  return `${name} ${version} (${license})\n\n${by}${text.trim()}\n${notice}`;
}
