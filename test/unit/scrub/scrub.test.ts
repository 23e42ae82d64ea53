import { asService } from '../../../shared/storage/version-changes/service-authorisation.ts';
import { beforeEach, describe, expect, it } from 'vitest';
import type { Bucket } from '../../../shared/storage/buckets/bucket.ts';
import { sortableTime, timedId } from '../../../shared/storage/table/keys/ids.ts';
import { itemKey, partition } from '../../../shared/storage/table/keys/keys.ts';
import { findingKinds, type FindingKind } from '../../../shared/scrub/findings.ts';
import { uploadIndexKey } from '../../../shared/storage/table/keys/upload-keys.ts';
import { currentVersionKey } from '../../../shared/storage/version-changes/version-chain.ts';
import { encodeContent } from '../../../shared/storage/versions/stored-values.ts';
import { noObjectAttributes } from '../../../shared/storage/versions/object-attributes.ts';
import { BlobsNotRemoved } from '../../../shared/ports/blob-store.ts';
import type { Attributes } from '../../../shared/ports/key-value-table.ts';
import { ScrubWorld, week } from '../../support/storage/scrub-world.ts';

const hour = 3_600_000;
const day = 24 * hour;
const longTags = { ...noObjectAttributes, metadata: { note: 'x'.repeat(1500) } };

let world: ScrubWorld;
let bucket: Bucket;

beforeEach(async () => {
  world = new ScrubWorld();
  bucket = await world.bucket('bucket');
});

/** Some of everything, so that a mend that goes too far shows. */
async function furnish(): Promise<void> {
  const versioned = await world.bucket('versioned');
  await world.buckets.setVersioning(asService(await world.buckets.load('versioned')), 'on');
  for (const text of ['one', 'two', 'three']) await world.put(versioned, 'key', text, longTags);
  await world.copy(versioned, 'key', 'copy');
  await world.complete(versioned, 'large', await world.begin(versioned, 'large', ['part', 'another', '']));
  await world.begin(versioned, 'open', ['part']);
  await world.put(bucket, 'plain', 'text');
  await world.put(bucket, 'empty', '');
}

const kindsOf = (findings: readonly { kind: FindingKind }[]): FindingKind[] =>
  [...new Set(findings.map(({ kind }) => kind))].sort();

/** Returns the keys that the next lifecycle pass has to check again. */
async function rechecked(): Promise<readonly unknown[]> {
  const { items } = await world.table.query(partition.lifecycleRechecks(bucket.id));
  return items.map(({ attributes }) => attributes['key']);
}

/** Expects that the scrub finds exactly these, changes nothing without `repair`, repairs them, and then finds nothing. */
async function expectMended(...kinds: FindingKind[]): Promise<void> {
  const before = await everything();
  const looked = await world.scrub();
  expect(kindsOf(looked.findings), JSON.stringify(looked.findings)).toEqual(kinds.toSorted());
  expect(looked.findings.map(({ state }) => state)).toEqual(looked.findings.map(() => 'found'));
  await expectTheSameInSlices(looked);
  expect(await everything()).toEqual(before);

  const mended = await world.scrub({ repair: true });
  // Followers have counted the damage itself, or its mend: that is set right in the end.
  const others = mended.findings.filter(({ kind }) => kind !== 'usage' || kinds.includes('usage'));
  expect(kindsOf(others)).toEqual(kinds.toSorted());
  expect(mended.findings.map(({ state }) => state)).toEqual(mended.findings.map(() => 'mended'));
  expect((await world.scrub()).findings).toEqual([]);
}

/** Expects that the scrub reports the damage as lost, with and without `repair`, and changes nothing. */
async function expectLost(kind: FindingKind): Promise<void> {
  const before = await everything();
  for (const repair of [false, true]) {
    const { findings, report } = await world.scrub({ repair });
    expect(findings.map((finding) => [finding.kind, finding.state])).toEqual([[kind, 'lost']]);
    expect(report.findings).toEqual({ [kind]: { found: 1, mended: 0 } });
    await expectTheSameInSlices({ findings, report });
  }
  expect(await everything()).toEqual(before);
}

/** All slices together find the same, and check as many items and blobs: each of them once. */
async function expectTheSameInSlices({ findings, report }: Awaited<ReturnType<ScrubWorld['scrub']>>): Promise<void> {
  const sorted = (some: readonly object[]): string[] => some.map((finding) => JSON.stringify(finding)).toSorted();
  const sliced = await world.scrubInSlices(3);
  expect(sorted(sliced.findings)).toEqual(sorted(findings));
  expect([sliced.items, sliced.blobs]).toEqual([report.items, report.blobs]);
}

async function everything(): Promise<unknown> {
  const items: unknown[] = [];
  for await (const item of world.table.scan()) items.push(item);
  return { items, blobs: [...world.kept.kept.keys()] };
}

const contentsOfVersions = async (key: string): Promise<readonly string[]> => {
  const currentVersion = (await world.table.get(currentVersionKey(bucket.id, key)))!;
  const older = await world.table.query(partition.noncurrentVersions(bucket.id, key), { reverse: true });
  return [currentVersion, ...older.items.map(({ attributes }) => attributes)].map(({ c }) => c as string);
};

it('finds nothing where nothing is wrong', async () => {
  await furnish();
  await world.drain();
  const { findings, report } = await world.scrub();
  expect(findings).toEqual([]);
  expect(report.leftOut).toEqual([]);
  expect(report.blobs).toBe(world.kept.kept.size);
  expect(report.items).toBeGreaterThan(20);
});

it('finds nothing where content waits to be freed', async () => {
  await furnish();
  const id = await world.begin(bucket, 'aborted', ['part']);
  await world.uploads.abort(asService(bucket, 'aborted'), id);
  const versioned = await world.buckets.load('versioned');
  for (const key of ['key', 'copy', 'large']) {
    const currentVersion = (await world.objects.find(versioned, key))!;
    await world.objects.remove({
      by: 'request',
      authorisation: asService(versioned, key, currentVersion.instance),
      owner: 'project',
    });
  }
  await world.put(bucket, 'plain', 'other');
  expect((await world.scrub({ repair: true })).findings).toEqual([]);
  await world.pass(2 * 3_600_000);
  expect((await world.scrub({ repair: true })).findings).toEqual([]);
});

it('says what every kind of finding means', () => {
  for (const [kind, { means, ...rest }] of Object.entries(findingKinds)) {
    expect(means, kind).toMatch(/^[a-z].{10,}[a-z]$/);
    expect('loss' in rest, kind).toBe(!('mending' in rest));
  }
});

describe('current and noncurrent versions', () => {
  beforeEach(async () => {
    await furnish();
    await world.buckets.setVersioning(asService(await world.buckets.load('bucket')), 'on');
    for (const text of ['one', 'two', 'three', 'four']) await world.put(bucket, 'key', text);
    await world.pass(2 * hour);
  });

  const oldest = async (nth: number) =>
    (await world.table.query(partition.noncurrentVersions(bucket.id, 'key'))).items[nth]!.key;

  it.each<[string, (currentVersion: Attributes) => Attributes]>([
    ['a wrong count', (currentVersion) => ({ ...currentVersion, n: 7 })],
    ['no count', ({ n: _, ...currentVersion }) => currentVersion],
    ['wrong bytes', (currentVersion) => ({ ...currentVersion, nb: 1 })],
    ['markers that are not there', (currentVersion) => ({ ...currentVersion, nm: 1 })],
    ['a null version that is not there', (currentVersion) => ({ ...currentVersion, z: currentVersion['u']! })],
    ['no link', ({ u: _, ...currentVersion }) => currentVersion],
    ['a wrong link', (currentVersion) => ({ ...currentVersion, u: currentVersion['i']! })],
  ])('%s', async (_, damage) => {
    const before = await contentsOfVersions('key');
    await world.force(currentVersionKey(bucket.id, 'key'), damage);
    await expectMended('broken-history');
    expect(await contentsOfVersions('key')).toEqual(before);
  });

  it('a broken link', async () => {
    await world.force(await oldest(1), (version) => ({ ...version, u: version['i']! }));
    await expectMended('broken-history');
  });

  it('a noncurrent version that is gone', async () => {
    const [, , , lost] = await contentsOfVersions('key');
    await world.force(await oldest(0), () => undefined);
    await expectMended('broken-history', 'orphan-blob');
    expect(world.kept.kept.has(lost!.slice(1))).toBe(false);
  });

  it('noncurrent versions without a current one', async () => {
    const [newest, ...older] = await contentsOfVersions('key');
    await world.force(currentVersionKey(bucket.id, 'key'), () => undefined);
    await expectMended('broken-history', 'orphan-blob');
    // The next lifecycle pass must not leave out the key, although nothing was due there.
    expect(await rechecked()).toEqual(['key']);
    expect(await contentsOfVersions('key')).toEqual(older);
    expect(world.kept.kept.has(newest!.slice(1))).toBe(false);
  });

  it('a current version that is older than a noncurrent one', async () => {
    const before = await contentsOfVersions('key');
    const second = await oldest(1);
    const [currentVersion, older] = await world.table.getTogether([currentVersionKey(bucket.id, 'key'), second]);
    await world.force(currentVersionKey(bucket.id, 'key'), () => ({ ...older, r: 'other' }));
    await world.force(second, () => undefined);
    await world.force(
      itemKey.noncurrentVersion(bucket.id, 'key', currentVersion!['i'] as string),
      () => currentVersion,
    );
    await expectMended('broken-history');
    expect(await contentsOfVersions('key')).toEqual(before);
  });

  it('a version that is current and noncurrent', async () => {
    const before = await contentsOfVersions('key');
    const currentVersion = (await world.table.get(currentVersionKey(bucket.id, 'key')))!;
    await world.force(itemKey.noncurrentVersion(bucket.id, 'key', currentVersion['i'] as string), () => ({
      ...currentVersion,
      r: 'other',
    }));
    await expectMended('broken-history');
    expect(await contentsOfVersions('key')).toEqual(before);
  });

  it('two null versions: the older one gets a name, and nothing is lost', async () => {
    const before = await contentsOfVersions('key');
    const unnamed = ({ v: _, ...version }: Attributes): Attributes => version;
    await world.force(await oldest(0), unnamed);
    await world.force(await oldest(2), unnamed);
    await expectMended('broken-history');
    expect(await contentsOfVersions('key')).toEqual(before);
    const currentVersion = await world.table.get(currentVersionKey(bucket.id, 'key'));
    expect(currentVersion!['z']).toBe((await oldest(2)).sk);
    expect((await world.table.get(await oldest(0)))!['v']).toBe(1);
  });

  it('hundreds of broken links', async () => {
    for (let n = 0; n < 250; n += 1) await world.put(bucket, 'long', '');
    await world.drain();
    const { items } = await world.table.query(partition.noncurrentVersions(bucket.id, 'long'));
    for (const { key } of items) await world.force(key, ({ u: _, ...version }) => version);
    await expectMended('broken-history');
  });

  it('leaves alone what others change meanwhile', async () => {
    await world.force(currentVersionKey(bucket.id, 'key'), (currentVersion) => ({ ...currentVersion, n: 7 }));
    world.table.beforeWrite = async (changes) => {
      if (changes[0]?.key.sk !== 'key') return;
      world.table.beforeWrite = async () => undefined;
      await world.force(currentVersionKey(bucket.id, 'key'), (currentVersion) => ({ ...currentVersion, r: 'other' }));
    };
    const { findings } = await world.scrub({ repair: true });
    expect(findings.map(({ kind, state }) => [kind, state])).toEqual([['broken-history', 'moved']]);
  });
});

describe('what is lost', () => {
  beforeEach(async () => {
    await furnish();
    await world.pass(2 * hour);
  });

  it('bytes of one blob', async () => {
    const { content } = (await world.objects.find(bucket, 'plain'))!;
    world.kept.kept.delete(encodeContent(content!).slice(1));
    await expectLost('missing-blob');
  });

  it('some of the bytes', async () => {
    const ref = encodeContent((await world.objects.find(bucket, 'plain'))!.content!).slice(1);
    world.kept.kept.set(ref, { ...world.kept.kept.get(ref)!, bytes: Buffer.from('te') });
    await expectLost('cut-blob');
  });

  it('bytes of a part', async () => {
    const versioned = await world.buckets.load('versioned');
    const { content } = (await world.objects.find(versioned, 'large'))!;
    const [part] = await world.manifests.parts(encodeContent(content!).slice(1));
    world.kept.kept.delete(part!.blob);
    await expectLost('missing-blob');
  });

  it('a manifest: its blobs are orphans then, and nothing can be done for the version', async () => {
    const versioned = await world.buckets.load('versioned');
    const content = encodeContent((await world.objects.find(versioned, 'large'))!.content!);
    await world.force({ pk: `content/${content}`, sk: '-' }, () => undefined);
    const { findings } = await world.scrub();
    expect(findings.map(({ kind, state }) => [kind, state])).toContainEqual(['missing-manifest', 'lost']);
  });

  it('details', async () => {
    const versioned = await world.buckets.load('versioned');
    const { objectAttributes } = (await world.objects.find(versioned, 'key'))!;
    await world.force(itemKey.details((objectAttributes as { details: string }).details), () => undefined);
    await expectLost('missing-details');
  });

  it('a document of a bucket', async () => {
    await world.buckets.documents.set(asService(await world.buckets.load('bucket')), 'tagging', { tags: 'x' });
    const { documents } = await world.buckets.load('bucket');
    await world.force(itemKey.bucketDocument(bucket.id, 'tagging', documents.tagging!), () => undefined);
    await expectLost('missing-document');
  });

  it('an item that cannot be read: nothing is taken for an orphan then', async () => {
    await world.blob(bucket, 'nobody', 'bytes');
    await world.force(itemKey.noncurrentVersion(bucket.id, 'odd', 'x'), () => ({ i: 7 }));
    const { findings, report } = await world.scrub({ repair: true });
    expect(kindsOf(findings)).toEqual(['unreadable']);
    expect(report.leftOut).toEqual([expect.stringContaining('orphans were not looked for')]);
  });
});

describe('checksums that are lost', () => {
  let versioned: Bucket;
  beforeEach(async () => {
    await furnish();
    await world.pass(2 * hour);
    versioned = await world.buckets.load('versioned');
  });

  const contentOf = async (of: Bucket, key: string): Promise<string> =>
    encodeContent((await world.objects.find(of, key))!.content!).slice(1);
  const blobsOfLarge = async (): Promise<readonly string[]> => {
    const parts = await world.manifests.parts(await contentOf(versioned, 'large'));
    return parts.map(({ blob }) => blob).filter((blob) => blob !== '');
  };
  const blobsOfUpload = async (id: string): Promise<readonly string[]> =>
    (await world.uploads.parts(id)).map(({ blob }) => blob!);
  const remove = async (key: string): Promise<void> => {
    const { instance } = (await world.objects.find(versioned, key))!;
    const authorisation = asService(versioned, key, instance);
    await world.objects.remove({ by: 'request', authorisation, owner: 'project' });
  };

  it.each<[string, () => Promise<readonly string[]>]>([
    ['a version', async () => [await contentOf(bucket, 'plain')]],
    [
      'a noncurrent version',
      async () => {
        await world.buckets.setVersioning(asService(await world.buckets.load('bucket')), 'on');
        await world.put(bucket, 'plain', 'other');
        return [(await contentsOfVersions('plain'))[1]!.slice(1)];
      },
    ],
    [
      'a copy whose source was removed',
      async () => {
        await remove('key');
        return [await contentOf(versioned, 'copy')];
      },
    ],
    ['a version in several parts', blobsOfLarge],
    [
      'a copy, in several parts, whose source was removed',
      async () => {
        const blobs = await blobsOfLarge();
        await world.copy(versioned, 'large', 'copy of large');
        await remove('large');
        return blobs;
      },
    ],
    ['an open upload', async () => blobsOfUpload(await world.begin(bucket, 'key', ['one', 'two']))],
  ])('of the bytes of %s are reported', async (_, blobsOf) => {
    const blobs = await blobsOf();
    for (const ref of blobs) world.kept.unreadable.add(ref);
    const { findings } = await world.scrub({ content: true });
    expect(findings.map(({ kind, state, what }) => `${state} ${kind}: ${what}`).toSorted()).toEqual(
      blobs.map((ref) => `lost damaged-blob: blob ${ref} has lost its checksums`).toSorted(),
    );
  });

  // A power failure can bring a file back whose checksums have been removed.
  it.each<[string, () => Promise<readonly string[]>]>([
    [
      'a removed version',
      async () => {
        const ref = await contentOf(versioned, 'key');
        for (const key of ['key', 'copy']) await remove(key);
        return [ref];
      },
    ],
    [
      'a removed version in several parts',
      async () => {
        const blobs = await blobsOfLarge();
        await remove('large');
        return blobs;
      },
    ],
    [
      'an aborted upload',
      async () => {
        const id = await world.begin(bucket, 'key', ['one', 'two']);
        const blobs = await blobsOfUpload(id);
        world.kept.watch = () => {
          throw new BlobsNotRemoved(blobs, 'the disk says no');
        };
        await world.uploads.abort(asService(bucket, 'key'), id);
        return blobs;
      },
    ],
  ])('of the bytes of %s are no finding while these wait to be freed', async (_, release) => {
    const blobs = await release();
    for (const ref of blobs) world.kept.unreadable.add(ref);
    expect((await world.scrub({ content: true })).findings).toEqual([]);
    expect(blobs.filter((ref) => !world.kept.kept.has(ref))).toEqual([]);
    world.kept.watch = () => undefined;
    await world.pass(2 * hour);
    expect(blobs.filter((ref) => world.kept.kept.has(ref))).toEqual([]);
  });
});

describe('orphans', () => {
  beforeEach(async () => {
    await furnish();
    await world.pass(2 * hour);
  });

  it('a blob', async () => {
    await world.blob(bucket, 'plain', 'of a write that was never committed');
    await expectMended('orphan-blob');
  });

  it('a manifest, and then its blobs', async () => {
    const blob = await world.blob(bucket, 'key', 'part');
    await world.manifests.create([{ blob, size: 4, checksum: undefined }]);
    const { findings } = await world.scrub();
    expect(kindsOf(findings)).toContain('orphan-manifest');
    const mended = await world.scrub({ repair: true });
    expect(kindsOf(mended.findings)).toEqual(['orphan-blob', 'orphan-manifest']);
    expect((await world.scrub()).findings).toEqual([]);
  });

  it('a manifest of parts that are still parts of an upload: these stay', async () => {
    const id = await world.begin(bucket, 'key', ['part']);
    const parts = await world.uploads.parts(id);
    await world.manifests.create([{ blob: parts[0]!.blob!, size: 4, checksum: undefined }]);
    await world.drain();
    await expectMended('orphan-manifest');
    expect(world.kept.kept.has(parts[0]!.blob!)).toBe(true);
  });

  it('a slice without a directory', async () => {
    const id = await world.manifests.create([{ blob: '', size: 0, checksum: undefined }]);
    await world.force({ pk: `content/m${id}`, sk: '-' }, () => undefined);
    await expectMended('orphan-manifest');
  });

  it('details', async () => {
    await world.force(itemKey.details(timedId(world.clock.now(), world.randomness)), () => ({ um: {} }));
    await expectMended('orphan-details');
  });

  it('a document that its bucket does not point to', async () => {
    await world.buckets.documents.set(asService(await world.buckets.load('bucket')), 'tagging', { tags: 'x' });
    const revision = timedId(world.clock.now(), world.randomness);
    await world.force(itemKey.bucketDocument(bucket.id, 'tagging', revision), () => ({ tags: 'y' }));
    await expectMended('orphan-document');
    expect(await world.buckets.documents.of(await world.buckets.load('bucket'), 'tagging')).toEqual({ tags: 'x' });
  });

  it('younger than it takes to be one is left alone', async () => {
    const blob = await world.blob(bucket, 'key', 'part');
    await world.manifests.create([{ blob, size: 4, checksum: undefined }]);
    world.clock.time += week - 1000;
    expect((await world.scrub({ repair: true, minAge: week })).findings).toEqual([]);
    world.clock.time += 2000;
    const { findings } = await world.scrub({ minAge: week });
    expect(kindsOf(findings)).toContain('orphan-manifest');
  });
});

describe('references', () => {
  const refs = async (key: string) =>
    itemKey.references(encodeContent((await world.objects.find(bucket, key))!.content!));

  beforeEach(async () => {
    await furnish();
    await world.put(bucket, 'source', 'shared');
    await world.copy(bucket, 'source', 'copy');
    await world.pass(2 * hour);
  });

  it('a dead one', async () => {
    const references = await world.table.get(await refs('copy'));
    const dead = (await world.put(bucket, 'other', '')).instance;
    await world.objects.remove({ by: 'request', authorisation: asService(bucket, 'other', 'null'), owner: 'project' });
    await world.force(await refs('copy'), () => ({
      ...references,
      holders: new Set([...(references!['holders'] as ReadonlySet<string>), dead]),
    }));
    await expectMended('dead-holder');
    expect((await world.table.get(await refs('copy')))!['holders']).toEqual(references!['holders']);
  });

  it('none but dead ones: the content is freed', async () => {
    const key = await refs('copy');
    for (const name of ['source', 'copy']) await world.force(currentVersionKey(bucket.id, name), () => undefined);
    await expectMended('dead-holder', 'usage');
    expect(await world.table.get(key)).toBeUndefined();
    expect(world.kept.kept.has(key.pk.slice('content/b'.length))).toBe(false);
  });

  it('none but dead ones of a manifest: its blobs are freed, too', async () => {
    await world.complete(bucket, 'large', await world.begin(bucket, 'large', ['one', 'two']));
    await world.copy(bucket, 'large', 'large copy');
    await world.drain();
    const { pk } = await refs('large');
    const blobs = (await world.manifests.parts(pk.slice('content/m'.length))).map(({ blob }) => blob);
    for (const name of ['large', 'large copy']) await world.force(currentVersionKey(bucket.id, name), () => undefined);
    const { findings } = await world.scrub({ repair: true });
    expect(kindsOf(findings)).toEqual(['dead-holder', 'orphan-blob', 'usage']);
    expect(blobs.some((blob) => world.kept.kept.has(blob))).toBe(false);
    expect((await world.scrub()).findings).toEqual([]);
  });

  it('a living one that is missing', async () => {
    const { instance } = (await world.objects.find(bucket, 'copy'))!;
    await world.force(await refs('copy'), (item) => ({
      ...item,
      holders: new Set([...(item['holders'] as ReadonlySet<string>)].filter((one) => one !== instance)),
    }));
    await expectMended('missing-holder');
  });

  it('all of them, with their item', async () => {
    const key = await refs('copy');
    const { instance } = (await world.objects.find(bucket, 'copy'))!;
    await world.force(key, () => undefined);
    await expectMended('missing-holder');
    expect((await world.table.get(key))!['holders']).toContain(instance);
    await world.objects.remove({ by: 'request', authorisation: asService(bucket, 'source', 'null'), owner: 'project' });
    await world.pass(day);
    expect(world.kept.kept.has(key.pk.slice('content/b'.length))).toBe(true);
  });
});

describe('uploads', () => {
  let id: string;
  beforeEach(async () => {
    await furnish();
    id = await world.begin(bucket, 'key', ['one', 'two']);
    await world.pass(2 * hour);
  });

  const state = () => ({ pk: `upload/${id}`, sk: '-' });

  it('an open one that is not listed', async () => {
    await world.force(uploadIndexKey(bucket.id, 'key', id), () => undefined);
    await expectMended('unlisted-upload');
    expect(await rechecked()).toEqual(['key']);
    expect(
      (await world.uploads.openFrom(bucket, { prefix: '', limit: 100 })).uploads.map((upload) => upload.id),
    ).toEqual([id]);
  });

  it('a listed one that is not open', async () => {
    const index = await world.table.get(uploadIndexKey(bucket.id, 'key', id));
    await world.uploads.abort(asService(bucket, 'key'), id);
    await world.drain();
    await world.force(uploadIndexKey(bucket.id, 'key', id), () => index);
    await expectMended('listed-upload');
  });

  it('a listed one that is not there, and its parts', async () => {
    await world.force(state(), () => undefined);
    const { findings } = await world.scrub();
    expect(kindsOf(findings)).toEqual(['listed-upload', 'orphan-part', 'usage']);
    await world.scrub({ repair: true });
    await world.drain();
    expect((await world.scrub()).findings).toEqual([]);
  });

  it('one that ended and was not cleared up', async () => {
    const index = uploadIndexKey(bucket.id, 'key', id);
    await world.force(state(), (item) => ({ ...item, state: 'aborted' }));
    await world.force(index, () => undefined);
    const blobs = world.kept.kept.size;
    await world.scrub({ repair: true });
    await world.drain();
    expect(world.kept.kept.size).toBe(blobs - 2);
    expect((await world.scrub()).findings).toEqual([]);
  });

  it('one that is kept no longer', async () => {
    await world.uploads.abort(asService(bucket, 'key'), id);
    await world.pass(8 * day);
    await world.pass(8 * day);
    expect(await world.table.get(state())).toBeUndefined();
    await world.force(state(), () => ({ state: 'aborted', bucketId: bucket.id, key: 'key', initiated: 0, r: 'r' }));
    await expectMended('unfinished-upload');
  });
});

describe('buckets', () => {
  beforeEach(async () => {
    await furnish();
    await world.pass(2 * hour);
  });

  it.each(['ct', 'st'])('a transition that never ended (%s)', async (token) => {
    const until = { ct: 'cu', st: 'su' }[token]!;
    await world.force(itemKey.bucket('bucket'), (item) => ({
      ...item,
      [token]: 'token',
      [until]: world.clock.now() - 1000,
    }));
    await expectMended('stale-transition');
  });

  it('one that its project does not list', async () => {
    await world.force(itemKey.ownedBucket('project', 'bucket'), () => undefined);
    expect(kindsOf((await world.scrub()).findings)).toEqual(['bucket-count', 'unlisted-bucket']);
    expect(kindsOf((await world.scrub({ repair: true })).findings)).toEqual(['unlisted-bucket']);
    expect((await world.scrub()).findings).toEqual([]);
  });

  it('one that cannot be found by its id', async () => {
    await world.force(itemKey.bucketName(bucket.id), () => undefined);
    await expectMended('unlisted-bucket');
  });

  it('one with rules that is not listed as such', async () => {
    await world.buckets.documents.set(asService(await world.buckets.load('bucket')), 'lifecycle', { rules: 'x' });
    await world.force(itemKey.bucketWith('lifecycle', 'bucket'), () => undefined);
    await expectMended('unlisted-bucket');
  });

  it('entries for buckets that do not exist, or are different', async () => {
    await world.force(itemKey.ownedBucket('project', 'gone'), () => ({ bucketId: 'x', created: 1 }));
    await world.force(itemKey.bucketWith('lifecycle', 'bucket'), () => ({ id: bucket.id }));
    await world.force(itemKey.bucketName('y'), () => ({ name: 'bucket', project: 'project' }));
    await world.force(itemKey.bucketCount('project'), (item) => ({ ...item, count: 3 }));
    await world.scrub({ repair: true });
    expect((await world.scrub()).findings).toEqual([]);
    expect(await world.table.get(itemKey.bucketCount('project'))).toMatchObject({ count: 2 });
  });

  it('a wrong count', async () => {
    await world.force(itemKey.bucketCount('project'), (item) => ({ ...item, count: 7 }));
    await expectMended('bucket-count');
  });

  it('remains of one that is gone: they are swept', async () => {
    const gone = await world.bucket('gone');
    await world.buckets.documents.set(asService(await world.buckets.load('gone')), 'tagging', { tags: 'x' });
    await world.put(gone, 'key', 'text');
    await world.begin(gone, 'key', ['part']);
    await world.drain();
    for (const key of [
      itemKey.bucket('gone'),
      itemKey.bucketName(gone.id),
      itemKey.ownedBucket('project', 'gone'),
      itemKey.bucketCount('project'),
    ]) {
      await world.force(key, (item) => (key.sk === 'buckets' ? { ...item, count: 2 } : undefined));
    }
    await expectMended('lost-bucket');
    await world.pass(day / 2);
    await world.pass(day / 2);
    await world.pass(day);
    for await (const { key } of world.table.scan()) {
      // Its storage still has to be billed.
      const stays = key.pk.startsWith('upload/') || key.pk.startsWith('storage/');
      if (!stays) expect(`${key.pk} ${key.sk}`).not.toContain(gone.id);
    }
    await world.pass(9 * day);
    await world.pass(day);
    expect((await world.scrub()).findings).toEqual([]);
  });

  it('an upload that was begun in a bucket while that was removed', async () => {
    const gone = await world.bucket('gone');
    await world.buckets.remove(asService(await world.buckets.load('gone')));
    // As in the cloud, where a commit that creates no current version does not look at the bucket.
    Object.assign(world.table, { freeChecks: false });
    await world.begin(gone, 'key', ['part']);
    Object.assign(world.table, { freeChecks: true });
    await world.drain();
    // The sweep of removed buckets takes it; no scrub needs to.
    expect((await world.scrub()).findings).toEqual([]);
    await world.pass(day / 2);
    await world.pass(2 * day);
    await world.pass(10 * day);
    expect((await world.scrub()).findings).toEqual([]);
    for await (const { key } of world.table.scan()) expect(key.pk).not.toContain(gone.id);
    expect([...world.kept.kept.values()].filter(({ owner }) => owner.bucketId === gone.id)).toEqual([]);
  });

  it('counters of one that is gone', async () => {
    await world.force(itemKey.usage('x'.repeat(22), 'shard-1'), () => ({ objects: 1, bytes: 1, r: 'r' }));
    await expectMended('lost-bucket');
  });
});

describe('counters', () => {
  beforeEach(async () => {
    await furnish();
    await world.pass(2 * hour);
  });

  it.each(['objects', 'bytes', 'parts'])('that are wrong: %s', async (counter) => {
    await world.force(itemKey.usage(bucket.id, 'shard-1'), (row) => ({ ...row, [counter]: 77 }));
    const before = await world.usage.of(bucket.id);
    await expectMended('usage');
    expect(await world.usage.of(bucket.id)).not.toEqual(before);
  });

  it('that are not there', async () => {
    await world.force(itemKey.usage(bucket.id, 'shard-1'), () => undefined);
    await expectMended('usage');
  });

  it('in several rows', async () => {
    await world.force(itemKey.usage(bucket.id, 'another'), () => ({ objects: 5, bytes: 5, upTo: '1', r: 'r' }));
    await expectMended('usage');
    expect(await world.usage.of(bucket.id)).toEqual({ objects: 2, bytesOfVersions: 4, bytesBesides: 0 });
  });

  it('in more rows than a transaction has items', async () => {
    for (let row = 0; row < 150; row += 1) {
      const lane = `shardId-${String(row).padStart(20, '0')}`;
      await world.force(itemKey.usage(bucket.id, lane), () => ({ objects: 5, bytes: 5, upTo: '1', r: 'r' }));
    }
    await expectMended('usage');
    expect(await world.usage.of(bucket.id)).toEqual({ objects: 2, bytesOfVersions: 4, bytesBesides: 0 });
  });

  it('are left alone where something changes meanwhile', async () => {
    await world.force(itemKey.usage(bucket.id, 'shard-1'), (row) => ({ ...row, objects: 77 }));
    const drain = world.drain.bind(world);
    let drains = 0;
    world.drain = async () => {
      drains += 1;
      // The last time is after everything was counted.
      if (drains === 4) await world.put(bucket, 'new', '');
      await drain();
    };
    const { findings, report } = await world.scrub({ repair: true });
    expect(findings).toEqual([]);
    expect(report.leftOut).toEqual(['counters of buckets that changed during the scrub']);
  });

  it('are left alone where nobody knows whether the feed was followed', async () => {
    await world.force(itemKey.usage(bucket.id, 'shard-1'), (row) => ({ ...row, objects: 77 }));
    const { findings, report } = await world.scrub({ drained: false });
    expect(findings).toEqual([]);
    expect(report.leftOut).toHaveLength(1);
  });
});

describe('work that is overdue', () => {
  it('none, however many buckets are removed in a day', async () => {
    for (let n = 0; n < 250; n += 1) {
      await world.bucket('short-lived');
      await world.buckets.documents.set(asService(await world.buckets.load('short-lived')), 'tagging', { n });
      await world.buckets.remove(asService(await world.buckets.load('short-lived')));
    }
    await world.pass(hour);
    const documents: string[] = [];
    for await (const { key } of world.table.scan({ prefixes: ['doc/'] })) documents.push(key.pk);
    expect(documents).toEqual([]);
    await world.pass(2 * day);
    expect((await world.table.query(partition.tombstones)).items).toEqual([]);
  });

  it('garbage', async () => {
    await world.put(bucket, 'key', 'old');
    await world.put(bucket, 'key', 'new');
    await world.drain();
    world.clock.time += 2 * day;
    await expectMended('overdue-garbage');
    expect(world.kept.kept.size).toBe(1);
  });

  it('a tombstone', async () => {
    await world.force(itemKey.tombstone(sortableTime(world.clock.now()), 'x'.repeat(22)), () => ({
      name: '',
      project: '',
    }));
    world.clock.time += 3 * day;
    await expectMended('overdue-grave');
  });
});
