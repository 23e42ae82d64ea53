import type { Projects } from '../../access/identity.ts';
import type { Owner } from '../../documents/owner.ts';

/** Looks up the names of owners, each once. A project that no longer exists is shown by its id. */
export async function ownersOf(ids: readonly string[], projects: Projects): Promise<(id: string) => Owner> {
  const found = await Promise.all(
    [...new Set(ids)].map(async (id) => [id, (await projects.project(id))?.displayName ?? id] as const),
  );
  const names = new Map(found);
  return (id) => ({ id, displayName: names.get(id) ?? id });
}
