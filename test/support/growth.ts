import { expect } from 'vitest';

const factor = 16;
const rounds = 5;

/**
 * Expects that work grows no faster than its input: sixteen times as much may take at most four times as long as it should, where
 * quadratic work takes sixteen times as long. Compared is the processor time of this process, the best of a few rounds each, so that
 * what else the machine does hardly matters.
 * @param work does it for an input of this size, which is worth some hundred microseconds at least
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
