import { describe, expect, it } from 'vitest';
import { S3Error } from '../../../../shared/errors/s3-error.ts';
import {
  checkCopySourceRange,
  contentRange,
  parseCopySourceRange,
  parseRange,
  unsatisfiableRange,
} from '../../../../shared/http/fields/range.ts';

function thrown(act: () => unknown): S3Error {
  try {
    act();
  } catch (error) {
    return error as S3Error;
  }
  throw new Error('nothing was thrown');
}

describe('Range', () => {
  it.each([
    // field, size, first, last
    ['bytes=0-0', 10, 0, 0],
    ['bytes=0-4', 10, 0, 4],
    ['bytes=4-9', 10, 4, 9],
    ['bytes=4-100', 10, 4, 9],
    ['bytes=4-', 10, 4, 9],
    ['bytes=9-', 10, 9, 9],
    ['bytes=-1', 10, 9, 9],
    ['bytes=-10', 10, 0, 9],
    ['bytes=-100', 10, 0, 9],
    ['Bytes=0-4', 10, 0, 4],
    [' bytes=0-4 ', 10, 0, 4],
    ['bytes=00-04', 10, 0, 4],
    ['bytes=0-99999999999999999999999', 10, 0, 9],
    ['bytes=-99999999999999999999999', 10, 0, 9],
    ['bytes=5497558138879-', 5_497_558_138_880, 5_497_558_138_879, 5_497_558_138_879],
  ])('%j of %i bytes → %i to %i', (field, size, first, last) => {
    expect(parseRange(field, size)).toEqual({ first, last });
  });

  it.each([
    ['bytes=10-', 10],
    ['bytes=10-20', 10],
    ['bytes=99999999999999999999-', 10],
    ['bytes=-0', 10],
    ['bytes=0-', 0],
    ['bytes=0-0', 0],
    ['bytes=-1', 0],
    ['bytes=-0', 0],
  ])('%j of %i bytes is unsatisfiable', (field, size) => {
    expect(parseRange(field, size)).toBe('unsatisfiable');
  });

  it.each([
    undefined,
    '',
    'bytes',
    'bytes=',
    'bytes=-',
    'bytes=4-3',
    'bytes=a-b',
    'bytes=1-b',
    'bytes=1',
    'bytes=0-1,3-4',
    'bytes=--1',
    'bytes=+1-2',
    'bytes=0x0-0x4',
    'bytes=1.0-2',
    'bytes=18446744073709551616-18446744073709551615',
    'bytes 0-4',
    'items=0-4',
    '0-4',
  ])('%j is ignored', (field) => {
    expect(parseRange(field, 10)).toBeUndefined();
  });

  it('is answered by Content-Range', () => {
    expect(contentRange({ first: 4, last: 9 }, 10)).toBe('bytes 4-9/10');
    expect(unsatisfiableRange('bytes=10-', 10)).toMatchObject({
      code: 'InvalidRange',
      status: 416,
      details: { RangeRequested: 'bytes=10-', ActualObjectSize: '10' },
      headers: { 'content-range': 'bytes */10' },
    });
  });
});

describe('x-amz-copy-source-range', () => {
  it('names both ends', () => {
    expect(parseCopySourceRange('bytes=0-9')).toEqual({ first: 0, last: 9 });
    expect(parseCopySourceRange('bytes=7-7')).toEqual({ first: 7, last: 7 });
  });

  it.each([
    '',
    '0-2',
    'bytes=0',
    'bytes=hello-world',
    'bytes=0-bar',
    'bytes=hello-',
    'bytes=0-2,3-5',
    'bytes=4-',
    'bytes=-4',
    'bytes=4-3',
    'bytes=0-9999999999999999',
  ])('%j → InvalidArgument', (value) => {
    const error = thrown(() => parseCopySourceRange(value));
    expect(error).toBeInstanceOf(S3Error);
    expect(error).toMatchObject({
      code: 'InvalidArgument',
      details: { ArgumentName: 'x-amz-copy-source-range', ArgumentValue: value },
    });
  });

  it('must lie within the source', () => {
    checkCopySourceRange({ first: 0, last: 9 }, 10);
    expect(thrown(() => checkCopySourceRange({ first: 0, last: 10 }, 10))).toMatchObject({
      code: 'InvalidRange',
      status: 416,
    });
    expect(thrown(() => checkCopySourceRange({ first: 0, last: 0 }, 0))).toMatchObject({ code: 'InvalidRange' });
  });
});
