import { execFile } from 'node:child_process';
import { mkdir, mkdtemp, rm, symlink } from 'node:fs/promises';
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
