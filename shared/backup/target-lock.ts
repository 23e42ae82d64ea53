import { OperatorError } from '../errors/operator-error.ts';
import type { BackupTarget } from '../ports/backup-target.ts';
import type { Clock } from '../ports/clock.ts';
import { minute } from '../ports/durations.ts';
import type { Randomness } from '../ports/randomness.ts';

const folder = 'locks/';
/** The interval at which a lock is written again. */
const refreshEvery = 2 * minute;
/** The age at which a lock no longer counts: its process was killed, or has lost the target. */
const maxAge = 10 * minute;

/** `add`: adds files, or relies on those that are there; any number at a time. `remove`: removes files; excludes all others. */
export type LockKind = 'add' | 'remove';

/** The process that holds a lock. */
export interface LockHolder {
  readonly host: string;
  readonly pid: number;
  /** Tells whether a process is known to have ended. */
  readonly hasEnded: (host: string, pid: number) => boolean;
}

export interface LockDeps {
  readonly target: BackupTarget;
  readonly clock: Clock;
  readonly randomness: Randomness;
  readonly holder: LockHolder;
}

/**
 * A lock on a target: a file, which is written again as long as its process works. Its age is told by the target's own clock. Nothing is
 * removed beside it, and it is checked once more before a backup is recorded.
 */
export class TargetLock {
  readonly #deps: LockDeps;
  readonly #file: string;
  readonly #ended = new AbortController();
  readonly #refreshing: Promise<void>;
  #refreshedAt: number;

  private constructor(deps: LockDeps, file: string) {
    this.#deps = deps;
    this.#file = file;
    this.#refreshedAt = deps.clock.now();
    this.#refreshing = this.#refresh();
  }

  /** @throws OperatorError if another process has a lock that excludes this one */
  static async take(deps: LockDeps, kind: LockKind): Promise<TargetLock> {
    const { target, randomness } = deps;
    const file = `${folder}${kind}-${Buffer.from(randomness.bytes(9)).toString('hex')}`;
    await target.put(file, contentOf(deps));
    try {
      const other = await otherLock(deps, kind, file);
      if (other !== undefined) throw new OperatorError(other);
    } catch (error) {
      await target.remove([file]);
      throw error;
    }
    return new TargetLock(deps, file);
  }

  /** Checks that nothing was removed meanwhile. @throws OperatorError if the lock may have been taken for dead */
  async check(): Promise<void> {
    const isFresh = this.#deps.clock.now() - this.#refreshedAt < maxAge / 2;
    if (isFresh && (await this.#deps.target.get(this.#file)) !== undefined) return;
    throw new OperatorError(
      `the lock on ${this.#deps.target.name} was lost, as this process was stopped for too long: run it again; what is written is used`,
    );
  }

  async release(): Promise<void> {
    this.#ended.abort();
    await this.#refreshing;
    await this.#deps.target.remove([this.#file]);
  }

  async #refresh(): Promise<void> {
    const { target, clock } = this.#deps;
    const { signal } = this.#ended;
    for (;;) {
      await clock.sleep(refreshEvery, signal);
      if (signal.aborted) return;
      const at = clock.now();
      // A target that cannot be written to is reported by those who write the backup itself.
      const isWritten = await target.put(this.#file, contentOf(this.#deps)).catch(() => false);
      if (isWritten) this.#refreshedAt = at;
    }
  }
}

function contentOf({ holder: { host, pid } }: LockDeps): Buffer {
  return Buffer.from(JSON.stringify({ host, pid }));
}

/** Returns a line about a lock that excludes this one; undefined: there is none. Removes those that no longer count. */
async function otherLock({ target, holder }: LockDeps, kind: LockKind, own: string): Promise<string | undefined> {
  const files = [];
  for await (const file of target.list(folder)) files.push(file);
  const now = files.find(({ name }) => name === own)?.writtenAt ?? Infinity;
  for (const { name, writtenAt } of files) {
    const isRemoval = name.startsWith(`${folder}remove-`);
    if (name === own || (kind === 'add' && !isRemoval)) continue;
    const who = holderIn(await target.get(name));
    if (now - writtenAt > maxAge || (who !== undefined && holder.hasEnded(who.host, who.pid))) {
      await target.remove([name]);
      continue;
    }
    const process = who === undefined ? 'another process' : `process ${who.pid} on ${who.host}`;
    return isRemoval
      ? `${process} removes backups from ${target.name}: try again when it has ended`
      : `${process} uses ${target.name}: try again when it has ended, or ten minutes after it was killed`;
  }
  return undefined;
}

function holderIn(bytes: Uint8Array | undefined): { readonly host: string; readonly pid: number } | undefined {
  if (bytes === undefined) return undefined;
  try {
    const { host, pid } = JSON.parse(Buffer.from(bytes).toString()) as Record<string, unknown>;
    return typeof host === 'string' && typeof pid === 'number' ? { host, pid } : undefined;
  } catch {
    return undefined;
  }
}
