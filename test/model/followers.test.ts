import { neverAborted } from '../../shared/ports/event-loop.ts';
import { asService, byOperator } from '../../shared/storage/version-changes/service-authorisation.ts';
import { beforeEach, describe, expect, it } from 'vitest';
import { composeServices } from '../../functions/compose/services.ts';
import { Buckets } from '../../shared/storage/buckets/buckets.ts';
import { itemKey } from '../../shared/storage/table/keys/keys.ts';
import { listObjects } from '../../shared/storage/listings/object-listing.ts';
import { UsageFollower } from '../../shared/billing/usage-follower.ts';
import { noObjectAttributes } from '../../shared/storage/versions/object-attributes.ts';
import type { BlobStore } from '../../shared/ports/blob-store.ts';
import type { FeedRecord, KeyValueTable } from '../../shared/ports/key-value-table.ts';
import type { Services } from '../../shared/protocol/operation.ts';
import { alarmAdapters, CountedBytes, SetClock } from '../support/storage/fixed-deps.ts';
import { ListedObjects } from '../support/storage/listed-objects.ts';
import { MemoryTable } from '../support/storage/memory-table.ts';
import { CountsAgain, EndsAtFF, MixesKinds } from './missing-rules.ts';
import { modelSettings, noProjects } from './scenario.ts';

/*
 * Holes that a single sequence of calls shows, without interleaving. As in holes.test.ts, each opens when its rule is removed, and is
 * closed with it.
 */

const clock = new SetClock();
/** No test in this file reads or writes bytes. */
const blobs = {} as BlobStore;
let memory: MemoryTable;

beforeEach(() => {
  memory = new MemoryTable();
});

function servicesOver(table: KeyValueTable): Services {
  const adapters = { table, clock, blobs, randomness: new CountedBytes(), managedKey: undefined, ...alarmAdapters };
  return composeServices(adapters, { projects: noProjects, settings: modelSettings });
}

/** Creates a versioned bucket in which each of the keys is put twice. */
async function bucketOf({ buckets, objects }: Services, keys: readonly string[]): Promise<string> {
  await buckets.create(byOperator, 'bucket', 'project', 1);
  await buckets.setVersioning(asService(await buckets.load('bucket')), 'on');
  const bucket = await buckets.load('bucket');
  for (const key of [...keys, ...keys]) {
    await objects.put(asService(bucket, key), {
      ...{
        marker: false,
        size: 5,
        md5: new Uint8Array(16),
        content: { kind: 'blob', ref: `b-${key}` },
        owner: 'project',
      },
      ...{ contentType: undefined, checksum: undefined, encryption: undefined, objectAttributes: noObjectAttributes },
    });
  }
  return bucket.id;
}

describe('H 2: no name of one kind of item can be the name of another', () => {
  async function openUploads(table: KeyValueTable): Promise<number> {
    const services = servicesOver(table);
    await bucketOf(services, ['uploads']);
    return (await services.uploads.openFrom(await services.buckets.load('bucket'), { prefix: '', limit: 10 })).uploads
      .length;
  }

  it('an object named "uploads" among the open uploads: opens', async () => {
    // The item in the partition is not an upload.
    await expect(openUploads(new MixesKinds(memory))).rejects.toThrow(TypeError);
  });
  it('an object named "uploads" among the open uploads: closed', async () => {
    expect(await openUploads(memory)).toBe(0);
  });
});

describe('H 11: records that come again are not counted again', () => {
  /** Counts a batch whose acknowledgement is lost, so that it is delivered again together with the records after it. */
  async function objectsCounted(table: KeyValueTable): Promise<number> {
    const id = await bucketOf(servicesOver(memory), ['one', 'two']);
    const usage = new UsageFollower({ table, randomness: new CountedBytes() });
    const currentVersions = memory.feed.filter(({ key }) => key.pk.startsWith('head/'));
    const batches: readonly (readonly FeedRecord[])[] = [currentVersions.slice(0, 3), currentVersions.slice(1)];
    for (const batch of batches) await usage.follow(batch);
    return (await usage.of(id)).objects;
  }

  it('a batch that overlaps the one before: opens', async () => {
    expect(await objectsCounted(new CountsAgain(memory))).toBeGreaterThan(4);
  });
  it('a batch that overlaps the one before: closed', async () => {
    expect(await objectsCounted(memory)).toBe(4);
  });
});

describe('H 12: requests that arrive together share the read of their bucket', () => {
  async function readsOf(find: (name: string) => Promise<unknown>): Promise<number> {
    memory.calls.get = 0;
    await Promise.all(Array.from({ length: 1000 }, () => find('bucket')));
    return memory.calls.get;
  }

  it('1,000 requests, each with its own read: opens', async () => {
    expect(await readsOf((name) => memory.get(itemKey.bucket(name)))).toBe(1000);
  });
  it('1,000 requests, at most one read running and one waiting: closed', async () => {
    const buckets = new Buckets({ table: memory, clock, randomness: new CountedBytes() });
    expect(await readsOf((name) => buckets.find(name))).toBe(2);
  });
});

describe('H 13: the end of a prefix is found in bytes, not by appending a character', () => {
  const keys = ['p/ascii', 'p/ÿ and more', 'p/日本', 'p/🦊'];

  async function listed(table: KeyValueTable): Promise<string[]> {
    const services = servicesOver(table);
    await bucketOf(services, ['o', ...keys, 'q']);
    const request = { prefix: 'p/', delimiter: '', position: undefined, limit: 100 };
    const bucket = await services.buckets.load('bucket');
    const rows = new ListedObjects();
    await listObjects({ ...services, signal: neverAborted }, bucket, request, 10_000, rows);
    return rows.all.map(({ key }) => key);
  }

  it('keys behind U+00FF: opens', async () => {
    expect(await listed(new EndsAtFF(memory))).toEqual(['p/ascii']);
  });
  it('keys behind U+00FF: closed', async () => {
    expect(await listed(memory)).toEqual(keys);
  });
});
