import { readFile } from 'node:fs/promises';

/** Returns the ids of a service's workers, the oldest first. */
export async function workersOf({ pid }: { readonly pid: number }): Promise<readonly number[]> {
  const children = await readFile(`/proc/${pid}/task/${pid}/children`, 'utf8');
  const pids = children.trim().split(' ').filter(Boolean).map(Number);
  const commands = await Promise.all(pids.map((child) => readFile(`/proc/${child}/cmdline`, 'utf8').catch(() => '')));
  // A service that was bundled at its start has a child of the bundler, too.
  return pids.filter((_, at) => commands[at]!.includes('stillage.cjs'));
}
