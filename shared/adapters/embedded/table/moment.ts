import type { Database, RootDatabase } from 'lmdb';
import type { KeyRange } from '../../encoded-table/item-key.ts';

/** The type that the engine's declarations give to the option `transaction`. */
type Transaction = ReturnType<RootDatabase['useReadTransaction']>;

/**
 * The databases as they are at one moment, until it is ended. Writers go on meanwhile, but the space of what they replace is not used again
 * before, so it should not last. The process cannot close the environment until then.
 */
export class Moment {
  readonly #open: (name: string) => Database<Buffer, Buffer>;
  readonly #transaction: Transaction;

  /** @param open a database, with keys and values as they are stored */
  constructor(root: RootDatabase, open: (name: string) => Database<Buffer, Buffer>) {
    this.#open = open;
    root.resetReadTxn();
    this.#transaction = root.useReadTransaction();
  }

  /** Yields the entries of a database in the order of their keys: all, or those of a range. */
  *entries(
    database: string,
    range: Partial<KeyRange> = {},
  ): Generator<{ readonly key: Buffer; readonly value: Buffer }> {
    yield* this.#open(database).getRange({ ...range, transaction: this.#transaction });
  }

  end(): void {
    this.#transaction.done();
  }
}
