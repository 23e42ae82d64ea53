import type { ItemKey } from '../../ports/key-value-table.ts';
import { sortableTime, timeOf } from './ids.ts';

/** What of a public link its keys are built from. */
interface KeyedLink {
  readonly id: string;
  readonly bucketId: string;
  readonly key: string;
  /** Of its token. */
  readonly hash: string;
  /** Milliseconds since the epoch. */
  readonly expires: number;
}

export const linkPartition = {
  ofKey: (bucketId: string, key: string): string => `links/${bucketId}/${key}`,
  due: 'links-due',
} as const;

export const linkKey = {
  /** By the hash of its token: requests find it by this. */
  lookup: (hash: string): ItemKey => ({ pk: `link/${hash}`, sk: '-' }),
  /** Among the links of its key. */
  listed: ({ bucketId, key, id }: KeyedLink): ItemKey => ({ pk: linkPartition.ofKey(bucketId, key), sk: id }),
  /** Among all links, by the time at which they end. */
  due: ({ expires, hash }: KeyedLink): ItemKey => ({
    pk: linkPartition.due,
    sk: `${sortableTime(expires)}/${hash}`,
  }),
} as const;

/** Reads back what keys were built from. */
export const linkKeyParts = {
  /** When the link ends, in milliseconds since the epoch. */
  due: ({ sk }: ItemKey): number => timeOf(sk.slice(0, sk.indexOf('/'))),
} as const;
