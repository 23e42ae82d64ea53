import { randomBytes } from 'node:crypto';
import { link, open, readdir, readFile, rename, rm, stat } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { draftsFolder, TargetFailed, type BackupTarget, type TargetFile } from '../../ports/backup-target.ts';
import { ensureDirectory, syncDirectory } from '../embedded/durable-directory.ts';

/** Backups in a directory, such as that of another disk or a mounted share. It is never created. */
export class DirectoryTarget implements BackupTarget {
  readonly name: string;
  readonly #made = new Set<string>();

  constructor(directory: string) {
    this.name = directory;
  }

  async put(name: string, bytes: Uint8Array, { ifAbsent }: { readonly ifAbsent?: true } = {}): Promise<boolean> {
    return this.#trying('write to', async () => {
      const path = join(this.name, name);
      const written = join(this.name, draftsFolder, randomBytes(9).toString('hex'));
      // It would be the mount point of a disk that is not mounted.
      if (this.#made.size === 0 && (await stat(this.name).catch(unlessMissing)) === undefined) {
        throw new TargetFailed(`there is no directory ${this.name}: create it, or mount its disk`);
      }
      for (const needed of [dirname(path), dirname(written)]) {
        if (!this.#made.has(needed)) await ensureDirectory(needed);
        this.#made.add(needed);
      }
      try {
        const file = await open(written, 'wx', 0o600);
        try {
          await file.writeFile(bytes);
          await file.datasync();
        } finally {
          await file.close();
        }
        if (!ifAbsent) await rename(written, path);
        else if (!(await linked(written, path))) return false;
        await syncDirectory(dirname(path));
        return true;
      } finally {
        await rm(written, { force: true });
      }
    });
  }

  async get(name: string): Promise<Uint8Array | undefined> {
    return this.#trying('read', () => readFile(join(this.name, name)).catch(unlessMissing));
  }

  async *list(prefix: string): AsyncIterable<TargetFile> {
    const names = (await this.#trying('read', () => readdir(join(this.name, prefix)).catch(unlessMissing))) ?? [];
    for (const each of names) {
      const name = prefix + each;
      const found = await this.#trying('read', () => stat(join(this.name, name)).catch(unlessMissing));
      if (found?.isDirectory()) yield* this.list(`${name}/`);
      else if (found) yield { name, size: found.size, writtenAt: found.mtimeMs };
    }
  }

  async remove(names: readonly string[]): Promise<void> {
    await this.#trying('write to', async () => {
      for (const name of names) await rm(join(this.name, name), { force: true });
    });
  }

  async #trying<Result>(doing: string, work: () => Promise<Result>): Promise<Result> {
    try {
      return await work();
    } catch (cause) {
      const { code, message } = cause as NodeJS.ErrnoException;
      // It tells already, or is no failure of the directory.
      if (code === undefined) throw cause;
      const isFull = code === 'ENOSPC' || code === 'EDQUOT';
      const why = isFull ? 'it is full' : message;
      throw new TargetFailed(`cannot ${doing} ${this.name}: ${why}`, { cause });
    }
  }
}

/** Gives a file a name that is not taken. @returns false if it is */
async function linked(written: string, path: string): Promise<boolean> {
  try {
    await link(written, path);
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
    return false;
  }
}

function unlessMissing(error: NodeJS.ErrnoException): undefined {
  if (error.code === 'ENOENT' || error.code === 'ENOTDIR') return undefined;
  throw error;
}
