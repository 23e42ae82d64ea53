import type { Writable } from 'node:stream';
import type { LmdbTable } from '../../../../shared/adapters/embedded/lmdb-table.ts';
import type { SmallBlobWrites } from '../../../../shared/adapters/embedded/small-blobs.ts';
import type { Amount } from '../../../../shared/metadata/amount.ts';
import type { KeyedMutex } from '../../../../shared/metadata/keyed-mutex.ts';
import type { LimitedBucket, Quotas, Reservation } from '../../../../shared/metadata/quotas/quotas.ts';
import type { Attributes } from '../../../../shared/ports/key-value-table.ts';
import { RateExceeded, type RateLimit } from '../../../../shared/protocol/rate-limit.ts';
import { S3Error } from '../../../../shared/errors/s3-error.ts';
import { outcomeMessage, stepsOfMessage } from './commit-messages.ts';
import type { Message } from './link.ts';

/** What the primary does for its workers. */
export interface DeskDeps {
  readonly table: LmdbTable;
  readonly smallBlobs: SmallBlobWrites;
  readonly mutex: KeyedMutex;
  readonly quotas: Quotas;
  readonly rates: RateLimit;
  /** Follows the feed to its end. */
  readonly drain: () => Promise<void>;
  /** Resolves once everything was heard that any worker had said when it was called. */
  readonly settle: () => Promise<void>;
  /** Where the log goes. */
  readonly output: Writable;
}

/** Serves one worker. What the worker holds when it dies is let go. */
export class Desk {
  readonly #deps: DeskDeps;
  readonly #locks = new Map<number, () => void>();
  readonly #reservations = new Map<number, Promise<Reservation>>();
  #isClosed = false;

  constructor(deps: DeskDeps) {
    this.#deps = deps;
  }

  async answer({ kind, body, bytes }: Message): Promise<Attributes> {
    const { table, smallBlobs, drain } = this.#deps;
    switch (kind) {
      case 'commit': {
        const { steps, changes } = stepsOfMessage(body);
        return outcomeMessage(await table.commit(steps, changes), { isSingle: steps.length === 1 && changes === 1 });
      }
      case 'blob':
        await smallBlobs.accept(body['ref'] as string, bytes);
        return {};
      case 'remove blobs':
        await smallBlobs.remove(body['refs'] as readonly string[]);
        return {};
      case 'lock':
        await this.#lock(body['name'] as string, body['lock'] as number);
        return {};
      case 'reserve':
        return { granted: await this.#reserve(body) };
      case 'admit':
        return { admitted: this.#admit(body['party'] as string) };
      case 'drain':
        await drain();
        return {};
      default:
        throw new Error(`a worker asks for ${kind}`);
    }
  }

  hear({ kind, body, bytes }: Message): void {
    switch (kind) {
      case 'blob':
        // Fails no earlier than the commit that refers to it, which says so.
        this.#deps.smallBlobs.accept(body['ref'] as string, bytes).catch(() => undefined);
        return;
      case 'abandon blobs':
        this.#deps.smallBlobs.abandon(body['refs'] as readonly string[]);
        return;
      case 'unlock':
        this.#unlock(body['lock'] as number);
        return;
      case 'reserve':
        this.#reserve(body).catch(() => undefined);
        return;
      case 'release':
        this.#release(body['reservation'] as number);
        return;
      case 'log':
        this.#deps.output.write(bytes);
        return;
      default:
        throw new Error(`a worker says ${kind}`);
    }
  }

  /** The worker has gone: nothing of it stands in the way of others. What it had sent is still carried out. */
  close(): void {
    this.#isClosed = true;
    for (const lock of [...this.#locks.keys()]) this.#unlock(lock);
    for (const number of [...this.#reservations.keys()]) this.#release(number);
  }

  /** Resolves when it is the worker's turn, which lasts until it unlocks. */
  #lock(name: string, lock: number): Promise<void> {
    return new Promise((resolve) => {
      void this.#deps.mutex.run(name, () => {
        if (this.#isClosed) return Promise.resolve();
        resolve();
        return new Promise<void>((unlock) => this.#locks.set(lock, unlock));
      });
    });
  }

  #unlock(lock: number): void {
    this.#locks.get(lock)?.();
    this.#locks.delete(lock);
  }

  /** The first request of a number begins a reservation, further ones add to it. */
  async #reserve(body: Attributes): Promise<boolean> {
    const number = body['reservation'] as number;
    const growth = amountOf(body['growth'] as Attributes);
    const held = this.#reservations.get(number);
    if (held) return isGranted(held.then((reservation) => this.#settled(() => reservation.add(growth))));
    const reservation = this.#settled(() => this.#deps.quotas.reserve(bucketOf(body), growth));
    this.#reservations.set(number, reservation);
    const granted = await isGranted(reservation);
    if (!granted) this.#reservations.delete(number);
    return granted;
  }

  /**
   * Tries again what was refused, once every worker has told of what was over before: nothing that a client was answered is in the way of
   * its next request.
   */
  async #settled<Result>(reserve: () => Promise<Result>): Promise<Result> {
    try {
      return await reserve();
    } catch (error) {
      if (!(error instanceof S3Error)) throw error;
      await this.#deps.settle();
      return reserve();
    }
  }

  /** Also of one that is still being measured: it ends as soon as it has begun. */
  #release(number: number): void {
    const reservation = this.#reservations.get(number);
    this.#reservations.delete(number);
    reservation?.then(
      (held) => held.release(),
      // What was refused is not held.
      () => undefined,
    );
  }

  #admit(party: string): boolean {
    try {
      this.#deps.rates.admit(party);
      return true;
    } catch (error) {
      if (error instanceof RateExceeded) return false;
      throw error;
    }
  }
}

async function isGranted(reserved: Promise<unknown>): Promise<boolean> {
  try {
    await reserved;
    return true;
  } catch (error) {
    if (error instanceof S3Error) return false;
    throw error;
  }
}

function bucketOf({ id, name, quota }: Attributes): LimitedBucket {
  return { id: id as string, name: name as string, quota: quota as LimitedBucket['quota'], full: false };
}

function amountOf({ bytes, objects }: Attributes): Amount {
  return { bytes: bytes as number, objects: objects as number };
}
