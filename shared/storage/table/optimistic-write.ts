import { S3Error } from '../../errors/s3-error.ts';
import type { Attributes, Expectation } from '../../ports/key-value-table.ts';
import type { Randomness } from '../../ports/randomness.ts';

/** The result of an attempt that lost to another writer and should be retried. */
export const conflict = Symbol('conflict');
/** The result of an attempt that took so long that it could no longer rely on what it had read, and should be retried. */
export const late = Symbol('late');
/** The result of an attempt that should be retried. */
export type Lost = typeof conflict | typeof late;

/** The number of lost attempts, by reason. */
export interface LostAttempts {
  readonly toOthers: number;
  readonly late: number;
}

/** The default number of attempts: hardly ever do this many in a row conflict. */
const defaultAttempts = 8;

/**
 * Repeats an optimistic write, which reads, decides, and writes on condition that nothing it read has changed. All
 * retries over the table go through this loop.
 * @param attempt makes an attempt, given its number from 0; it does its own waiting before it returns {@link Lost}
 * @param exhausted returns the result, or throws, when every attempt was lost
 */
export async function optimistically<Result>(
  attempt: (number: number) => Promise<Result | Lost>,
  exhausted: (lost: LostAttempts) => Result,
  attempts = defaultAttempts,
): Promise<Result> {
  let tooLate = 0;
  for (let number = 0; number < attempts; number += 1) {
    const result = await attempt(number);
    if (result !== conflict && result !== late) return result;
    if (result === late) tooLate += 1;
  }
  return exhausted({ toOthers: attempts - tooLate, late: tooLate });
}

/** Throws after every attempt was lost, and says in the log how. @throws S3Error SlowDown */
export function slowDown({ toOthers, late }: LostAttempts): never {
  const how = `of ${toOthers + late} attempts ${toOthers} lost to other writers, and ${late} took too long before their commit`;
  throw new S3Error('SlowDown', { cause: new Error(how) });
}

/** Returns how many milliseconds to wait before another attempt: longer each time, and random, so that two writers part. */
export function jitter(attempt: number, randomness: Randomness): number {
  return ((randomness.bytes(1)[0]! + 1) / 256) * 4 * 2 ** attempt;
}

/** Returns the expectation that an item has this write token, and so is as the change left it that wrote this token. */
export function tokenIs(token: string): Expectation {
  return { is: 'equal', attribute: 'r', value: token };
}

/**
 * Returns the expectation that an item is still as it was read.
 * @param before undefined: it did not exist
 */
export function asRead(before: Attributes | undefined): Expectation {
  if (before === undefined) return { is: 'absent' };
  const token = before['r'];
  if (typeof token === 'string') return tokenIs(token);
  return { is: 'all', of: [{ is: 'present' }, { is: 'missing', attribute: 'r' }] };
}
