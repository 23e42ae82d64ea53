import type { Attributes, Change } from '../../ports/key-value-table.ts';
import type { Randomness } from '../../ports/randomness.ts';
import { madeAt, timedId } from './keys/ids.ts';
import { itemKey } from './keys/keys.ts';

/**
 * A note that something came to a key with an earlier date than the time of its commit: a renamed object, which keeps
 * its Last-Modified, or a version that a repair restored. A lifecycle pass that skips ranges in which nothing was due needs
 * it, so it is part of the same write.
 */
export interface Recheck {
  readonly id: string;
  /** The time of the commit, in milliseconds since the epoch. */
  readonly at: number;
  readonly key: string;
  /** The Last-Modified of the version, in milliseconds since the epoch; undefined: anything may be due at the key. */
  readonly lastModified: number | undefined;
}

/** Returns the change that makes the next lifecycle pass consider a key again. It can neither fail nor conflict. */
export function putRecheck(
  bucketId: string,
  { key, lastModified }: Pick<Recheck, 'key' | 'lastModified'>,
  { now, randomness }: { readonly now: number; readonly randomness: Randomness },
): Change {
  return {
    key: itemKey.lifecycleRecheck(bucketId, timedId(now, randomness)),
    put: { key, ...(lastModified !== undefined && { w: lastModified }) },
  };
}

export function decodeRecheck(id: string, item: Attributes): Recheck {
  return { id, at: madeAt(id), key: item['key'] as string, lastModified: item['w'] as number | undefined };
}
