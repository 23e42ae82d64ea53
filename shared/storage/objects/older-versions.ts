import type { Position } from '../../ports/item-view.ts';
import type { KeyValueTable } from '../../ports/key-value-table.ts';
import { partition } from '../table/keys/keys.ts';
import { versionVisitor, type ListedVersion } from '../versions/listed-version.ts';
import { visitPartition } from './scan.ts';

/** The position of a key's versions that are older than one that was read before. */
export interface OlderVersions {
  readonly key: string;
  /** The instance of the version that was read. */
  readonly after: string;
  /** The first of them and their number, according to the current version. Undefined if an earlier page read that version. */
  readonly expected: { readonly first: string | undefined; readonly count: number } | undefined;
  /** The number of versions to show. */
  readonly room: number;
}

/**
 * The outcome of a listing of older versions: `all` of them, or `some` of more. `broken`: they do not continue the version that was read,
 * since the key has changed meanwhile.
 */
export type OlderVersionsShown = 'all' | 'some' | 'broken';

/**
 * Shows versions of a key, newest first, without creating an object for each. They are of one moment with the current version, although
 * both are read separately, only if they continue the chain without a gap and are as many as it says. (The number is needed because a
 * chain without its oldest version has no gap either.) If there are more than fit, the number is not checked: the rest is read at
 * another moment anyway.
 * @param visit is shown each version, which is valid only during the call
 */
export async function visitOlderVersions(
  table: KeyValueTable,
  bucketId: string,
  { key, after, expected, room }: OlderVersions,
  visit: (version: ListedVersion) => void,
): Promise<OlderVersionsShown> {
  let next = expected?.first;
  let count = 0;
  let end: OlderVersionsShown | undefined;
  const visitor = versionVisitor((version) => {
    if (count === room) end = 'some';
    else if ((expected !== undefined || count > 0) && version.instance !== next) end = 'broken';
    if (end !== undefined) return 'stop';
    next = version.previousVersion;
    count += 1;
    visit(version);
    return undefined;
  });
  const noncurrent = partition.noncurrentVersions(bucketId, key);
  const range = { prefix: '', reverse: true, limit: room + 1 };
  for (let position: Position | undefined = { after }; position !== undefined;) {
    position = await visitPartition(table, noncurrent, { ...range, ...position }, visitor);
  }
  if (end !== undefined) return end;
  return next === undefined && (expected === undefined || count === expected.count) ? 'all' : 'broken';
}
