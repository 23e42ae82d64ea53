import { asService, byOperator } from '../../../../shared/storage/version-changes/service-authorisation.ts';
import { beforeEach, describe, expect, it } from 'vitest';
import type { Bucket } from '../../../../shared/storage/buckets/bucket.ts';
import { Buckets } from '../../../../shared/storage/buckets/buckets.ts';
import { itemKey } from '../../../../shared/storage/table/keys/keys.ts';
import { Manifests } from '../../../../shared/storage/objects/manifests.ts';
import type { NewVersion } from '../../../../shared/storage/version-changes/new-version.ts';
import { Objects } from '../../../../shared/storage/objects/objects.ts';
import { SourceGone } from '../../../../shared/storage/version-changes/outcomes.ts';
import { ReleaseQueue } from '../../../../shared/storage/removal/release-queue.ts';
import { Release } from '../../../../shared/storage/removal/release.ts';
import { TooManyReferences, ContentReferences } from '../../../../shared/storage/objects/content-references.ts';
import { Uploads } from '../../../../shared/storage/uploads/uploads.ts';
import { noObjectAttributes } from '../../../../shared/storage/versions/object-attributes.ts';
import type { CurrentVersion, Version } from '../../../../shared/storage/versions/versions.ts';
import type { BlobStore } from '../../../../shared/ports/blob-store.ts';
import { CountedBytes, SetClock } from '../../../support/storage/fixed-deps.ts';
import { MemoryTable } from '../../../support/storage/memory-table.ts';

const grace = 1000;
const hour = 3_600_000;

let table: MemoryTable;
let clock: SetClock;
let objects: Objects;
let contentReferences: ContentReferences;
let released: ReleaseQueue;
let release: Release;
let manifests: Manifests;
let bucket: Bucket;
let removed: string[];
let followed: number;

beforeEach(async () => {
  table = new MemoryTable();
  clock = new SetClock();
  removed = [];
  followed = 0;
  const blobs = { remove: async (refs: readonly string[]) => void removed.push(...refs) } as unknown as BlobStore;
  const deps = { table, clock, blobs, randomness: new CountedBytes() };
  const buckets = new Buckets(deps);
  manifests = new Manifests(deps);
  objects = new Objects({ ...deps, buckets, recorder: undefined });
  contentReferences = new ContentReferences(deps);
  const uploads = new Uploads({ ...deps, buckets: new Buckets(deps), manifests });
  released = new ReleaseQueue({ ...deps, uploads, grace });
  release = new Release({ ...deps, manifests, uploads });
  await buckets.create(byOperator, 'bucket', 'project', 10);
  bucket = await buckets.load('bucket');
});

function fresh(content: NewVersion['content']): NewVersion {
  return {
    marker: false,
    size: 7,
    md5: new Uint8Array(16),
    content,
    owner: 'project',
    contentType: undefined,
    checksum: undefined,
    encryption: undefined,
    objectAttributes: noObjectAttributes,
  };
}

const put = (key: string, ref: string): Promise<CurrentVersion> =>
  objects.put(asService(bucket, key), fresh({ kind: 'blob', ref }));

/** Copies a version as it was found. */
function share(from: string, version: Version, to: string): Promise<CurrentVersion> {
  const extras = contentReferences.from({ bucketId: bucket.id, key: from, version });
  return objects.put(asService(bucket, to), fresh(version.content), { extras });
}

async function copy(from: string, to: string): Promise<CurrentVersion> {
  return share(from, (await objects.find(bucket, from))!, to);
}

/** Lets the grace period pass, and frees everything without references. */
async function sweep(): Promise<void> {
  await released.follow(table.feed.slice(followed));
  followed = table.feed.length;
  clock.time += grace + hour;
  await release.sweep();
  bucket = { ...bucket, readAt: clock.now() };
}

const referencesOf = async (content: string): Promise<string[] | undefined> => {
  const item = await table.get(itemKey.references(content));
  return item && [...((item['holders'] ?? []) as ReadonlySet<string>)];
};

describe('shared bytes', () => {
  it('of an object and a copy onto itself are not shared by one that read other tags', async () => {
    await put('key', 'ref');
    const source = (await objects.find(bucket, 'key'))!;
    await objects.revise(asService(bucket, 'key'), (objectAttributes) => ({
      ...objectAttributes,
      tags: [['team', 'blue']],
    }));
    await expect(share('key', source, 'key')).rejects.toThrow(SourceGone);
    // A copy to another name may be as old as its reading.
    await share('key', source, 'other');
  });

  it('are kept until the last one that shares them is gone', async () => {
    await put('source', 'ref');
    await copy('source', 'copy');
    await objects.remove({ by: 'request', authorisation: asService(bucket, 'source'), owner: 'project' });
    await sweep();
    expect(removed).toEqual([]);
    await copy('copy', 'third');
    await objects.remove({ by: 'request', authorisation: asService(bucket, 'copy'), owner: 'project' });
    await sweep();
    expect(removed).toEqual([]);
    await put('third', 'other');
    await sweep();
    expect(removed).toEqual(['ref']);
    expect(await referencesOf('bref')).toBeUndefined();
    await objects.remove({ by: 'request', authorisation: asService(bucket, 'third'), owner: 'project' });
    await sweep();
    expect(removed).toEqual(['ref', 'other']);
  });

  it('may be those of parts', async () => {
    const part = { size: 3, checksum: undefined };
    const id = await manifests.create([
      { ...part, blob: 'one' },
      { ...part, blob: '' },
      { ...part, blob: 'two' },
    ]);
    await objects.put(asService(bucket, 'source'), fresh({ kind: 'manifest', id }));
    await copy('source', 'copy');
    await objects.remove({ by: 'request', authorisation: asService(bucket, 'source'), owner: 'project' });
    await sweep();
    expect(removed).toEqual([]);
    expect(await manifests.parts(id)).toHaveLength(3);
    await objects.remove({ by: 'request', authorisation: asService(bucket, 'copy'), owner: 'project' });
    await sweep();
    expect(removed).toEqual(['one', 'two']);
    expect(await manifests.parts(id)).toEqual([]);
  });

  it('are not counted where they are none', async () => {
    await objects.put(asService(bucket, 'source'), fresh(undefined));
    await copy('source', 'copy');
    expect(table.feed.some(({ key }) => key.pk.startsWith('content/'))).toBe(false);
  });

  it('survive a copy onto the same key', async () => {
    await put('key', 'ref');
    await copy('key', 'key');
    await sweep();
    expect(removed).toEqual([]);
    await objects.remove({ by: 'request', authorisation: asService(bucket, 'key'), owner: 'project' });
    await sweep();
    expect(removed).toEqual(['ref']);
  });

  it('have 64 references at most, those given up counted until they are swept', async () => {
    await put('source', 'ref');
    for (let count = 1; count < 64; count++) await copy('source', `copy-${count}`);
    expect(await referencesOf('bref')).toHaveLength(64);
    await expect(copy('source', 'one-more')).rejects.toBeInstanceOf(TooManyReferences);
    await objects.remove({ by: 'request', authorisation: asService(bucket, 'copy-1'), owner: 'project' });
    await expect(copy('source', 'one-more')).rejects.toBeInstanceOf(TooManyReferences);
    await sweep();
    await copy('source', 'one-more');
    expect(await referencesOf('bref')).toHaveLength(64);
  });

  it('may be handed on by one more than that', async () => {
    const source = await put('source', 'ref');
    for (let count = 1; count < 64; count++) await copy('source', `copy-${count}`);
    const extras = contentReferences.handedOn({ bucketId: bucket.id, key: 'source', version: source });
    await objects.put(asService(bucket, 'renamed'), fresh(source.content), { extras });
    expect(await referencesOf('bref')).toHaveLength(65);
  });
});

describe('a source that changes before the copy is committed', () => {
  /** Does this once, right before the next write of this key's current version. */
  function before(key: string, act: () => Promise<unknown>): void {
    table.beforeWrite = async (changes) => {
      if (!changes.some((change) => change.key.sk === key)) return;
      table.beforeWrite = async () => undefined;
      await act();
    };
  }

  it('is gone if it was replaced or deleted', async () => {
    for (const act of [
      () => put('source', 'newer'),
      () => objects.remove({ by: 'request', authorisation: asService(bucket, 'source'), owner: 'project' }),
    ]) {
      await put('source', 'ref');
      before('copy', act);
      await expect(copy('source', 'copy')).rejects.toBeInstanceOf(SourceGone);
      expect(await objects.find(bucket, 'copy')).toBeUndefined();
      expect((await referencesOf('bref')) ?? []).toEqual([]);
    }
  });

  it('is gone if it was before', async () => {
    const old = await put('source', 'ref');
    await put('source', 'newer');
    await expect(share('source', old, 'copy')).rejects.toBeInstanceOf(SourceGone);
  });

  it('is copied if it only got other tags, or another copy', async () => {
    await put('source', 'ref');
    before('copy', () => objects.revise(asService(bucket, 'source'), (one) => ({ ...one, tags: [['a', 'b']] })));
    await copy('source', 'copy');
    before('second', () => copy('source', 'third'));
    await copy('source', 'second');
    expect(await referencesOf('bref')).toHaveLength(4);
  });

  it('is copied if it became noncurrent, or current again', async () => {
    bucket = { ...bucket, versioning: 'on' };
    await table.write([
      { key: itemKey.bucket('bucket'), put: { ...(await table.get(itemKey.bucket('bucket')))!, versioning: 'on' } },
    ]);
    await put('source', 'ref');
    before('copy', () => put('source', 'newer'));
    const source = (await objects.find(bucket, 'source'))!;
    await share('source', source, 'copy');
    expect((await objects.find(bucket, 'copy'))!.content).toEqual({ kind: 'blob', ref: 'ref' });
    const newer = (await objects.find(bucket, 'source'))!;
    before('second', () =>
      objects.remove({ by: 'request', authorisation: asService(bucket, 'source', newer.instance), owner: 'project' }),
    );
    await share('source', source, 'second');
    expect(await referencesOf('bref')).toHaveLength(3);
  });
});

describe('an object that leaves its name', () => {
  const tagged = () => objects.revise(asService(bucket, 'old'), (one) => ({ ...one, tags: [['a', 'b']] }));

  it('is told of what happened to it since it was read', async () => {
    for (const change of [
      tagged,
      () => put('old', 'newer'),
      () => objects.remove({ by: 'request', authorisation: asService(bucket, 'old'), owner: 'project' }),
    ]) {
      const source = await put('old', 'ref');
      await change();
      await expect(
        objects.renamedAway({ bucket: bucket, key: 'old', authorisation: asService(bucket, 'new'), source }),
      ).rejects.toBeInstanceOf(SourceGone);
    }
  });

  it('goes without a trace, or leaves a marker', async () => {
    const source = await put('old', 'ref');
    expect(
      await objects.renamedAway({ bucket: bucket, key: 'old', authorisation: asService(bucket, 'new'), source }),
    ).toEqual([expect.objectContaining({ delete: true })]);
    const changes = await objects.renamedAway({
      bucket: { ...bucket, versioning: 'on' },
      key: 'old',
      authorisation: asService(bucket, 'new'),
      source,
    });
    expect(changes).toEqual([
      expect.objectContaining({ put: expect.objectContaining({ m: 1, v: 1, u: source.instance }) as object }),
      expect.objectContaining({ expect: { is: 'absent' } }),
    ]);
  });
});
