import { readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { packedProject } from '../support/programs/packed-project.ts';
import { run } from '../support/programs/programs.ts';

/*
 * The package as npm packs it, installed into an empty project: by npm, from its cache or the
 * registry.
 */

const root = join(import.meta.dirname, '../..');
const project = packedProject({ linked: ['vitest'] });
const script = (name: string, text: string): Promise<string> => project.script(name, text);

const session = `
const stillage = await startStillage({ port: 0, ephemeral: true, buckets: ['photos'] });
const health = await (await fetch(stillage.endpoint + '/_stillage/health')).json();
const { status } = await fetch(stillage.endpoint + '/photos/a');
await stillage.reset();
await stillage.stop();
console.log(JSON.stringify({ health, status }));
`;
const outcome = '{"health":{"status":"ok","ephemeral":true},"status":403}\n';

describe('the package', () => {
  it('holds what runs, and nothing else', async () => {
    const files = await filesBelow(join(project.folder, 'node_modules/stillage'));
    const kinds = new Set(
      files.map((file) =>
        file.replace(
          /(?<=^dist\/package\/).*(?=\.(?:mjs|cjs|d\.ts|json)$)|(?<=^dist\/stillage-).*(?=\.mjs$)|(?<=^dist\/(?:console|operators)\/).*/,
          '*',
        ),
      ),
    );
    expect([...kinds].sort()).toEqual([
      'CHANGELOG.md',
      'LICENSE',
      'README.md',
      'bin/node-version.cjs',
      'bin/stillage.cjs',
      'dist/THIRD-PARTY-LICENSES.txt',
      'dist/console/*',
      'dist/digest-thread.mjs',
      'dist/operators/*',
      'dist/package/*.cjs',
      'dist/package/*.d.ts',
      'dist/package/*.json',
      'dist/package/*.mjs',
      'dist/stillage-*.mjs',
      'dist/stillage.mjs',
      'package.json',
    ]);
  });

  it('has the licences of all that is bundled', async () => {
    const text = await readFile(join(project.folder, 'node_modules/stillage/dist/THIRD-PARTY-LICENSES.txt'), 'utf8');
    const names = [...text.matchAll(/^(\S+) [\d.]+ \((?:MIT|ISC|BSD-3-Clause|Apache-2\.0)\)$/gm)].map(
      (match) => match[1],
    );
    for (const name of ['commander', 'saxes', 'zod', 'ipaddr.js', 'preact', 'client-zip'])
      expect(names).toContain(name);
    expect(text.split('-'.repeat(80))).toHaveLength(names.length + 1);
    // Packages that are loaded from node_modules bring their own licences.
    expect(names).not.toContain('lmdb');
  });

  it('is published without a complaint', async () => {
    const { stderr } = await run('npm', ['publish', '--dry-run', '--ignore-scripts'], { cwd: project.clone });
    const complaints = stderr.split('\n').filter((line) => /^npm (?:warn|error)/i.test(line));
    expect(complaints.filter((line) => !/Unknown (?:user|env) config|requires you to be logged in/.test(line))).toEqual(
      [],
    );
  });

  it('is as large as its documentation says', async () => {
    const { stdout } = await run('npm', ['pack', '--dry-run', '--json', '--ignore-scripts'], { cwd: project.clone });
    const [{ size, unpackedSize }] = Object.values(JSON.parse(stdout) as object) as [Record<string, number>];
    const page = await readFile(join(root, 'docs/versions.md'), 'utf8');
    const said = /The package is ([\d.]+) MB packed and ([\d.]+) MB unpacked/.exec(page)!.slice(1).map(Number);
    const measured = [size!, unpackedSize!].map((bytes) => bytes / 1e6);
    for (const [at, value] of measured.entries()) expect(Math.abs(value - said[at]!) / value).toBeLessThan(0.1);
  });

  it('is imported by ES modules', async () => {
    expect(await script('esm.mjs', `import { startStillage } from 'stillage';${session}`)).toBe(outcome);
  });

  it('is required by CommonJS', async () => {
    const text = `const { startStillage } = require('stillage');(async () => {${session}})();`;
    expect(await script('common.cjs', text)).toBe(outcome);
  });

  it('keeps data, with the engine that npm has installed', async () => {
    const text = `
      import { startStillage } from 'stillage';
      const credentials = { accessKeyId: 'TESTER', secretAccessKey: 'secret of the tester' };
      for (let time = 0; time < 2; time += 1) {
        const stillage = await startStillage({ port: 0, data: './kept', credentials, buckets: ['photos'] });
        await stillage.stop();
      }
      console.log('kept');`;
    expect(await script('durable.mjs', text)).toBe('kept\n');
  });

  it('exports every kit to both', async () => {
    const { exports } = JSON.parse(await readFile(join(root, 'package.json'), 'utf8')) as { exports: object };
    const names = Object.keys(exports).map((name) => name.replace('.', 'stillage'));
    expect(names.length).toBeGreaterThan(4);
    // test/package/testcontainers.test.ts installs the peer dependency of that module.
    const modules = names.filter((name) => !/json$|testcontainers$/.test(name));
    const imports = modules.map((name) => `await import('${name}')`).join(', ');
    const requires = modules.map((name) => `require('${name}')`).join(', ');
    const shape = `each => Object.keys(each).filter((name) => !/^(?:module.exports|__esModule)$/.test(name)).sort()`;
    const imported = await script('all.mjs', `console.log(JSON.stringify([${imports}].map(${shape})))`);
    const required = await script('all.cjs', `console.log(JSON.stringify([${requires}].map(${shape})))`);
    expect(imported).toContain('startStillage');
    expect(required).toBe(imported);
  });

  it('has types for both', async () => {
    const text = `import { startStillage, type Stillage } from 'stillage';
export async function useIt(): Promise<string> {
  const stillage: Stillage = await startStillage({ port: 0, limit: { keyBytes: 512 }, faults: [{ kind: 'cut' }] });
  // @ts-expect-error
  await startStillage({ port: 'nine' });
  stillage.fault({ kind: 'cut', operation: 'PutObject' });
  // @ts-expect-error
  stillage.fault({ kind: 'cut', operation: 'PutObjects' });
  return stillage.clientConfig.credentials.accessKeyId;
}
`;
    const provided = `import { inject } from 'vitest';
import type {} from 'stillage/vitest';
export const endpoint: string = inject('stillage').endpoint;
// @ts-expect-error
export const port: number = inject('stillage').endpoint;
`;
    await writeFile(join(project.folder, 'esm.mts'), text + provided);
    await writeFile(join(project.folder, 'common.cts'), text);
    const options = ['--noEmit', '--strict', '--module', 'nodenext', '--target', 'es2023'];
    const { stdout, code } = await run(
      process.execPath,
      [join(root, 'node_modules/typescript/bin/tsc'), ...options, 'esm.mts', 'common.cts'],
      { cwd: project.folder, codes: [0, 2] },
    );
    expect(stdout).toBe('');
    expect(code).toBe(0);
  });

  it('says in a line what to install for a deployment in the cloud', async () => {
    const program = join(project.folder, 'node_modules/stillage/bin/stillage.cjs');
    const { code, stderr } = await run(process.execPath, [program, 'customer', 'list', '--cloud', 'prod'], {
      cwd: project.folder,
      codes: [1],
    });
    expect(code).toBe(1);
    expect(stderr).toMatch(/^stillage: .*npm install @aws-sdk\/client-lambda\n$/);
  });

  it('depends on the engine of the table and the client of PostgreSQL alone', async () => {
    const { dependencies } = JSON.parse(await readFile(join(root, 'package.json'), 'utf8')) as { dependencies: object };
    expect(Object.keys(dependencies)).toEqual(['lmdb', 'pg']);
  });
});

async function filesBelow(directory: string): Promise<readonly string[]> {
  const entries = await readdir(directory, { recursive: true, withFileTypes: true });
  return entries
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name).slice(directory.length + 1));
}
