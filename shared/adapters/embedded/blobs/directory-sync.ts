import { syncDirectory } from '../durable-directory.ts';

/** The running sync of a directory, and the next one, for which later callers wait. */
interface Turn {
  running: Promise<void>;
  next: Promise<void> | undefined;
}

/**
 * Syncs directories for many concurrent writers. A running sync may miss an entry created after it started, so a writer
 * never joins one; all writers that arrive while it runs share the next. If it fails, so does the next: the system reports a failure
 * once, and afterwards treats what it could not write as written (https://wiki.postgresql.org/wiki/Fsync_Errors), including entries
 * created before the failure.
 */
export class DirectorySync {
  readonly #turns = new Map<string, Turn>();
  readonly #syncDirectory: (path: string) => Promise<void>;

  constructor(sync = syncDirectory) {
    this.#syncDirectory = sync;
  }

  /** Resolves when a sync of this directory that began after the call has ended. */
  sync(path: string): Promise<void> {
    const turn = this.#turns.get(path);
    if (turn === undefined) {
      const first: Turn = { running: this.#syncDirectory(path), next: undefined };
      this.#turns.set(path, first);
      this.#follow(path, first);
      return first.running;
    }
    return (turn.next ??= turn.running.then(() => this.#startNext(path, turn)));
  }

  #startNext(path: string, turn: Turn): Promise<void> {
    turn.running = this.#syncDirectory(path);
    turn.next = undefined;
    this.#follow(path, turn);
    return turn.running;
  }

  /** Forgets the directory when a sync ends and no other is waiting, or when it fails. */
  #follow(path: string, turn: Turn): void {
    turn.running.then(
      () => {
        if (turn.next === undefined) this.#turns.delete(path);
      },
      () => this.#turns.delete(path),
    );
  }
}
