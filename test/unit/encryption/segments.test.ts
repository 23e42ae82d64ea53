import fc from 'fast-check';
import { randomBytes } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import {
  DamagedCiphertext,
  decrypt,
  encrypt,
  saltBytes,
  sealedSize,
  sealedStretch,
  type Stretch,
} from '../../../shared/encryption/segments.ts';
import { runs } from '../../support/runs/runs.ts';

const key = randomBytes(32);
const segment = 64 * 1024;

async function* pieces(bytes: Buffer, size: number): AsyncGenerator<Uint8Array> {
  for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size);
}

async function collect(bytes: AsyncIterable<Uint8Array>): Promise<Buffer> {
  const chunks: Uint8Array[] = [];
  for await (const chunk of bytes) chunks.push(Buffer.from(chunk));
  return Buffer.concat(chunks);
}

const sealed = (plain: Buffer, size = 10_000): Promise<Buffer> =>
  collect(encrypt(pieces(plain, size), key, randomBytes(saltBytes)));

function opened(blob: Buffer, size: number, stretch: Stretch, by = key): Promise<Buffer> {
  const { first, last } = sealedStretch(size, stretch);
  const part = blob.subarray(first, last + 1);
  return collect(decrypt(pieces(part, 7777), by, blob.subarray(0, saltBytes), size, stretch));
}

describe('encryption in segments', () => {
  it.each([1, 100, segment - 1, segment, segment + 1, 3 * segment, 3 * segment + 5])(
    'gives %i bytes back, whole',
    async (size) => {
      const plain = randomBytes(size);
      const blob = await sealed(plain);
      expect(blob.length).toBe(sealedSize(size));
      expect((await opened(blob, size, { first: 0, last: size - 1 })).equals(plain)).toBe(true);
    },
  );

  it('gives any stretch back from the segments it lies in', async () => {
    const plain = randomBytes(5 * segment + 123);
    const blob = await sealed(plain);
    await fc.assert(
      fc.asyncProperty(fc.nat(plain.length - 1), fc.nat(plain.length - 1), async (a, b) => {
        const stretch = { first: Math.min(a, b), last: Math.max(a, b) };
        const { first, last } = sealedStretch(plain.length, stretch);
        expect(last - first).toBeLessThanOrEqual(
          (Math.ceil((stretch.last - stretch.first) / segment) + 1) * (segment + 16),
        );
        const wanted = plain.subarray(stretch.first, stretch.last + 1);
        expect((await opened(blob, plain.length, stretch)).equals(wanted)).toBe(true);
      }),
      { numRuns: runs(60) },
    );
  });

  it('never writes the same twice, and nothing of the plaintext', async () => {
    const plain = Buffer.alloc(2 * segment, 'the same words again and again. ');
    const [one, two] = [await sealed(plain), await sealed(plain)];
    expect(one.equals(two)).toBe(false);
    expect(one.includes('the same words')).toBe(false);
    expect(one.subarray(saltBytes, saltBytes + segment).equals(one.subarray(saltBytes + segment + 16, -16))).toBe(
      false,
    );
  });

  const size = 3 * segment + 10;
  const all = { first: 0, last: size - 1 };
  const sealedSegment = segment + 16;
  const at = (number: number): number => saltBytes + number * sealedSegment;

  it.each<[string, (blob: Buffer) => Buffer]>([
    ['a flipped bit', (blob) => Object.assign(Buffer.from(blob), { [at(1) + 5]: blob[at(1) + 5]! ^ 1 })],
    ['another salt', (blob) => Buffer.concat([randomBytes(saltBytes), blob.subarray(saltBytes)])],
    [
      'segments in another order',
      (blob) =>
        Buffer.concat([
          blob.subarray(0, at(0)),
          blob.subarray(at(1), at(2)),
          blob.subarray(at(0), at(1)),
          blob.subarray(at(2)),
        ]),
    ],
    ['a cut at a segment', (blob) => blob.subarray(0, at(3))],
    ['a cut inside a segment', (blob) => blob.subarray(0, at(3) + 12)],
    ['a segment left out', (blob) => Buffer.concat([blob.subarray(0, at(1)), blob.subarray(at(2))])],
  ])('refuses %s', async (_, damage) => {
    const blob = await sealed(randomBytes(size));
    await expect(opened(damage(blob), size, all)).rejects.toThrow(DamagedCiphertext);
  });

  it('refuses another key, and a blob that claims to end earlier', async () => {
    const blob = await sealed(randomBytes(size));
    await expect(opened(blob, size, all, randomBytes(32))).rejects.toThrow(DamagedCiphertext);
    await expect(opened(blob, 2 * segment, { first: 0, last: 2 * segment - 1 })).rejects.toThrow(DamagedCiphertext);
  });
});
