import type { Telemetry } from '../../../shared/ports/telemetry.ts';

/** Does something again and again, never twice at once; a failure is logged and tried again at the next time. */
export function repeat(
  every: number,
  task: () => Promise<unknown>,
  telemetry: Telemetry,
  failure: string,
): { stop(): void } {
  let running = false;
  const timer = setInterval(() => {
    if (running) return;
    running = true;
    task()
      .catch((error: unknown) => telemetry.problem(failure, error))
      .finally(() => {
        running = false;
      });
  }, every);
  timer.unref();
  return { stop: () => clearInterval(timer) };
}
