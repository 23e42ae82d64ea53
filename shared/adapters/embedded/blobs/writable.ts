import { randomUUID } from 'node:crypto';
import { open, statfs, unlink } from 'node:fs/promises';
import { join } from 'node:path';

/** The free space that a disk must have, in bytes: the table alone may need that much. */
const leastSpace = 1024 * 1024;
/** The number of bytes written as a test: one block. */
const probe = new Uint8Array(4096);

/** The codes for a full disk, an exhausted quota, a read-only file system or directory, and the maximum file size. */
const refusals: ReadonlySet<unknown> = new Set(['ENOSPC', 'EDQUOT', 'EROFS', 'EACCES', 'EPERM', 'EFBIG']);

/** The time in which a directory may be probed once more, in milliseconds: whoever may ask for readiness must not cause as many writes. */
const interval = 1000;
/** The number of probes that may follow each other at once, so that few that ask always learn how it is now. */
const burst = 10;

/** The latest results by directory, with the time by which their probes and those before them are paid for. */
const latest = new Map<string, { readonly answer: Promise<boolean>; readonly due: number }>();

/**
 * Tells whether a directory accepts writes; whether it did within the last second if it is asked often. Writes a file in it, without
 * waiting for the disk, because free space reveals neither quotas nor read-only file systems. The file is unlinked first, so that no
 * crash leaves it.
 * @throws Error for a reason other than {@link refusals}, such as a missing directory
 */
export function isWritable(directory: string): Promise<boolean> {
  const now = performance.now();
  const known = latest.get(directory);
  const due = Math.max(now, known?.due ?? now) + interval;
  if (known && due - now > burst * interval) return known.answer;
  const answer = look(directory);
  latest.set(directory, { answer, due });
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
