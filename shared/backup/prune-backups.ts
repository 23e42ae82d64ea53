import type { TargetLock } from './target-lock.ts';
import type { Repository } from './repository.ts';

/** The periods of which the newest backup of each is kept, and the beginning of an id that they share. */
const periods = {
  hourly: (id: string) => id.slice(0, 13),
  daily: (id: string) => id.slice(0, 10),
  weekly: weekOf,
  monthly: (id: string) => id.slice(0, 7),
  yearly: (id: string) => id.slice(0, 4),
} as const;

/** How many backups to keep: the newest ones, and the newest of each of the latest periods that have any. */
export type Keep = Readonly<Partial<Record<'last' | keyof typeof periods, number>>>;

/** The outcome of a prune. */
export interface Pruned {
  readonly kept: readonly string[];
  readonly removed: readonly string[];
  /** The packs that no backup uses any more, and their bytes. */
  readonly packs: number;
  readonly bytes: number;
}

/** Returns which backups to keep. @param ids oldest first */
export function keptOf(ids: readonly string[], keep: Keep): ReadonlySet<string> {
  const newestFirst = [...ids].reverse();
  const kept = new Set(newestFirst.slice(0, keep.last ?? 0));
  for (const [name, periodOf] of Object.entries(periods)) {
    const newest = new Map<string, string>();
    for (const id of newestFirst) if (!newest.has(periodOf(id))) newest.set(periodOf(id), id);
    for (const id of [...newest.values()].slice(0, keep[name as keyof typeof periods] ?? 0)) kept.add(id);
  }
  return kept;
}

/**
 * Removes backups, and the packs that no other backup uses. May be killed at any time: what is left is whole, and the next one removes the
 * rest. Nothing is removed unless all that is kept can be read.
 * @throws OperatorError
 */
export async function pruneBackups(repository: Repository, keep: Keep, lock: TargetLock | undefined): Promise<Pruned> {
  const ids = await repository.backupIds();
  const keeps = keptOf(ids, keep);
  const kept = ids.filter((id) => keeps.has(id));
  const removed = ids.filter((id) => !keeps.has(id));
  const used = new Set<string>();
  for (const id of kept) for (const [pack] of (await repository.backup(id)).packs) used.add(pack);
  const sizes = await repository.packSizes();
  const unused = [...sizes].filter(([id]) => !used.has(id));
  const pruned = {
    kept,
    removed,
    packs: unused.length,
    bytes: unused.reduce((sum, [, size]) => sum + size, 0),
  };
  if (lock === undefined) return pruned;
  const left = (await repository.contents(sizes)).filter(({ id }) => used.has(id));
  await lock.check();
  for (const id of removed) await repository.removeBackup(id);
  await lock.check();
  await repository.removePacks(unused.map(([id]) => id));
  const files = await repository.index(left);
  await repository.removeIndexBut(files);
  await repository.removeDrafts();
  return pruned;
}

/** Returns the Monday of the week of a backup. */
function weekOf(id: string): string {
  const day = new Date(`${id.slice(0, 10)}T00:00:00Z`);
  day.setUTCDate(day.getUTCDate() - ((day.getUTCDay() + 6) % 7));
  return day.toISOString().slice(0, 10);
}
