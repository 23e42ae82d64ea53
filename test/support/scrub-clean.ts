import { expect } from 'vitest';
import { runProgram } from './program.ts';

/** Runs `stillage scrub` on a data directory, and expects that everything in it fits together. Nothing is too young to be looked at. */
export async function expectScrubClean(data: string): Promise<void> {
  const { code, stdout, stderr } = await runProgram(['scrub', '--data', data, '--min-age', '0'], {
    killAfter: 120_000,
  });
  expect(stdout, stderr).toMatch(/everything fits together\n$/);
  expect(code).toBe(0);
}
