import { describe, expect, it } from 'vitest';
import { S3Error } from '../../../../shared/errors/s3-error.ts';
import { Fields } from '../../../../shared/http/message.ts';
import { defaultLimits } from '../../../../shared/protocol/limits.ts';
import { readUploadHeaders, type UploadHeaders } from '../../../../shared/protocol/objects/upload-headers.ts';
import { codeOf } from '../../xml/golden.ts';

function read(...fields: readonly (readonly [string, string])[]): UploadHeaders {
  return readUploadHeaders(new Fields(fields), defaultLimits);
}

describe('the headers of an upload', () => {
  it('may all be missing', () => {
    expect(read()).toEqual({
      systemMetadata: { contentType: undefined },
      storageClass: 'STANDARD',
      lock: {},
      headers: {},
      metadata: {},
      tags: [],
    });
    expect(read(['content-type', '']).systemMetadata.contentType).toBeUndefined();
  });

  it('hold no metadata that could not be sent back', () => {
    for (const name of ['a b', 'a:b', 'é', 'a\nb']) {
      expect(
        codeOf(() => read([`x-amz-meta-${name}`, '1'])),
        name,
      ).toBe('InvalidArgument');
    }
    for (const value of ['a\r\nb', '\0', '\x7f', '\u0142']) {
      expect(
        codeOf(() => read(['x-amz-meta-a', value])),
        value,
      ).toBe('InvalidArgument');
    }
    // The bytes of `à` end in one that JavaScript takes for a blank.
    expect(read(['x-amz-meta-a', ' \xc3\xa0\t']).metadata).toEqual({ a: '\xc3\xa0' });
  });

  it('are kept as they were sent', () => {
    expect(
      read(
        ['Content-Type', 'text/plain; charset=utf-8'],
        ['Cache-Control', 'public, max-age=1'],
        ['Content-Disposition', 'attachment; filename="a"'],
        ['Content-Encoding', 'gzip'],
        ['Content-Language', 'de, en'],
        ['Expires', 'whenever'],
        ['x-amz-website-redirect-location', '/other'],
        ['x-amz-tagging', 'a=1&b=2'],
        ['x-amz-storage-class', 'STANDARD_IA'],
        ['x-other', 'ignored'],
      ),
    ).toEqual({
      systemMetadata: { contentType: 'text/plain; charset=utf-8' },
      storageClass: 'STANDARD_IA',
      lock: {},
      headers: {
        cacheControl: 'public, max-age=1',
        contentDisposition: 'attachment; filename="a"',
        contentEncoding: 'gzip',
        contentLanguage: 'de, en',
        expires: 'whenever',
        websiteRedirectLocation: '/other',
      },
      metadata: {},
      tags: [
        ['a', '1'],
        ['b', '2'],
      ],
    });
  });

  it.each([
    ['aws-chunked', undefined],
    ['AWS-Chunked', undefined],
    ['aws-chunked,', undefined],
    ['', undefined],
    ['aws-chunked,gzip', 'gzip'],
    ['gzip, aws-chunked', 'gzip'],
    ['gzip , br', 'gzip , br'],
    ['deflate, gzip', 'deflate, gzip'],
    ['deflate, aws-chunked, gzip', 'deflate, gzip'],
    ['aws-chunked, deflate, gzip', 'deflate, gzip'],
    ['aws-chunked, aws-chunked', undefined],
    ['gzip', 'gzip'],
    ['x-aws-chunked', 'x-aws-chunked'],
  ])('Content-Encoding %j is kept as %j', (value, kept) => {
    const { headers } = read(['content-encoding', value]);
    expect(headers.contentEncoding).toBe(kept);
    expect('contentEncoding' in headers).toBe(kept !== undefined);
  });

  it.each(['GLACIER', 'standard', ''])('refuse the storage class %j', (value) => {
    const error = thrown(() => read(['x-amz-storage-class', value]));
    expect(error.code).toBe('InvalidStorageClass');
    expect(error.details).toEqual({ StorageClassRequested: value });
  });

  it.each(['/', '/a', 'http://example.test/', 'https://example.test', `/${'a'.repeat(2047)}`])(
    'redirect a website to %j',
    (value) => {
      expect(read(['x-amz-website-redirect-location', value]).headers.websiteRedirectLocation).toBe(value);
    },
  );

  it.each([
    '',
    'a',
    'ftp://example.test',
    'javascript:alert(1)',
    ' /a',
    'HTTP://a',
    '/a\tb',
    '/a\r\nx: y',
    `/${'a'.repeat(2048)}`,
  ])('do not redirect a website to %j', (value) => {
    expect(codeOf(() => read(['x-amz-website-redirect-location', value]))).toBe('InvalidRedirectLocation');
  });

  it('are refused with tags that are none', () => {
    expect(codeOf(() => read(['x-amz-tagging', 'aws:a=1']))).toBe('InvalidTag');
  });
});

/** https://docs.aws.amazon.com/AmazonS3/latest/userguide/UsingMetadata.html#UserMetadata */
describe('user metadata', () => {
  it('has names in lower case, and values without space around them', () => {
    const { metadata } = read(['X-Amz-Meta-Colour', '  red and blue '], ['x-amz-meta-empty', ''], ['x-amz-meta', 'no']);
    expect(metadata).toEqual({ colour: 'red and blue', empty: '' });
  });

  it('joins what is sent twice with a comma', () => {
    const { metadata } = read(['x-amz-meta-a', ' 1 '], ['x-amz-meta-b', 'x'], ['x-amz-meta-A', '2']);
    expect(metadata).toEqual({ a: '1,2', b: 'x' });
  });

  it('is not what has no name', () => {
    expect(read(['x-amz-meta-', 'x']).metadata).toEqual({});
  });

  it('may be named like something of JavaScript', () => {
    const { metadata } = read(['x-amz-meta-__proto__', 'a'], ['x-amz-meta-constructor', 'b']);
    expect(Object.entries(metadata)).toEqual([
      ['__proto__', 'a'],
      ['constructor', 'b'],
    ]);
    expect(Object.getPrototypeOf(metadata)).toBe(Object.prototype);
  });

  it('has at most 2 KB of names and values', () => {
    const most = 2048 - 'ab'.length - 1;
    expect(read(['x-amz-meta-a', 'x'], ['x-amz-meta-b', 'y'.repeat(most)]).metadata['b']).toHaveLength(most);
    const error = thrown(() => read(['x-amz-meta-a', 'x'], ['x-amz-meta-b', 'y'.repeat(most + 1)]));
    expect(error.code).toBe('MetadataTooLarge');
    expect(error.details).toEqual({ Size: '2049', MaxSizeAllowed: '2048' });
  });

  it('counts bytes, of which a character may have several', () => {
    const bytes = Buffer.from('日'.repeat(683), 'utf8').toString('latin1');
    expect(codeOf(() => read(['x-amz-meta-a', bytes]))).toBe('MetadataTooLarge');
    expect(read(['x-amz-meta-a', bytes.slice(3)]).metadata['a']).toBe(bytes.slice(3));
  });
});

function thrown(act: () => unknown): S3Error {
  try {
    act();
  } catch (error) {
    if (error instanceof S3Error) return error;
    throw error;
  }
  throw new Error('nothing was thrown');
}
