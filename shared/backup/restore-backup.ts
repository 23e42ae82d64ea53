import { OperatorError } from '../errors/operator-error.ts';
import { inParallel } from '../storage/concurrency.ts';
import type { BackupRecord, BackupSummary } from './backup-record.ts';
import { parseEntryName, pieceBytes } from './entry-names.ts';
import { usesOf } from './pack-index.ts';
import type { Repository } from './repository.ts';
import { DamagedFile } from './sealed-file.ts';
import { entriesOf, type TableEntry } from './table-chunks.ts';

/** The number of packs that are read at the same time. Each is in memory. */
const packsTogether = 3;
/** The number of entries of a pack that are written at the same time: most of the time, a disk syncs them. */
const entriesTogether = 8;

/** Takes what is restored, in any order. */
export interface RestoreSink {
  entry(entry: TableEntry): Promise<void>;
  /** A part of the stored form of a blob. */
  blob(ref: string, start: number, bytes: Buffer): Promise<void>;
}

export interface RestoreProgress {
  readonly packs: number;
  readonly of: number;
  readonly bytes: number;
}

/** Returns the newest backup, or the newest at or before a time. @throws OperatorError */
export async function backupAt(repository: Repository, to: number | undefined): Promise<BackupRecord> {
  const ids = await repository.backupIds();
  // Their names have seconds.
  const id = ids.findLast((one) => to === undefined || timeOf(one) <= to);
  if (id !== undefined) return repository.backup(id);
  const oldest = ids[0] === undefined ? '' : `: the oldest is ${ids[0]}`;
  throw new OperatorError(
    `${repository.target.name} has no backup ${to === undefined ? '' : 'of that time or before'}${oldest}`,
  );
}

/**
 * Reads a backup. Every byte is verified before it is passed on.
 * @throws OperatorError if a pack is damaged or missing
 */
export async function restoreBackup(
  repository: Repository,
  record: BackupRecord,
  sink: RestoreSink,
  onProgress: (progress: RestoreProgress) => void,
): Promise<BackupSummary> {
  const done = { packs: 0, of: record.packs.length, bytes: 0, items: 0, blobs: 0 };
  await inParallel(record.packs, packsTogether, async (used) => {
    const [id] = used;
    try {
      const pack = await repository.pack(id);
      await inParallel(pack.contents(usesOf(used)), entriesTogether, async ([, name, content]) => {
        const parsed = parseEntryName(name);
        if (parsed.kind === 'blob') {
          await sink.blob(parsed.ref, parsed.piece * pieceBytes, content);
          if (parsed.piece === 0) done.blobs += 1;
          done.bytes += content.length;
          return;
        }
        for (const entry of entriesOf(content)) {
          await sink.entry(entry);
          done.items += 1;
        }
      });
    } catch (error) {
      if (!(error instanceof DamagedFile)) throw error;
      throw new OperatorError(
        `the pack ${id} of the backup ${record.id} cannot be used: ${error.message}; stillage backup verify tells which backups are whole`,
      );
    }
    done.packs += 1;
    onProgress(done);
  });
  if (done.items === record.items && done.blobs === record.blobs) return record;
  throw new OperatorError(
    `the backup ${record.id} has ${done.items} items and ${done.blobs} blobs instead of ${record.items} and ${record.blobs}`,
  );
}

function timeOf(id: string): number {
  const [date, time] = id.split('T') as [string, string];
  return Date.parse(`${date}T${time.slice(0, 8).replaceAll('-', ':')}Z`);
}
