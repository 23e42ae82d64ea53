import { readFile } from 'node:fs/promises';

/** Returns the ids of a service's workers, the oldest first. */
export async function workersOf({ pid }: { readonly pid: number }): Promise<readonly number[]> {
  const children = await readFile(`/proc/${pid}/task/${pid}/children`, 'utf8');
  return children.trim().split(' ').filter(Boolean).map(Number);
}
