import { createHash } from 'node:crypto';
import { OperatorError } from '../errors/operator-error.ts';
import { draftsFolder, type BackupTarget } from '../ports/backup-target.ts';
import type { Randomness } from '../ports/randomness.ts';
import { inParallel } from '../storage/concurrency.ts';
import {
  backupOf,
  backupsFolder,
  decodeRecord,
  encodeRecord,
  openedJson,
  sealedJson,
  type BackupRecord,
} from './backup-record.ts';
import { Pack, packFile, packOf, packsFolder } from './packs.ts';
import { createKeys, noRepository, openKeys, type RepositoryKeys } from './repository-key.ts';
import { DamagedFile } from './sealed-file.ts';

const indexFolder = 'index/';
/** The number of entries that a file of the index has at most, or a pack more. */
const entriesPerIndex = 100_000;
/** The number of files that are read at the same time. */
const filesTogether = 4;

/** The names of the entries of a pack. */
export interface PackContents {
  readonly id: string;
  readonly names: readonly string[];
}

/** The backups in a target. */
export class Repository {
  readonly target: BackupTarget;
  readonly keys: RepositoryKeys;
  readonly randomness: Randomness;

  private constructor(target: BackupTarget, keys: RepositoryKeys, randomness: Randomness) {
    this.target = target;
    this.keys = keys;
    this.randomness = randomness;
  }

  /** @throws OperatorError if there is none, or for another passphrase */
  static async open(target: BackupTarget, passphrase: Uint8Array, randomness: Randomness): Promise<Repository> {
    const keys = await openKeys(target, passphrase);
    if (keys === undefined) throw noRepository(target);
    return new Repository(target, keys, randomness);
  }

  /** Opens it, or creates it in an empty target. @throws OperatorError */
  static async openOrCreate(target: BackupTarget, passphrase: Uint8Array, randomness: Randomness): Promise<Repository> {
    const keys = await openKeys(target, passphrase);
    if (keys !== undefined) return new Repository(target, keys, randomness);
    for await (const { name } of target.list('')) {
      if (name.startsWith(draftsFolder)) continue;
      throw new OperatorError(`${target.name} has other files (${name}), and no backups: name an empty place`);
    }
    return new Repository(target, await createKeys(target, passphrase, randomness), randomness);
  }

  /** Returns the ids of all backups, oldest first. */
  async backupIds(): Promise<readonly string[]> {
    const ids: string[] = [];
    for await (const { name } of this.target.list(backupsFolder)) {
      const id = backupOf(name);
      if (id !== undefined) ids.push(id);
    }
    return ids.sort();
  }

  /** Reads the record of a backup. @throws OperatorError if it is missing or damaged */
  async backup(id: string): Promise<BackupRecord> {
    const bytes = await this.target.get(backupsFolder + id);
    if (bytes === undefined) throw new OperatorError(`${this.target.name} has no backup ${id}`);
    try {
      return decodeRecord(this.keys.content, bytes, id);
    } catch (error) {
      if (!(error instanceof DamagedFile)) throw error;
      throw new OperatorError(`the record of the backup ${id} is damaged: ${error.message}`);
    }
  }

  async record(record: BackupRecord): Promise<void> {
    await this.target.put(backupsFolder + record.id, encodeRecord(this.keys.content, record, this.randomness));
  }

  async removeBackup(id: string): Promise<void> {
    await this.target.remove([backupsFolder + id]);
  }

  /** Returns the sizes of all packs by their ids. */
  async packSizes(): Promise<ReadonlyMap<string, number>> {
    const sizes = new Map<string, number>();
    for await (const { name, size } of this.target.list(packsFolder)) {
      const id = packOf(name);
      if (id !== undefined) sizes.set(id, size);
    }
    return sizes;
  }

  /** Reads a pack. @throws DamagedFile if it is missing, or not what was written */
  async pack(id: string): Promise<Pack> {
    const bytes = await this.target.get(packFile(id));
    if (bytes === undefined) throw new DamagedFile('it is missing');
    return new Pack(this.keys.content, id, bytes);
  }

  /** Returns the names of the entries of all packs; of packs that no index file lists, as a backup was killed, from the packs themselves. */
  async contents(sizes: ReadonlyMap<string, number>): Promise<readonly PackContents[]> {
    const found = new Map<string, PackContents>();
    for await (const { name } of this.target.list(indexFolder)) {
      for (const pack of await this.#indexFile(name)) if (sizes.has(pack.id)) found.set(pack.id, pack);
    }
    const others = [...sizes.keys()].filter((id) => !found.has(id));
    await inParallel(others, filesTogether, async (id) => {
      try {
        found.set(id, { id, names: (await this.pack(id)).entries.map(([name]) => name) });
      } catch (error) {
        // What is in it is stored again.
        if (!(error instanceof DamagedFile)) throw error;
      }
    });
    return [...found.values()];
  }

  /** Writes index files of packs. @returns their names */
  async index(packs: readonly PackContents[]): Promise<readonly string[]> {
    const files: string[] = [];
    for (let at = 0; at < packs.length;) {
      const some: (readonly [id: string, names: readonly string[]])[] = [];
      for (let entries = 0; at < packs.length && entries < entriesPerIndex; at += 1) {
        const { id, names } = packs[at]!;
        some.push([id, names]);
        entries += names.length;
      }
      const bytes = sealedJson(this.keys.content, 'index', some, this.randomness);
      const file = indexFolder + createHash('sha256').update(bytes).digest('hex');
      await this.target.put(file, bytes);
      files.push(file);
    }
    return files;
  }

  /** Removes all index files but these. */
  async removeIndexBut(kept: readonly string[]): Promise<void> {
    const former: string[] = [];
    for await (const { name } of this.target.list(indexFolder)) if (!kept.includes(name)) former.push(name);
    await this.target.remove(former);
  }

  /** Removes what processes left that were killed. */
  async removeDrafts(): Promise<void> {
    for await (const { name } of this.target.list(draftsFolder)) await this.target.remove([name]);
  }

  async removePacks(ids: readonly string[]): Promise<void> {
    await this.target.remove(ids.map(packFile));
  }

  /** Reads an index file. A damaged one is as good as none: the packs have all that it tells. */
  async #indexFile(file: string): Promise<readonly PackContents[]> {
    const bytes = await this.target.get(file);
    if (bytes === undefined) return [];
    try {
      const packs = openedJson(this.keys.content, 'index', bytes) as readonly [string, readonly string[]][];
      return packs.map(([id, names]) => ({ id, names }));
    } catch (error) {
      if (error instanceof DamagedFile) return [];
      throw error;
    }
  }
}
