import { setTimeout as sleep } from 'node:timers/promises';
import type { Held, ReaderBarrier } from '../../../../shared/metadata/removal/readers.ts';
import type { Release, Sweep } from '../../../../shared/metadata/removal/release.ts';
import type { BlobStore } from '../../../../shared/ports/blob-store.ts';
import { minute, second } from '../../../../shared/ports/durations.ts';
import type { Telemetry } from '../../../../shared/ports/telemetry.ts';
import { repeat } from '../schedule.ts';

/** Until content is looked at again that requests were reading. */
const heldTime = second;
/** For how long {@link ReleaseSchedule.now} waits for requests that were running when it was called. */
const patience = 10 * second;

interface Deps {
  readonly release: Release;
  readonly readers: ReaderBarrier & { stop(): void };
  /** Follows the change feed to its end. */
  readonly drain: () => Promise<void>;
  readonly blobs: Pick<BlobStore, 'check'>;
  readonly telemetry: Telemetry;
}

/**
 * Frees released content: as soon as changes were followed, again while requests read some of it, and every minute. A full disk and
 * operators free it early.
 */
export class ReleaseSchedule {
  readonly #deps: Deps;
  readonly #eachMinute: { stop(): Promise<void> };
  #running: Promise<void> | undefined;
  #isWanted = false;
  #again: NodeJS.Timeout | undefined;
  #early: Promise<void> | undefined;
  #isStopped = false;

  constructor(deps: Deps) {
    this.#deps = deps;
    this.#eachMinute = repeat(minute, () => Promise.resolve(this.soon()), deps.telemetry, failure);
    // What a former process has left: nobody reads it.
    this.soon();
  }

  /** Frees what is due. To be called when more may be. */
  soon(): void {
    this.#isWanted = true;
    if (this.#isStopped) return;
    this.#running ??= this.#run().finally(() => {
      this.#running = undefined;
    });
  }

  /**
   * Follows the change feed to its end, and frees what no request reads.
   * @param options.early whether to free it before its grace period is over
   */
  async now({ early }: { readonly early: boolean }): Promise<Sweep> {
    const { release, readers, drain } = this.#deps;
    await drain();
    return release.sweep({ early, readers: { passed: () => soonOrHeld(readers) } });
  }

  /**
   * Tells that a store could not serve a request. If its disk is full, content is freed before its grace period is over.
   * @param isDiskFull whether that is known already
   */
  refused(isDiskFull: boolean): void {
    if (this.#isStopped) return;
    this.#early ??= this.#freeEarly(isDiskFull).finally(() => {
      this.#early = undefined;
    });
  }

  /** Resolves once nothing is being freed any more. To be called when no request is running. */
  async stop(): Promise<void> {
    this.#isStopped = true;
    clearTimeout(this.#again);
    this.#deps.readers.stop();
    await Promise.all([this.#eachMinute.stop(), this.#running, this.#early]);
  }

  async #run(): Promise<void> {
    const { release, telemetry } = this.#deps;
    clearTimeout(this.#again);
    let isHeld = false;
    while (this.#isWanted && !this.#isStopped) {
      this.#isWanted = false;
      try {
        const { held } = await release.sweep({ stopping: () => this.#isStopped });
        isHeld = held.things > 0;
      } catch (error) {
        telemetry.problem(failure, error);
      }
    }
    if (isHeld && !this.#isStopped) this.#again = setTimeout(() => this.soon(), heldTime).unref();
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

/** Returns what is held once the barrier has been passed, or everything if that takes too long. */
async function soonOrHeld(readers: ReaderBarrier): Promise<Held> {
  const late = new AbortController();
  const everything: Held = { has: () => true };
  const tooLate = sleep(patience, everything, { signal: late.signal, ref: false }).catch(() => everything);
  try {
    return await Promise.race([readers.passed(), tooLate]);
  } finally {
    late.abort();
  }
}
