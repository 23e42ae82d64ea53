import { inParallel } from '../storage/concurrency.ts';
import type { BackupRecord } from './backup-record.ts';
import { parseEntryName } from './entry-names.ts';
import { usesOf, type UsedPack } from './pack-index.ts';
import type { Repository } from './repository.ts';
import { DamagedFile } from './sealed-file.ts';
import { entriesOf } from './table-chunks.ts';

/** The number of packs that are read at the same time. Each is in memory. */
const packsTogether = 3;

/** Damage of a repository. */
export interface BackupFinding {
  /** The file. */
  readonly where: string;
  readonly what: string;
  /** The backups that cannot be restored because of it. */
  readonly backups: readonly string[];
}

export interface Verified {
  readonly backups: number;
  readonly packs: number;
  readonly bytes: number;
  readonly findings: number;
}

export interface Verification {
  readonly onFinding: (finding: BackupFinding) => void;
  readonly onProgress: (done: { readonly packs: number; readonly of: number; readonly bytes: number }) => void;
}

/**
 * Checks that every backup can be restored: reads its record, and every pack that it uses, whose bytes must be those that were written, with
 * all entries that the backup needs.
 * @param options.quick only checks that the packs are there
 */
export async function verifyBackups(
  repository: Repository,
  { onFinding, onProgress }: Verification,
  { quick = false }: { readonly quick?: boolean } = {},
): Promise<Verified> {
  let findings = 0;
  const found = (where: string, what: string, backups: readonly string[]): void => {
    findings += 1;
    onFinding({ where, what, backups });
  };
  const sizes = await repository.packSizes();
  const ids = await repository.backupIds();
  const uses = new Map<string, User[]>();
  const records = new Map<string, Counts>();
  for (const id of ids) {
    let record: BackupRecord;
    try {
      record = await repository.backup(id);
    } catch (error) {
      found(`backups/${id}`, (error as Error).message, [id]);
      continue;
    }
    const left = { items: record.items, blobs: record.blobs };
    records.set(id, left);
    for (const pack of record.packs) {
      const users = uses.get(pack[0]) ?? [];
      users.push({ backup: id, pack, left });
      uses.set(pack[0], users);
    }
  }
  const done = { packs: 0, of: uses.size, bytes: 0 };
  await inParallel(uses, packsTogether, async ([id, users]) => {
    const size = sizes.get(id);
    const backups = users.map(({ backup }) => backup);
    const damage = size === undefined ? 'it is missing' : quick ? undefined : await damageOf(repository, id, users);
    if (damage !== undefined) {
      found(`pack ${id}`, damage, backups);
      for (const backup of backups) records.delete(backup);
    }
    done.packs += 1;
    done.bytes += quick ? 0 : (size ?? 0);
    onProgress(done);
  });
  for (const [id, { items, blobs }] of quick ? [] : records) {
    if (items !== 0 || blobs !== 0) found(`backups/${id}`, 'it has not as many items and blobs as it should', [id]);
  }
  return { backups: ids.length, packs: done.packs, bytes: done.bytes, findings };
}

/** The items and blobs of a backup that were not found yet. */
interface Counts {
  items: number;
  blobs: number;
}

/** A backup that uses a pack. */
interface User {
  readonly backup: string;
  readonly pack: UsedPack;
  readonly left: Counts;
}

async function damageOf(repository: Repository, id: string, users: readonly User[]): Promise<string | undefined> {
  try {
    const pack = await repository.pack(id);
    const uses = users.map((user) => ({ isUsed: usesOf(user.pack), left: user.left }));
    const last = users.reduce((most, user) => Math.max(most, lastEntry(user.pack)), -1);
    if (last >= pack.entries.length) return 'it has fewer entries than a backup needs';
    for (const [entry, name, content] of pack.contents((number) => uses.some(({ isUsed }) => isUsed(number)))) {
      const parsed = parseEntryName(name);
      const items = parsed.kind === 'table' ? entriesOf(content).length : 0;
      const blobs = parsed.kind === 'blob' && parsed.piece === 0 ? 1 : 0;
      for (const { isUsed, left } of uses) {
        if (!isUsed(entry)) continue;
        left.items -= items;
        left.blobs -= blobs;
      }
    }
    return undefined;
  } catch (error) {
    if (error instanceof DamagedFile) return error.message;
    throw error;
  }
}

/** Returns the number of the last entry that a backup uses. */
function lastEntry([, entries]: UsedPack): number {
  const bits = Buffer.from(entries, 'base64');
  return bits.length * 8 - Math.clz32(bits.at(-1) ?? 0) + 23;
}
