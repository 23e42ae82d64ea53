import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import config from '../../vitest.config.ts';
import { cloud, gate, longForm, quick } from '../tiers.mjs';

const root = join(import.meta.dirname, '../..');
const read = (path: string): string => readFileSync(join(root, path), 'utf8');

function testFiles(folder: string): readonly string[] {
  const names = readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' });
  return names.filter((name) => name.endsWith('.test.ts')).map((name) => `${folder}/${name}`);
}

/** The projects that these texts run. */
function projectsIn(...texts: readonly string[]): readonly string[] {
  return texts.flatMap((text) => [...text.matchAll(/--project['",\s]+(\w+)/g)].map(([, name]) => name!)).sort();
}

const projects = config.test!.projects!.map((project) => {
  return (project as { readonly test: { readonly name: string } }).test.name;
});

it('every entry of a tier is the beginning of the path of a test, and of none that another entry names', () => {
  const files = testFiles('test');
  for (const entries of [[...quick, ...gate], cloud, longForm]) {
    const found = entries.map((entry) => files.filter((file) => file.startsWith(entry)));
    expect(entries.filter((_, at) => found[at]!.length === 0)).toEqual([]);
    expect(found.flat()).toHaveLength(new Set(found.flat()).size);
  }
});

it('every project of tests is run by `npm run test:all`, once', () => {
  const { scripts } = JSON.parse(read('package.json')) as { readonly scripts: Readonly<Record<string, string>> };
  const all = scripts['test:all']!;
  expect(all).toContain('npm run test:coverage');
  expect(projectsIn(all, read('bin/coverage.mjs'))).toEqual(projects.toSorted());
});
