import { createHash } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { S3Error } from '../../../../shared/errors/s3-error.ts';
import {
  combinedChecksum,
  combinedMd5,
  pickParts,
  type NamedPart,
} from '../../../../shared/storage/uploads/assemble.ts';
import type { Part } from '../../../../shared/storage/uploads/upload.ts';
import { checksumOf, type TestedAlgorithm } from '../../../support/bytes/checksums.ts';

const md5 = (text: string): Buffer => createHash('md5').update(text).digest();
const hex = (text: string): string => md5(text).toString('hex');

/** A part that holds this text. */
function part(number: number, text: string, algorithm?: TestedAlgorithm, id = `${number}-${text}`): Part {
  const value = algorithm && Buffer.from(checksumOf(algorithm, text), 'base64');
  return {
    id,
    number,
    blob: text === '' ? undefined : `blob-of-${text}`,
    size: text.length,
    md5: md5(text),
    checksum: algorithm && value && { algorithm, value, type: 'FULL_OBJECT' },
    at: 0,
  };
}

function named(partNumber: number, text: string, checksums: NamedPart['checksums'] = []): NamedPart {
  return { partNumber, etag: hex(text), checksums };
}

describe('picking parts', () => {
  it('takes those that are named, in their order', async () => {
    const parts = [part(1, 'aaa'), part(2, 'bbb'), part(5, 'ccc'), part(9, 'd')];
    expect(await pickParts([named(1, 'aaa'), named(5, 'ccc'), named(9, 'd')], parts, 3)).toEqual([
      parts[0],
      parts[2],
      parts[3],
    ]);
  });

  it('takes the newest that has the entity tag', async () => {
    const [old, newer, newest] = [
      part(1, 'a', undefined, 'i1'),
      part(1, 'b', undefined, 'i2'),
      part(1, 'a', undefined, 'i3'),
    ];
    expect(await pickParts([named(1, 'a')], [old, newer, newest], 0)).toEqual([newest]);
    expect(await pickParts([named(1, 'b')], [old, newer, newest], 0)).toEqual([newer]);
  });

  it.each([[[2, 1]], [[1, 1]], [[1, 3, 2]]])('refuses the order %j', async (numbers) => {
    const parts = [1, 2, 3].map((number) => part(number, 'a'));
    expect(
      await codeOf(() =>
        pickParts(
          numbers.map((number) => named(number, 'a')),
          parts,
          0,
        ),
      ),
    ).toBe('InvalidPartOrder');
  });

  it('refuses a number that was not uploaded, and another entity tag, and says which', async () => {
    for (const wrong of [named(2, 'a'), named(1, 'b')]) {
      const error = await thrown(() => pickParts([wrong], [part(1, 'a')], 0));
      expect(error.code).toBe('InvalidPart');
      expect(error.details).toEqual({ PartNumber: String(wrong.partNumber), ETag: wrong.etag });
    }
  });

  it('looks at checksums of the algorithm that the part has', async () => {
    const parts = [part(1, 'a', 'CRC32')];
    const value = (algorithm: TestedAlgorithm, text: string) => ({
      algorithm,
      value: Buffer.from(checksumOf(algorithm, text), 'base64'),
    });
    expect(await pickParts([named(1, 'a', [value('CRC32', 'a')])], parts, 0)).toEqual(parts);
    expect(await pickParts([named(1, 'a', [value('SHA1', 'b')])], parts, 0)).toEqual(parts);
    expect(await codeOf(() => pickParts([named(1, 'a', [value('CRC32', 'b')])], parts, 0))).toBe('InvalidPart');
    expect(await codeOf(() => pickParts([named(1, 'a', [value('SHA1', 'b'), value('CRC32', 'b')])], parts, 0))).toBe(
      'InvalidPart',
    );
  });

  it('refuses a small part, unless it is the last', async () => {
    const parts = [part(1, 'aaa'), part(3, 'bb'), part(4, 'ccc')];
    const all = [named(1, 'aaa'), named(3, 'bb'), named(4, 'ccc')];
    expect(await pickParts(all, parts, 2)).toEqual(parts);
    expect(await pickParts(all.slice(0, 2), parts, 3)).toHaveLength(2);
    const error = await thrown(() => pickParts(all, parts, 3));
    expect(error.code).toBe('EntityTooSmall');
    expect(error.details).toEqual({ ProposedSize: '2', MinSizeAllowed: '3', PartNumber: '3', ETag: hex('bb') });
  });
});

it('the MD5 of parts is that of their MD5s', () => {
  const expected = createHash('md5').update(md5('a')).update(md5('b')).digest();
  expect(Buffer.from(combinedMd5([part(1, 'a'), part(2, 'b')])).equals(expected)).toBe(true);
});

/** https://docs.aws.amazon.com/AmazonS3/latest/userguide/checking-object-integrity-upload.html#Full-object-checksums */
describe('the checksum of parts', () => {
  const texts = ['first ', '', 'second, which is longer, ', 'third'];
  const whole = texts.join('');

  it.each(['CRC32', 'CRC32C', 'CRC64NVME'] as const)(
    '%s of the whole comes from those of the parts',
    async (algorithm) => {
      const parts = texts.map((text, at) => part(at + 1, text, algorithm));
      const checksum = (await combinedChecksum(parts, { algorithm, type: 'FULL_OBJECT' }))!;
      expect(checksum).toMatchObject({ algorithm, type: 'FULL_OBJECT' });
      expect(Buffer.from(checksum.value).toString('base64')).toBe(checksumOf(algorithm, whole));
      const single = (await combinedChecksum(parts.slice(0, 1), { algorithm, type: 'FULL_OBJECT' }))!;
      expect(Buffer.from(single.value).toString('base64')).toBe(checksumOf(algorithm, texts[0]!));
    },
  );

  it.each(['CRC32', 'CRC32C', 'SHA1', 'SHA256'] as const)('%s may be that of those of the parts', async (algorithm) => {
    const parts = texts.map((text, at) => part(at + 1, text, algorithm));
    const checksum = (await combinedChecksum(parts, { algorithm, type: 'COMPOSITE' }))!;
    const digests = texts.map((text) => Buffer.from(checksumOf(algorithm, text), 'base64'));
    expect(checksum).toMatchObject({ algorithm, type: 'COMPOSITE' });
    expect(Buffer.from(checksum.value).toString('base64')).toBe(checksumOf(algorithm, Buffer.concat(digests)));
  });

  it('is of the algorithm that the parts have, where the upload names none', async () => {
    const ofParts = (algorithm: TestedAlgorithm) => combinedChecksum([part(1, 'a', algorithm)], undefined);
    expect(await ofParts('CRC64NVME')).toMatchObject({ algorithm: 'CRC64NVME', type: 'FULL_OBJECT' });
    expect(await ofParts('CRC32')).toMatchObject({ algorithm: 'CRC32', type: 'COMPOSITE' });
    expect(await ofParts('SHA256')).toMatchObject({ algorithm: 'SHA256', type: 'COMPOSITE' });
  });

  it('is none where the parts differ', async () => {
    const mixed = [part(1, 'a', 'CRC32'), part(2, 'b', 'SHA1')];
    expect(await combinedChecksum(mixed, undefined)).toBeUndefined();
    expect(await combinedChecksum(mixed, { algorithm: 'CRC32', type: 'COMPOSITE' })).toBeUndefined();
    expect(await combinedChecksum([part(1, 'a', 'CRC32'), part(2, 'b')], undefined)).toBeUndefined();
    expect(await combinedChecksum([part(1, 'a')], undefined)).toBeUndefined();
    expect(await combinedChecksum([], undefined)).toBeUndefined();
  });
});

async function thrown(act: () => Promise<unknown>): Promise<S3Error> {
  try {
    await act();
  } catch (error) {
    expect(error).toBeInstanceOf(S3Error);
    return error as S3Error;
  }
  throw new Error('nothing was thrown');
}

async function codeOf(act: () => Promise<unknown>): Promise<string> {
  return (await thrown(act)).code;
}
