import { randomInt } from 'node:crypto';
import type { TestProject } from 'vitest/node';

declare module 'vitest' {
  export interface ProvidedContext {
    /** The seed of all property tests of the run. */
    propertySeed: number;
  }
}

/**
 * Chooses the seed of a run's property tests: TEST_SEED, or 1, so that a run finds what the one before it found. With TEST_LONG, a
 * new one, which is printed.
 */
export default function setup(project: TestProject): void {
  const given = process.env['TEST_SEED'];
  const isLong = (process.env['TEST_LONG'] ?? '') !== '';
  const seed = Number(given ?? (isLong ? randomInt(2 ** 31) : 1));
  if (isLong) console.log(`Property tests have the seed ${seed}; to repeat them: TEST_SEED=${seed}`);
  project.provide('propertySeed', seed);
}
