import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { second } from '../../../../shared/ports/durations.ts';

/** The interval of checks in milliseconds. Unused buffers are dropped sooner. */
const interval = 10 * second;
/** The number of bodies that must have ended for a collection to be worth it, which stops the process for some 20 ms. */
const leastEnded = 64;

/** Counts bodies in progress. */
interface Counted {
  readonly count: number;
  /** Returns the most since the last call. */
  takePeak(): number;
}

/** The share of an interval that the event loop is busy with requests, and that it is busy when there are hardly any. */
const [busy, idle] = [0.2, 0.02];

/** Access to the state of a process and its garbage collector, which tests replace. */
interface Process {
  /** Returns the share of the time since the last call during which the event loop was busy. */
  readonly utilisation: () => number;
  /** Collects all garbage. */
  readonly collect: () => void;
}

/**
 * Has the garbage collected after many bodies were in progress at once, and once a process that was busy has become idle. V8 collects only
 * when the service has allocated several times as much (ADR 66): after a burst of slow uploads, and in an idle worker, that may be never.
 */
export class MemoryReturn {
  readonly #counted: readonly Counted[];
  readonly #process: Process;
  readonly #timer: NodeJS.Timeout;
  #peak = 0;
  #wasBusy = false;
  #isDue = false;

  /** @param counted what takes memory */
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
    // At the second look, so that what ended just now is garbage.
    if (isWorthIt && this.#isDue) {
      this.#peak = count;
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
  let last = performance.eventLoopUtilization();
  const utilisation = (): number => {
    const now = performance.eventLoopUtilization();
    const { utilization } = performance.eventLoopUtilization(now, last);
    last = now;
    return utilization;
  };
  return { utilisation, collect: collectGarbage() };
}

/** Returns V8's function that collects all garbage, which only new contexts get after the start: https://nodejs.org/api/cli.html#--expose-gc */
function collectGarbage(): () => void {
  setFlagsFromString('--expose-gc');
  return runInNewContext('gc') as () => void;
}
