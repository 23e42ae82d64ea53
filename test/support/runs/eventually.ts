import { vi } from 'vitest';
import { patience } from './patience.ts';

/** Waits until a check passes; rejects with what it threw last. */
export function eventually<T>(check: () => T | Promise<T>): Promise<T> {
  return vi.waitFor(check, { timeout: patience, interval: 50 });
}

/** Looks until something is found that is not false, and gives it. */
export function untilFound<T>(look: () => T | Promise<T>): ReturnType<typeof vi.waitUntil<T>> {
  return vi.waitUntil(look, { timeout: patience, interval: 100 });
}
