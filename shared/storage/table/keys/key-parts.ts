import type { ItemKey } from '../../../ports/key-value-table.ts';
import { timeOf } from './ids.ts';
import { bucketCount, kinds, only, ownedBuckets, references } from './keys.ts';

/*
 * Parses keys: for each kind of item the inverse of its function in keys.ts. Functions rather than an object, so that
 * bundles contain only those they use.
 */

interface VersionPlace {
  readonly bucketId: string;
  readonly key: string;
  readonly isCurrent: boolean;
}

export const bucket = ({ pk }: ItemKey): string => pk.slice(kinds.bucket.length);

export const bucketDocument = ({
  pk,
  sk,
}: ItemKey): { readonly bucketId: string; readonly kind: string; readonly revision: string } => {
  const [kind, revision] = sk.split('/') as [string, string];
  return { bucketId: pk.slice(kinds.document.length), kind, revision };
};

/** Returns a project's bucket, or `name: undefined` for its bucket count; undefined for any other item. */
export const ofProject = ({
  pk,
  sk,
}: ItemKey): { readonly project: string; readonly name: string | undefined } | undefined => {
  if (!pk.startsWith(kinds.project)) return undefined;
  return {
    project: pk.slice(kinds.project.length),
    name: sk === bucketCount ? undefined : sk.slice(ownedBuckets.length),
  };
};

export const tombstone = ({ sk }: ItemKey): { readonly time: number; readonly bucketId: string } => {
  const [time, bucketId] = sk.split('/') as [string, string];
  return { time: timeOf(time), bucketId };
};

/** Returns the bucket and the key that a current or noncurrent version belongs to; undefined for any other item. */
export const version = ({ pk, sk }: ItemKey): VersionPlace | undefined => {
  const bucketId = pk.split('/', 2)[1]!;
  if (pk.startsWith(kinds.currentVersion)) return { bucketId, key: sk, isCurrent: true };
  if (!pk.startsWith(kinds.noncurrentVersion)) return undefined;
  return { bucketId, key: pk.slice(kinds.noncurrentVersion.length + bucketId.length + 1), isCurrent: false };
};

/** Parses the key of a content's item. `content` is `b<blob>` or `m<manifest>`. */
export const content = ({
  pk,
  sk,
}: ItemKey): { readonly content: string; readonly is: 'references' | 'manifest' | 'slice' } => ({
  content: pk.slice(kinds.content.length),
  is: sk === references ? 'references' : sk === only ? 'manifest' : 'slice',
});

export const details = ({ pk }: ItemKey): string => pk.slice(kinds.details.length);

/** Parses an entry of the release queue. `thing` is content, `d<details>`, or `u` for the upload `instance`. */
export const garbage = ({
  sk,
}: ItemKey): { readonly due: number; readonly thing: string; readonly instance: string } => {
  const [due, thing, instance] = sk.split('/') as [string, string, string];
  return { due: timeOf(due), thing, instance };
};

/** Returns the bucket whose id is the second segment of a partition key. */
export const bucketId = ({ pk }: ItemKey): string => pk.split('/')[1]!;

/** Returns the first segment of a partition key. */
export const kind = ({ pk }: ItemKey): string => pk.split('/', 1)[0]!;
