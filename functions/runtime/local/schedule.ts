import type { Clock } from '../../../shared/ports/clock.ts';
import type { Telemetry } from '../../../shared/ports/telemetry.ts';

/** Does something again and again, never twice at once; a failure is logged and tried again at the next time. */
export function repeat(
  every: number,
  task: () => Promise<unknown>,
  telemetry: Telemetry,
  failure: string,
): { /** Resolves once it is not at work any more. */ stop(): Promise<void> } {
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
 * Does something at once, and then whenever the time passes a multiple of `every` milliseconds, however often the service is
 * started anew; otherwise as {@link repeat}.
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
