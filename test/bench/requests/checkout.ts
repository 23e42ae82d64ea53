import { existsSync } from 'node:fs';
import { mkdtemp, rm, stat, symlink } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { run } from '../../support/programs/programs.ts';

const root = join(import.meta.dirname, '../../..');

/** A checkout of the repository whose service can be started. */
export interface Checkout {
  readonly name: string;
  readonly directory: string;
  /** Removes it, if it was created. */
  remove(): Promise<void>;
}

/**
 * Returns the checkout in a directory, or creates one of a commit, with the packages that are installed here.
 * @param base a directory, or a revision of git: a branch, a tag, `HEAD~3`
 * @throws Error if it is neither
 */
export async function checkoutOf(base: string): Promise<Checkout> {
  const directory = resolve(base);
  if (await isDirectory(directory)) {
    if (!existsSync(join(directory, 'bin/stillage.cjs'))) throw new Error(`${directory} is not a checkout of Stillage`);
    return { name: base, directory, remove: () => Promise.resolve() };
  }
  const folder = await mkdtemp(join(tmpdir(), 'stillage-checkout-'));
  const created = join(folder, 'checkout');
  const git = (...args: string[]): Promise<unknown> => run('git', ['-C', root, ...args]);
  const remove = async (): Promise<void> => {
    await git('worktree', 'remove', '--force', created).catch(() => undefined);
    await rm(folder, { recursive: true, force: true });
  };
  try {
    await git('worktree', 'add', '--detach', created, base);
    await symlink(join(root, 'node_modules'), join(created, 'node_modules'));
    return { name: base, directory: created, remove };
  } catch (error) {
    await remove();
    throw error;
  }
}

async function isDirectory(path: string): Promise<boolean> {
  return stat(path).then(
    (found) => found.isDirectory(),
    () => false,
  );
}
