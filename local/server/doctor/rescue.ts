import { constants } from 'node:fs';
import { chmod, copyFile, mkdir, open, readdir } from 'node:fs/promises';
import { dirname, join, relative } from 'node:path';
import { ensureDirectory, syncDirectory } from '../../../shared/adapters/embedded/durable-directory.ts';
import { StoredEntries } from '../../../shared/adapters/embedded/table-file/stored-entries.ts';
import { OperatorError } from '../../../shared/errors/operator-error.ts';
import { examine, refuseIfUnfit, type DirectoryFinding, type Examined, type Examination } from './examination.ts';

/** The result of a rescue. */
export interface Rescued extends Examined {
  /** The number of blob and key files copied, and of those that could not be read. */
  readonly files: number;
  readonly filesLost: number;
}

/**
 * Copies what can be read of a data directory into a new one: the entries of all sound pages into a new table, and every
 * file beside it. Items that cannot be decoded are copied as they are: they stay damaged, and are not treated as missing. The new
 * table has no free pages.
 * @param target a directory that is missing or empty
 * @throws OperatorError
 */
export async function rescue(
  data: string,
  target: string,
  { onFinding, onProgress }: Pick<Examination, 'onFinding' | 'onProgress'>,
): Promise<Rescued> {
  await refuseIfUnfit(data);
  await prepareTarget(data, target);
  const entries = await StoredEntries.create(join(target, 'table'));
  let examined: Examined;
  try {
    examined = await examine(data, { onFinding, onProgress, onEntry: (entry) => entries.put(entry) });
  } finally {
    await entries.close();
  }
  const copied = await copyFiles(data, target, onFinding);
  return { ...examined, ...copied, findings: examined.findings + copied.filesLost };
}

async function prepareTarget(data: string, target: string): Promise<void> {
  if (!relative(data, target).startsWith('..')) {
    throw new OperatorError(`--rescue: ${target} is in ${data}: name a directory outside it`);
  }
  try {
    await ensureDirectory(target);
    if ((await readdir(target)).length === 0) return;
  } catch (error) {
    throw new OperatorError(`--rescue: cannot create ${target}: ${(error as Error).message}`);
  }
  throw new OperatorError(`--rescue: ${target} is not empty: name a new directory`);
}

/** Copies everything but the table, file by file. */
async function copyFiles(
  data: string,
  target: string,
  onFinding: (finding: DirectoryFinding) => void,
): Promise<{ readonly files: number; readonly filesLost: number }> {
  let [files, filesLost] = [0, 0];
  const copyAll = async (below: string): Promise<void> => {
    for (const entry of await readdir(join(data, below), { withFileTypes: true })) {
      const path = join(below, entry.name);
      if (path === 'table') continue;
      if (entry.isDirectory()) {
        await mkdir(join(target, path), { mode: 0o700 });
        await copyAll(path);
      } else if (entry.isFile()) {
        try {
          await copyDurably(join(data, path), join(target, path));
          files += 1;
        } catch (error) {
          // If the new directory is full or read-only, all later files would be lost.
          if ((error as NodeJS.ErrnoException).code !== 'EIO') throw error;
          filesLost += 1;
          onFinding({ kind: 'file', where: path, what: 'it cannot be read' });
        }
      }
    }
    await syncDirectory(join(target, below));
  };
  await copyAll('.');
  await syncDirectory(dirname(target));
  return { files, filesLost };
}

/** Copies a file and syncs it. The copy shares the blocks of the file if the file system supports that. */
async function copyDurably(from: string, to: string): Promise<void> {
  await copyFile(from, to, constants.COPYFILE_FICLONE);
  await chmod(to, 0o600);
  const file = await open(to, 'r+');
  try {
    await file.datasync();
  } finally {
    await file.close();
  }
}
