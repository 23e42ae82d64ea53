import type { KeyValueTable } from '../../ports/key-value-table.ts';

/** The number of changes in one write: few enough for others to have their turn between two of them. */
const changesPerWrite = 16;
/** The number of writes at a time if each is a separate commit. */
const defaultWidth = 16;

/** Changes that do not depend on one another, divided into writes. */
export interface SeparateChanges<Change> {
  /** The changes of each write. */
  readonly writes: readonly (readonly Change[])[];
  /** The number of writes to do at a time. */
  readonly width: number;
}

/**
 * Divides changes that do not depend on one another into writes. If concurrent writes share a commit, each write has several changes, since
 * a write then costs more than a change. Otherwise each has one, since a transaction costs twice as much.
 */
export function separately<Change>(
  { writesPerCommit }: Pick<KeyValueTable, 'writesPerCommit'>,
  changes: readonly Change[],
): SeparateChanges<Change> {
  if (writesPerCommit === undefined) return { writes: changes.map((change) => [change]), width: defaultWidth };
  const count = Math.ceil(changes.length / changesPerWrite);
  const writes = Array.from({ length: count }, (_, at) =>
    changes.slice(at * changesPerWrite, (at + 1) * changesPerWrite),
  );
  return { writes, width: Math.ceil(writesPerCommit / changesPerWrite) };
}
