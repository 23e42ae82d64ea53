import { randomBytes } from 'node:crypto';
import { closeSync, openSync, readSync, renameSync } from 'node:fs';
import { readdir, rm, stat, statfs } from 'node:fs/promises';
import { join } from 'node:path';
import { syncDirectory } from '../../../shared/adapters/embedded/durable-directory.ts';
import { LmdbEnvironment } from '../../../shared/adapters/embedded/table/lmdb-environment.ts';
import { LmdbTable } from '../../../shared/adapters/embedded/table/lmdb-table.ts';
import { giveToOwnerOf } from '../../../shared/adapters/embedded/private-path.ts';
import { StoredEntries } from '../../../shared/adapters/embedded/table-file/stored-entries.ts';
import { CryptoRandomness } from '../../../shared/adapters/system/crypto-randomness.ts';
import { isFollowed } from '../../../shared/storage/table/keys/keys.ts';
import { claimLayout, sealedLayout } from '../../../shared/storage/table/layout.ts';
import { sizeText } from '../../../shared/command-line/sizes.ts';
import { OperatorError } from '../../../shared/errors/operator-error.ts';
import { cannotUse, claimLayoutOf, endProcess } from '../data-directory/data-directory.ts';
import { lockDirectory } from '../data-directory/service-lock.ts';
import { examineTable, refuseIfUnfit, type Examined } from './examination.ts';

/** The result of a compaction: the size of the table's file in bytes. */
export interface Compacted {
  readonly sizeBefore: number;
  readonly sizeAfter: number;
}

/** Options of {@link compact}. */
export interface CompactOptions {
  /** True to store items with checksums from now on, which earlier versions cannot read. */
  readonly seals?: boolean;
}

/** The space that the copy of a table may need beyond the pages in use, as it fills pages differently: a share of them, and bytes. */
const spareShare = 0.25;
const spareBytes = 16 * 1024 * 1024;
/** The size of the two pages at the beginning of the file, in bytes, for the largest pages of any machine. */
const metaPagesSize = 2 * 64 * 1024;

/**
 * Rewrites the table of a data directory without free pages, and replaces the old one with it. Until then, and if anything
 * fails, the old one stays unchanged. No service can start meanwhile.
 * @throws OperatorError if a service runs on the directory, there is too little space, or the table is damaged or used meanwhile
 */
export async function compact(
  data: string,
  onProgress: (pages: number) => void,
  { seals = false }: CompactOptions = {},
): Promise<Compacted> {
  await refuseIfUnfit(data);
  const randomness = new CryptoRandomness();
  const directory = join(data, 'table');
  const environment = await LmdbEnvironment.open(directory).catch((error: unknown) => {
    throw cannotUse(data, error);
  });
  try {
    const table = new LmdbTable(environment, { isFollowed });
    await claimLayoutOf(table).catch((error: unknown) => {
      throw cannotUse(data, error);
    });
    const lock = await lockDirectory(data, table, randomness, () => endProcess(data, 'unreachable'));
    try {
      return await replaceTable(data, environment, onProgress, seals);
    } finally {
      await lock.release();
    }
  } finally {
    await environment.close();
  }
}

async function replaceTable(
  data: string,
  environment: LmdbEnvironment,
  onProgress: (pages: number) => void,
  seals: boolean,
): Promise<Compacted> {
  const { directory } = environment;
  const path = join(directory, 'data.mdb');
  await removeDrafts(directory);
  const sizeBefore = (await stat(path)).size;
  await checkSpace(data, sizeBefore);
  const draft = join(directory, `${randomBytes(6).toString('hex')}.draft`);
  try {
    const before = metaPages(path);
    const { findings } = await copyEntries(data, draft, onProgress, seals);
    if (findings > 0) {
      throw new OperatorError(
        `--data: the table in ${data} is damaged: stillage doctor --data ${data} says where, and what to do`,
      );
    }
    if (seals) await claimSealedLayout(draft);
    const copy = join(draft, 'data.mdb');
    const sizeAfter = (await stat(copy)).size;
    await giveToOwnerOf(path, copy);
    // Within a transaction, so that no other process can commit to the old file any more.
    await environment.run(() => {
      if (!metaPages(path).equals(before) || environment.otherReaders().length > 0) {
        throw new OperatorError(`--data: another command uses ${data}: try again when it has ended`);
      }
      renameSync(copy, path);
    });
    await syncDirectory(directory);
    return { sizeBefore, sizeAfter };
  } finally {
    await rm(draft, { recursive: true, force: true });
  }
}

/** Copies all entries into a new table. Each transaction is synced before it ends. */
async function copyEntries(
  data: string,
  draft: string,
  onProgress: (pages: number) => void,
  seals: boolean,
): Promise<Examined> {
  const entries = await StoredEntries.create(draft, { seals });
  try {
    return await examineTable(data, {
      onFinding: () => undefined,
      onProgress,
      onEntry: (entry) => entries.put(entry),
    });
  } finally {
    await entries.close();
  }
}

/** Records the layout of a table whose items have checksums; the record itself has none, so that earlier versions can read it. */
async function claimSealedLayout(directory: string): Promise<void> {
  const table = await LmdbTable.open(directory, { isFollowed });
  try {
    await claimLayout({ table, randomness: new CryptoRandomness() }, sealedLayout);
  } finally {
    await table.close();
  }
}

/** Removes the files of a compaction that was killed. */
async function removeDrafts(directory: string): Promise<void> {
  const drafts = (await readdir(directory)).filter((name) => name.endsWith('.draft'));
  await Promise.all(drafts.map((name) => rm(join(directory, name), { recursive: true, force: true })));
}

/** Refuses a disk without space for a copy. How much of the table is in use is found out only where the disk has no space for all of it. */
async function checkSpace(data: string, size: number): Promise<void> {
  const { bavail, bsize } = await statfs(data);
  const neededFor = (copied: number): number => Math.round(copied * (1 + spareShare)) + spareBytes;
  if (bavail * bsize >= neededFor(size)) return;
  const { usedSize } = await examineTable(data, { onFinding: () => undefined, onProgress: () => undefined });
  const needed = neededFor(usedSize);
  if (bavail * bsize >= needed) return;
  throw new OperatorError(
    `--data: ${sizeText(bavail * bsize)} are free on the disk of ${data}, and ${sizeText(needed)} may be needed: make room (stillage release frees the bytes of deleted versions), or copy it to another disk with stillage doctor --rescue`,
  );
}

/** Returns the beginning of the file, with the pages that lead to all others. Every commit changes one of them. */
function metaPages(path: string): Buffer {
  const file = openSync(path, 'r');
  try {
    const pages = Buffer.alloc(metaPagesSize);
    readSync(file, pages, 0, metaPagesSize, 0);
    return pages;
  } finally {
    closeSync(file);
  }
}
