import type { Clock } from '../../../shared/ports/clock.ts';
import type { Telemetry } from '../../../shared/ports/telemetry.ts';

/** A task that runs again and again. */
export interface Schedule {
  /** Stops starting the task. Resolves once a running task has ended. */
  stop(): Promise<void>;
}

/** Runs a task every `every` milliseconds, never concurrently with itself. A failure is logged; the next run tries again. */
export function repeat(
  every: number,
  clock: Clock,
  task: () => Promise<unknown>,
  telemetry: Telemetry,
  failure: string,
): Schedule {
  return start(clock, () => every, task, telemetry, failure);
}

/**
 * Runs a task now, and then whenever the clock passes a multiple of `every` milliseconds, regardless of when the service was
 * started. Otherwise as {@link repeat}.
 */
export function onTheClock(
  every: number,
  clock: Clock,
  task: () => Promise<unknown>,
  telemetry: Telemetry,
  failure: string,
): Schedule {
  let isFirst = true;
  const wait = (): number => {
    const now = isFirst;
    isFirst = false;
    return now ? 0 : every - (clock.now() % every);
  };
  return start(clock, wait, task, telemetry, failure);
}

/** @param wait returns the milliseconds until the next run */
function start(
  clock: Clock,
  wait: () => number,
  task: () => Promise<unknown>,
  telemetry: Telemetry,
  failure: string,
): Schedule {
  const stopping = new AbortController();
  let running: Promise<void> | undefined;
  const run = (): void => {
    running ??= task()
      .catch((error: unknown) => telemetry.problem(failure, error))
      .then(() => {
        running = undefined;
      });
  };
  const runs = async (): Promise<void> => {
    for (;;) {
      const pause = wait();
      if (pause > 0) await clock.sleep(pause, stopping.signal);
      if (stopping.signal.aborted) return;
      run();
    }
  };
  void runs();
  return {
    stop: async () => {
      stopping.abort();
      await running;
    },
  };
}
