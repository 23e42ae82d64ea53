import type { Clock } from '../../../shared/ports/clock.ts';
import type { Telemetry } from '../../../shared/ports/telemetry.ts';

/** Runs a task every `every` milliseconds, never concurrently with itself. A failure is logged; the next run tries again. */
export function repeat(
  every: number,
  task: () => Promise<unknown>,
  telemetry: Telemetry,
  failure: string,
): { /** Resolves once a running task has ended. */ stop(): Promise<void> } {
  let running: Promise<void> | undefined;
  const timer = setInterval(() => {
    running ??= task()
      .catch((error: unknown) => telemetry.problem(failure, error))
      .then(() => {
        running = undefined;
      });
  }, every);
  timer.unref();
  return {
    stop: async () => {
      clearInterval(timer);
      await running;
    },
  };
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
): { stop(): Promise<void> } {
  let timer: NodeJS.Timeout;
  let running: Promise<void> | undefined;
  const run = (): void => {
    running ??= task()
      .catch((error: unknown) => telemetry.problem(failure, error))
      .then(() => {
        running = undefined;
      });
    timer = setTimeout(run, every - (clock.now() % every));
    timer.unref();
  };
  run();
  return {
    stop: async () => {
      clearTimeout(timer);
      await running;
    },
  };
}
