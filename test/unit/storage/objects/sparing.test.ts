import { asService, byOperator } from '../../../../shared/storage/version-changes/service-authorisation.ts';
import { describe, expect, it } from 'vitest';
import { Buckets } from '../../../../shared/storage/buckets/buckets.ts';
import type { NewVersion } from '../../../../shared/storage/version-changes/new-version.ts';
import { Objects } from '../../../../shared/storage/objects/objects.ts';
import { noObjectAttributes } from '../../../../shared/storage/versions/object-attributes.ts';
import type { Version } from '../../../../shared/storage/versions/versions.ts';
import { CountedBytes, SetClock } from '../../../support/storage/fixed-deps.ts';
import { MemoryTable } from '../../../support/storage/memory-table.ts';

const key = 'key';

function objectOf(owner: string): NewVersion {
  return {
    ...{ marker: false, size: 0, md5: new Uint8Array(16), content: undefined, owner, contentType: undefined },
    ...{ checksum: undefined, encryption: undefined, objectAttributes: noObjectAttributes },
  };
}

async function started(versioning?: 'on' | 'suspended') {
  const clock = new SetClock();
  const table = new MemoryTable();
  const deps = { table, clock, randomness: new CountedBytes() };
  const buckets = new Buckets(deps);
  const objects = new Objects({ ...deps, buckets, recorder: undefined });
  await buckets.create(byOperator, 'bucket', 'owner', 10);
  if (versioning) await buckets.setVersioning(asService(await buckets.load('bucket')), versioning);
  const bucket = await buckets.load('bucket');
  /** Writes are of different milliseconds, or the later one could count as the older. */
  const put = async (owner: string): Promise<Version> => {
    clock.time += 10;
    return objects.put(asService(await buckets.load('bucket'), key), objectOf(owner));
  };
  const remove = async () =>
    objects.remove({
      by: 'request',
      authorisation: asService(await buckets.load('bucket'), key),
      owner: 'owner',
      sparing: 'foreign',
    });
  const find = (versionId?: string) => objects.find(bucket, key, versionId);
  return { table, buckets, objects, put, remove, find };
}

const denied: unknown = expect.objectContaining({ code: 'AccessDenied' });

/** The bucket owner's operations on objects of other projects: docs/adr/0002, C1. */
describe('a DELETE that spares what is of another project', () => {
  it('takes away what is of the bucket’s own, without a read', async () => {
    const { table, put, remove, find } = await started();
    await put('owner');
    const before = table.calls.get;
    await remove();
    // The bucket, which the test itself loads.
    expect(table.calls.get - before).toBe(1);
    expect(await find()).toBeUndefined();
    await remove();
  });

  it('is refused for what is not, and nothing is changed', async () => {
    const { put, remove, find } = await started();
    const { instance } = await put('other');
    await expect(remove()).rejects.toEqual(denied);
    expect((await find())?.instance).toBe(instance);
  });

  it('judges what is there at the commit', async () => {
    const { table, put, remove, find } = await started();
    await put('owner');
    table.beforeWrite = async () => {
      table.beforeWrite = async () => undefined;
      await put('other');
    };
    await expect(remove()).rejects.toEqual(denied);
    expect((await find())?.owner).toBe('other');
    await put('owner');
    await remove();
    expect(await find()).toBeUndefined();
  });

  it('lays a marker over it where versions are kept', async () => {
    const { put, remove, find } = await started('on');
    const { instance } = await put('other');
    expect((await remove()).currentVersion?.marker).toBe(true);
    expect((await find(instance))?.owner).toBe('other');
  });

  it('is refused where the marker would take its place', async () => {
    const { put, remove, find, buckets } = await started('suspended');
    await put('other');
    await expect(remove()).rejects.toEqual(denied);
    expect((await find())?.owner).toBe('other');
    await put('owner');
    expect((await remove()).currentVersion?.marker).toBe(true);
    await buckets.setVersioning(asService(await buckets.load('bucket')), 'on');
    const { instance } = await put('other');
    await buckets.setVersioning(asService(await buckets.load('bucket')), 'suspended');
    expect((await remove()).currentVersion?.marker).toBe(true);
    expect((await find(instance))?.owner).toBe('other');
  });
});
