import type { RootDatabase } from 'lmdb';
import { second } from '../../ports/durations.ts';
import { TableBusy } from '../../ports/key-value-table.ts';

/** What a caller wants done inside a transaction. */
interface Job {
  readonly act: () => void;
  readonly succeed: () => void;
  readonly fail: (error: unknown) => void;
}

/** What is done once a transaction is durable. It is not, if the transaction failed. */
export type Committed = () => void;

/** What is done inside every transaction, before its first job and behind its last. */
export interface CommitParticipant {
  begin(): Committed | undefined;
  end(): void;
}

/** The transaction was carried out, but the engine could not say that it is durable. */
export class CommitUnknown extends Error {
  constructor(cause: unknown) {
    super('the table could not commit', { cause });
    this.name = 'CommitUnknown';
  }
}

/** For so many milliseconds a job waits, at most, until its transaction begins: the engine never says that it cannot begin one. */
const patience = 30 * second;

/**
 * Runs jobs in transactions of the engine, all that wait in one: a commit costs a sync of the disk, so many callers share it.
 * While one transaction is being committed the next is already queued, and takes whoever has come when its turn is there.
 */
export class GroupCommit {
  readonly #root: RootDatabase;
  readonly #participants: CommitParticipant[] = [];
  #waiting: Job[] = [];
  #impatience: NodeJS.Timeout | undefined;
  #queued = false;
  #last: Promise<unknown> = Promise.resolve();

  constructor(root: RootDatabase) {
    this.#root = root;
  }

  /** From now on, every transaction has this at its beginning and its end. */
  enlist(participant: CommitParticipant): void {
    this.#participants.push(participant);
  }

  /**
   * Resolves with the job's result once it is durable. The job must not wait for anything.
   * @throws TableBusy if no transaction began in time: then it will not run. CommitUnknown if it ran and the commit failed. If a job
   *   itself throws, all of its transaction are undone and rejected
   */
  run<T>(job: () => T): Promise<T> {
    return new Promise<T>((resolve, reject) => {
      let result: T;
      this.#waiting.push({ act: () => (result = job()), succeed: () => resolve(result), fail: reject });
      this.#impatience ??= setTimeout(() => this.#refuseWaiting(), patience);
      if (!this.#queued) this.#queue();
    });
  }

  /** Resolves once every job given before has ended. */
  async settled(): Promise<void> {
    await this.#last;
  }

  #queue(): void {
    this.#queued = true;
    let jobs: Job[] = [];
    let committed: (Committed | undefined)[] = [];
    let done = false;
    // A plain transaction would commit what was put before a throw; a child one is rolled back.
    const transaction = this.#root.childTransaction(() => {
      clearTimeout(this.#impatience);
      this.#impatience = undefined;
      this.#queued = false;
      jobs = this.#waiting;
      this.#waiting = [];
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
        for (const job of jobs) job.fail(done ? new CommitUnknown(cause) : cause);
      },
    );
  }

  #refuseWaiting(): void {
    this.#impatience = undefined;
    for (const job of this.#waiting.splice(0)) job.fail(new TableBusy());
  }
}

/** The engine hides why a commit failed behind one more promise. */
async function causeOf(error: unknown): Promise<unknown> {
  const { commitError } = error as { commitError?: Promise<never> };
  if (commitError === undefined) return error;
  return commitError.then(
    () => error,
    (cause: unknown) => cause,
  );
}
