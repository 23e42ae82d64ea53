import { spawn } from 'node:child_process';
import type { FileHandle } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';

/** Milliseconds between two attempts to take a lock, and how many there are: a process that only looks holds it for a moment. */
const retryEvery = 50;
const maxAttempts = 10;

/** The exit code of flock(1) if another process holds the lock. */
const heldExitCode = 1;

/** `unknown`: there is no flock(1) here, or the file system has no such locks. */
type Outcome = 'taken' | 'held' | 'unknown';

/**
 * Takes the kernel's lock (flock(2)) on an open directory, until it is closed or this process ends for any reason. The lock belongs to the
 * directory itself, not to a file in it that could be removed, and counts in all containers of a machine.
 * @returns false if another process holds it; true also if this system has no such locks
 */
export async function lockOpenDirectory(directory: FileHandle): Promise<boolean> {
  for (let attempt = 1; ; attempt += 1) {
    if ((await flock(directory, 'exclusive')) !== 'held') return true;
    if (attempt === maxAttempts) return false;
    await sleep(retryEvery);
  }
}

/** Tells whether another process holds the lock of {@link lockOpenDirectory}. Close the directory soon: until then, nobody can take it. */
export async function isLocked(directory: FileHandle): Promise<boolean> {
  return (await flock(directory, 'shared')) === 'held';
}

/**
 * Lets flock(1) take the lock, as Node.js cannot. The lock belongs to the open file that the child inherits, so this process keeps it when
 * the child has ended.
 */
function flock({ fd }: FileHandle, mode: 'exclusive' | 'shared'): Promise<Outcome> {
  return new Promise((resolve) => {
    const child = spawn('flock', ['-n', mode === 'shared' ? '-s' : '-x', '3'], {
      stdio: ['ignore', 'ignore', 'pipe', fd],
    });
    let complaint = '';
    child.stderr?.setEncoding('utf8').on('data', (text: string) => (complaint += text));
    child.once('error', () => resolve('unknown'));
    child.once('close', (code) => {
      if (code === 0) resolve('taken');
      else resolve(code === heldExitCode && complaint === '' ? 'held' : 'unknown');
    });
  });
}
