import fc from 'fast-check';
import { createHash, randomBytes } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { BlobDamaged, BlobMissing } from '../../shared/ports/blob-store.ts';
import type { BlobDescription, BlobOwner, BlobStore, ByteRange } from '../../shared/ports/blob-store.ts';

export interface OpenBlobStore {
  readonly store: BlobStore;
  readonly close: () => Promise<void>;
  /** Returns the number of files or sockets of the store that this process holds open, if it can be determined. */
  readonly openHandles?: () => number | Promise<number>;
}

/** How to open a store, and how hard to try it. */
export interface BlobStoreContract {
  /** Opens a store. It may hold blobs of other tests. */
  readonly open: () => Promise<OpenBlobStore>;
  /** Multiplies the number of runs and rounds; 1 where a call takes microseconds, 0.1 where it takes milliseconds. */
  readonly effort?: number;
  /** For one test, in milliseconds. */
  readonly timeout?: number;
}

const KiB = 1024;
const MiB = 1024 * KiB;
const owner: BlobOwner = { bucketId: 'bucket-of-the-contract', key: 'photos/2026/ä ~ \u0001 😀.jpg' };

/** Registers the tests that every adapter of {@link BlobStore} must pass. */
export function describeBlobStore(name: string, contract: BlobStoreContract): void {
  const { effort = 1, timeout = 60_000 } = contract;
  const times = (count: number): number => Math.max(2, Math.round(count * effort));

  describe(`${name} keeps the promises of a blob store`, { timeout }, () => {
    let store: BlobStore;
    let opened: OpenBlobStore;

    beforeAll(async () => {
      opened = await contract.open();
      store = opened.store;
    }, timeout);
    afterAll(async () => {
      await opened.close();
    });

    const put = async (bytes: Uint8Array, chunk = 64 * KiB): Promise<string> =>
      (await store.write(inChunks(bytes, chunk), owner, bytes.length)).ref;

    const read = async (ref: string, range?: ByteRange): Promise<AsyncIterable<Uint8Array>> =>
      store.read(ref, (await store.describe(ref)).size, range);
    const readAll = async (ref: string, range?: ByteRange): Promise<Buffer> => gather(await read(ref, range));

    it('can be used', async () => {
      await expect(store.check()).resolves.toEqual({ writable: true });
    });

    describe('write and read', () => {
      const sizes = [
        0,
        1,
        4 * KiB,
        64 * KiB - 1,
        64 * KiB,
        64 * KiB + 1,
        256 * KiB + 1,
        MiB,
        5 * MiB,
        5 * MiB + 1,
        11 * MiB,
      ];
      it.each(sizes)('gives back %i bytes', async (size) => {
        const bytes = content(size);
        for (const length of [undefined, size]) {
          const written = await store.write(inChunks(bytes, 64 * KiB), owner, length);
          expect(written.size).toBe(size);
          expect(digest(await readAll(written.ref))).toBe(digest(bytes));
        }
      });

      it.each([
        ['single bytes', 3 * KiB, 1],
        ['odd chunks', 700_001, 997],
        ['one chunk of 3 MiB', 3 * MiB, 3 * MiB],
        ['chunks as large as a part', 12 * MiB, 6 * MiB],
      ])('takes a body in %s', async (_what, size, chunk) => {
        const bytes = content(size);
        expect(digest(await readAll(await put(bytes, chunk)))).toBe(digest(bytes));
      });

      it('takes empty chunks between others', async () => {
        const empty = new Uint8Array(0);
        const source = (async function* () {
          yield* [empty, Buffer.from('one '), empty, empty, Buffer.from('two'), empty];
        })();
        const { ref, size } = await store.write(source, owner);
        expect(size).toBe(7);
        expect((await readAll(ref)).toString()).toBe('one two');
      });

      it('takes a body that comes slowly', async () => {
        const source = (async function* () {
          for (let turn = 0; turn < 5; turn += 1) {
            await new Promise((resolve) => setTimeout(resolve, 5));
            yield Buffer.from(`${turn}`);
          }
        })();
        expect((await readAll((await store.write(source, owner)).ref)).toString()).toBe('01234');
      });

      it('names blobs by itself, never the same twice and never after their key', async () => {
        const refs = await Promise.all(Array.from({ length: times(40) }, () => put(Buffer.from('the same bytes'))));
        expect(new Set(refs).size).toBe(refs.length);
        for (const ref of refs) {
          expect(ref).toMatch(/^[A-Za-z0-9_-]{24,64}$/);
          expect(ref).not.toMatch(/photos|jpg|bucket-of/);
        }
      });

      it('takes owners with keys of 1,024 bytes of any character', async () => {
        for (const key of ['k'.repeat(1024), '😀'.repeat(256), '\u0000'.repeat(1024), '../../../../etc/passwd', '']) {
          const { ref } = await store.write(inChunks(Buffer.from('x'), 1), { bucketId: 'b'.repeat(22), key });
          expect((await readAll(ref)).toString()).toBe('x');
        }
      });

      it('serves several readers of one blob at once', async () => {
        const bytes = content(3 * MiB);
        const ref = await put(bytes);
        const found = await Promise.all(Array.from({ length: 8 }, () => readAll(ref)));
        expect(found.map(digest)).toEqual(found.map(() => digest(bytes)));
      });

      it('hands out chunks that later ones do not overwrite', async () => {
        const bytes = content(3 * MiB);
        const kept: Uint8Array[] = [];
        for await (const chunk of await read(await put(bytes))) kept.push(chunk);
        expect(digest(Buffer.concat(kept))).toBe(digest(bytes));
      });

      it('waits for a slow reader', async () => {
        const bytes = content(2 * MiB);
        const kept: Uint8Array[] = [];
        for await (const chunk of await read(await put(bytes))) {
          kept.push(chunk);
          await new Promise((resolve) => setTimeout(resolve, 2));
        }
        expect(digest(Buffer.concat(kept))).toBe(digest(bytes));
      });

      it('keeps 32 concurrent writes apart', async () => {
        const blobs = Array.from({ length: 32 }, (_, index) => content(index * 10_007));
        const refs = await Promise.all(blobs.map((bytes) => put(bytes, 10_000)));
        for (const [index, ref] of refs.entries()) expect(digest(await readAll(ref))).toBe(digest(blobs[index]!));
      });
    });

    describe('ranges', () => {
      const bytes = content(6 * MiB + 5);
      let ref: string;
      beforeAll(async () => {
        ref = await put(bytes);
      }, timeout);

      const end = bytes.length - 1;
      it.each<[string, number, number]>([
        ['the first byte', 0, 0],
        ['the last byte', end, end],
        ['a byte amid', 70_000, 70_000],
        ['the head', 0, 99],
        ['the tail', end - 99, end],
        ['all', 0, end],
        ['all but both ends', 1, end - 1],
        ['64 KiB across a border', 64 * KiB - 7, 128 * KiB],
        ['3 MiB amid', 1_234_567, 1_234_567 + 3 * MiB],
      ])('gives %s', async (_what, first, last) => {
        expect(digest(await readAll(ref, { first, last }))).toBe(digest(bytes.subarray(first, last + 1)));
      });

      it('gives any range', async () => {
        const ranges = fc
          .tuple(fc.nat(end), fc.nat(end))
          .map(([a, b]) => ({ first: Math.min(a, b), last: Math.max(a, b) }));
        await fc.assert(
          fc.asyncProperty(ranges, async (range) => {
            expect(digest(await readAll(ref, range))).toBe(digest(bytes.subarray(range.first, range.last + 1)));
          }),
          { numRuns: times(60) },
        );
      });
    });

    describe('what is missing', () => {
      it('rejects with BlobMissing before the first byte', async () => {
        const gone = await put(Buffer.from('soon gone'));
        await store.remove([gone]);
        for (const ref of [gone, unknownRef()]) {
          await expect(store.read(ref, 9)).rejects.toBeInstanceOf(BlobMissing);
          await expect(store.read(ref, 9, { first: 0, last: 0 })).rejects.toBeInstanceOf(BlobMissing);
        }
      });

      it('rejects with BlobDamaged, before the first byte, where there are more or fewer bytes than are expected', async () => {
        const range = { first: 0, last: 3 };
        for (const size of [10, 3 * MiB]) {
          const ref = await put(content(size));
          for (const expected of [size - 1, size + 1, size * 2]) {
            await expect(store.read(ref, expected)).rejects.toBeInstanceOf(BlobDamaged);
            await expect(store.read(ref, expected, range)).rejects.toBeInstanceOf(BlobDamaged);
            const beyond = { first: expected - 1, last: expected - 1 };
            await expect(store.read(ref, expected, beyond)).rejects.toBeInstanceOf(BlobDamaged);
          }
          expect(await readAll(ref)).toHaveLength(size);
          expect(await readAll(ref, range)).toHaveLength(4);
        }
      });

      it('removes blobs, twice as gladly as once, and unknown ones', async () => {
        const [one, two, three] = [await put(content(10)), await put(content(3 * MiB)), await put(content(20))];
        await store.remove([]);
        await store.remove([one, unknownRef(), two]);
        await store.remove([two, one]);
        await expect(store.read(one, 9)).rejects.toBeInstanceOf(BlobMissing);
        await expect(store.read(two, 9)).rejects.toBeInstanceOf(BlobMissing);
        expect(await readAll(three)).toHaveLength(20);
      });

      it('removes 1,500 blobs in one call', async () => {
        const refs = await Promise.all(Array.from({ length: 8 }, () => put(content(10))));
        await store.remove([...refs.slice(0, 4), ...Array.from({ length: 1500 }, unknownRef), ...refs.slice(4)]);
        for (const ref of refs) await expect(store.read(ref, 9)).rejects.toBeInstanceOf(BlobMissing);
      });
    });

    describe('a source that fails', () => {
      it.each([
        ['at once', 0],
        ['after one byte', 1],
        ['after 300 KiB', 300 * KiB],
        ['after 13 MiB', 13 * MiB],
      ])('%s: passes its error through and leaves nothing', async (_what, size) => {
        const before = await refsOf(store);
        const failure = Object.assign(new Error('the client went away'), { code: 'ECONNRESET' });
        const source = (async function* () {
          yield* inChunks(content(size), 100_000);
          throw failure;
        })();
        await expect(store.write(source, owner, size + 10)).rejects.toBe(failure);
        const left = (await refsOf(store)).filter((ref) => !before.includes(ref));
        expect(left).toEqual([]);
        await expect(store.check()).resolves.toEqual({ writable: true });
      });
    });

    describe('describe', () => {
      it('tells size, time and owner, whatever characters the key has', async () => {
        for (const key of ['k'.repeat(1024), '😀'.repeat(256), '\u0000\u0001 ~', 'ä/../%2F+', '']) {
          const before = Date.now();
          const bucketId = 'b'.repeat(22);
          const { ref } = await store.write(inChunks(content(300_001), 100_000), { bucketId, key });
          const described = await store.describe(ref);
          expect(described).toMatchObject({ ref, size: 300_001, owner: { bucketId, key } });
          expect(described.writtenAt).toBeGreaterThan(before - 5_000);
          expect(described.writtenAt).toBeLessThan(Date.now() + 5_000);
        }
      });

      it('tells the owner of a blob that came in many parts', async () => {
        expect((await store.describe(await put(content(11 * MiB)))).owner).toEqual(owner);
      });

      it('rejects with BlobMissing for what is not there', async () => {
        const gone = await put(content(1));
        await store.remove([gone]);
        for (const ref of [gone, unknownRef()]) {
          await expect(store.describe(ref)).rejects.toBeInstanceOf(BlobMissing);
        }
      });
    });

    describe('list', () => {
      it('tells every blob with its size and time', async () => {
        const before = Date.now();
        const sizes = [0, 1, 100, 300_000];
        const refs = await Promise.all(sizes.map((size) => put(content(size))));
        const found = new Map((await all(store)).map((blob) => [blob.ref, blob]));
        for (const [index, ref] of refs.entries()) {
          const blob = found.get(ref);
          expect(blob).toEqual({ ref, size: sizes[index], writtenAt: expect.any(Number) as number });
          expect(blob!.writtenAt).toBeGreaterThan(before - 5_000);
          expect(blob!.writtenAt).toBeLessThan(Date.now() + 5_000);
        }
      });

      it('tells no blob twice, and none that was removed', async () => {
        const [stays, goes] = [await put(content(1)), await put(content(1))];
        await store.remove([goes]);
        const refs = await refsOf(store);
        expect(refs).toContain(stays);
        expect(refs).not.toContain(goes);
        expect(new Set(refs).size).toBe(refs.length);
      });

      it('may be left early', async () => {
        await put(content(1));
        await put(content(1));
        for await (const blob of store.list()) {
          expect(blob.ref).toBeTypeOf('string');
          break;
        }
      });
    });

    describe('files and sockets', () => {
      const cases: readonly [string, (ref: string) => Promise<void>][] = [
        ['a read to the end', async (ref) => void (await gather(await read(ref)))],
        [
          'a read left early',
          async (ref) => {
            for await (const chunk of await read(ref)) {
              expect(chunk.length).toBeGreaterThan(0);
              break;
            }
          },
        ],
        [
          'a read whose reader throws',
          async (ref) => {
            const failing = async (): Promise<void> => {
              for await (const _ of await read(ref)) throw new Error('the reader fails');
            };
            await expect(failing()).rejects.toThrow('the reader fails');
          },
        ],
        [
          'a read ended before its first chunk',
          async (ref) => {
            const iterator = (await read(ref))[Symbol.asyncIterator]();
            expect(await iterator.return!()).toMatchObject({ done: true });
            expect(await iterator.next()).toMatchObject({ done: true });
          },
        ],
        ['a description', async (ref) => void (await store.describe(ref))],
        ['a small range', async (ref) => void (await gather(await read(ref, { first: 5, last: 9 })))],
        [
          'a list left early',
          async () => {
            for await (const _ of store.list()) break;
          },
        ],
        [
          'a write that fails',
          async () => {
            const source = (async function* () {
              yield content(2 * MiB);
              throw new Error('the source fails');
            })();
            await expect(store.write(source, owner)).rejects.toThrow('the source fails');
          },
        ],
      ];
      it.each(cases)('are free after %s', async (_what, act) => {
        const ref = await put(content(4 * MiB));
        await act(ref);
        const before = await settledHandles(opened);
        for (let round = 0; round < times(10); round += 1) await act(ref);
        expect(await settledHandles(opened)).toBeLessThanOrEqual(before);
      });
    });
  });
}

/** Bytes that a misplaced block shows in: no two of their 8-byte words are alike. */
function content(size: number): Buffer {
  const bytes = Buffer.alloc(Math.ceil(size / 8) * 8);
  const salt = randomBytes(4).readUInt32LE();
  for (let word = 0; word < bytes.length; word += 8) {
    bytes.writeUInt32LE(word / 8, word);
    bytes.writeUInt32LE(salt, word + 4);
  }
  return bytes.subarray(0, size);
}

async function* inChunks(bytes: Uint8Array, chunk: number): AsyncGenerator<Uint8Array> {
  for (let start = 0; start < bytes.length; start += chunk) yield bytes.subarray(start, start + chunk);
}

async function gather(chunks: AsyncIterable<Uint8Array>): Promise<Buffer> {
  const kept: Uint8Array[] = [];
  for await (const chunk of chunks) kept.push(chunk);
  return Buffer.concat(kept);
}

function digest(bytes: Uint8Array): string {
  return `${bytes.length} bytes, ${createHash('md5').update(bytes).digest('hex')}`;
}

async function all(store: BlobStore): Promise<BlobDescription[]> {
  const found: BlobDescription[] = [];
  for await (const blob of store.list()) found.push(blob);
  return found;
}

async function refsOf(store: BlobStore): Promise<string[]> {
  return (await all(store)).map((blob) => blob.ref);
}

function unknownRef(): string {
  return randomBytes(24).toString('base64url').slice(0, 30);
}

/** Waits until handles that are just being closed are gone. Always 0 where handles cannot be counted. */
async function settledHandles({ openHandles }: OpenBlobStore): Promise<number> {
  if (openHandles === undefined) return 0;
  let least = Infinity;
  for (let turn = 0; turn < 20; turn += 1) {
    least = Math.min(least, await openHandles());
    if (least === 0) break;
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
  return least;
}
