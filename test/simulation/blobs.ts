import { BlobMissing, BlobSizeDiffers, BlobsNotRemoved } from '../../shared/ports/blob-store.ts';
import type {
  BlobDescription,
  BlobOwner,
  BlobRef,
  BlobStore,
  ByteRange,
  OwnedBlob,
} from '../../shared/ports/blob-store.ts';
import type { SimulatedProcess } from './scheduler.ts';
import type { World } from './table.ts';

interface Blob {
  readonly bytes: Uint8Array;
  readonly owner: BlobOwner;
  readonly writtenAt: number;
}

/** The number of bytes of a blob that are read at once: small, so that much can happen between two reads. */
const chunkBytes = 4096;

/** The blobs of a simulation. */
export class BlobState {
  readonly kept = new Map<BlobRef, Blob>();
  #count = 0;

  newRef(): BlobRef {
    this.#count += 1;
    return `blob-${this.#count}`.padEnd(24, '_');
  }
}

/** The blobs as a process has them: every call takes its time, and may fail as those of a full disk or a store that is overloaded. */
export class SimulatedBlobs implements BlobStore {
  readonly #state: BlobState;
  readonly #process: SimulatedProcess;
  readonly #world: World;

  constructor(state: BlobState, process: SimulatedProcess, world: World) {
    this.#state = state;
    this.#process = process;
    this.#world = world;
  }

  async write(bytes: AsyncIterable<Uint8Array>, owner: BlobOwner): Promise<{ ref: BlobRef; size: number }> {
    const chunks: Uint8Array[] = [];
    for await (const chunk of bytes) chunks.push(Buffer.from(chunk));
    const whole = Buffer.concat(chunks);
    const ref = this.#state.newRef();
    const fails = this.#fails();
    // A failed write may have been stored nonetheless: only a scrub finds it.
    const isStored = !fails || this.#world.scheduler.random.next() < 0.5;
    await this.#call(`writes ${ref}`, () => {
      if (isStored) this.#state.kept.set(ref, { bytes: whole, owner, writtenAt: this.#world.scheduler.now });
      if (fails) throw exhausted();
    });
    return { ref, size: whole.length };
  }

  async read(ref: BlobRef, size: number, range?: ByteRange): Promise<AsyncIterable<Uint8Array>> {
    const fails = this.#fails();
    const blob = await this.#call(`opens ${ref}`, () => {
      if (fails) throw exhausted();
      return this.#find(ref);
    });
    if (blob.bytes.length !== size) throw new BlobSizeDiffers(ref, size, blob.bytes.length);
    return this.#bytes(ref, range ? blob.bytes.subarray(range.first, range.last + 1) : blob.bytes);
  }

  async remove(refs: readonly BlobRef[]): Promise<void> {
    const left = refs.filter(() => this.#fails());
    await this.#call(`removes ${refs.join(' ')}`, () => {
      for (const ref of refs) if (!left.includes(ref)) this.#state.kept.delete(ref);
      if (left.length > 0) throw new BlobsNotRemoved(left, 'the store is overloaded');
    });
  }

  abandon(): void {
    // Nothing is held back.
  }

  async *list(): AsyncGenerator<BlobDescription> {
    const refs = await this.#call('lists blobs', () => [...this.#state.kept]);
    for (const [ref, { bytes, writtenAt }] of refs) yield { ref, size: bytes.length, writtenAt };
  }

  async describe(ref: BlobRef): Promise<OwnedBlob> {
    const { bytes, owner, writtenAt } = await this.#call(`describes ${ref}`, () => this.#find(ref));
    return { ref, size: bytes.length, writtenAt, owner };
  }

  async check(): Promise<{ readonly writable: boolean }> {
    return { writable: true };
  }

  #find(ref: BlobRef): Blob {
    const blob = this.#state.kept.get(ref);
    if (blob === undefined) throw new BlobMissing(ref);
    return blob;
  }

  /** An open blob can be read to its end even if it is removed, like an open file or a response of S3. */
  async *#bytes(ref: BlobRef, bytes: Uint8Array): AsyncGenerator<Uint8Array> {
    for (let at = 0; at < bytes.length; at += chunkBytes) {
      const fails = this.#fails();
      yield await this.#call(`reads ${ref}`, () => {
        if (fails) throw exhausted();
        return bytes.subarray(at, at + chunkBytes);
      });
    }
  }

  #fails(): boolean {
    const { scheduler, adversity } = this.#world;
    return scheduler.random.next() < adversity.now.blobs;
  }

  #call<Result>(label: string, effect: () => Result): Promise<Result> {
    const { scheduler, adversity } = this.#world;
    return scheduler.call(this.#process, `${this.#process.name}: ${label}`, adversity.now.latency, effect);
  }
}

/** Returns the error of a store that lacks a resource: the client may try again. */
function exhausted(): Error {
  return Object.assign(new Error('the store is out of resources'), { code: 'ENOSPC' });
}
