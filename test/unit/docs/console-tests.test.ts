import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';

const root = join(import.meta.dirname, '../../..');

/** The tests that the page names, by the files that it links to. */
function named(): Map<string, string[]> {
  const page = readFileSync(join(root, 'docs/console-tests.md'), 'utf8');
  const tests = new Map<string, string[]>();
  for (const cell of page.split('\n').filter((line) => line.startsWith('| '))) {
    let file = '';
    for (const [, path, name] of cell.matchAll(/\]\(\.\.\/(test\/[^)]+)\): |\*([^*]+)\*/g)) {
      if (path !== undefined) file = path;
      else if (file !== '') tests.set(file, [...(tests.get(file) ?? []), name!]);
    }
  }
  return tests;
}

/** The names of the tests of a file. */
function testsOf(file: string): string[] {
  const source = readFileSync(join(root, file), 'utf8');
  return [...source.matchAll(/\bit(?:\.(?:each|for)\([^;]*?\))?\(\s*'((?:[^'\\]|\\.)*)'/g)].map((match) => match[1]!);
}

describe('docs/console-tests.md', () => {
  const files = readdirSync(join(root, 'test/console'))
    .filter((name) => name.endsWith('.test.ts'))
    .map((name) => `test/console/${name}`);

  it('names tests that are there', () => {
    const tests = [...named()];
    expect(tests.length).toBeGreaterThan(files.length);
    const missing = tests.flatMap(([file, names]) => {
      const there = testsOf(file);
      return names.filter((name) => !there.includes(name)).map((name) => `${file}: ${name}`);
    });
    expect(missing).toEqual([]);
  });

  it('names every test of the console', () => {
    const known = named();
    const unnamed = files.flatMap((file) =>
      testsOf(file)
        .filter((name) => !(known.get(file) ?? []).includes(name))
        .map((name) => `${file}: ${name}`),
    );
    expect(unnamed).toEqual([]);
  });
});
