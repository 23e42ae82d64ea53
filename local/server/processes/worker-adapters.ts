import type { Commits } from '../../../shared/adapters/embedded/table/lmdb-table.ts';
import type { SmallBlobWrites } from '../../../shared/adapters/embedded/blobs/small-blobs.ts';
import type { Step } from '../../../shared/adapters/encoded-table/write-steps.ts';
import type { Amount } from '../../../shared/storage/amount.ts';
import { KeyedMutex, mutexName } from '../../../shared/storage/concurrency.ts';
import {
  quotaExceeded,
  quotaOf,
  type LimitedBucket,
  type Quotas,
  type Reservation,
} from '../../../shared/storage/quotas/quotas.ts';
import type { BlobRef } from '../../../shared/ports/blob-store.ts';
import type { WriteOutcome } from '../../../shared/ports/key-value-table.ts';
import { RateExceeded, type Rates } from '../../../shared/protocol/rate-limit.ts';
import type { LogSink } from '../../../shared/telemetry/log.ts';
import type { LogKeeper } from '../schedules/access-logs.ts';
import type { Link } from './link.ts';
import { sentSteps, type PrimaryProcess, type WorkerProcess } from './messages.ts';

/*
 * The adapters by which a worker uses services of the primary, behind the same ports as in one process.
 */

/** Commits through the primary. */
export class LinkedCommits implements Commits {
  readonly #primary: PrimaryProcess;
  readonly #mutex: LinkedMutex;

  /** @param mutex knows which locks a commit takes */
  constructor(primary: PrimaryProcess, mutex: LinkedMutex) {
    this.#primary = primary;
    this.#mutex = mutex;
  }

  async commit(steps: readonly Step[], changes: number): Promise<WriteOutcome> {
    const taken = this.#mutex.locksFor(steps);
    const locks = taken.map(({ turn: { name }, lock }) => ({ name, lock }));
    const { outcome, waited, held } = await this.#primary.commit({ steps: sentSteps(steps), changes, locks });
    this.#mutex.committed(taken, { waited, areHeld: held });
    return outcome;
  }
}

/** Bytes of small blobs sent before the worker waits for the primary to catch up. */
const maxAhead = 4 * 1024 * 1024;

/** Sends small blobs to the primary, which adds them to a transaction. A commit that refers to one is sent after it. */
export class LinkedSmallBlobs implements SmallBlobWrites {
  readonly #primary: PrimaryProcess;
  #ahead = 0;

  constructor(primary: PrimaryProcess) {
    this.#primary = primary;
  }

  async accept(ref: BlobRef, value: Buffer): Promise<void> {
    this.#ahead += value.length;
    if (this.#ahead <= maxAhead) {
      // The commit that refers to it takes it along.
      this.#primary.sendBlob(ref, value);
      return;
    }
    this.#ahead = 0;
    await this.#primary.acceptBlob(ref, value);
  }

  async remove(refs: readonly BlobRef[]): Promise<void> {
    if (refs.length > 0) await this.#primary.removeBlobs(refs);
  }

  abandon(refs: readonly BlobRef[]): void {
    if (refs.length > 0) this.#primary.abandonBlobs(refs);
  }
}

/** How long the workers are taken to contend for an item after a commit had to wait for a lock, in milliseconds. */
const contention = 1000;
/** The items of which that is remembered. */
const maxContended = 1000;

/** The turn of an action at an item. */
interface Turn {
  readonly name: string;
  /** The number of the lock that it holds, not only during a commit. */
  held: number | undefined;
  hasEnded: boolean;
}

/** A lock that a commit takes for the turn of an action. */
interface Taken {
  readonly turn: Turn;
  readonly lock: number;
}

/**
 * The keyed mutex of the primary, shared by all processes. An action does not wait for its lock: each of its commits takes it, in the
 * primary, and a commit that changes the item also releases it there, so neither costs a message. An action that began before it held
 * the lock may have read what another one then changed: its commit conflicts, and it keeps the lock for its next attempts. Where
 * workers contend for an item, actions wait for the lock.
 */
export class LinkedMutex implements Pick<KeyedMutex, 'run'> {
  readonly #primary: PrimaryProcess;
  /** The actions of this worker, of which one at a time is in the queue of the primary. */
  readonly #own = new KeyedMutex();
  /** The actions in progress, by the items that they change. */
  readonly #turns = new Map<string, Turn>();
  /** Until when the workers are taken to contend for an item, in milliseconds of `performance.now()`. */
  readonly #contended = new Map<string, number>();
  #lastLock = 0;

  constructor(primary: PrimaryProcess) {
    this.#primary = primary;
  }

  run<Result>(name: string, action: () => Promise<Result>): Promise<Result> {
    return this.#own.run(name, async () => {
      const turn: Turn = { name, held: undefined, hasEnded: false };
      this.#turns.set(name, turn);
      try {
        if (this.#isContended(name)) {
          turn.held = this.#lastLock += 1;
          await this.#primary.lock(name, turn.held);
        }
        return await action();
      } finally {
        this.#turns.delete(name);
        turn.hasEnded = true;
        if (turn.held !== undefined) this.#unlock(turn.held);
      }
    });
  }

  /** Returns the locks that a commit of these items has to take: those of actions in progress that do not hold them yet. */
  locksFor(steps: readonly Step[]): readonly Taken[] {
    if (this.#turns.size === 0) return [];
    return steps.flatMap(({ key }) => {
      const turn = this.#turns.get(mutexName(key));
      return turn === undefined || turn.held !== undefined ? [] : { turn, lock: (this.#lastLock += 1) };
    });
  }

  /**
   * Notes what became of the locks that a commit took.
   * @param waited whether it had to wait for one. @param areHeld whether it has kept them
   */
  committed(
    taken: readonly Taken[],
    { waited, areHeld }: { readonly waited: boolean; readonly areHeld: boolean },
  ): void {
    if (this.#contended.size > maxContended) this.#contended.clear();
    for (const { turn, lock } of taken) {
      if (waited) this.#contended.set(turn.name, performance.now() + contention);
      if (!areHeld) continue;
      if (turn.hasEnded) this.#unlock(lock);
      else turn.held = lock;
    }
  }

  #unlock(lock: number): void {
    this.#primary.unlock(lock);
  }

  #isContended(name: string): boolean {
    const until = this.#contended.get(name);
    if (until === undefined) return false;
    if (until > performance.now()) return true;
    this.#contended.delete(name);
    return false;
  }
}

/** The exact quotas of the primary. */
export class LinkedQuotas implements Quotas {
  readonly #primary: PrimaryProcess;
  readonly #defaults: Amount;
  #lastReservation = 0;

  /** @param defaults the quota of buckets without one */
  constructor(primary: PrimaryProcess, defaults: Amount) {
    this.#primary = primary;
    this.#defaults = defaults;
  }

  async reserve(bucket: LimitedBucket, growth: Amount): Promise<Reservation> {
    const { id, name, full, quota } = bucket;
    const reservation = (this.#lastReservation += 1);
    const sent = { id, name, full, ...(quota && { quota: numbersOf(quota) }) };
    const { bytes, objects } = quotaOf(bucket, this.#defaults);
    const isLimited = Math.min(bytes, objects) < Infinity;
    const add = async (amount: Amount): Promise<void> => {
      // Without a limit, it counts once there is a quota, but cannot be refused.
      if (!isLimited) this.#primary.noteGrowth(reservation, sent, amount);
      else if (!(await this.#primary.reserve(reservation, sent, amount))) throw quotaExceeded(bucket);
    };
    await add(growth);
    // The primary asks for what was released before it refuses anything.
    return { add, release: () => this.#primary.release(reservation) };
  }
}

/** The request rates of the primary. */
export class LinkedRates implements Rates {
  readonly #primary: PrimaryProcess;

  constructor(primary: PrimaryProcess) {
    this.#primary = primary;
  }

  async admit(party: string): Promise<void> {
    if (!(await this.#primary.admit(party))) throw new RateExceeded();
  }
}

/** The bytes that may wait for a primary that does not keep up before lines of the log are dropped. */
const mostWaiting = 1024 * 1024;

/** The standard output of the primary, which keeps the lines of all processes whole. */
export function linkedOutput(link: Pick<Link<WorkerProcess, PrimaryProcess>, 'waiting' | 'other'>): LogSink {
  let dropped = 0;
  return {
    isTTY: process.stdout.isTTY,
    write: (lines) => {
      if (link.waiting > mostWaiting) dropped += lines.split('\n').length - 1;
      else {
        link.other.log(dropped, Buffer.from(lines));
        dropped = 0;
      }
    },
  };
}

/** Hands records of access logs over to the primary. */
export function linkedLogKeeper(primary: PrimaryProcess): LogKeeper {
  return {
    keep: ({ to, source, records, lines }) => primary.keepAccessLog(to, source, records, Buffer.from(lines, 'latin1')),
    drop: (reason, records) => primary.dropAccessLog(reason, records),
  };
}

/** Returns the set fields of a quota. */
function numbersOf({ bytes, objects }: Partial<Amount>): Partial<Amount> {
  return { ...(bytes !== undefined && { bytes }), ...(objects !== undefined && { objects }) };
}
