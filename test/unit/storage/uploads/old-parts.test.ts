import { beforeEach, describe, expect, it } from 'vitest';
import type { Bucket } from '../../../../shared/storage/buckets/bucket.ts';
import { asService } from '../../../../shared/storage/version-changes/service-authorisation.ts';
import { versionOf } from '../../../../shared/storage/uploads/upload.ts';
import { keptUploadsOfPart, partItemBytes, PartsReleased } from '../../../../shared/storage/uploads/parts.ts';
import { ScrubWorld } from '../../../support/storage/scrub-world.ts';

/** Part numbers that are uploaded again and again. */

let world: ScrubWorld;
let bucket: Bucket;

beforeEach(async () => {
  world = new ScrubWorld();
  bucket = await world.bucket('bucket');
});

async function uploadAgain(id: string, number: number, text: string): Promise<string | undefined> {
  world.clock.time += 1;
  const upload = await world.uploads.findOpen(bucket, 'key', id);
  const blob = text === '' ? undefined : await world.blob(bucket, 'key', text);
  const part = { number, blob, size: text.length, md5: new Uint8Array(16), checksum: undefined };
  return (await world.uploads.addPart(asService(bucket, 'key'), upload, part)).blob;
}

const partsOf = async (id: string): Promise<unknown> => (await world.uploads.parts(id)).map(({ blob }) => blob);
const bytesHeld = async (): Promise<number> => (await world.usage.of(bucket.id)).bytesBesides;

describe('of one part number', () => {
  it('the newest eight uploads are kept, and the bytes of older ones released', async () => {
    const id = await world.begin(bucket, 'key', []);
    await world.drain();
    const itemsHeld = await bytesHeld();
    for (const [at, text] of ['first', 'other'].entries()) await uploadAgain(id, at + 1, text);
    const blobs: (string | undefined)[] = [];
    for (let again = 0; again < 100; again += 1) blobs.push(await uploadAgain(id, 1, `again ${again % 10}`));
    await world.drain();
    const other = (await world.uploads.parts(id)).find(({ number }) => number === 2)!.blob;
    expect(await partsOf(id)).toEqual([...blobs.slice(-keptUploadsOfPart), other]);
    await world.drain();
    const content = keptUploadsOfPart * 'again 0'.length + 'other'.length;
    expect(await bytesHeld()).toBe(itemsHeld + content + (keptUploadsOfPart + 1) * partItemBytes);
    expect((await world.scrub()).findings).toEqual([]);
    await world.pass(1);
    for (const [at, blob] of blobs.entries()) {
      const isKept = at >= blobs.length - keptUploadsOfPart;
      expect(await isThere(blob!), `upload ${at}`).toBe(isKept);
    }
    expect((await world.scrub()).findings).toEqual([]);
    await world.complete(bucket, 'key', id);
    await world.pass(2 * 3_600_000);
    expect(await isThere(blobs.at(-1)!)).toBe(true);
    expect(await isThere(blobs.at(-2)!)).toBe(false);
    expect((await world.scrub()).findings).toEqual([]);
  });

  it('empty ones are not kept either', async () => {
    const id = await world.begin(bucket, 'key', []);
    for (let again = 0; again < 3000; again += 1) await uploadAgain(id, 1, '');
    await world.drain();
    expect(await world.uploads.parts(id)).toHaveLength(keptUploadsOfPart);
  });

  it('none is released that a Complete has picked, for it does not commit then', async () => {
    const id = await world.begin(bucket, 'key', ['picked']);
    const upload = await world.uploads.findOpen(bucket, 'key', id);
    const [picked] = await world.uploads.parts(id);
    const manifest = await world.manifests.create([{ blob: picked!.blob!, size: picked!.size, checksum: undefined }]);
    const result = { md5: new Uint8Array(16), partCount: 1, versionId: 'null', checksum: undefined };
    let released = false;
    const completing = world.objects.put(asService(bucket, 'key'), versionOf(upload, 6, result, manifest), {
      extras: async (_, __, now) => {
        // The part is released only after the data for the commit was read.
        const companions = await world.uploads.completion(now, upload, manifest, result);
        if (!released) for (let again = 0; again < keptUploadsOfPart; again += 1) await uploadAgain(id, 1, 'again');
        if (!released) await world.drain();
        released = true;
        return companions;
      },
    });
    await expect(completing).rejects.toBeInstanceOf(PartsReleased);
    expect(released).toBe(true);
  });

  it('all are left to the finisher once the upload has ended', async () => {
    const id = await world.begin(bucket, 'key', ['first']);
    const first = (await world.uploads.parts(id))[0]!.blob!;
    const currentVersion = await world.complete(bucket, 'key', id);
    expect(currentVersion.size).toBe(5);
    await world.uploads.releaseOldParts(id, 1);
    await world.pass(2 * 3_600_000);
    expect(await isThere(first)).toBe(true);
  });
});

async function isThere(ref: string): Promise<boolean> {
  try {
    await world.blobs.describe(ref);
    return true;
  } catch {
    return false;
  }
}
