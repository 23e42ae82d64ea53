import { setTimeout as sleep } from 'node:timers/promises';
import type { Clock } from '../../ports/clock.ts';

/** The machine's clock. */
export class SystemClock implements Clock {
  now(): number {
    return Date.now();
  }

  async sleep(milliseconds: number, until?: AbortSignal): Promise<void> {
    if (until === undefined) return sleep(milliseconds);
    await sleep(milliseconds, undefined, { signal: until, ref: false }).catch((error: unknown) => {
      if (!until.aborted) throw error;
    });
  }
}
