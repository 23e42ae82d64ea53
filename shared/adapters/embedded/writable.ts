import { randomUUID } from 'node:crypto';
import { open, statfs, unlink } from 'node:fs/promises';
import { join } from 'node:path';

/** The free space that a disk must have, in bytes: the table alone may need that much. */
const leastSpace = 1024 * 1024;
/** The number of bytes written as a test: one block. */
const probe = new Uint8Array(4096);

/** The codes for a full disk, an exhausted quota, a read-only file system or directory, and the maximum file size. */
const refusals: ReadonlySet<unknown> = new Set(['ENOSPC', 'EDQUOT', 'EROFS', 'EACCES', 'EPERM', 'EFBIG']);

/** The pending results by directory: concurrent requests share one. */
const underWay = new Map<string, Promise<boolean>>();

/**
 * Tells whether a directory accepts writes. Writes a file in it, without waiting for the disk, because free space
 * reveals neither quotas nor read-only file systems. The file is unlinked first, so that no crash leaves it.
 * @throws Error for a reason other than {@link refusals}, such as a missing directory
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
