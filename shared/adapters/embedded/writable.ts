import { randomUUID } from 'node:crypto';
import { open, statfs, unlink } from 'node:fs/promises';
import { join } from 'node:path';

/** The space that a disk must have left, in bytes: less is used up by the table alone. */
const leastSpace = 1024 * 1024;
/** Bytes that are written to see whether they are taken: a block. */
const probe = new Uint8Array(4096);

/** A full disk, a quota that is used up, a file system or a directory that is read-only, the largest size of a file. */
const refusals: ReadonlySet<unknown> = new Set(['ENOSPC', 'EDQUOT', 'EROFS', 'EACCES', 'EPERM', 'EFBIG']);

/** The answers under way, by directory: requests that arrive together share one. */
const underWay = new Map<string, Promise<boolean>>();

/**
 * Returns whether a directory takes new bytes. A file is written in it, without waiting for the disk, since free space tells neither of
 * quotas nor of read-only file systems; it has lost its name by then, so that no crash leaves it behind.
 * @throws Error for any other reason than those of {@link refusals}, such as no such directory
 */
export function isWritable(directory: string): Promise<boolean> {
  let answer = underWay.get(directory);
  if (answer === undefined) {
    answer = look(directory).finally(() => underWay.delete(directory));
    underWay.set(directory, answer);
  }
  return answer;
}

async function look(directory: string): Promise<boolean> {
  const { bavail, bsize } = await statfs(directory);
  if (bavail * bsize < leastSpace) return false;
  try {
    const path = join(directory, `.probe-${randomUUID()}`);
    const file = await open(path, 'wx', 0o600);
    try {
      await unlink(path);
      await file.write(probe);
    } finally {
      await file.close();
    }
    return true;
  } catch (error) {
    if (refusals.has((error as NodeJS.ErrnoException).code)) return false;
    throw error;
  }
}
