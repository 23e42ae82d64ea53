import type { Held, ReaderBarrier } from '../../../shared/storage/removal/readers.ts';
import type { Release, Sweep } from '../../../shared/storage/removal/release.ts';
import type { BlobStore } from '../../../shared/ports/blob-store.ts';
import type { Clock } from '../../../shared/ports/clock.ts';
import { minute, second } from '../../../shared/ports/durations.ts';
import type { Telemetry } from '../../../shared/ports/telemetry.ts';
import { repeat, type Schedule } from '../schedules/schedule.ts';
import { TableBusy } from '../../../shared/ports/key-value-table.ts';

/** The time until content that requests were reading is checked again. */
const heldTime = second;
/** The time for which {@link ReleaseSchedule.now} waits for requests that were running when it was called. */
const patience = 10 * second;

interface Deps {
  readonly release: Release;
  readonly readers: ReaderBarrier & { stop(): void };
  /** Follows the change feed to its end. */
  readonly drain: () => Promise<void>;
  readonly blobs: Pick<BlobStore, 'check'>;
  /** Tells whether a backup holds what was released. */
  readonly isHeld: () => Promise<boolean>;
  readonly clock: Clock;
  readonly telemetry: Telemetry;
}

/**
 * Frees released content: after changes were followed, again while requests read some of it, and every minute. A full disk or an operator
 * frees it before its grace period is over.
 */
export class ReleaseSchedule {
  readonly #deps: Deps;
  readonly #eachMinute: Schedule;
  #running: Promise<void> | undefined;
  #isWanted = false;
  /** Ends the wait for content that requests were reading. */
  #again: AbortController | undefined;
  #early: Promise<void> | undefined;
  #isStopped = false;

  constructor(deps: Deps) {
    this.#deps = deps;
    this.#eachMinute = repeat(minute, deps.clock, () => Promise.resolve(this.soon()), deps.telemetry, failure);
    // Content left by a former process: no request reads it.
    this.soon();
  }

  /** Frees due content. Call it when more may be due. */
  soon(): void {
    this.#isWanted = true;
    if (this.#isStopped) return;
    this.#running ??= this.#run().finally(() => {
      this.#running = undefined;
    });
  }

  /**
   * Follows the change feed to its end, and frees content that no request reads.
   * @param options.early true to free it before its grace period is over
   */
  async now({ early }: { readonly early: boolean }): Promise<Sweep> {
    const { release, readers, drain, clock } = this.#deps;
    const held = { passed: () => soonOrHeld(readers, clock) };
    return freeingFirst(drain, () => release.sweep({ early, readers: held }));
  }

  /**
   * Reports that a store could not serve a request. If its disk is full, content is freed before its grace period is over.
   * @param isDiskFull true if the disk is known to be full
   */
  refused(isDiskFull: boolean): void {
    if (this.#isStopped) return;
    this.#early ??= this.#freeEarly(isDiskFull).finally(() => {
      this.#early = undefined;
    });
  }

  /** Resolves when the work in progress has ended. Call it when no request is running. */
  async stop(): Promise<void> {
    this.#isStopped = true;
    this.#again?.abort();
    this.#deps.readers.stop();
    await Promise.all([this.#eachMinute.stop(), this.#running, this.#early]);
  }

  async #run(): Promise<void> {
    const { release, isHeld: holds, telemetry } = this.#deps;
    this.#again?.abort();
    let isHeld = false;
    while (this.#isWanted && !this.#isStopped) {
      this.#isWanted = false;
      try {
        // Most of it could not be freed: the next minute tries again.
        if (await holds()) break;
        const { held } = await release.sweep({ stopping: () => this.#isStopped });
        isHeld = held.things > 0;
      } catch (error) {
        telemetry.problem(failure, error);
      }
    }
    if (isHeld && !this.#isStopped) void this.#soonAgain();
  }

  async #soonAgain(): Promise<void> {
    const again = (this.#again = new AbortController());
    await this.#deps.clock.sleep(heldTime, again.signal);
    if (!again.signal.aborted) this.soon();
  }

  async #freeEarly(isFull: boolean): Promise<void> {
    const { blobs, telemetry } = this.#deps;
    try {
      if (!isFull && (await blobs.check()).writable) return;
      const { freed, bytes } = await this.now({ early: true });
      telemetry.note('the disk is full: released content was freed', { freed, bytes });
    } catch (error) {
      telemetry.problem(failure, error);
    }
  }
}

const failure = 'freeing released content failed';

/** Returns the content that is still held when the barrier is passed, or all of it if that takes too long. */
async function soonOrHeld(readers: ReaderBarrier, clock: Clock): Promise<Held> {
  const late = new AbortController();
  const everything: Held = { has: () => true };
  const tooLate = clock.sleep(patience, late.signal).then(() => everything);
  try {
    return await Promise.race([readers.passed(), tooLate]);
  } finally {
    late.abort();
  }
}

/**
 * Follows the change feed to its end, and frees content. If the table cannot be written, since its disk is full, what is queued already is freed
 * first: removing files needs no room in the table, and makes some.
 * @param drain follows the feed
 * @throws TableBusy if that did not help
 */
export async function freeingFirst(drain: () => Promise<void>, sweep: () => Promise<Sweep>): Promise<Sweep> {
  try {
    await drain();
    return await sweep();
  } catch (error) {
    if (!(error instanceof TableBusy)) throw error;
  }
  // Removes what it can, also where the table then refuses to forget it.
  const before = await sweep().catch(() => undefined);
  await drain();
  const after = await sweep();
  return {
    ...after,
    freed: after.freed + (before?.freed ?? 0),
    blobs: after.blobs + (before?.blobs ?? 0),
    bytes: after.bytes + (before?.bytes ?? 0),
  };
}
