import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { second } from '../../../shared/ports/durations.ts';

/** The interval of checks in milliseconds. Unused buffers are dropped sooner. */
const interval = 10 * second;
/** The number of bodies that must have ended to justify a collection, which stops the process for some 20 ms. */
const leastEnded = 64;

/** Counts bodies in progress. */
interface Counted {
  readonly count: number;
  /** Returns the maximum since the last call. */
  takePeak(): number;
}

/** The share of a processor from which the process counts as busy, and the share up to which it counts as idle. */
const [busy, idle] = [0.2, 0.02];

/** Access to the state of a process and its garbage collector, which tests replace. */
interface Process {
  /**
   * Returns the share of a processor that the process has used since the last call. How long the event loop was busy would not do: where
   * others keep the processors busy, every turn takes long.
   */
  readonly utilisation: () => number;
  /** Collects all garbage. */
  readonly collect: () => void;
}

/**
 * Collects garbage after many bodies were in progress at once, and when a busy process becomes idle. V8 does so only after the service has
 * allocated several times as much (ADR 66), which may never happen after a burst of slow uploads, or in an idle worker.
 */
export class MemoryReturn {
  readonly #counted: readonly Counted[];
  readonly #process: Process;
  readonly #timer: NodeJS.Timeout;
  #peak = 0;
  #wasBusy = false;
  #isDue = false;

  /** @param counted the counters of bodies, which take memory */
  constructor(counted: readonly Counted[], process: Process = thisProcess()) {
    this.#counted = counted;
    this.#process = process;
    this.#timer = setInterval(() => this.look(), interval).unref();
  }

  /** Collects garbage if most of many bodies have ended, or the process has become idle. */
  look(): void {
    const count = this.#counted.reduce((sum, one) => sum + one.count, 0);
    const peak = this.#counted.reduce((sum, one) => sum + one.takePeak(), 0);
    this.#peak = Math.max(this.#peak, peak);
    const utilisation = this.#process.utilisation();
    this.#wasBusy ||= utilisation >= busy;
    const hasEnded = this.#peak - count >= leastEnded && count <= this.#peak / 2;
    const isWorthIt = hasEnded || (this.#wasBusy && utilisation <= idle);
    // At the second check, when the memory of bodies that ended just now is garbage.
    if (isWorthIt && this.#isDue) {
      // Bodies that have ended since the last check count again: their memory may become garbage only now.
      this.#peak = peak;
      this.#wasBusy = false;
      this.#process.collect();
    }
    this.#isDue = isWorthIt && !this.#isDue;
  }

  close(): void {
    clearInterval(this.#timer);
  }
}

function thisProcess(): Process {
  let last = { at: performance.now(), used: process.cpuUsage() };
  const utilisation = (): number => {
    const [at, used] = [performance.now(), process.cpuUsage()];
    const microseconds = used.user + used.system - last.used.user - last.used.system;
    const share = microseconds / 1000 / (at - last.at);
    last = { at, used };
    return share;
  };
  return { utilisation, collect: collectGarbage() };
}

/** Returns V8's function that collects all garbage. After the start, only new contexts get it: https://nodejs.org/api/cli.html#--expose-gc. Bun has its own. */
function collectGarbage(): () => void {
  const { Bun: bun } = globalThis as { Bun?: { gc(isSynchronous: boolean): void } };
  if (bun) return () => bun.gc(true);
  setFlagsFromString('--expose-gc');
  return runInNewContext('gc') as () => void;
}
