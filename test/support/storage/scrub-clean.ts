import { expect } from 'vitest';
import { runWarm } from '../programs/warm-program.ts';

/** Runs `stillage scrub` on a data directory, and expects no findings. No item is too young to be checked. */
export async function expectScrubClean(data: string): Promise<void> {
  const { code, stdout, stderr } = await runWarm(['scrub', '--data', data, '--min-age', '0']);
  expect(stdout, stderr).toMatch(/everything is consistent\n$/);
  expect(code).toBe(0);
}
