import type { LmdbTable } from '../../../../shared/adapters/embedded/lmdb-table.ts';
import type { SmallBlobWrites } from '../../../../shared/adapters/embedded/small-blobs.ts';
import type { Amount } from '../../../../shared/metadata/amount.ts';
import type { KeyedMutex } from '../../../../shared/metadata/keyed-mutex.ts';
import type { LimitedBucket, Quotas, Reservation } from '../../../../shared/metadata/quotas/quotas.ts';
import type { Attributes } from '../../../../shared/ports/key-value-table.ts';
import { RateExceeded, type RateLimit } from '../../../../shared/protocol/rate-limit.ts';
import { S3Error } from '../../../../shared/errors/s3-error.ts';
import { outcomeMessage, stepsOfMessage } from './commit-messages.ts';
import type { LogOutput } from '../../telemetry/log-output.ts';
import type { Message } from './link.ts';

/** The dependencies with which the primary serves its workers. */
export interface DeskDeps {
  readonly table: LmdbTable;
  readonly smallBlobs: SmallBlobWrites;
  readonly mutex: KeyedMutex;
  readonly quotas: Quotas;
  readonly rates: RateLimit;
  /** Follows the change feed to its end. */
  readonly drain: () => Promise<void>;
  /** Is told that a store could not serve a request. */
  readonly refused: (isDiskFull: boolean) => void;
  /** Receives the lines of the log. */
  readonly output: LogOutput;
}

/** A place of a worker in the queue for the mutex of an item. */
interface Lock {
  isGranted: boolean;
  granted: Promise<void>;
  release: () => void;
}

/** Serves one worker. Releases what the worker holds when it dies. */
export class Desk {
  readonly #deps: DeskDeps;
  readonly #locks = new Map<number, Lock>();
  readonly #reservations = new Map<number, Promise<Reservation>>();
  #isClosed = false;

  constructor(deps: DeskDeps) {
    this.#deps = deps;
  }

  async answer({ kind, body, bytes }: Message): Promise<Attributes> {
    const { smallBlobs, drain } = this.#deps;
    switch (kind) {
      case 'commit':
        return this.#commit(body);
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
      case 'log state':
        return { isWritten: this.#deps.output.isWritten };
      case 'drain':
        await drain();
        return {};
      default:
        throw new Error(`unknown request of a worker: ${kind}`);
    }
  }

  hear({ kind, body, bytes }: Message): void {
    switch (kind) {
      case 'blob':
        // A failure shows in the commit that refers to the blob.
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
      case 'refused':
        this.#deps.refused(body['isDiskFull'] as boolean);
        return;
      case 'log':
        this.#deps.output.drop(body['dropped'] as number);
        this.#deps.output.write(bytes);
        return;
      default:
        throw new Error(`unknown notice of a worker: ${kind}`);
    }
  }

  /** Releases everything that a dead worker holds. Requests that it has sent are still carried out. */
  close(): void {
    this.#isClosed = true;
    for (const lock of [...this.#locks.keys()]) this.#unlock(lock);
    for (const number of [...this.#reservations.keys()]) this.#release(number);
  }

  /**
   * Commits while it holds the locks of the changed items, and keeps them after a conflict: the worker tries again. Queues for all of
   * them at once, so that two commits never wait for each other.
   */
  async #commit(body: Attributes): Promise<Attributes> {
    const { steps, changes } = stepsOfMessage(body);
    const locks = body['locks'] as readonly { readonly name: string; readonly lock: number }[];
    let held = false;
    try {
      const queued = locks.map(({ name, lock }) => this.#lock(name, lock));
      const waited = !locks.every(({ lock }) => this.#locks.get(lock)?.isGranted);
      if (waited) await Promise.all(queued);
      const outcome = await this.#deps.table.commit(steps, changes);
      held = outcome.outcome === 'conflict' && locks.length > 0;
      const isSingle = steps.length === 1 && changes === 1;
      return { ...outcomeMessage(outcome, { isSingle }), ...(waited && { waited }), ...(held && { held }) };
    } finally {
      if (!held) for (const { lock } of locks) this.#unlock(lock);
    }
  }

  /** Queues for the mutex, and holds it from the grant until the worker unlocks. Resolves with the grant. */
  #lock(name: string, number: number): Promise<void> {
    if (this.#isClosed) return Promise.resolve();
    const lock: Lock = { isGranted: false, granted: Promise.resolve(), release: () => undefined };
    const released = new Promise<void>((release) => (lock.release = release));
    lock.granted = new Promise((grant) => {
      void this.#deps.mutex.run(name, () => {
        lock.isGranted = true;
        grant();
        return released;
      });
    });
    this.#locks.set(number, lock);
    return lock.granted;
  }

  #unlock(number: number): void {
    this.#locks.get(number)?.release();
    this.#locks.delete(number);
  }

  /** Begins a reservation with the first request of a number; further ones add to it. */
  async #reserve(body: Attributes): Promise<boolean> {
    const number = body['reservation'] as number;
    const growth = amountOf(body['growth'] as Attributes);
    const held = this.#reservations.get(number);
    if (held) return isGranted(held.then((reservation) => reservation.add(growth)));
    const reservation = this.#deps.quotas.reserve(bucketOf(body), growth);
    this.#reservations.set(number, reservation);
    const granted = await isGranted(reservation);
    if (!granted) this.#reservations.delete(number);
    return granted;
  }

  /** Ends a reservation, also one that has not begun yet: it then ends as soon as it has. */
  #release(number: number): void {
    const reservation = this.#reservations.get(number);
    this.#reservations.delete(number);
    reservation?.then(
      (held) => held.release(),
      // A refused reservation is not held.
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
