import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, it } from 'vitest';
import { ownCommand } from '../../../../../local/server/first-start/own-command.ts';

const folder = realpathSync(mkdtempSync(join(tmpdir(), 'stillage-command-')));
afterAll(() => rmSync(folder, { recursive: true }));
const file = join(folder, 'stillage.cjs');
writeFileSync(file, '');

/** Returns a folder in which `stillage` leads to a program. */
function pathWith(name: string, target = file): string {
  const path = join(folder, name);
  mkdirSync(path, { recursive: true });
  symlinkSync(target, join(path, 'stillage'));
  return path;
}
const bin = pathWith('bin');
const npm = { npm_execpath: '/usr/lib/npm-cli.js', PATH: `${pathWith('node_modules/.bin')}:/nowhere` };

it.each([
  ['an installed program', { file: join(bin, 'stillage'), environment: { PATH: `/nowhere:${bin}` } }, 'stillage'],
  ['an image, which starts the file', { file, environment: { PATH: bin } }, 'stillage'],
  ['a clone', { file, environment: { PATH: '/nowhere:' } }, `node ${file}`],
  ['another program of that name', { file, environment: { PATH: pathWith('other', '/bin/sh') } }, `node ${file}`],
  ['no path at all', { file, environment: {} }, `node ${file}`],
  ['a script of npm, and npx', { file, environment: npm }, 'npx stillage'],
])('%s is called as it can be where it runs', (_, started, program) => {
  expect(ownCommand('env KEY', '/var/lib/my data', started)).toBe(`${program} env KEY --data '/var/lib/my data'`);
  expect(ownCommand('env KEY', './elsewhere', started)).toBe(`${program} env KEY --data ${process.cwd()}/elsewhere`);
});

it('npx needs no directory that is the default, where it runs', () => {
  expect(ownCommand('env KEY', './data', { file, environment: npm })).toBe('npx stillage env KEY');
  expect(ownCommand('env KEY', './data', { file, environment: {} })).toContain(` --data ${process.cwd()}/data`);
});
