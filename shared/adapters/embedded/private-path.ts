import { chmod, stat } from 'node:fs/promises';

/** What the group and others may do. */
const foreign = 0o077;

/**
 * Takes from the group and others what they may do with a file or directory, and leaves the owner what it may. What is not there, belongs to
 * somebody else or lies on a read-only file system stays as it is.
 */
export async function makePrivate(path: string): Promise<void> {
  try {
    const { mode } = await stat(path);
    if ((mode & foreign) !== 0) await chmod(path, mode & 0o700);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code !== 'ENOENT' && code !== 'EPERM' && code !== 'EROFS') throw error;
  }
}
