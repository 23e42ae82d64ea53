import { cp, mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { run } from '../../support/programs/programs.ts';

const root = join(import.meta.dirname, '../../..');

const superLinear = [
  'export const blanks = /^[ \\t]+|[ \\t]+$/g;',
  'export const path = /^(.*)\\/(.*)\\.ts$/;',
  'export const twice = /^(?:a+)+$/;',
  'export const counted = /^(?:a{1,12})+$/;',
];
const unknown = ['export const made = (name) => new RegExp(`^${name}$`);'];
const linear = [
  "console.log('a  b'.replace(/[ \\t]+/g, ' '));",
  // Linear because of the count alone.
  'export const counted = /^[ab]{0,12}b[^c]*$/;',
];

/** The rules that each line of source breaks. */
const broken = new Map<string, string[]>();

/** A project of its own with the same configuration, so that nothing else finds these files. */
let project: string;

beforeAll(async () => {
  const lines = [...superLinear, ...unknown, ...linear];
  project = await mkdtemp(join(tmpdir(), 'stillage-lint-'));
  await cp(join(root, '.oxlintrc.json'), join(project, '.oxlintrc.json'));
  await mkdir(join(project, 'bin'));
  for (const name of ['node_modules', 'bin/linear-patterns.mjs']) await symlink(join(root, name), join(project, name));
  await Promise.all(lines.map((line, at) => writeFile(join(project, `bin/${at}.mjs`), `${line}\n`)));
  const files = lines.map((_, at) => `bin/${at}.mjs`);
  const linter = join(root, 'node_modules/.bin/oxlint');
  const { stdout } = await run(linter, ['--format', 'json', ...files], { cwd: project, codes: [1] });
  const { diagnostics } = JSON.parse(stdout) as { diagnostics: { code: string; filename: string }[] };
  for (const [at, line] of lines.entries())
    broken.set(
      line,
      diagnostics.filter(({ filename }) => filename === files[at]).map(({ code }) => code),
    );
});

afterAll(() => rm(project, { recursive: true }));

it.each(superLinear)('lint refuses a pattern whose time grows faster than the text: %s', (line) => {
  expect(broken.get(line)).toContain('stillage(linear-patterns)');
});

it.each(unknown)('lint refuses a pattern that is not known before it runs: %s', (line) => {
  expect(broken.get(line)).toEqual(['stillage(linear-patterns)']);
});

it.each(linear)('lint takes one pass: %s', (line) => {
  expect(broken.get(line)).toEqual([]);
});
