import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { timeOf } from '../../../../shared/adapters/embedded/blob-ref.ts';
import { FileBlobStore } from '../../../../shared/adapters/embedded/file-blob-store.ts';
import { SmallBlobs, smallBlobSize } from '../../../../shared/adapters/embedded/small-blobs.ts';
import { BlobMissing } from '../../../../shared/ports/blob-store.ts';

let directory: string;
let small: SmallBlobs;
beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'stillage-small-'));
  small = await SmallBlobs.open(join(directory, 'small'));
});
afterEach(async () => {
  await small.close();
  await rm(directory, { recursive: true });
});

const owner = { bucketId: 'bucket', key: 'photos/ä.jpg' };
const text = (bytes: Uint8Array): string => Buffer.from(bytes).toString();

describe('SmallBlobs', () => {
  it('give back bytes, ranges of them, and whose they are', async () => {
    const ref = await small.write(Buffer.from('0123456789'), owner);
    expect(text(small.read(ref))).toBe('0123456789');
    expect(text(small.read(ref, { first: 2, last: 4 }))).toBe('234');
    expect(text(small.read(ref, { first: 8, last: 100 }))).toBe('89');
    expect(small.describe(ref)).toEqual({ ref, size: 10, writtenAt: timeOf(ref), owner });
    expect(Math.abs(timeOf(ref) - Date.now())).toBeLessThan(60_000);
    const empty = await small.write(new Uint8Array(0), { bucketId: 'b', key: '' });
    expect(text(small.read(empty))).toBe('');
  });

  it('do not change when the buffer they came in is used again', async () => {
    const buffer = Buffer.from('first');
    const writing = small.write(buffer, owner);
    buffer.write('other');
    expect(text(small.read(await writing))).toBe('first');
  });

  it('list all of them, page by page, and forget those that are removed', async () => {
    const refs = await Promise.all(Array.from({ length: 2100 }, (_, at) => small.write(Buffer.from(`${at}`), owner)));
    expect([...small.list()].map(({ ref }) => ref)).toEqual(refs.toSorted());
    expect([...small.list()].reduce((sum, { size }) => sum + size, 0)).toBe(
      refs.reduce((sum, _, at) => sum + `${at}`.length, 0),
    );
    await small.remove(refs.slice(0, 2099));
    expect([...small.list()].map(({ ref }) => ref)).toEqual([refs[2099]]);
    await small.remove([refs[0]!]);
    expect(() => small.read(refs[0]!)).toThrow(BlobMissing);
    expect(() => small.describe(refs[0]!)).toThrow(BlobMissing);
  });

  it('are there when they are opened again, and for whoever else has them open', async () => {
    const other = await SmallBlobs.open(join(directory, 'small'));
    const ref = await small.write(Buffer.from('bytes'), owner);
    expect(text(other.read(ref))).toBe('bytes');
    await other.close();
  });

  it('refuse to be used once they are closed', async () => {
    const ref = await small.write(Buffer.from('bytes'), owner);
    await small.close();
    expect(() => small.read(ref)).toThrow(/closed/);
    await expect(small.write(Buffer.from('x'), owner)).rejects.toThrow(/closed/);
  });
});

describe('FileBlobStore', () => {
  it('makes a file of what is larger than a small blob, whatever length it was told', async () => {
    const store = await FileBlobStore.open(join(directory, 'blobs'));
    const files = async (): Promise<number> => {
      const entries = await readdir(join(directory, 'blobs'), { recursive: true, withFileTypes: true });
      return entries.filter((entry) => entry.isFile() && !entry.name.endsWith('.mdb')).length;
    };
    async function* bytes(size: number): AsyncGenerator<Uint8Array> {
      for (let at = 0; at < size; at += 1000) yield Buffer.alloc(Math.min(1000, size - at), 'x');
    }
    for (const [size, length, expected] of [
      [smallBlobSize, undefined, 0],
      [smallBlobSize, smallBlobSize, 0],
      [smallBlobSize, 5 * smallBlobSize, 0],
      [smallBlobSize + 1, undefined, 1],
      [smallBlobSize + 1, smallBlobSize + 1, 2],
      [5 * smallBlobSize, 10, 3],
    ] as const) {
      const { ref } = await store.write(bytes(size), owner, length);
      expect(await files()).toBe(expected);
      let read = 0;
      for await (const chunk of await store.read(ref)) read += chunk.length;
      expect(read).toBe(size);
      expect((await store.describe(ref)).owner).toEqual(owner);
    }
    let listed = 0;
    for await (const _ of store.list()) listed += 1;
    expect(listed).toBe(6);
    await store.close();
  });
});
