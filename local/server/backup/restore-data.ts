import { open, readdir } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { ensureDirectory, syncDirectory } from '../../../shared/adapters/embedded/durable-directory.ts';
import { makePrivate } from '../../../shared/adapters/embedded/private-path.ts';
import { RestoredData } from '../../../shared/adapters/embedded/restored-data.ts';
import type { BackupRecord } from '../../../shared/backup/backup-record.ts';
import type { Repository } from '../../../shared/backup/repository.ts';
import { restoreBackup, type RestoreProgress } from '../../../shared/backup/restore-backup.ts';
import { OperatorError } from '../../../shared/errors/operator-error.ts';
import { examineTable } from '../doctor/examination.ts';
import { keyFile } from './small-files.ts';

/**
 * Restores a backup into a directory that is missing or empty. No service starts on it before all is there: its key file comes last.
 * @throws OperatorError
 */
export async function restoreData(
  repository: Repository,
  record: BackupRecord,
  data: string,
  onProgress: (progress: RestoreProgress) => void,
): Promise<void> {
  await prepare(data);
  const restored = await RestoredData.create(data);
  try {
    const sink = {
      entry: (entry: Parameters<RestoredData['put']>[0]) => restored.put(entry),
      blob: (ref: string, start: number, bytes: Buffer) => restored.write(ref, start, bytes),
    };
    await restoreBackup(repository, record, sink, onProgress);
  } finally {
    await restored.close();
  }
  const damage: string[] = [];
  await examineTable(data, {
    onFinding: ({ where, what }) => damage.push(`${where}: ${what}`),
    onProgress: () => undefined,
  });
  // What was damaged when the backup was made is so here as well.
  if (damage.length > record.unread)
    throw new OperatorError(`the table in ${data} is not what was backed up: ${damage[0]}`);
  const { [keyFile]: key, ...files } = record.files;
  for (const [name, content] of Object.entries(files)) await writeDurably(join(data, name), content);
  if (key !== undefined) await writeDurably(join(data, keyFile), key);
}

async function prepare(data: string): Promise<void> {
  try {
    await ensureDirectory(data);
    await makePrivate(data);
    if ((await readdir(data)).length === 0) return;
  } catch (error) {
    throw new OperatorError(`--data: cannot create ${data}: ${(error as Error).message}`);
  }
  throw new OperatorError(
    `--data: ${data} is not empty: name a new directory, or remove what a restore that ended early has left there`,
  );
}

async function writeDurably(path: string, content: string): Promise<void> {
  const file = await open(path, 'wx', 0o600);
  try {
    await file.writeFile(Buffer.from(content, 'base64'));
    await file.sync();
  } finally {
    await file.close();
  }
  await syncDirectory(dirname(path));
}
