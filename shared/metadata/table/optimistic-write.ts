import { S3Error } from '../../errors/s3-error.ts';
import type { Randomness } from '../../ports/randomness.ts';

/** The result of an attempt that was not written, because another writer was faster: to be made again. */
export const conflict = Symbol('conflict');

/** How many attempts are usual: more in a row hardly ever fail. */
const usualAttempts = 8;

/**
 * Repeats an optimistic write, which reads, decides, and writes on condition that nothing it read has changed. The one retry loop
 * over the table.
 * @param attempt makes an attempt, with its number from 0. What must wait before the next one waits before it returns {@link conflict}
 * @param exhausted gives the result, or throws, when every attempt has conflicted
 */
export async function optimistically<Result>(
  attempt: (number: number) => Promise<Result | typeof conflict>,
  exhausted: () => Result,
  attempts = usualAttempts,
): Promise<Result> {
  for (let number = 0; number < attempts; number += 1) {
    const result = await attempt(number);
    if (result !== conflict) return result;
  }
  return exhausted();
}

/** For writers that conflicted with others throughout. @throws S3Error SlowDown */
export function slowDown(): never {
  throw new S3Error('SlowDown');
}

/** Returns how many milliseconds to wait before another attempt: longer each time, and random, so that two writers part. */
export function jitter(attempt: number, randomness: Randomness): number {
  return ((randomness.bytes(1)[0]! + 1) / 256) * 4 * 2 ** attempt;
}
