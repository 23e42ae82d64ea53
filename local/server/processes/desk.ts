import type { LmdbTable } from '../../../shared/adapters/embedded/table/lmdb-table.ts';
import type { SmallBlobWrites } from '../../../shared/adapters/embedded/blobs/small-blobs.ts';
import type { BlobRef } from '../../../shared/ports/blob-store.ts';
import type { Amount } from '../../../shared/storage/amount.ts';
import type { KeyedMutex } from '../../../shared/storage/concurrency.ts';
import type { LimitedBucket, Quotas, Reservation } from '../../../shared/storage/quotas/quotas.ts';
import { RateExceeded, type RateLimit } from '../../../shared/protocol/rate-limit.ts';
import { S3Error } from '../../../shared/errors/s3-error.ts';
import type { LogOutput } from '../../../shared/telemetry/log-output.ts';
import { receivedSteps, sentOutcome, type Committed, type PrimaryProcess, type SentWrite } from './messages.ts';
import type { LogKeeper } from '../schedules/access-logs.ts';
import type { PassedConnections } from './passed-connections.ts';

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
  /** Takes the records of access logs. */
  readonly logKeeper: LogKeeper;
  /** Receives the lines of the log. */
  readonly output: LogOutput;
  /** Measures the whole service, for a worker that was asked for its metrics. */
  readonly scrape?: (() => Promise<string>) | undefined;
  /** Returns the origins of consoles. */
  readonly origins: () => readonly string[];
}

/** The worker that a desk serves. */
interface DeskWorker {
  readonly connections: Pick<PassedConnections, 'begin' | 'taken' | 'dropped' | 'closed'>;
  /** Is told that it serves connections. */
  readonly serving: () => void;
  /** Is told that it cannot, and why. */
  readonly failed: (why: string) => void;
}

/** A place of a worker in the queue for the mutex of an item. */
interface Lock {
  isGranted: boolean;
  granted: Promise<void>;
  release: () => void;
}

/** Serves one worker. Releases what the worker holds when it dies. */
export class Desk implements PrimaryProcess {
  readonly #deps: DeskDeps;
  readonly #worker: DeskWorker;
  readonly #locks = new Map<number, Lock>();
  readonly #reservations = new Map<number, Promise<Reservation>>();
  #isClosed = false;

  constructor(deps: DeskDeps, worker: DeskWorker) {
    this.#deps = deps;
    this.#worker = worker;
  }

  async start(): Promise<readonly string[]> {
    return this.#deps.origins();
  }

  async serving(): Promise<void> {
    this.#worker.connections.begin();
    this.#worker.serving();
  }

  failed(why: string): void {
    this.#worker.failed(why);
  }

  taken(number: number): void {
    this.#worker.connections.taken(number);
  }

  dropped(numbers: readonly number[]): void {
    this.#worker.connections.dropped(numbers);
  }

  closed(): void {
    this.#worker.connections.closed();
  }

  acceptBlob(ref: BlobRef, value: Buffer): Promise<void> {
    return this.#deps.smallBlobs.accept(ref, value);
  }

  sendBlob(ref: BlobRef, value: Buffer): void {
    // A failure shows in the commit that refers to the blob.
    this.#deps.smallBlobs.accept(ref, value).catch(() => undefined);
  }

  removeBlobs(refs: readonly BlobRef[]): Promise<void> {
    return this.#deps.smallBlobs.remove(refs);
  }

  abandonBlobs(refs: readonly BlobRef[]): void {
    this.#deps.smallBlobs.abandon(refs);
  }

  drain(): Promise<void> {
    return this.#deps.drain();
  }

  refused(isDiskFull: boolean): void {
    this.#deps.refused(isDiskFull);
  }

  async keepAccessLog(to: string, source: string, records: number, lines: Buffer): Promise<void> {
    await this.#deps.logKeeper.keep({ to, source, records, lines: lines.toString('latin1') });
  }

  dropAccessLog(reason: string, records: number): void {
    this.#deps.logKeeper.drop(reason, records);
  }

  log(dropped: number, lines: Buffer): void {
    this.#deps.output.drop(dropped);
    this.#deps.output.write(lines);
  }

  async logIsWritten(): Promise<boolean> {
    return this.#deps.output.isWritten;
  }

  async scrape(): Promise<string> {
    return (await this.#deps.scrape?.()) ?? '';
  }

  /** Releases everything that a dead worker holds. Requests that it has sent are still carried out. */
  close(): void {
    this.#isClosed = true;
    for (const lock of [...this.#locks.keys()]) this.unlock(lock);
    for (const number of [...this.#reservations.keys()]) this.release(number);
  }

  /**
   * Commits while it holds the locks of the changed items, and keeps them after a conflict: the worker tries again. Queues for all of
   * them at once, so that two commits never wait for each other.
   */
  async commit({ steps: sent, changes, locks }: SentWrite): Promise<Committed> {
    const steps = receivedSteps(sent);
    let held = false;
    try {
      const queued = locks.map(({ name, lock }) => this.lock(name, lock));
      const waited = !locks.every(({ lock }) => this.#locks.get(lock)?.isGranted);
      if (waited) await Promise.all(queued);
      const outcome = await this.#deps.table.commit(steps, changes);
      held = outcome.outcome === 'conflict' && locks.length > 0;
      return { outcome: sentOutcome(outcome, steps.length === 1 && changes === 1), waited, held };
    } finally {
      if (!held) for (const { lock } of locks) this.unlock(lock);
    }
  }

  /** Queues for the mutex, and holds it from the grant until the worker unlocks. Resolves with the grant. */
  lock(name: string, number: number): Promise<void> {
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

  unlock(number: number): void {
    this.#locks.get(number)?.release();
    this.#locks.delete(number);
  }

  /** Begins a reservation with the first request of a number; further ones add to it. */
  async reserve(number: number, bucket: LimitedBucket, growth: Amount): Promise<boolean> {
    const held = this.#reservations.get(number);
    if (held) return isGranted(held.then((reservation) => reservation.add(growth)));
    const reservation = this.#deps.quotas.reserve(bucket, growth);
    this.#reservations.set(number, reservation);
    const granted = await isGranted(reservation);
    if (!granted) this.#reservations.delete(number);
    return granted;
  }

  noteGrowth(number: number, bucket: LimitedBucket, growth: Amount): void {
    this.reserve(number, bucket, growth).catch(() => undefined);
  }

  /** Ends a reservation, also one that has not begun yet: it then ends as soon as it has. */
  release(number: number): void {
    const reservation = this.#reservations.get(number);
    this.#reservations.delete(number);
    reservation?.then(
      (held) => held.release(),
      // A refused reservation is not held.
      () => undefined,
    );
  }

  async admit(party: string): Promise<boolean> {
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
    if (error instanceof S3Error && error.code !== 'SlowDown') return false;
    throw error;
  }
}
