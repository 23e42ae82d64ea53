import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import config from '../../vitest.config.ts';

const root = join(import.meta.dirname, '../..');
const read = (path: string): string => readFileSync(join(root, path), 'utf8');

/** The projects that these texts run. */
function projectsIn(...texts: readonly string[]): readonly string[] {
  return texts.flatMap((text) => [...text.matchAll(/--project['",\s]+(\w+)/g)].map(([, name]) => name!)).sort();
}

const projects = config.test!.projects!.map((project) => {
  return (project as { readonly test: { readonly name: string } }).test.name;
});

it('every project of tests is run by CI, once', () => {
  expect(projectsIn(read('.ci/run'), read('bin/coverage.mjs'))).toEqual(projects.toSorted());
});

it('every project of tests is run by `npm run test:all`, once', () => {
  const { scripts } = JSON.parse(read('package.json')) as { readonly scripts: Readonly<Record<string, string>> };
  const all = scripts['test:all']!;
  expect(all).toContain('npm run test:coverage');
  expect(projectsIn(all, read('bin/coverage.mjs'))).toEqual(projects.toSorted());
});
