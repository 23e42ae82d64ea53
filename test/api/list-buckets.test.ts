import { CreateBucketCommand, DeleteBucketCommand, ListBucketsCommand } from '@aws-sdk/client-s3';
import { describe, expect, it } from 'vitest';
import { s3Error } from '../support/clients/expect-error.ts';
import { serviceUnderTest } from '../support/programs/service-under-test.ts';

const service = serviceUnderTest();

/** Creates three buckets with a common prefix, in the order of their names. */
async function three(): Promise<{ prefix: string; names: string[] }> {
  const prefix = service.freeName('list');
  const names = ['a', 'b', 'c'].map((end) => `${prefix}-${end}`);
  for (const name of names) {
    await service.client.send(new CreateBucketCommand({ Bucket: name }));
  }
  return { prefix, names };
}

async function removed(names: readonly string[]): Promise<void> {
  for (const name of names) await service.client.send(new DeleteBucketCommand({ Bucket: name }));
}

/** https://docs.aws.amazon.com/AmazonS3/latest/API/API_ListBuckets.html */
describe('ListBuckets', () => {
  it('lists the buckets of the caller with the time of their creation, and says who the owner is', async () => {
    const before = Date.now();
    const bucket = await service.bucket();
    const { Buckets, Owner } = await service.client.send(new ListBucketsCommand({}));
    const found = Buckets!.find(({ Name }) => Name === bucket);
    expect(found!.CreationDate!.getTime()).toBeGreaterThan(before - 2000);
    expect(found!.CreationDate!.getTime()).toBeLessThan(Date.now() + 2000);
    expect(Owner!.ID).toMatch(/./);
    expect(Owner!.DisplayName).toMatch(/./);
  });

  it('does not list the buckets of others', async () => {
    const bucket = await service.bucket();
    const { Buckets = [], Owner } = await service.stranger.send(new ListBucketsCommand({}));
    expect(Buckets.map(({ Name }) => Name)).not.toContain(bucket);
    expect(Owner!.ID).not.toBe((await service.client.send(new ListBucketsCommand({}))).Owner!.ID);
  });

  it('no longer lists a bucket that was deleted', async () => {
    const bucket = await service.bucket();
    await service.client.send(new DeleteBucketCommand({ Bucket: bucket }));
    const { Buckets = [] } = await service.client.send(new ListBucketsCommand({ Prefix: bucket }));
    expect(Buckets).toEqual([]);
  });

  it('lists by name, only names with the prefix, in pages', async () => {
    const { prefix, names } = await three();
    const all = await service.client.send(new ListBucketsCommand({ Prefix: prefix }));
    expect(all.Buckets!.map(({ Name }) => Name)).toEqual(names);
    expect(all.Prefix).toBe(prefix);
    expect(all.ContinuationToken).toBeUndefined();

    const first = await service.client.send(new ListBucketsCommand({ Prefix: prefix, MaxBuckets: 2 }));
    expect(first.Buckets!.map(({ Name }) => Name)).toEqual(names.slice(0, 2));
    const second = await service.client.send(
      new ListBucketsCommand({ Prefix: prefix, MaxBuckets: 2, ContinuationToken: first.ContinuationToken }),
    );
    expect(second.Buckets!.map(({ Name }) => Name)).toEqual(names.slice(2));
    expect(second.ContinuationToken).toBeUndefined();

    const elsewhere = new ListBucketsCommand({ Prefix: 'other', ContinuationToken: first.ContinuationToken });
    await expect(service.client.send(elsewhere)).rejects.toEqual(s3Error('InvalidArgument', 400));
    await removed(names);
  });

  it('lists the buckets of one region only, if asked for', async () => {
    const bucket = await service.bucket();
    const ofRegion = async (region: string): Promise<(string | undefined)[]> => {
      const request = new ListBucketsCommand({ Prefix: bucket, BucketRegion: region });
      return ((await service.client.send(request)).Buckets ?? []).map(({ Name }) => Name);
    };
    expect(await ofRegion('us-east-1')).toEqual([bucket]);
    expect(await ofRegion('eu-nowhere-1')).toEqual([]);
  });

  it.each([0, -1, 10_001])('refuses a page of %i buckets', async (size) => {
    await expect(service.client.send(new ListBucketsCommand({ MaxBuckets: size }))).rejects.toEqual(
      s3Error('InvalidArgument', 400),
    );
  });

  it('refuses a token that it did not give', async () => {
    await expect(service.client.send(new ListBucketsCommand({ ContinuationToken: 'garbage' }))).rejects.toEqual(
      s3Error('InvalidArgument', 400),
    );
  });
});
