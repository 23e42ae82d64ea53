import { S3Error } from '../../errors/s3-error.ts';
import type { Randomness } from '../../ports/randomness.ts';

/** The result of an attempt that lost to another writer and should be retried. */
export const conflict = Symbol('conflict');

/** The default number of attempts: hardly ever do this many in a row conflict. */
const defaultAttempts = 8;

/**
 * Repeats an optimistic write, which reads, decides, and writes on condition that nothing it read has changed. All
 * retries over the table go through this loop.
 * @param attempt makes an attempt, given its number from 0; it does its own waiting before it returns {@link conflict}
 * @param exhausted returns the result, or throws, when every attempt has conflicted
 */
export async function optimistically<Result>(
  attempt: (number: number) => Promise<Result | typeof conflict>,
  exhausted: () => Result,
  attempts = defaultAttempts,
): Promise<Result> {
  for (let number = 0; number < attempts; number += 1) {
    const result = await attempt(number);
    if (result !== conflict) return result;
  }
  return exhausted();
}

/** Throws after every attempt has conflicted. @throws S3Error SlowDown */
export function slowDown(): never {
  throw new S3Error('SlowDown');
}

/** Returns how many milliseconds to wait before another attempt: longer each time, and random, so that two writers part. */
export function jitter(attempt: number, randomness: Randomness): number {
  return ((randomness.bytes(1)[0]! + 1) / 256) * 4 * 2 ** attempt;
}
