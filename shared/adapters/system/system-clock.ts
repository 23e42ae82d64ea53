import { setTimeout as sleep } from 'node:timers/promises';
import type { Clock } from '../../ports/clock.ts';

/** The machine's clock. */
export class SystemClock implements Clock {
  now(): number {
    return Date.now();
  }

  async sleep(milliseconds: number): Promise<void> {
    await sleep(milliseconds);
  }
}
