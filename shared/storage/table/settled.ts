import { S3Error } from '../../errors/s3-error.ts';
import {
  TableBusy,
  type Attributes,
  type ItemKey,
  type KeyValueTable,
  type WriteOutcome,
} from '../../ports/key-value-table.ts';

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
 * Waits for work that may fail without consequences: its caller has done its task, and other work finishes or repeats what this leaves
 * undone. Throws any failure other than that of the table.
 * @param work a write, or what waits for {@link settled} writes
 */
export async function bestEffort(work: Promise<unknown>): Promise<void> {
  try {
    await work;
  } catch (error) {
    if (!(error instanceof TableBusy || error instanceof Unsettled)) throw error;
  }
}

/**
 * Writes an item that a later commit is to refer to. Without the certainty that it is there, nothing may be committed.
 * @throws S3Error ServiceUnavailable unless it was written
 */
export async function putBeforeCommit(table: KeyValueTable, key: ItemKey, put: Attributes): Promise<void> {
  const { outcome } = await table.write([{ key, put }]);
  if (outcome !== 'written') throw new S3Error('ServiceUnavailable');
}
