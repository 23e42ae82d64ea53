import type { Item, ItemKey } from '../../../ports/key-value-table.ts';
import { sortableTime } from './ids.ts';
import * as keyParts from './key-parts.ts';
import { garbagePartitionOf, itemKey, kinds, partition } from './keys.ts';

/** The blobs that a migration has moved, under their former references. */
export const movedBlobs = 'migration';

export const migrationKey = {
  /** In the target: from where it comes, and since when it is complete. */
  state: itemKey.deployment('migration'),
  /** Tells a table from all others. */
  place: itemKey.deployment('place'),
  movedBlob: (ref: string): ItemKey => ({ pk: movedBlobs, sk: ref }),
} as const;

/** What belongs to a table, a machine or a server, and to no other one. */
const ownOfPlace = new Set(['blobs', 'duty', 'layout', 'migration', 'place', 'scrub', 'service']);
const ownPartitions: ReadonlySet<string> = new Set([movedBlobs, partition.backupLeases]);
const deployment = migrationKey.state.pk;

/** Tells whether an item stays where it is when the others are moved to another table. */
export function staysInPlace({ pk, sk }: ItemKey): boolean {
  return pk === deployment ? ownOfPlace.has(sk) : ownPartitions.has(pk);
}

/** Returns the blob that the key of an item names; undefined if it names none. */
export function blobNamed(key: ItemKey): string | undefined {
  const content = key.pk.startsWith(kinds.content)
    ? keyParts.content(key).content
    : keyParts.kind(key) === garbageKind
      ? keyParts.garbage(key).thing
      : '';
  return content.startsWith('b') ? content.slice(1) : undefined;
}

/** Returns the key of an item whose key names a blob, with another blob in its place. */
export function namingBlob(key: ItemKey, ref: string): ItemKey {
  if (keyParts.kind(key) !== garbageKind) return itemKey.references(`b${ref}`);
  const { due, instance } = keyParts.garbage(key);
  return itemKey.garbage(garbagePartitionOf(instance), sortableTime(due), `b${ref}`, instance);
}

const garbageKind = keyParts.kind({ pk: partition.garbage(0), sk: '' });

/** The prefixes of the partition keys of all items whose keys may name a blob. */
export const namingBlobs: readonly string[] = [partition.content('b'), `${garbageKind}/`];

/** Tells whether an item is a slice of a manifest. */
export function isSlice({ key }: Item): boolean {
  return key.pk.startsWith(kinds.content) && keyParts.content(key).is === 'slice';
}
