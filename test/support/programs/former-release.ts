import { execFile } from 'node:child_process';
import { cp, mkdir, mkdtemp, readdir, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';

const run = promisify(execFile);
const root = join(import.meta.dirname, '../../..');

/** The commit of version 0.1. */
const commit = '4cadc42';

/** The program of the last release, built from the history of this clone. */
export interface FormerRelease {
  readonly root: string;
  remove(): Promise<void>;
}

/** Builds the program of the last release. Undefined: its commit is not in this clone, which is shallow, or none. */
export async function buildFormerRelease(): Promise<FormerRelease | undefined> {
  const known = await run('git', ['cat-file', '-e', `${commit}^{commit}`], { cwd: root }).then(
    () => true,
    () => false,
  );
  if (!known) return undefined;
  const folder = await mkdtemp(join(tmpdir(), 'stillage-former-'));
  const archive = join(folder, 'release.tar');
  const clone = join(folder, 'stillage');
  await mkdir(clone);
  await run('git', ['archive', '--output', archive, commit, 'bin', 'functions', 'shared', 'package.json'], {
    cwd: root,
  });
  await run('tar', ['-xf', archive, '-C', clone]);
  await symlink(join(root, 'node_modules'), join(clone, 'node_modules'));
  await run(process.execPath, ['bin/build.mjs', 'stillage'], { cwd: clone });
  return { root: clone, remove: () => rm(folder, { recursive: true, force: true }) };
}

/** This program as if it knew layouts only up to that of policies of users, and nothing of object lock. */
export async function programBeforeLocks(): Promise<FormerRelease> {
  const folder = await mkdtemp(join(tmpdir(), 'stillage-before-locks-'));
  for (const name of ['bin', 'dist', 'package.json'])
    await cp(join(root, name), join(folder, name), { recursive: true });
  await symlink(join(root, 'node_modules'), join(folder, 'node_modules'));
  const known = 'knownLayout = lockedLayout;';
  const bundles = (await readdir(join(folder, 'dist'))).filter((name) => /^stillage.*\.mjs$/.test(name));
  let isChanged = false;
  for (const bundle of bundles.map((name) => join(folder, 'dist', name))) {
    const text = await readFile(bundle, 'utf8');
    if (!text.includes(known)) continue;
    await writeFile(bundle, text.replace(known, 'knownLayout = identityLayout;'));
    isChanged = true;
  }
  if (!isChanged) throw new Error(`the program has no ${known}`);
  return { root: folder, remove: () => rm(folder, { recursive: true, force: true }) };
}
