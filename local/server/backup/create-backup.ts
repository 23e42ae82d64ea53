import { setImmediate } from 'node:timers/promises';
import { backupId, type BackupRecord, type Unread } from '../../../shared/backup/backup-record.ts';
import { BackupWriter } from '../../../shared/backup/backup-writer.ts';
import { pieceBytes, piecesOf } from '../../../shared/backup/entry-names.ts';
import type { Repository } from '../../../shared/backup/repository.ts';
import { chunks } from '../../../shared/backup/table-chunks.ts';
import type { TargetLock } from '../../../shared/backup/target-lock.ts';
import { BufferPool } from '../../../shared/adapters/embedded/blobs/buffer-pool.ts';
import type { StoredBlob } from '../../../shared/adapters/embedded/blobs/file-blob-store.ts';
import { storedMemory } from '../../../shared/adapters/embedded/blobs/file-reader.ts';
import { BlobDamaged, BlobMissing } from '../../../shared/ports/blob-store.ts';
import { OperatorError } from '../../../shared/errors/operator-error.ts';
import type { Clock } from '../../../shared/ports/clock.ts';
import type { Randomness } from '../../../shared/ports/randomness.ts';
import { inParallel } from '../../../shared/storage/concurrency.ts';
import type { DataDirectory } from '../data-directory/data-directory.ts';
import { BackupLease } from './backup-leases.ts';
import { chunkHash, tableEntries } from './moment-contents.ts';
import { marksIn, smallFiles } from './small-files.ts';

/** The number of blobs that are read at the same time, each into memory of a piece. */
const blobsTogether = 8;
/** The number of things that could not be read that the record names. */
const maxExamples = 100;

/** How far a backup is. */
export interface BackupProgress {
  readonly items: number;
  /** New blobs that were read, and all of them; 0 while the table is read. */
  readonly blobs: number;
  readonly of: number;
  /** The bytes written to the target. */
  readonly added: number;
}

export interface BackupJob {
  readonly data: string;
  readonly opened: DataDirectory;
  readonly clock: Clock;
  readonly randomness: Randomness;
  readonly repository: Repository;
  readonly lock: TargetLock;
  /** The version of the program. */
  readonly program: string;
  readonly onUnread: (unread: Unread) => void;
  readonly onProgress: (progress: BackupProgress) => void;
}

/**
 * Backs up a data directory as it is at one moment, while its service runs or not. Reads the table first, and then the blobs that it refers to,
 * which are not removed meanwhile. What the repository has is not read again, so that a backup that was killed is resumed by the next one.
 * @throws OperatorError, with nothing recorded
 */
export async function createBackup(job: BackupJob): Promise<BackupRecord> {
  const { opened, clock, randomness, repository, lock } = job;
  const began = clock.now();
  const files = await smallFiles(job.data);
  await refuseOthers(repository, files);
  const writer = await BackupWriter.begin(repository);
  const lease = await BackupLease.take({ table: opened.table, clock, randomness });
  try {
    const unread = new UnreadThings(job.onUnread);
    const { at, items, missing } = await writeTable(job, writer, lease, unread);
    await writeBlobs(job, writer, items, missing, unread);
    return await writer.finish(
      ({ added, blobs, size }) => ({
        id: backupId(at, randomness),
        at,
        program: job.program,
        items,
        blobs,
        size,
        added,
        took: clock.now() - began,
        unread: unread.count,
        examples: unread.examples,
        files,
      }),
      async () => {
        lease.check();
        await lock.check();
      },
    );
  } catch (error) {
    await writer.abandon();
    throw error;
  } finally {
    await lease.end();
  }
}

/** Writes the table. @returns its moment, and the blobs that the repository does not have */
async function writeTable(
  { opened, clock, onProgress }: BackupJob,
  writer: BackupWriter,
  lease: BackupLease,
  unread: UnreadThings,
): Promise<{ readonly at: number; readonly items: number; readonly missing: ReadonlySet<string> }> {
  const missing = new Set<string>();
  let items = 0;
  // What was acknowledged before this time is in the moment, and no blob in it was written after the other one.
  const at = clock.now();
  const moment = opened.moment();
  try {
    await lease.needsUntil(clock.now());
    const onBlob = (ref: string): void => {
      if (!missing.has(ref) && !writer.useBlob(ref)) missing.add(ref);
    };
    const entries = tableEntries(moment, { onBlob, onUnread: (one) => unread.add(one) });
    for (const chunk of chunks(entries, chunkHash)) {
      await writer.addChunk(chunk.bytes);
      // Chunks that are there already take no time to write, and the lease is to be renewed meanwhile.
      await setImmediate();
      items += chunk.entries;
      onProgress({ items, blobs: 0, of: 0, added: writer.added });
    }
    return { at, items, missing };
  } finally {
    moment.end();
  }
}

async function writeBlobs(
  { opened, onProgress }: BackupJob,
  writer: BackupWriter,
  items: number,
  missing: ReadonlySet<string>,
  unread: UnreadThings,
): Promise<void> {
  let blobs = 0;
  const memories = new BufferPool(storedMemory(pieceBytes), blobsTogether);
  await inParallel(missing, blobsTogether, async (ref) => {
    const memory = memories.take();
    try {
      const blob = await opened.blobs.stored(ref, memory);
      try {
        await writeBlob(writer, ref, blob);
      } finally {
        blob.close();
      }
    } catch (error) {
      const isOfBlob = error instanceof BlobDamaged || error instanceof BlobMissing;
      // As a disk reports what it cannot read.
      if (!isOfBlob && (error as NodeJS.ErrnoException).code !== 'EIO') throw error;
      unread.add({ where: `blob ${ref}`, what: (error as Error).message });
    } finally {
      memories.give(memory);
    }
    blobs += 1;
    onProgress({ items, blobs, of: missing.size, added: writer.added });
  });
}

async function writeBlob(writer: BackupWriter, ref: string, blob: StoredBlob): Promise<void> {
  const of = piecesOf(blob.size);
  for (let piece = 0; piece < of; piece += 1) {
    const start = piece * pieceBytes;
    await writer.addPiece(ref, piece, of, () => blob.read(start, Math.min(start + pieceBytes, blob.size)));
  }
}

/** Refuses a target with the backups of another data directory, which a restore or a prune would take for those of this one. @throws OperatorError */
async function refuseOthers(repository: Repository, files: Readonly<Record<string, string>>): Promise<void> {
  const ids = await repository.backupIds();
  const last = ids.at(-1) === undefined ? undefined : await repository.backup(ids.at(-1)!).catch(() => undefined);
  if (last === undefined || marksIn(last.files).some((mark) => files[mark] !== undefined)) return;
  throw new OperatorError(
    `${repository.target.name} has the backups of another data directory: name another directory or prefix for those of this one`,
  );
}

/** The things that could not be read, of which the first ones are kept. */
class UnreadThings {
  readonly examples: Unread[] = [];
  count = 0;
  readonly #tell: (unread: Unread) => void;

  constructor(tell: (unread: Unread) => void) {
    this.#tell = tell;
  }

  add(unread: Unread): void {
    this.count += 1;
    if (this.examples.length < maxExamples) this.examples.push(unread);
    this.#tell(unread);
  }
}
