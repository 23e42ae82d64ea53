import { beforeEach, describe, expect, it } from 'vitest';
import { Buckets } from '../../../../shared/storage/buckets/buckets.ts';
import type { Bucket } from '../../../../shared/storage/buckets/bucket.ts';
import { Manifests } from '../../../../shared/storage/objects/manifests.ts';
import { deleteMarker, type NewVersion } from '../../../../shared/storage/version-changes/new-version.ts';
import { noObjectAttributes } from '../../../../shared/storage/versions/object-attributes.ts';
import { Objects } from '../../../../shared/storage/objects/objects.ts';
import { asService, byOperator } from '../../../../shared/storage/version-changes/service-authorisation.ts';
import { BucketPurge } from '../../../../shared/storage/removal/bucket-purge.ts';
import { sortableTime } from '../../../../shared/storage/table/keys/ids.ts';
import { itemKey, partition } from '../../../../shared/storage/table/keys/keys.ts';
import { Uploads } from '../../../../shared/storage/uploads/uploads.ts';
import type { BlobStore } from '../../../../shared/ports/blob-store.ts';
import { day, hour } from '../../../../shared/ports/durations.ts';
import type { Change, Condition, WriteOutcome } from '../../../../shared/ports/key-value-table.ts';
import { CountedBytes, SetClock } from '../../../support/storage/fixed-deps.ts';
import { MemoryTable } from '../../../support/storage/memory-table.ts';

const anObject: NewVersion = {
  ...{ marker: false, size: 0, md5: new Uint8Array(16), content: undefined, owner: 'project', contentType: undefined },
  ...{ checksum: undefined, encryption: undefined, objectAttributes: noObjectAttributes },
};

/** A table that can lose the answers to writes of versions, before or after they are applied. */
class LossyTable extends MemoryTable {
  readonly fates: ('lost before' | 'lost after')[] = [];

  override async write(changes: readonly Change[], conditions?: readonly Condition[]): Promise<WriteOutcome> {
    const isOfVersions = changes.some(({ key: { pk } }) => pk.startsWith('head/'));
    const fate = isOfVersions ? this.fates.shift() : undefined;
    if (fate === 'lost before') return { outcome: 'unknown' };
    const outcome = await super.write(changes, conditions);
    return fate === 'lost after' ? { outcome: 'unknown' } : outcome;
  }
}

const clock = new SetClock();
let table: LossyTable;
let buckets: Buckets;
let objects: Objects;
let purge: BucketPurge;
let bucket: Bucket;

beforeEach(async () => {
  table = new LossyTable({ freeChecks: false });
  const deps = { table, clock, randomness: new CountedBytes() };
  buckets = new Buckets(deps);
  objects = new Objects({ ...deps, buckets, recorder: undefined });
  const blobs = {} as BlobStore;
  const uploads = new Uploads({ ...deps, blobs, buckets, manifests: new Manifests(deps) });
  purge = new BucketPurge({ table, objects, uploads, clock });
  await buckets.create(byOperator, 'bucket', 'project', 10);
  await buckets.setVersioning(asService(await buckets.load('bucket')), 'on');
  bucket = await buckets.load('bucket');
});

/** Puts a version, and returns its instance. */
async function put(key: string, version: NewVersion = anObject): Promise<string> {
  clock.time += 10;
  bucket = await buckets.load('bucket');
  return (await objects.put(asService(bucket, key), version)).instance;
}

const marker: NewVersion = { ...anObject, ...deleteMarker('key'), owner: 'project' };
const remove = async (key: string) => objects.remove({ by: 'purge', bucketId: bucket.id, key });

/** The instances of versions that records of the feed show as removed from their item: a noncurrent one also as it becomes current. */
function removedSince(position: number): ReadonlySet<unknown> {
  const records = table.feed
    .slice(position)
    .filter(({ key: { pk } }) => pk.startsWith('head/') || pk.startsWith('old/'));
  const removed = records.filter(({ old, new: present }) => old !== undefined && old['i'] !== present?.['i']);
  return new Set(removed.map(({ old }) => old?.['i']));
}

/** Returns the sort keys of the remaining versions of the bucket. */
async function kept(): Promise<readonly string[]> {
  const items: string[] = [];
  for await (const { key } of table.scan({ prefixes: ['head/', 'old/'] })) items.push(key.sk);
  return items;
}

describe('a removal by the purge', () => {
  it('removes every version of a key, one by one, so that the feed tells of each', async () => {
    const instances = [await put('key'), await put('key', marker), await put('key')];
    const other = await put('other');
    const before = table.feed.length;
    expect(await remove('key')).toEqual({ currentVersion: undefined });
    expect(removedSince(before)).toEqual(new Set(instances));
    expect((await objects.find(bucket, 'other'))?.instance).toBe(other);
    expect(await kept()).toEqual(['other']);
  });

  it('does nothing to a key that is not there', async () => {
    const before = table.feed.length;
    expect(await remove('nothing')).toEqual({ currentVersion: undefined });
    expect(table.feed).toHaveLength(before);
  });

  it.each(['lost before', 'lost after'] as const)(
    'goes on by what is there after the answer to a write was %s it was carried out',
    async (fate) => {
      const instances = [await put('key'), await put('key')];
      const before = table.feed.length;
      table.fates.push(fate, fate);
      expect(await remove('key')).toEqual({ currentVersion: undefined });
      expect(removedSince(before)).toEqual(new Set(instances));
      expect(await kept()).toEqual([]);
    },
  );

  it('takes along what a writer adds meanwhile', async () => {
    const first = await put('key');
    const before = table.feed.length;
    let second: string | undefined;
    table.beforeWrite = async () => {
      table.beforeWrite = async () => undefined;
      second = await put('key');
    };
    expect(await remove('key')).toEqual({ currentVersion: undefined });
    expect(removedSince(before)).toEqual(new Set([second, first]));
    expect(await kept()).toEqual([]);
  });

  it('leaves a damaged chain to a scrub, and does not try for ever', async () => {
    const lost = await put('key');
    const current = await put('key');
    for await (const { key } of table.scan({ prefixes: ['old/'] })) await table.write([{ key, delete: true }]);
    const left = await remove('key');
    expect(left.currentVersion).toMatchObject({ instance: current, previousVersion: lost });
    expect(await kept()).toEqual(['key']);
  });
});

describe('the purge of a removed bucket', () => {
  /** Removes the bucket with its keys still there, as though writers that had not seen its removal had crashed. */
  async function removeWithKeys(): Promise<void> {
    const tombstone = itemKey.tombstone(sortableTime(clock.time), bucket.id);
    await table.write([{ key: itemKey.bucket(bucket.name), delete: true }]);
    await table.write([{ key: tombstone, put: { name: bucket.name, project: 'project' } }]);
    clock.time += hour;
  }

  it('leaves out a damaged key, and removes the others', async () => {
    await put('b');
    await put('b');
    for await (const { key } of table.scan({ prefixes: ['old/'] })) await table.write([{ key, delete: true }]);
    await put('a');
    await put('c');
    await removeWithKeys();
    await purge.sweep();
    expect(await kept()).toEqual(['b']);
  });

  it('removes all keys, however many pages they take, before its tombstone goes', async () => {
    // More than a page of 1 MB, which DynamoDB returns at most.
    const keys = Array.from({ length: 1100 }, (_, number) => `${String(number).padStart(4, '0')}${'k'.repeat(1000)}`);
    for (const key of keys) await put(key);
    const { more } = await table.query(partition.currentVersions(bucket.id));
    expect(more).toBe(true);
    await removeWithKeys();
    clock.time += day;
    await purge.sweep();
    expect(table.keysOf(partition.tombstones)).toEqual([]);
    expect((await kept()).length).toBe(0);
  });
});
