import { beforeAll, describe, expect, it } from 'vitest';
import { textOf } from '../support/clients/expect-error.ts';
import { put } from '../support/storage/objects.ts';
import { TestUpload } from '../support/storage/uploads.ts';
import { serviceUnderTest } from '../support/programs/service-under-test.ts';

/** The elements that listings show of checksums, in the order of S3. */

const service = serviceUnderTest();
let bucket: string;

beforeAll(async () => {
  bucket = await service.lastingBucket();
  await put(service.client, bucket, 'crc32c', 'content', { ChecksumAlgorithm: 'CRC32C' });
  await put(service.client, bucket, 'sha256', 'content', { ChecksumAlgorithm: 'SHA256' });
  await service.send({ method: 'PUT', path: `/${bucket}/unsaid`, body: 'content' });
  const upload = await TestUpload.begin(service.client, bucket, 'upload', { ChecksumAlgorithm: 'SHA1' });
  await upload.part(1, 'content', { ChecksumAlgorithm: 'SHA1' });
  const parts = await TestUpload.begin(service.client, bucket, 'parts', { ChecksumAlgorithm: 'SHA1' });
  const part = await parts.part(1, 'content', { ChecksumAlgorithm: 'SHA1' });
  await parts.complete([part]);
  await TestUpload.begin(service.client, bucket, 'without', {});
  await service.send({ method: 'POST', path: `/${bucket}/plain`, query: 'uploads' });
});

/** Returns the names of the elements before and after the checksum of each row, with its algorithm and type between; nothing if it has none. */
async function rows(query: string, row: string): Promise<Record<string, readonly (string | undefined)[]>> {
  const { text } = await service.send({ path: `/${bucket}`, query });
  return Object.fromEntries(
    Array.from(text.matchAll(new RegExp(`<${row}>(.*?)</${row}>`, 'g')), ([, one = '']) => {
      const names = Array.from(one.matchAll(/<(\w+)>[^<>]*<\//g), ([, name]) => name);
      const at = names.indexOf('ChecksumAlgorithm');
      const kind = [textOf(one, 'ChecksumAlgorithm'), textOf(one, 'ChecksumType')];
      return [textOf(one, 'Key')!, at < 0 ? [] : [names[at - 1], ...kind, names[at + 2]]];
    }),
  );
}

const objects = {
  crc32c: ['CRC32C', 'FULL_OBJECT'],
  sha256: ['SHA256', 'FULL_OBJECT'],
  unsaid: ['CRC64NVME', 'FULL_OBJECT'],
  parts: ['SHA1', 'COMPOSITE'],
} as const;

describe.each([
  ['ListObjects', '', 'Contents'],
  ['ListObjectsV2', 'list-type=2', 'Contents'],
  ['ListObjectVersions', 'versions', 'Version'],
])('%s', (_, query, row) => {
  it('shows the algorithm and the type between ETag and Size', async () => {
    const expected = Object.entries(objects).map(([key, kind]) => [key, ['ETag', ...kind, 'Size']]);
    expect(await rows(query, row)).toEqual(Object.fromEntries(expected));
  });
});

it('ListMultipartUploads shows the algorithm and the type at the end, if Create named one', async () => {
  const found = await rows('uploads', 'Upload');
  expect(found['upload']).toEqual(['Initiated', 'SHA1', 'COMPOSITE', undefined]);
  expect(found['plain']).toEqual([]);
});

describe('ListBuckets', () => {
  it.each([
    'max-buckets=1000',
    'prefix=',
    'prefix=a',
    'bucket-region=us-east-1',
    'continuation-token=',
    'max-buckets=',
  ])('names the region of each bucket if it has a parameter: %s', async (query) => {
    const own = await service.bucket('a');
    const { text } = await service.send({ path: '/', query });
    expect(text, query).toContain(own);
    const buckets = Array.from(text.matchAll(/<Bucket>.*?<\/Bucket>/g), ([one]) => one);
    for (const one of buckets)
      expect(one).toMatch(
        /^<Bucket><Name>[^<]+<\/Name><CreationDate>[^<]+<\/CreationDate><BucketRegion>[^<]+<\/BucketRegion><\/Bucket>$/,
      );
  });

  it('leaves it out without parameters, as S3 does', async () => {
    await service.bucket();
    expect((await service.send({ path: '/' })).text).not.toContain('BucketRegion');
    expect((await service.send({ path: '/', query: 'x-id=ListBuckets' })).text).not.toContain('BucketRegion');
  });
});
