import { randomBytes } from 'node:crypto';
import { open as openEnvironment } from 'lmdb';
import type { RootDatabase } from 'lmdb';
import { BlobMissing } from '../../ports/blob-store.ts';
import type { BlobDescription, BlobOwner, BlobRef, ByteRange, OwnedBlob } from '../../ports/blob-store.ts';
import { isSmallBlobRef, smallBlobRef, timeOf } from './blob-ref.ts';
import { ensureDirectory } from './durable-directory.ts';
import { GroupCommit } from './group-commit.ts';
import { checkTableFile, syncTableFile } from './table-file.ts';

/** No larger than this. A value of some pages costs no more to write than the pages of the tree that it changes. */
export const smallBlobSize = 32 * 1024;

/** Removed in one transaction, so that writers are not kept waiting. */
const removalStep = 200;
/** Read at once by a listing. */
const listStep = 1000;

/** Of the value: the size of the bucket id, and of the key in 16 bits, little-endian; both; then the bytes. */
const textStart = 3;

/**
 * Blobs of a few pages, in an LMDB environment of their own: one sync makes durable what many callers write at the same time, where
 * a file each would cost each of them two. References rise with time, so what is written together lies together.
 */
export class SmallBlobs {
  readonly #root: RootDatabase<Buffer, BlobRef>;
  readonly #commits: GroupCommit;
  #closed: Promise<void> | undefined;

  private constructor(root: RootDatabase<Buffer, BlobRef>) {
    this.#root = root;
    this.#commits = new GroupCommit(root, { begin: () => undefined, end: () => undefined });
  }

  /** Opens the environment in this directory, which is created if need be. */
  static async open(directory: string): Promise<SmallBlobs> {
    await ensureDirectory(directory);
    await checkTableFile(directory);
    const root = openEnvironment<Buffer, BlobRef>({
      path: directory,
      encoding: 'binary',
      // As for the table: see LmdbTable.
      ...{ noSubdir: false, overlappingSync: false, eventTurnBatching: false },
    });
    await syncTableFile(directory);
    return new SmallBlobs(root);
  }

  /** Stores the bytes, and resolves once they are on the disk. They may be changed afterwards. */
  async write(bytes: Uint8Array, owner: BlobOwner): Promise<BlobRef> {
    const ref = smallBlobRef(Date.now(), randomBytes);
    const value = encode(bytes, owner);
    await this.#run(() => void this.#root.put(ref, value));
    return ref;
  }

  /** The bytes, or a range of them. @throws BlobMissing */
  read(ref: BlobRef, range?: ByteRange): Uint8Array {
    const value = this.#value(ref);
    const start = bytesStart(value);
    if (range === undefined) return value.subarray(start);
    return value.subarray(start + range.first, start + range.last + 1);
  }

  /** What they are, and whose. @throws BlobMissing */
  describe(ref: BlobRef): OwnedBlob {
    const value = this.#value(ref);
    const start = bytesStart(value);
    const keyStart = textStart + value[0]!;
    const bucketId = value.toString('utf8', textStart, keyStart);
    const owner = { bucketId, key: value.toString('utf8', keyStart, start) };
    return { ref, size: value.length - start, writtenAt: timeOf(ref), owner };
  }

  async remove(refs: readonly BlobRef[]): Promise<void> {
    for (let at = 0; at < refs.length; at += removalStep) {
      const some = refs.slice(at, at + removalStep);
      await this.#run(() => some.forEach((ref) => void this.#root.remove(ref)));
    }
  }

  *list(): Generator<BlobDescription> {
    for (let last: BlobRef | undefined; ;) {
      this.#look();
      const range = last === undefined ? {} : { start: last, exclusiveStart: true };
      // Read to the end before it is told: nobody may hold a snapshot for as long as they like.
      const page = [...this.#root.getRange({ ...range, limit: listStep })];
      for (const { key, value } of page) {
        yield { ref: key, size: value.length - bytesStart(value), writtenAt: timeOf(key) };
      }
      if (page.length < listStep) return;
      last = page.at(-1)!.key;
    }
  }

  /** Waits for the writes under way. */
  close(): Promise<void> {
    return (this.#closed ??= this.#commits.settled().then(() => this.#root.close()));
  }

  #value(ref: BlobRef): Buffer {
    this.#look();
    const value = isSmallBlobRef(ref) ? this.#root.getBinary(ref) : undefined;
    if (value === undefined) throw new BlobMissing(ref);
    return value;
  }

  #look(): void {
    if (this.#closed) throw new Error('the blob store is closed');
    this.#root.resetReadTxn();
  }

  #run(job: () => void): Promise<void> {
    if (this.#closed) throw new Error('the blob store is closed');
    return this.#commits.run(job);
  }
}

function encode(bytes: Uint8Array, { bucketId, key }: BlobOwner): Buffer {
  const bucketIdSize = Buffer.byteLength(bucketId);
  const keySize = Buffer.byteLength(key);
  if (bucketIdSize > 255 || keySize > 0xffff) throw new Error('the owner of a blob is too long');
  const value = Buffer.allocUnsafe(textStart + bucketIdSize + keySize + bytes.length);
  value[0] = bucketIdSize;
  value.writeUInt16LE(keySize, 1);
  value.write(bucketId, textStart);
  value.write(key, textStart + bucketIdSize);
  value.set(bytes, textStart + bucketIdSize + keySize);
  return value;
}

function bytesStart(value: Buffer): number {
  return textStart + value[0]! + value.readUInt16LE(1);
}
