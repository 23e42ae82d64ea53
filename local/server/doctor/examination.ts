import { access, statfs } from 'node:fs/promises';
import { join } from 'node:path';
import { KeyFileSecrets } from '../../../shared/adapters/embedded/key-file-secrets.ts';
import {
  damageOf,
  isWritten,
  itemOf,
  lostWith,
  nameOf,
} from '../../../shared/adapters/embedded/table-file/stored-entries.ts';
import { NotATable, TablePages, type StoredEntry } from '../../../shared/adapters/embedded/table-file/table-pages.ts';
import { isWritable } from '../../../shared/adapters/embedded/blobs/writable.ts';
import { OperatorError } from '../../../shared/errors/operator-error.ts';
import { checkLayoutItem, layoutKey } from '../../../shared/storage/table/layout.ts';
import { cannotUse } from '../data-directory/data-directory.ts';
import { isServed } from '../data-directory/service-lock.ts';

/** A finding: damage of a data directory. */
export interface DirectoryFinding {
  readonly kind: 'key-file' | 'table-file' | 'page' | 'item' | 'small-blob' | 'directory' | 'file';
  /** The file, page, item or blob. */
  readonly where: string;
  readonly what: string;
}

/** The amounts that an examination has read. */
export interface Examined {
  /** The number of pages in use that were read. */
  readonly pages: number;
  readonly items: number;
  readonly smallBlobs: number;
  /** The size of the table's file in bytes, and that of its pages in use. */
  readonly tableSize: number;
  readonly usedSize: number;
  readonly findings: number;
}

export interface Examination {
  readonly onFinding: (finding: DirectoryFinding) => void;
  /** Called from time to time with the number of pages read. */
  readonly onProgress: (pages: number) => void;
  /** Called for every entry on a sound page of the table; the entry itself may be damaged. */
  readonly onEntry?: (entry: StoredEntry) => Promise<void>;
}

/** The free space below which a table soon cannot grow, in bytes. */
const littleSpace = 64 * 1024 * 1024;

/**
 * Examines the files of a data directory that no service uses. Does not use the engine, which trusts its file. Changes nothing. Once the
 * files are sound, a scrub checks that blobs and table are consistent.
 * @throws OperatorError if it is not a data directory, or is in use
 */
export async function examine(data: string, examination: Examination): Promise<Examined> {
  await refuseIfUnfit(data);
  let findings = 0;
  await examineDirectory(data, (kind, where, what) => {
    findings += 1;
    examination.onFinding({ kind, where, what });
  });
  const examined = await examineTable(data, examination);
  return { ...examined, findings: findings + examined.findings };
}

/**
 * Examines the table of a data directory that nothing commits to. Changes nothing.
 * @throws OperatorError if a later version wrote it, in a layout that this one cannot read
 */
export async function examineTable(data: string, { onFinding, onProgress, onEntry }: Examination): Promise<Examined> {
  let findings = 0;
  const found: Found = (kind, where, what) => {
    findings += 1;
    onFinding({ kind, where, what });
  };
  const table = await openTable(join(data, 'table', 'data.mdb'), found);
  if (table === undefined) return { pages: 0, items: 0, smallBlobs: 0, tableSize: 0, usedSize: 0, findings };
  const counts = { items: 0, blobs: 0 };
  try {
    await table.walk({
      onEntry: async (entry) => {
        if (entry.database === 'items') counts.items += 1;
        if (entry.database === 'blobs') counts.blobs += 1;
        const damage = damageOf(entry);
        if (damage === undefined) checkLayoutOf(data, entry);
        else found(entry.database === 'items' ? 'item' : 'small-blob', nameOf(entry), damage);
        await onEntry?.(entry);
      },
      isWritten,
      onDamage: (damage) => {
        found('page', String(damage.page), `${damage.what}; lost: ${lostWith(damage)}`);
        return true;
      },
      onProgress,
    });
    return {
      pages: table.pagesUsed,
      items: counts.items,
      smallBlobs: counts.blobs,
      tableSize: table.pagesThere * table.pageSize,
      usedSize: table.pagesUsed * table.pageSize,
      findings,
    };
  } finally {
    await table.close();
  }
}

/** @throws OperatorError if the entry names a layout that this program does not know */
function checkLayoutOf(data: string, entry: StoredEntry): void {
  const item = itemOf(entry, layoutKey);
  if (item === undefined) return;
  try {
    checkLayoutItem(item, 'read');
  } catch (error) {
    throw cannotUse(data, error);
  }
}

type Found = (kind: DirectoryFinding['kind'], where: string, what: string) => void;

/** @throws OperatorError if this is not a data directory, or a service runs on it */
export async function refuseIfUnfit(data: string): Promise<void> {
  try {
    await access(join(data, 'table', 'data.mdb'));
    if (!(await isServed(data))) return;
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    const isMissing = code === 'ENOENT' || code === 'ENOTDIR';
    throw new OperatorError(
      isMissing
        ? `--data: ${data} is not a data directory: it has no table/data.mdb`
        : `--data: cannot use ${data}: ${message}`,
    );
  }
  throw new OperatorError(`--data: a service runs on ${data}: stop it first, since its files change while it runs`);
}

async function examineDirectory(data: string, found: Found): Promise<void> {
  const key = join(data, 'master.key');
  const hasKey = await access(key).then(
    () => true,
    () => false,
  );
  if (!hasKey)
    found('key-file', key, 'it is missing, and secrets cannot be decrypted without it; restore it from a backup');
  else await KeyFileSecrets.open(key).catch((error: Error) => found('key-file', key, error.message));

  const { bavail, bsize } = await statfs(data);
  if (bavail * bsize < littleSpace)
    found('directory', data, 'the disk is full, or nearly so; deleting needs some space, too');
  const canWrite = await isWritable(data).catch(() => false);
  if (!canWrite && bavail * bsize >= littleSpace) found('directory', data, 'it cannot be written to');
}

async function openTable(path: string, found: Found): Promise<TablePages | undefined> {
  try {
    const table = await TablePages.open(path);
    if (table === undefined)
      found('table-file', path, 'it is empty; restore a backup unless the service was never used');
    return table;
  } catch (error) {
    if (!(error instanceof NotATable)) throw error;
    found('table-file', path, 'it is not a table; restore it from a backup');
    return undefined;
  }
}
