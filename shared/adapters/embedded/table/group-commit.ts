import type { RootDatabase } from 'lmdb';
import { second } from '../../../ports/durations.ts';
import { TableBusy } from '../../../ports/key-value-table.ts';

/** A caller's work inside a transaction. */
interface Job {
  readonly act: () => void;
  readonly succeed: () => void;
  readonly fail: (error: unknown) => void;
}

/** Called once a transaction is durable, but not if it failed. */
export type Committed = () => void;

/** Hooks that run inside every transaction, before its first job and after its last. */
export interface CommitParticipant {
  begin(): Committed | undefined;
  end(): void;
}

/** The transaction ran, but the engine could not commit it: what it wrote may be visible and durable, or not. */
export class CommitUnknown extends Error {
  constructor(cause: unknown) {
    super('the table could not commit', { cause });
    this.name = 'CommitUnknown';
  }
}

/** The longest time a job waits for its transaction to begin: the engine never reports that it cannot begin one. */
const patience = 30 * second;

/**
 * The maximum number of jobs in a transaction. They run in one turn of the event loop, which they block, and a write takes 14 to
 * 60 µs. More jobs would save hardly any syncs.
 */
export const maxJobs = 64;

/**
 * Runs waiting jobs in one transaction of the engine: a commit costs a disk sync, so many callers share it. While one
 * transaction commits, the next is already queued and takes the jobs that arrive before it begins, up to {@link maxJobs}.
 */
export class GroupCommit {
  readonly #root: RootDatabase;
  readonly #onFailure: (cause: unknown) => void;
  readonly #participants: CommitParticipant[] = [];
  #waiting: Job[] = [];
  #impatience: NodeJS.Timeout | undefined;
  #queued = false;
  #last: Promise<unknown> = Promise.resolve();

  /** @param onFailure called with the cause when a transaction could not be committed */
  constructor(root: RootDatabase, onFailure: (cause: unknown) => void = () => undefined) {
    this.#root = root;
    this.#onFailure = onFailure;
  }

  /** Adds hooks to all later transactions. */
  enlist(participant: CommitParticipant): void {
    this.#participants.push(participant);
  }

  /**
   * Runs a job in a transaction and resolves with its result once it is durable. The job must be synchronous.
   * @throws TableBusy if no transaction began in time: the job will not run. CommitUnknown if the job ran and the
   *   commit failed. If any job throws, the whole transaction is rolled back and all its jobs are rejected
   */
  run<T>(job: () => T): Promise<T> {
    return new Promise<T>((resolve, reject) => {
      let result: T;
      this.#waiting.push({ act: () => (result = job()), succeed: () => resolve(result), fail: reject });
      this.#await();
    });
  }

  /** Resolves when all jobs submitted before have ended. */
  async settled(): Promise<void> {
    // The last of several transactions has a job that comes after all others.
    if (this.#waiting.length > 0) await this.run(() => undefined).catch(() => undefined);
    await this.#last;
  }

  /** Begins to wait for a transaction, if none is awaited. */
  #await(): void {
    this.#impatience ??= setTimeout(() => this.#refuseWaiting(), patience);
    if (!this.#queued) this.#queue();
  }

  #queue(): void {
    this.#queued = true;
    let jobs: Job[] = [];
    let committed: (Committed | undefined)[] = [];
    let done = false;
    // A plain transaction would commit the puts made before a throw; a child transaction is rolled back.
    const transaction = this.#root.childTransaction(() => {
      clearTimeout(this.#impatience);
      this.#impatience = undefined;
      this.#queued = false;
      jobs = this.#waiting.splice(0, maxJobs);
      // Not at once: the engine would treat it as a part of this transaction.
      if (this.#waiting.length > 0) setImmediate(() => this.#waiting.length > 0 && this.#await());
      committed = this.#participants.map((participant) => participant.begin());
      for (const job of jobs) job.act();
      for (const participant of this.#participants) participant.end();
      done = true;
    });
    this.#last = transaction.then(
      () => {
        for (const tell of committed) tell?.();
        for (const job of jobs) job.succeed();
      },
      async (error: unknown) => {
        const cause = await causeOf(error);
        if (done) this.#onFailure(cause);
        for (const job of jobs) job.fail(done ? new CommitUnknown(cause) : cause);
      },
    );
  }

  #refuseWaiting(): void {
    this.#impatience = undefined;
    for (const job of this.#waiting.splice(0)) job.fail(new TableBusy());
  }
}

/** Returns the cause of a failed commit, which the engine wraps in another promise. */
async function causeOf(error: unknown): Promise<unknown> {
  const { commitError } = error as { commitError?: Promise<never> };
  if (commitError === undefined) return error;
  return commitError.then(
    () => error,
    (cause: unknown) => cause,
  );
}
