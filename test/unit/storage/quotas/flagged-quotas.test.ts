import { asService, byOperator } from '../../../../shared/storage/version-changes/service-authorisation.ts';
import { beforeEach, expect, it } from 'vitest';
import type { Bucket } from '../../../../shared/storage/buckets/bucket.ts';
import { Buckets } from '../../../../shared/storage/buckets/buckets.ts';
import { FlaggedQuotas, FullBuckets } from '../../../../shared/storage/quotas/flagged-quotas.ts';
import type { NewVersion } from '../../../../shared/storage/version-changes/new-version.ts';
import { Objects } from '../../../../shared/storage/objects/objects.ts';
import type { Counters } from '../../../../shared/storage/quotas/usage-rows.ts';
import { UsageFollower } from '../../../../shared/billing/usage-follower.ts';
import { noObjectAttributes } from '../../../../shared/storage/versions/object-attributes.ts';
import { CountedBytes, SetClock } from '../../../support/storage/fixed-deps.ts';
import { MemoryTable } from '../../../support/storage/memory-table.ts';

const quotas = new FlaggedQuotas();
const deps = { table: new MemoryTable(), clock: new SetClock(), randomness: new CountedBytes() };
const buckets = new Buckets(deps);
const objects = new Objects({ ...deps, buckets, recorder: undefined });
const usage = new UsageFollower(deps);
const full = new FullBuckets({ ...deps, buckets, usage, defaults: { bytes: 100, objects: 3 } });

let followed = 0;
async function follow(): Promise<void> {
  const records = deps.table.feed.slice(followed);
  followed += records.length;
  await usage.follow(records);
  await full.follow(records);
}

function version(size: number): NewVersion {
  const plain = { contentType: undefined, checksum: undefined, encryption: undefined, md5: undefined };
  return { marker: false, size, content: undefined, owner: 'project', objectAttributes: noObjectAttributes, ...plain };
}

const load = (): Promise<Bucket> => buckets.load('bucket');
const write = async (): Promise<string> => {
  (await quotas.reserve(await load())).release();
  return 'written';
};

beforeEach(async () => {
  if ((await buckets.find('bucket')) === undefined) await buckets.create(byOperator, 'bucket', 'project', 50);
});

it('a bucket is flagged once it holds its quota of bytes, and no longer when it does not', async () => {
  await objects.put(asService(await load(), 'a'), version(99));
  await follow();
  expect(await write()).toBe('written');
  await objects.put(asService(await load(), 'b'), version(1));
  await follow();
  await expect(write()).rejects.toMatchObject({ code: 'QuotaExceeded' });
  await objects.remove({ by: 'request', authorisation: asService(await load(), 'a'), owner: 'project' });
  await follow();
  expect(await write()).toBe('written');
});

it('a bucket of as many objects as it may have is flagged, too, unless its own quota is larger', async () => {
  for (const key of ['x', 'y']) await objects.put(asService(await load(), key), version(0));
  await follow();
  expect(await load()).toMatchObject({ full: true });
  await buckets.setQuota(asService(await buckets.load('bucket')), { objects: 4 });
  await objects.remove({ by: 'request', authorisation: asService(await load(), 'y'), owner: 'project' });
  await objects.put(asService(await load(), 'y'), version(0));
  await follow();
  expect(await load()).toMatchObject({ full: false, quota: { objects: 4 } });
});

it('a full bucket takes writes as soon as its quota is raised, and is flagged by the next one if that was not enough', async () => {
  await objects.put(asService(await load(), 'z'), version(0));
  await follow();
  await expect(write()).rejects.toMatchObject({ code: 'QuotaExceeded' });
  await buckets.setQuota(asService(await load()), { objects: 5 });
  expect(await write()).toBe('written');
  await objects.put(asService(await load(), 'zz'), version(0));
  await follow();
  await expect(write()).rejects.toMatchObject({ code: 'QuotaExceeded' });
});

it('a bucket is not flagged for good by a follower that had counted less than another one', async () => {
  let meanwhile: () => Promise<void> = async () => undefined;
  const slow = async (id: string): Promise<Counters> => {
    const seen = await usage.of(id);
    const before = meanwhile;
    meanwhile = async () => undefined;
    await before();
    return seen;
  };
  const late = new FullBuckets({ ...deps, buckets, usage: { of: slow }, defaults: { bytes: 100, objects: 3 } });
  await buckets.setQuota(asService(await load()), { objects: 5 });
  meanwhile = async () => {
    await objects.remove({ by: 'request', authorisation: asService(await load(), 'zz'), owner: 'project' });
    await follow();
  };
  await late.follow(deps.table.feed.filter(({ key }) => key.pk.startsWith('head/')).slice(-1));
  expect((await usage.of((await load()).id)).objects).toBe(4);
  expect(await load()).toMatchObject({ full: false });
  await objects.remove({ by: 'request', authorisation: asService(await load(), 'z'), owner: 'project' });
  await follow();
});

it('records of a bucket that is gone, or of another one of its name, change nothing', async () => {
  for (const key of ['b', 'x', 'y'])
    await objects.remove({ by: 'request', authorisation: asService(await load(), key), owner: 'project' });
  await buckets.remove(asService(await buckets.load('bucket')));
  await buckets.create(byOperator, 'bucket', 'project', 50);
  followed = 0;
  await follow();
  expect(await load()).toMatchObject({ full: false });
});
