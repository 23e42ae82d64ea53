import { describe, expect, it } from 'vitest';
import { parseCopySource } from '../../../../shared/http/fields/copy-source.ts';
import { codeOf } from '../../xml/golden.ts';

const versionId = '-'.repeat(32);

/** https://docs.aws.amazon.com/AmazonS3/latest/API/API_CopyObject.html#AmazonS3-CopyObject-request-header-CopySource */
describe('x-amz-copy-source', () => {
  it.each([
    ['bucket/key', 'key'],
    ['/bucket/key', 'key'],
    ['bucket/a/b/c', 'a/b/c'],
    ['bucket/folder/', 'folder/'],
    ['bucket//key', '/key'],
    ['bucket/%2Fkey', '/key'],
    ['bucket///', '//'],
    ['bucket/a%20b', 'a b'],
    ['bucket/a b', 'a b'],
    ['bucket/a+b', 'a b'],
    ['bucket/a%2Bb', 'a+b'],
    ['bucket/a%252Bb', 'a%2Bb'],
    ['bucket/a%2fb', 'a/b'],
    ['bucket/../other/key', '../other/key'],
    ['bucket/%2e%2e/other', '../other'],
    ['bucket/.', '.'],
    ['bucket/a?b', 'a?b'],
    ['bucket/a?versionid=x', 'a?versionid=x'],
    ['bucket/a%3FversionId%3Dx', 'a?versionId=x'],
    ['bucket/a&b=c#d', 'a&b=c#d'],
    ['bucket/%E6%97%A5%E6%9C%AC', '日本'],
    [Buffer.from('bucket/日本', 'utf8').toString('latin1'), '日本'],
    ['bucket/%F0%9F%98%80', '😀'],
    // The whole of it encoded, with the slash before the bucket or not.
    ['bucket%2Fkey', 'key'],
    ['%2Fbucket%2Fkey', 'key'],
    ['/bucket%2Fkey', 'key'],
    ['bucket%2fa%2fb%252Fc', 'a/b%2Fc'],
    // Only the slash that is not encoded parts bucket and key.
    ['bucket/a%2Fb', 'a/b'],
  ])('%j → %j', (value, key) => {
    expect(parseCopySource(value)).toEqual({ bucket: 'bucket', key, versionId: undefined });
  });

  it.each([
    [`bucket/key?versionId=${versionId}`, 'key', versionId],
    ['/bucket/key?versionId=null', 'key', 'null'],
    ['bucket%2Fkey?versionId=null', 'key', 'null'],
    ['bucket/key?versionId=x?versionId=null', 'key?versionId=x', 'null'],
    ['bucket/a%3FversionId%3Dx?versionId=null', 'a?versionId=x', 'null'],
    ['bucket/key?versionId=', 'key', ''],
    ['bucket/key?versionId=a%20b', 'key', 'a%20b'],
    ['bucket/key?versionId=null&x=y', 'key', 'null&x=y'],
  ])('%j has the version %3$j', (value, key, version) => {
    expect(parseCopySource(value)).toEqual({ bucket: 'bucket', key, versionId: version });
  });

  it.each([
    ['', 'InvalidArgument'],
    ['/', 'InvalidArgument'],
    ['//', 'InvalidArgument'],
    ['bucket', 'InvalidArgument'],
    ['/bucket', 'InvalidArgument'],
    ['bucket/', 'InvalidArgument'],
    ['bucket%2F', 'InvalidArgument'],
    ['//key', 'InvalidArgument'],
    ['?versionId=null', 'InvalidArgument'],
    ['bucket?versionId=null', 'InvalidArgument'],
    ['bucket/?versionId=null', 'InvalidArgument'],
    ['Bucket/key', 'InvalidBucketName'],
    ['../key', 'InvalidBucketName'],
    ['bu%2Fcket/key', 'InvalidBucketName'],
    ['b%/key', 'InvalidURI'],
    ['b%zz/key', 'InvalidURI'],
    ['bucket/%', 'InvalidURI'],
    ['bucket/%zz', 'InvalidURI'],
    ['bucket/%ff', 'InvalidObjectName'],
    ['bucket/a%00b', 'InvalidRequest'],
    [`bucket/${'a'.repeat(1025)}`, 'InvalidObjectName'],
    [`bucket/${'%C3%A9'.repeat(513)}`, 'InvalidObjectName'],
  ])('%j → %s', (value, code) => {
    expect(codeOf(() => parseCopySource(value))).toBe(code);
  });

  it('takes a key of 1,024 bytes', () => {
    expect(parseCopySource(`bucket/${'%C3%A9'.repeat(512)}`).key).toBe('é'.repeat(512));
  });

  it('says which header is wrong', () => {
    expect(() => parseCopySource('bucket')).toThrowError(
      expect.objectContaining({
        details: { ArgumentName: 'x-amz-copy-source', ArgumentValue: 'bucket' },
      }) as Error,
    );
  });
});
