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
