import { computed, signal } from '@preact/signals';
import { getAcl, isOpen } from '../s3/access.ts';
import {
  getVersioning,
  headBucket,
  isPolicyPublic,
  listBuckets,
  type Bucket,
  type BucketUse,
  type Versioning,
} from '../s3/buckets.ts';
import { isFailure } from '../s3/failure.ts';
import type { S3Client } from '../s3/client.ts';
import { session } from './session.ts';

/** The columns of the list of buckets, as far as they are known. */
export interface BucketFacts {
  readonly versioning: Versioning | undefined;
  readonly isPublic: boolean | undefined;
}

export const buckets = signal<readonly Bucket[] | undefined>(undefined);
export const bucketsError = signal<unknown>(undefined);
export const facts = signal<ReadonlyMap<string, BucketFacts>>(new Map());
/** Sizes and numbers of objects, as far as they are known. */
export const uses = signal<ReadonlyMap<string, BucketUse>>(new Map());

/** Returns the name of the favourites in localStorage: one for each access key, as other users of this browser must not see them. */
const favouritesKey = (): string => `favourites/${session.peek()?.accessKeyId ?? ''}`;
/** The names of the user's favourites, kept in localStorage. */
export const favourites = signal<ReadonlySet<string>>(new Set());
addEventListener('storage', ({ key }) => {
  if (key === favouritesKey()) readFavourites();
});

/** Favourites first, then by name. */
export const sortedBuckets = computed(() =>
  [...(buckets.value ?? [])].sort((a, b) => {
    const rank = (bucket: Bucket): number => (favourites.value.has(bucket.name) ? 0 : 1);
    return rank(a) - rank(b) || (a.name < b.name ? -1 : 1);
  }),
);

/** Favourites that belong to other projects, reached by name. */
export const grantedFavourites = computed(() => {
  const own = new Set((buckets.value ?? []).map(({ name }) => name));
  return [...favourites.value].filter((name) => !own.has(name)).sort();
});

export async function loadBuckets(): Promise<void> {
  const client = session.peek()?.client;
  if (client === undefined) return;
  try {
    const list = await listBuckets(client);
    if (session.peek()?.client !== client) return;
    buckets.value = list;
    bucketsError.value = undefined;
  } catch (error) {
    bucketsError.value = error;
    if (isFailure(error, 'AccessDenied')) buckets.value = [];
  }
}

const asked = new Map<string, Promise<void>>();

/** Loads size and count of a bucket, a few at a time: one request for each. */
export const loadUse = (client: S3Client, bucket: string, again = false): Promise<void> =>
  load(`use ${bucket}`, again, () => askUse(client, bucket));

async function askUse(client: S3Client, bucket: string): Promise<void> {
  const unknown: BucketUse = { bytes: NaN, objects: NaN };
  const use = await headBucket(client, bucket).catch(() => unknown);
  if (session.peek()?.client === client) uses.value = new Map(uses.value).set(bucket, use);
}

/** Loads size, count, versioning and access of a bucket, a few at a time. */
export const loadFacts = (client: S3Client, bucket: string, again = false): Promise<void> =>
  load(`facts ${bucket}`, again, async () => {
    const [versioning, policy, acl] = await Promise.all([
      getVersioning(client, bucket).catch(() => undefined),
      isPolicyPublic(client, bucket).catch(() => undefined),
      getAcl(client, { bucket }).catch(() => undefined),
      askUse(client, bucket),
    ]);
    const isPublic =
      policy === undefined && acl === undefined ? undefined : policy === true || (acl && isOpen(acl)) === true;
    if (session.peek()?.client === client) facts.value = new Map(facts.value).set(bucket, { versioning, isPublic });
  });

function load(name: string, again: boolean, act: () => Promise<void>): Promise<void> {
  const known = asked.get(name);
  if (known !== undefined && !again) return known;
  const asking = queued(act);
  asked.set(name, asking);
  return asking;
}

let tail: Promise<void>[] = [Promise.resolve(), Promise.resolve()];

function queued(act: () => Promise<void>): Promise<void> {
  const [first, ...rest] = tail;
  const next = first!.then(act).catch(() => undefined);
  tail = [...rest, next];
  return next;
}

export function toggleFavourite(bucket: string): void {
  const next = new Set(favourites.value);
  if (!next.delete(bucket)) next.add(bucket);
  favourites.value = next;
  localStorage.setItem(favouritesKey(), JSON.stringify([...next]));
}

/** Reads the favourites of who signed in. */
export function readFavourites(): void {
  let kept: unknown = [];
  try {
    kept = JSON.parse(localStorage.getItem(favouritesKey()) ?? '[]');
  } catch {
    // Something else wrote there.
  }
  favourites.value = new Set(Array.isArray(kept) ? kept.filter((name) => typeof name === 'string') : []);
}

/** Clears the data of a session before another user signs in. */
export function forgetBuckets(): void {
  favourites.value = new Set();
  buckets.value = undefined;
  bucketsError.value = undefined;
  facts.value = new Map();
  uses.value = new Map();
  asked.clear();
}
