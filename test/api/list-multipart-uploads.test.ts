import {
  AbortMultipartUploadCommand,
  ListMultipartUploadsCommand,
  type ListMultipartUploadsCommandInput,
  type ListMultipartUploadsCommandOutput,
} from '@aws-sdk/client-s3';
import { describe, expect, it } from 'vitest';
import { s3Error } from '../support/clients/expect-error.ts';
import { serviceUnderTest } from '../support/programs/service-under-test.ts';
import { TestUpload } from '../support/storage/uploads.ts';

const service = serviceUnderTest();

function list(
  bucket: string,
  more: Partial<ListMultipartUploadsCommandInput> = {},
): Promise<ListMultipartUploadsCommandOutput> {
  return service.client.send(new ListMultipartUploadsCommand({ Bucket: bucket, ...more }));
}

const keysOf = ({ Uploads = [] }: ListMultipartUploadsCommandOutput) => Uploads.map(({ Key }) => Key!);

/** Begins uploads of these keys one after another. */
async function uploading(bucket: string, keys: readonly string[]): Promise<TestUpload[]> {
  const uploads: TestUpload[] = [];
  for (const key of keys) uploads.push(await TestUpload.begin(service.client, bucket, key));
  return uploads;
}

/** https://docs.aws.amazon.com/AmazonS3/latest/API/API_ListMultipartUploads.html */
describe('ListMultipartUploads', () => {
  it('lists open uploads by key, those of a key by age, and whose they are', async () => {
    const bucket = await service.bucket();
    expect(await list(bucket)).toMatchObject({ Bucket: bucket, KeyMarker: '', UploadIdMarker: '', MaxUploads: 1000 });
    const [b, first, second] = await uploading(bucket, ['b', 'a', 'a']);
    const page = await list(bucket);
    expect(page).toMatchObject({ IsTruncated: false, Prefix: '' });
    const somebody = { ID: expect.stringMatching(/./) as string, DisplayName: expect.stringMatching(/./) as string };
    const facts = {
      Initiated: expect.any(Date) as Date,
      StorageClass: 'STANDARD',
      Owner: somebody,
      Initiator: somebody,
    };
    expect(page.Uploads).toEqual([
      { ...facts, Key: 'a', UploadId: first!.id },
      { ...facts, Key: 'a', UploadId: second!.id },
      { ...facts, Key: 'b', UploadId: b!.id },
    ]);
  });

  it('sees every change at once', async () => {
    const bucket = await service.bucket();
    const [upload] = await uploading(bucket, ['a']);
    expect(keysOf(await list(bucket))).toEqual(['a']);
    await service.client.send(new AbortMultipartUploadCommand(upload!.target));
    expect(keysOf(await list(bucket))).toEqual([]);
  });

  it('gives page after page, also within the uploads of one key', async () => {
    const bucket = await service.bucket();
    const uploads = await uploading(bucket, ['a', 'a', 'a', 'b', 'c', 'c']);
    for (const MaxUploads of [1, 2, 4]) {
      const found: string[] = [];
      let markers: Partial<ListMultipartUploadsCommandInput> = {};
      for (let truncated = true; truncated;) {
        const page = await list(bucket, { MaxUploads, ...markers });
        expect(page.Uploads!.length).toBeLessThanOrEqual(MaxUploads);
        found.push(...page.Uploads!.map(({ UploadId }) => UploadId!));
        truncated = page.IsTruncated!;
        markers = { KeyMarker: page.NextKeyMarker, UploadIdMarker: page.NextUploadIdMarker };
      }
      expect(found).toEqual(uploads.map(({ id }) => id));
    }
  });

  it('starts after the key marker, or after one upload of it; without a key the upload means nothing', async () => {
    const bucket = await service.bucket();
    const [first] = await uploading(bucket, ['a', 'a', 'b']);
    expect(keysOf(await list(bucket, { KeyMarker: 'a' }))).toEqual(['b']);
    expect(keysOf(await list(bucket, { KeyMarker: 'a', UploadIdMarker: first!.id }))).toEqual(['a', 'b']);
    expect(keysOf(await list(bucket, { UploadIdMarker: first!.id }))).toEqual(['a', 'a', 'b']);
  });

  it('filters by prefix and rolls up at the delimiter', async () => {
    const bucket = await service.bucket();
    await uploading(bucket, ['a/1', 'a/2', 'b', 'c/1']);
    const page = await list(bucket, { Delimiter: '/' });
    expect(keysOf(page)).toEqual(['b']);
    expect(page).toMatchObject({ CommonPrefixes: [{ Prefix: 'a/' }, { Prefix: 'c/' }], Delimiter: '/' });
    expect(keysOf(await list(bucket, { Prefix: 'a/' }))).toEqual(['a/1', 'a/2']);
    const first = await list(bucket, { Delimiter: '/', MaxUploads: 1 });
    expect(first).toMatchObject({ CommonPrefixes: [{ Prefix: 'a/' }], IsTruncated: true });
    expect(keysOf(await list(bucket, { Delimiter: '/', KeyMarker: first.NextKeyMarker! }))).toEqual(['b']);
  });

  it('stays right with more than a thousand uploads', async () => {
    const bucket = await service.bucket();
    const keys = Array.from({ length: 1010 }, (_, n) => `key-${String(n).padStart(4, '0')}`);
    for (let at = 0; at < keys.length; at += 20) {
      await Promise.all(keys.slice(at, at + 20).map((key) => TestUpload.begin(service.client, bucket, key)));
    }
    const first = await list(bucket, { MaxUploads: 2000 });
    expect(first).toMatchObject({ MaxUploads: 1000, IsTruncated: true });
    const second = await list(bucket, { KeyMarker: first.NextKeyMarker, UploadIdMarker: first.NextUploadIdMarker });
    expect([...keysOf(first), ...keysOf(second)]).toEqual(keys);
    expect(second.IsTruncated).toBe(false);
  });

  it('answers 404 for no bucket and 403 to strangers', async () => {
    await expect(list(service.freeName())).rejects.toEqual(s3Error('NoSuchBucket', 404));
    const request = new ListMultipartUploadsCommand({ Bucket: await service.bucket() });
    await expect(service.stranger.send(request)).rejects.toEqual(s3Error('AccessDenied', 403));
  });
});
