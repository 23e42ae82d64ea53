import { expect } from 'vitest';

const factor = 16;
const rounds = 5;

/**
 * Expects that work grows no faster than its input: with sixteen times the input it may take at most four times as long as linear work,
 * where quadratic work takes sixteen times as long. The measure is the processor time of this process, the best of a few rounds each, so
 * that other load on the machine hardly matters.
 * @param size large enough that V8 keeps neither input where small objects are, whose pages are there already
 * @param work does the work for an input of this size, and should take at least some hundred microseconds
 */
export function expectLinear(size: number, work: (size: number) => void): void {
  work(size);
  const small = best(() => work(size));
  const large = best(() => work(size * factor));
  expect(large / (small * factor)).toBeLessThan(4);
}

/** Microseconds, at least 1. */
function best(work: () => void): number {
  const times = Array.from({ length: rounds }, () => {
    const before = process.cpuUsage();
    work();
    const { user, system } = process.cpuUsage(before);
    return user + system;
  });
  return Math.max(1, Math.min(...times));
}
