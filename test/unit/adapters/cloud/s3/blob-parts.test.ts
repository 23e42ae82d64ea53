import { describe, expect, it } from 'vitest';
import { firstPartSize, inParts, partSize } from '../../../../../shared/adapters/cloud/s3/blob-parts.ts';

async function* chunks(...sizes: number[]) {
  for (const [at, size] of sizes.entries()) yield Buffer.alloc(size, at + 1);
}

async function partsOf(bytes: AsyncIterable<Uint8Array>, length?: number) {
  const parts: { number: number; size: number; last: boolean }[] = [];
  for await (const { number, bytes: part, last } of inParts(bytes, length))
    parts.push({ number, size: part.length, last });
  return parts;
}

describe('inParts', () => {
  it.each([
    ['nothing', [], [0]],
    ['empty chunks', [0, 0], [0]],
    ['less than a part', [5, 0, 6], [11]],
    ['exactly a part', [firstPartSize - 1, 1], [firstPartSize]],
    ['exactly a part and an empty chunk', [firstPartSize, 0], [firstPartSize]],
    ['a byte more', [firstPartSize, 1], [firstPartSize, 1]],
    ['chunks larger than parts', [firstPartSize * 2 + 7], [firstPartSize, firstPartSize, 7]],
  ])('cuts %s', async (_, given, sizes) => {
    const last = sizes.length;
    expect(await partsOf(chunks(...given))).toEqual(
      sizes.map((size, at) => ({ number: at + 1, size, last: at + 1 === last })),
    );
  });

  it.each([0, 1, 11, 1e12])('takes a length of %d for a hint', async (length) => {
    expect(await partsOf(chunks(5, 6), length)).toEqual([{ number: 1, size: 11, last: true }]);
  });

  it('keeps the bytes, even of a source that uses its buffer again', async () => {
    async function* reusing() {
      const buffer = Buffer.alloc(1);
      for (let value = 0; value < 256; value++) {
        buffer[0] = value;
        yield buffer;
      }
    }
    const { value: only } = await inParts(reusing(), 2).next();
    expect([...(only?.bytes ?? [])]).toEqual(Array.from({ length: 256 }, (_, value) => value));
  });
});

describe('partSize', () => {
  it('lets 10,000 parts hold 5 TiB, and none exceed 5 GiB', () => {
    const sizes = Array.from({ length: 10_000 }, (_, at) => partSize(at + 1));
    expect(sizes.reduce((sum, size) => sum + size, 0)).toBeGreaterThanOrEqual(5 * 2 ** 40);
    expect(Math.max(...sizes)).toBeLessThanOrEqual(5 * 2 ** 30);
  });

  it('stays at 8 MiB as long as one upload of 5 GiB can last', () => {
    expect(partSize(Math.ceil((5 * 2 ** 30) / firstPartSize))).toBe(firstPartSize);
  });
});
