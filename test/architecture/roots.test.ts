import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { sources } from '../../bin/roots.mjs';

const root = join(import.meta.dirname, '../..');
const json = (path: string): unknown => JSON.parse(readFileSync(join(root, path), 'utf8').replace(/^ *\/\/.*$/gm, ''));

/* What is a text without imports names the folders of bin/roots.mjs by hand. */

it('the compiler checks every folder of code', () => {
  const { include } = json('tsconfig.json') as { readonly include: readonly string[] };
  expect(include).toEqual(expect.arrayContaining([...sources, 'bin', 'infra', 'test']));
  expect(include.filter((path) => !path.startsWith('*') && !existsSync(join(root, path)))).toEqual([]);
});

it('patterns in every folder of the product are judged by lint', () => {
  const { overrides } = json('.oxlintrc.json') as {
    readonly overrides: readonly { readonly files: readonly string[] }[];
  };
  const folders = ['infra', ...sources].sort().join(',');
  expect(overrides.flatMap(({ files }) => files)).toContain(`{${folders}}/**`);
});

it('no other folder has code of the product', () => {
  const others = ['bin', 'console', 'docs', 'infra', 'test', 'node_modules', 'dist', 'coverage', 'cdk.out', 'data'];
  const hasCode = (folder: string): boolean =>
    readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' }).some((name) => name.endsWith('.ts'));
  const folders = readdirSync(root, { withFileTypes: true }).filter((entry) => entry.isDirectory());
  const names = folders
    .map(({ name }) => name)
    .filter((name) => !name.startsWith('.') && !others.includes(name))
    .filter(hasCode);
  expect(names.sort()).toEqual([...sources].sort());
});
