import type { ItemKey } from '../../../ports/key-value-table.ts';
import { sortableTime, timeOf } from './ids.ts';
import { kinds } from './keys.ts';

/** The properties of a public link that its keys are built from. */
interface KeyedLink {
  readonly id: string;
  readonly bucketId: string;
  readonly key: string;
  /** The hash of its token. */
  readonly hash: string;
  /** Milliseconds since the epoch. */
  readonly expires: number;
}

export const linkPartition = {
  ofKey: (bucketId: string, key: string): string => `${kinds.links}${bucketId}/${key}`,
  due: 'links-due',
} as const;

export const linkKey = {
  /** By the hash of its token, as requests look it up. */
  lookup: (hash: string): ItemKey => ({ pk: `link/${hash}`, sk: '-' }),
  /** Among the links of its object key. */
  listed: ({ bucketId, key, id }: KeyedLink): ItemKey => ({ pk: linkPartition.ofKey(bucketId, key), sk: id }),
  /** Among all links, by expiry time. */
  due: ({ expires, hash }: KeyedLink): ItemKey => ({
    pk: linkPartition.due,
    sk: `${sortableTime(expires)}/${hash}`,
  }),
} as const;

/** Parses keys: the inverse of {@link linkKey}. */
export const linkKeyParts = {
  /** Tells whether an item is a link among those of its object key. */
  isListed: ({ pk }: ItemKey): boolean => pk.startsWith(kinds.links),
  /** Returns the expiry time of the link, in milliseconds since the epoch. */
  due: ({ sk }: ItemKey): number => timeOf(sk.slice(0, sk.indexOf('/'))),
} as const;
