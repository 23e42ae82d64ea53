import { syncDirectory } from './durable-directory.ts';

/** The sync under way of one directory, and the one that whoever comes meanwhile has to wait for. */
interface Turn {
  running: Promise<void>;
  next: Promise<void> | undefined;
}

/**
 * Syncs directories for many writers at once. An entry may have been created just after a running sync looked, so a writer never
 * joins that one; all who come while it runs share the next.
 */
export class DirectorySync {
  readonly #mutex = new Map<string, Turn>();
  readonly #syncDirectory: (path: string) => Promise<void>;

  constructor(sync = syncDirectory) {
    this.#syncDirectory = sync;
  }

  /** Resolves once a sync of this directory that began after the call has ended. */
  sync(path: string): Promise<void> {
    const turn = this.#mutex.get(path);
    if (turn === undefined) {
      const first: Turn = { running: this.#syncDirectory(path), next: undefined };
      this.#mutex.set(path, first);
      this.#follow(path, first);
      return first.running;
    }
    return (turn.next ??= turn.running.then(
      () => this.#startNext(path, turn),
      () => this.#startNext(path, turn),
    ));
  }

  #startNext(path: string, turn: Turn): Promise<void> {
    turn.running = this.#syncDirectory(path);
    turn.next = undefined;
    this.#follow(path, turn);
    return turn.running;
  }

  /** Forgets the directory when a sync ends and nobody waits for another. */
  #follow(path: string, turn: Turn): void {
    const forget = (): void => {
      if (turn.next === undefined) this.#mutex.delete(path);
    };
    turn.running.then(forget, forget);
  }
}
