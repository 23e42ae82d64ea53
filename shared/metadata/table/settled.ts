import { S3Error } from '../../errors/s3-error.ts';
import { TableBusy, type WriteOutcome } from '../../ports/key-value-table.ts';

/** A write may have happened, or may still happen: callers must not rely on either. Repeat the work if possible. */
class Unsettled extends S3Error {
  constructor() {
    super('ServiceUnavailable', { cause: new Error('the table did not tell whether a write happened') });
  }
}

/**
 * Waits for a write that must have happened, or lost to another one, before its caller continues.
 * @returns whether it happened; if not, one of its expectations failed
 * @throws S3Error ServiceUnavailable if that is unknown
 */
export async function settled(write: Promise<WriteOutcome>): Promise<boolean> {
  const { outcome } = await write;
  if (outcome === 'unknown') throw new Unsettled();
  return outcome === 'written';
}

/**
 * Waits for work of which nothing depends on whether it happens: its caller has done what it was asked for, and something else
 * finishes, or repeats, what this leaves undone. Any other failure than that of the table is thrown.
 * @param work a write, or what waits for {@link settled} writes
 */
export async function bestEffort(work: Promise<unknown>): Promise<void> {
  try {
    await work;
  } catch (error) {
    if (!(error instanceof TableBusy || error instanceof Unsettled)) throw error;
  }
}
