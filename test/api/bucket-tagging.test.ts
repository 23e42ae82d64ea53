import {
  DeleteBucketTaggingCommand,
  GetBucketTaggingCommand,
  PutBucketTaggingCommand,
  type Tag,
} from '@aws-sdk/client-s3';
import { describe, expect, it } from 'vitest';
import { s3Error } from '../support/clients/expect-error.ts';
import { serviceUnderTest } from '../support/programs/service-under-test.ts';

const service = serviceUnderTest();

async function putTags(bucket: string, tags: readonly Tag[]): Promise<void> {
  await service.client.send(new PutBucketTaggingCommand({ Bucket: bucket, Tagging: { TagSet: [...tags] } }));
}

async function tagsOf(bucket: string): Promise<Tag[] | undefined> {
  return (await service.client.send(new GetBucketTaggingCommand({ Bucket: bucket }))).TagSet;
}

/** https://docs.aws.amazon.com/AmazonS3/latest/API/API_PutBucketTagging.html */
describe('bucket tagging', () => {
  it('keeps a set of tags, replaces it, and takes it away', async () => {
    const bucket = await service.bucket();
    await expect(tagsOf(bucket)).rejects.toEqual(s3Error('NoSuchTagSet', 404));
    await putTags(bucket, [{ Key: 'team', Value: 'storage' }]);
    expect(await tagsOf(bucket)).toEqual([{ Key: 'team', Value: 'storage' }]);
    await putTags(bucket, [
      { Key: 'b', Value: '2' },
      { Key: 'a', Value: '' },
    ]);
    expect(await tagsOf(bucket)).toEqual([
      { Key: 'a', Value: '' },
      { Key: 'b', Value: '2' },
    ]);
    const { $metadata } = await service.client.send(new DeleteBucketTaggingCommand({ Bucket: bucket }));
    expect($metadata.httpStatusCode).toBe(204);
    await expect(tagsOf(bucket)).rejects.toEqual(s3Error('NoSuchTagSet', 404));
  });

  it('is listed by the bytes of its keys, not as words or UTF-16 are', async () => {
    const bucket = await service.bucket();
    // U+FF5A before U+1D400, whose first code unit is U+D835.
    const tags = ['B', 'a', 'ä', '\uff5a', '\u{1d400}'].map((Key) => ({ Key, Value: 'v' }));
    await putTags(bucket, tags.toReversed());
    expect(await tagsOf(bucket)).toEqual(tags);
  });

  it('takes 50 tags, and refuses more or the same twice', async () => {
    const bucket = await service.bucket();
    const many = Array.from({ length: 51 }, (_, at) => ({ Key: `k${at}`, Value: 'v' }));
    await putTags(bucket, many.slice(0, 50));
    await expect(putTags(bucket, many)).rejects.toEqual(s3Error('InvalidTag', 400));
    const twice = [many[0]!, many[0]!];
    await expect(putTags(bucket, twice)).rejects.toEqual(s3Error('InvalidTag', 400));
    expect(await tagsOf(bucket)).toHaveLength(50);
  });

  it('is refused to everybody else', async () => {
    const bucket = await service.bucket();
    const stranger = service.stranger.send(new GetBucketTaggingCommand({ Bucket: bucket }));
    await expect(stranger).rejects.toEqual(s3Error('AccessDenied', 403));
  });
});
