import { Slots } from '../storage/concurrency.ts';
import type { BackupRecord } from './backup-record.ts';
import { blobEntry, tableEntry } from './entry-names.ts';
import { PackIndex } from './pack-index.ts';
import { packFile, packMemory, PackWriter } from './packs.ts';
import type { PackContents, Repository } from './repository.ts';
import { packedChunk } from './table-chunks.ts';

/** The number of packs that are written at the same time. Each is in memory. */
const packsTogether = 3;
/** The number of packs after which an index file is written, so that a killed backup need not read them again. */
const packsPerIndex = 64;

/** Packs of one kind, which are filled one after the other: those of the table hold nothing else, so that reading it reads few. */
interface Open {
  readonly pack: number;
  readonly writer: PackWriter;
  readonly memory: Buffer;
}

/** What a backup uses in the repository, and what it added, in bytes. */
export interface Written {
  readonly blobs: number;
  readonly size: number;
  readonly added: number;
}

/** Adds a backup to a repository. Entries that are there already are not written again. */
export class BackupWriter {
  readonly #repository: Repository;
  readonly #index: PackIndex;
  readonly #slots = new Slots(packsTogether);
  readonly #open = new Map<'table' | 'blob', Open>();
  /** Memory of packs that are written: fresh memory costs the system more than what is put there. */
  readonly #free: Buffer[] = [];
  #writing: Promise<void>[] = [];
  #failure: { readonly error: unknown } | undefined;
  #unindexed: PackContents[] = [];
  #added = 0;

  private constructor(repository: Repository, index: PackIndex) {
    this.#repository = repository;
    this.#index = index;
  }

  /** Reads what the repository has. */
  static async begin(repository: Repository): Promise<BackupWriter> {
    const index = new PackIndex();
    const sizes = await repository.packSizes();
    for (const { id, names } of await repository.contents(sizes)) index.add(id, sizes.get(id)!, names);
    return new BackupWriter(repository, index);
  }

  /** The bytes written to the target. */
  get added(): number {
    return this.#added;
  }

  /** Adds a chunk of the table. */
  async addChunk(bytes: Buffer): Promise<void> {
    const name = tableEntry(this.#repository.keys.nameOf(bytes));
    if (!this.#index.use(name)) await this.#add('table', name, await packedChunk(bytes));
  }

  /** Uses a blob if it is there as a whole. */
  useBlob(ref: string): boolean {
    return this.#index.useBlob(ref);
  }

  /**
   * Adds a piece of a blob.
   * @param read called unless the piece is there
   */
  async addPiece(ref: string, piece: number, of: number, read: () => Promise<Uint8Array>): Promise<void> {
    const name = blobEntry(ref, piece, of);
    if (!this.#index.use(name)) await this.#add('blob', name, await read());
  }

  /** Writes what is left, and last of all the record. @param check throws if what is there may no longer be relied upon */
  async finish(
    describe: (written: Written) => Omit<BackupRecord, 'packs'>,
    check: () => Promise<void>,
  ): Promise<BackupRecord> {
    for (const kind of [...this.#open.keys()]) this.#write(kind);
    await Promise.all(this.#writing);
    if (this.#failure) throw this.#failure.error;
    await this.#repository.index(this.#unindexed);
    const { packs, ...used } = this.#index.used();
    const record = { ...describe({ ...used, added: this.#added }), packs };
    await check();
    await this.#repository.record(record);
    return record;
  }

  /** Waits for what is being written, after a failure. */
  async abandon(): Promise<void> {
    await Promise.all(this.#writing);
  }

  async #add(kind: 'table' | 'blob', name: string, content: Uint8Array): Promise<void> {
    // Packs that wait to be written are in memory. Whoever comes first after the wait opens the next one, and others may fill that meanwhile.
    while (!this.#open.has(kind) && this.#writing.length >= packsTogether) await Promise.race(this.#writing);
    if (this.#failure) throw this.#failure.error;
    const { pack, writer } = this.#open.get(kind) ?? this.#opened(kind);
    this.#index.addEntry(pack, writer.add(name, content), name);
    this.#index.use(name);
    if (writer.isFull) this.#write(kind);
  }

  #opened(kind: 'table' | 'blob'): Open {
    const { keys, randomness } = this.#repository;
    const memory = this.#free.pop() ?? Buffer.allocUnsafeSlow(packMemory);
    const open = { pack: this.#index.addOpen(), writer: new PackWriter(keys.content, randomness, memory), memory };
    this.#open.set(kind, open);
    return open;
  }

  #write(kind: 'table' | 'blob'): void {
    const open = this.#open.get(kind)!;
    this.#open.delete(kind);
    const writing = this.#slots
      .run(() => this.#writePack(open))
      .catch((error: unknown) => void (this.#failure ??= { error }))
      .finally(() => (this.#writing = this.#writing.filter((one) => one !== writing)));
    this.#writing.push(writing);
  }

  async #writePack({ pack, writer, memory }: Open): Promise<void> {
    const { id, bytes } = writer.finish();
    await this.#repository.target.put(packFile(id), bytes);
    this.#free.push(memory);
    this.#index.written(pack, id, bytes.length);
    this.#added += bytes.length;
    this.#unindexed.push({ id, names: writer.entries.map(([name]) => name) });
    if (this.#unindexed.length < packsPerIndex) return;
    const packs = this.#unindexed;
    this.#unindexed = [];
    await this.#repository.index(packs);
  }
}
