import { describe, expect, it } from 'vitest';
import { Fields } from '../../../../shared/http/message.ts';
import {
  parseAskedChecksum,
  parseUploadChecksum,
  possibleTypes,
} from '../../../../shared/protocol/objects/upload-checksum.ts';
import { codeOf } from '../../xml/golden.ts';

function fields(algorithm?: string, type?: string): Fields {
  const entries: [string, string | undefined][] = [
    ['x-amz-checksum-algorithm', algorithm],
    ['x-amz-checksum-type', type],
  ];
  return new Fields(entries.filter((entry): entry is [string, string] => entry[1] !== undefined));
}

/** https://docs.aws.amazon.com/AmazonS3/latest/userguide/checking-object-integrity-upload.html#Full-object-checksums */
describe('the checksum of an upload in parts', () => {
  it.each([
    // algorithm, type asked for, type
    ['CRC32', undefined, 'COMPOSITE'],
    ['CRC32', 'COMPOSITE', 'COMPOSITE'],
    ['CRC32', 'FULL_OBJECT', 'FULL_OBJECT'],
    ['CRC32C', undefined, 'COMPOSITE'],
    ['CRC32C', 'FULL_OBJECT', 'FULL_OBJECT'],
    ['CRC64NVME', undefined, 'FULL_OBJECT'],
    ['CRC64NVME', 'FULL_OBJECT', 'FULL_OBJECT'],
    ['SHA1', undefined, 'COMPOSITE'],
    ['SHA1', 'COMPOSITE', 'COMPOSITE'],
    ['SHA256', undefined, 'COMPOSITE'],
    ['SHA256', 'COMPOSITE', 'COMPOSITE'],
    ['crc32c', 'full_object', 'FULL_OBJECT'],
  ])('%s, asked for as %s, is %s', (algorithm, asked, type) => {
    expect(parseUploadChecksum(fields(algorithm, asked))).toEqual({ algorithm: algorithm.toUpperCase(), type });
  });

  it('need not be', () => {
    expect(parseUploadChecksum(fields())).toBeUndefined();
    expect(parseAskedChecksum(fields())).toBeUndefined();
  });

  it.each([
    ['CRC64NVME', 'COMPOSITE'],
    ['SHA1', 'FULL_OBJECT'],
    ['SHA256', 'FULL_OBJECT'],
    ['CRC32', 'OTHER'],
    ['CRC32', ''],
    ['MD5', undefined],
    ['XXHASH64', undefined],
    ['', undefined],
    [undefined, 'COMPOSITE'],
  ])('cannot be %s as %s', (algorithm, type) => {
    expect(codeOf(() => parseUploadChecksum(fields(algorithm, type)))).toBe('InvalidRequest');
  });

  it('has the default type first', () => {
    expect(possibleTypes('CRC32')).toEqual(['COMPOSITE', 'FULL_OBJECT']);
    expect(possibleTypes('CRC64NVME')).toEqual(['FULL_OBJECT']);
    expect(possibleTypes('SHA256')).toEqual(['COMPOSITE']);
  });
});

it('a checksum asked for has an algorithm in any case', () => {
  expect(parseAskedChecksum(fields('sha256'))).toBe('SHA256');
  expect(codeOf(() => parseAskedChecksum(fields('SHA512')))).toBe('InvalidRequest');
});
