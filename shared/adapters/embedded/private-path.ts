import { chmod, chown, stat } from 'node:fs/promises';

/** The permissions of the group and others. */
const foreign = 0o077;

/**
 * Removes the permissions of the group and others from a file or directory, but keeps the owner's. Leaves paths
 * unchanged that do not exist, belong to another user or are on a read-only file system.
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

/** Gives a file that this process has created to the owner of another file, which needs the rights of root if that is somebody else. */
export async function giveToOwnerOf(path: string, created: string): Promise<void> {
  const [{ uid, gid }, own] = await Promise.all([stat(path), stat(created)]);
  if (uid !== own.uid || gid !== own.gid) await chown(created, uid, gid);
}
