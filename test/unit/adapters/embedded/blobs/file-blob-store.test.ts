import { rmSync } from 'node:fs';
import { mkdir, mkdtemp, readFile, rename, rm, rmdir, stat, truncate, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { FileBlobStore } from '../../../../../shared/adapters/embedded/blobs/file-blob-store.ts';
import { storedMemory } from '../../../../../shared/adapters/embedded/blobs/file-reader.ts';
import { timeOf } from '../../../../../shared/adapters/embedded/blobs/blob-ref.ts';
import { LmdbEnvironment } from '../../../../../shared/adapters/embedded/table/lmdb-environment.ts';
import { BlobDamaged, BlobMissing, BlobsHeld } from '../../../../../shared/ports/blob-store.ts';

let directory: string;
let environment: LmdbEnvironment;
let store: FileBlobStore;
beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'stillage-files-'));
  store = await openStore();
});
afterEach(async () => {
  await store.close();
  await rm(directory, { recursive: true });
});

async function openStore(): Promise<FileBlobStore> {
  environment = await LmdbEnvironment.open(join(directory, 'table'));
  return FileBlobStore.open(join(directory, 'a', 'blobs'), environment);
}

const owner = { bucketId: 'b'.repeat(22), key: 'photos/ä.jpg' };
const pathOf = (ref: string): string => join(directory, 'a', 'blobs', ref.slice(0, 2), ref);

async function* chunks(...parts: (string | Uint8Array)[]): AsyncGenerator<Uint8Array> {
  for (const part of parts) yield Buffer.from(part);
}

/** Too large to lie among the small ones. */
const large = (text: string): string => text.repeat(40_000);

async function gather(bytes: AsyncIterable<Uint8Array>): Promise<string> {
  const kept: Uint8Array[] = [];
  for await (const chunk of bytes) kept.push(chunk);
  return Buffer.concat(kept).toString();
}

describe('what is held for a backup', () => {
  it.each(['small', large('large')])('is not removed, nor is it later if it was written before', async (text) => {
    let heldUntil = -Infinity;
    const held = await FileBlobStore.open(join(directory, 'a', 'blobs'), environment, async () => heldUntil);
    const [before, other] = [await held.write(chunks(text), owner), await held.write(chunks(text), owner)];
    heldUntil = Math.max(timeOf(before.ref), timeOf(other.ref));
    while (Date.now() <= heldUntil);
    const after = await held.write(chunks(text), owner);
    const removal = held.remove([before.ref, after.ref, 'nothing']);
    await expect(removal).rejects.toThrow(new BlobsHeld([before.ref]).message);
    await expect(removal).rejects.toMatchObject({ name: 'BlobsHeld', refs: new Set([before.ref]) });
    expect(await gather(await held.read(before.ref, before.size))).toBe(text);
    await expect(held.read(after.ref, after.size)).rejects.toThrow(BlobMissing);
    heldUntil = -Infinity;
    await held.remove([before.ref]);
    await expect(held.read(before.ref, before.size)).rejects.toThrow(BlobMissing);
    expect(await gather(await held.read(other.ref, other.size))).toBe(text);
  });

  it('is read as it is stored, whole or in parts', async () => {
    for (const text of ['small', large('large')]) {
      const { ref } = await store.write(chunks(text), owner);
      const blob = await store.stored(ref, Buffer.alloc(storedMemory(300_000)));
      const whole = Buffer.from(await blob.read(0, blob.size));
      expect(whole.subarray(-text.length).toString()).toBe(text);
      expect(whole.includes(owner.key)).toBe(true);
      for (const size of [1000, 1152, 1153, 70_001]) {
        const parts = [];
        for (let at = 0; at < blob.size; at += size) {
          parts.push(Buffer.from(await blob.read(at, Math.min(at + size, blob.size))));
        }
        expect(Buffer.concat(parts).equals(whole), `${size}`).toBe(true);
      }
      blob.close();
    }
  });

  it('is not read with other bytes than were written', async () => {
    const { ref } = await store.write(chunks(large('large')), owner);
    const bytes = await readFile(pathOf(ref));
    bytes[100_000]! ^= 1;
    await writeFile(pathOf(ref), bytes);
    const memory = Buffer.alloc(storedMemory(300_000));
    const blob = await store.stored(ref, memory);
    await expect(blob.read(0, blob.size)).rejects.toThrow(BlobDamaged);
    expect((await blob.read(0, 10)).toString()).toBe('STILBLOB\u0001\u0016');
    blob.close();
    bytes[2]! ^= 1;
    await writeFile(pathOf(ref), bytes);
    const renamed = await store.stored(ref, memory);
    await expect(renamed.read(0, 10)).rejects.toThrow('was never completely written');
    renamed.close();
    await writeFile(pathOf(ref), bytes.subarray(0, 1000));
    await expect(store.stored(ref, memory)).rejects.toThrow(BlobDamaged);
  });
});

describe('FileBlobStore', () => {
  // Literal bytes, because existing files must remain readable.
  it('writes a header of 1,152 bytes that names the owner, then the bytes', async () => {
    const { ref } = await store.write(chunks(large('a'), large('b')), owner);
    const file = await readFile(pathOf(ref));
    const header = Buffer.alloc(1152);
    header.write(`STILBLOB\u0001\u0016\u000D\u0000${owner.bucketId}${owner.key}`);
    expect(file).toEqual(Buffer.concat([header, Buffer.from(large('a') + large('b'))]));
    expect((await stat(pathOf(ref))).mode & 0o777).toBe(0o600);
    expect((await store.describe(ref)).owner).toEqual(owner);
  });

  it('puts the time into the name', async () => {
    const before = Date.now();
    const { ref } = await store.write(chunks('x'), owner);
    expect(timeOf(ref)).toBeGreaterThanOrEqual(before);
    expect(timeOf(ref)).toBeLessThanOrEqual(Date.now());
  });

  it.each([0, 1, 10, 5_000_000])('takes a length of %i for a hint only', async (length) => {
    const bytes = 'x'.repeat(1_000_000);
    const { ref, size } = await store.write(chunks(bytes), owner, length);
    expect(size).toBe(1_000_000);
    expect(await gather(await store.read(ref, size))).toBe(bytes);
  });

  it('refuses an owner that does not fit, and leaves nothing', async () => {
    await expect(store.write(chunks('x'), { bucketId: 'b', key: 'k'.repeat(1200) })).rejects.toThrow(/too long/);
    for await (const blob of store.list()) expect(blob).toBeUndefined();
  });

  it('reads nothing but its own files, whatever it is asked for', async () => {
    const secret = join(directory, 'a', 'secret');
    await writeFile(secret, 'x'.repeat(2000));
    for (const ref of [
      '../../secret',
      '../secret',
      '/etc/passwd',
      '',
      '.',
      'aa/../../secret',
      `${'0'.repeat(29)}/`,
      '0'.repeat(31),
      `sm${'0'.repeat(28)}`,
      `sm${'0'.repeat(27)}/`,
    ]) {
      await expect(store.read(ref, 10)).rejects.toBeInstanceOf(BlobMissing);
      await expect(store.describe(ref)).rejects.toBeInstanceOf(BlobMissing);
      await store.remove([ref]);
    }
    expect((await stat(secret)).size).toBe(2000);
  });

  it('opens over files that a crash left unfinished: they are listed, not read, and can be removed', async () => {
    const { ref: whole } = await store.write(chunks(large('whole')), owner);
    const { ref: torn } = await store.write(chunks(large('torn')), owner);
    const { ref: empty } = await store.write(chunks(large('empty')), owner);
    await environment.run(() => undefined);
    await truncate(pathOf(torn), 700);
    await truncate(pathOf(empty), 0);
    await writeFile(join(directory, 'a', 'blobs', whole.slice(0, 2), 'lost+found'), 'of somebody else');

    const again = await openStore();
    const found = new Map<string, number>();
    for await (const blob of again.list()) found.set(blob.ref, blob.size);
    expect(found).toEqual(
      new Map([
        [whole, large('whole').length],
        [torn, 0],
        [empty, 0],
      ]),
    );
    expect(await gather(await again.read(whole, large('whole').length))).toBe(large('whole'));
    for (const ref of [torn, empty]) {
      await expect(again.read(ref, large('torn').length)).rejects.toBeInstanceOf(BlobDamaged);
      expect((await again.describe(ref)).owner).toBeUndefined();
    }
    await again.remove([torn, empty]);
    await expect(again.read(torn, 10)).rejects.toBeInstanceOf(BlobMissing);
    await again.close();
  });

  describe('of blobs of versions without checksums', () => {
    const former = (ref: string): string => `${ref.slice(0, 2)}-${ref.slice(3)}`;

    it('reads large ones, which have nothing to be verified with', async () => {
      const { ref } = await store.write(chunks(large('a')), owner);
      await rename(pathOf(ref), pathOf(former(ref)));
      expect(await gather(await store.read(former(ref), 40_000))).toBe(large('a'));
      expect(timeOf(former(ref))).toBe(timeOf(ref));
    });

    it('reads small ones, too', async () => {
      const ref = `sm-${'0'.repeat(27)}`;
      const blobs = environment.database<Buffer, string>('blobs', { encoding: 'binary' });
      await environment.run(() => void blobs.put(ref, Buffer.from('\u0001\u0001\u0000bkbytes')));
      expect(await gather(await store.read(ref, 5))).toBe('bytes');
      expect((await store.describe(ref)).owner).toEqual({ bucketId: 'b', key: 'k' });
    });

    const any = { update: () => undefined, matches: () => true };
    const checksums = () => environment.database<Buffer, string>('checksums', { encoding: 'binary' });

    it('verifies large ones once checksums were added', async () => {
      const { ref: written } = await store.write(chunks(large('a')), owner);
      const ref = former(written);
      await rename(pathOf(written), pathOf(ref));
      expect(await store.describe(ref)).toMatchObject({ isUnverified: true });
      const seen: Buffer[] = [];
      const wrong = { update: (bytes: Uint8Array) => void seen.push(Buffer.from(bytes)), matches: () => false };
      expect(await store.addChecksums(ref, 40_000, wrong)).toBe(false);
      expect(Buffer.concat(seen).toString()).toBe(large('a'));
      expect(await store.describe(ref)).toMatchObject({ isUnverified: true });

      expect(await store.addChecksums(ref, 40_000, any)).toBe(true);
      expect(await store.describe(ref)).not.toHaveProperty('isUnverified');
      expect(await gather(await store.read(ref, 40_000))).toBe(large('a'));
      const bytes = await readFile(pathOf(ref));
      bytes[bytes.length - 1]! ^= 1;
      await writeFile(pathOf(ref), bytes);
      await expect(store.read(ref, 40_000, { first: 39_000, last: 39_001 })).rejects.toThrow(BlobDamaged);
    });

    it('verifies small ones once checksums were added, and removes these with the blob', async () => {
      const ref = `sm-${'0'.repeat(27)}`;
      const blobs = environment.database<Buffer, string>('blobs', { encoding: 'binary' });
      await environment.run(() => void blobs.put(ref, Buffer.from('\u0001\u0001\u0000bkbytes')));
      expect(await store.addChecksums(ref, 5, any)).toBe(true);
      expect(await gather(await store.read(ref, 5))).toBe('bytes');
      expect(await store.describe(ref)).not.toHaveProperty('isUnverified');
      await environment.run(() => void blobs.put(ref, Buffer.from('\u0001\u0001\u0000bkbytez')));
      await expect(store.read(ref, 5)).rejects.toThrow(BlobDamaged);
      await store.remove([ref]);
      expect(checksums().doesExist(ref)).toBe(false);
    });

    it('adds no checksums to a blob that is removed meanwhile', async () => {
      const { ref: written } = await store.write(chunks(large('a')), owner);
      const ref = former(written);
      await rename(pathOf(written), pathOf(ref));
      const removing = { update: () => undefined, matches: () => (rmSync(pathOf(ref)), true) };
      await store.addChecksums(ref, 40_000, removing);
      expect(checksums().doesExist(ref)).toBe(false);
    });
  });

  it.each([32_769, 65_535, 65_536, 65_537, 700_001])(
    'verifies ranges of %i bytes wherever they begin',
    async (size) => {
      const bytes = Buffer.from(Array.from({ length: size }, (_, at) => at % 251));
      const { ref } = await store.write(chunks(bytes.subarray(0, 1000), bytes.subarray(1000)), owner);
      const points = [0, 1, 65_535, 65_536, 65_537, 300_000, size - 1].filter((point) => point < size);
      for (const first of points) {
        for (const last of points.filter((point) => point >= first)) {
          const read: Uint8Array[] = [];
          for await (const chunk of await store.read(ref, size, { first, last })) read.push(chunk);
          expect(Buffer.concat(read).equals(bytes.subarray(first, last + 1))).toBe(true);
        }
      }
    },
  );

  it('removes the checksums of a removed blob with a later transaction, and lists neither', async () => {
    const checksums = environment.database<Buffer, string>('checksums', { encoding: 'binary' });
    const { ref } = await store.write(chunks(large('a')), owner);
    await environment.run(() => undefined);
    expect([...checksums.getKeys()]).toEqual([ref]);
    await store.remove([ref]);
    await environment.run(() => undefined);
    expect([...checksums.getKeys()]).toEqual([]);
    for await (const blob of store.list()) expect(blob).toBeUndefined();
  });

  it('names the blobs that cannot be removed, which stay readable, and removes the others', async () => {
    const refs: string[] = [];
    for (let count = 0; count < 3; count += 1) refs.push((await store.write(chunks(large('a')), owner)).ref);
    const [first, stuck, last] = refs as [string, string, string];
    await rename(pathOf(stuck), join(directory, 'kept'));
    // A directory cannot be unlinked.
    await mkdir(pathOf(stuck));
    await expect(store.remove([first, stuck, last])).rejects.toMatchObject({
      name: 'BlobsNotRemoved',
      refs: new Set([stuck]),
    });
    await environment.run(() => undefined);
    await rmdir(pathOf(stuck));
    await rename(join(directory, 'kept'), pathOf(stuck));
    expect(await gather(await store.read(stuck, 40_000))).toBe(large('a'));
    for (const ref of [first, last]) await expect(store.read(ref, 40_000)).rejects.toBeInstanceOf(BlobMissing);
  });

  it('refuses bytes whose checksums are damaged', async () => {
    const checksums = environment.database<Buffer, string>('checksums', { encoding: 'binary' });
    const { ref } = await store.write(chunks(large('a')), owner);
    await environment.run(() => undefined);
    const sound = Buffer.from(checksums.getBinary(ref)!);
    const damaged = [...sound.keys()].map((at) => sound.map((byte, index) => (index === at ? byte ^ 1 : byte)));
    for (const value of [Buffer.alloc(0), sound.subarray(1), ...damaged]) {
      await environment.run(() => void checksums.put(ref, Buffer.from(value)));
      await expect(store.read(ref, 40_000)).rejects.toThrow('has damaged checksums');
    }
  });

  it('fails a read of a file that was cut meanwhile, instead of giving less', async () => {
    const { ref } = await store.write(chunks(new Uint8Array(3_000_000)), owner);
    const reader = (await store.read(ref, 3_000_000))[Symbol.asyncIterator]();
    await reader.next();
    await truncate(pathOf(ref), 2_000_000);
    const rest = async (): Promise<void> => {
      while (!(await reader.next()).done);
    };
    await expect(rest()).rejects.toThrow(/shorter than recorded/);
    expect(await reader.next()).toEqual({ done: true, value: undefined });
  });

  it('finishes a read of a blob that is removed meanwhile', async () => {
    const { ref } = await store.write(chunks(new Uint8Array(3_000_000)), owner);
    const reading = await store.read(ref, 3_000_000);
    await store.remove([ref]);
    expect(await gather(reading)).toHaveLength(3_000_000);
  });

  it('cannot be used when its directories are gone', async () => {
    await store.check();
    await rm(join(directory, 'a'), { recursive: true });
    await expect(store.check()).rejects.toThrow(/ENOENT/);
  });
});
