import { CreateBucketCommand, GetBucketLocationCommand } from '@aws-sdk/client-s3';
import { describe, expect, it } from 'vitest';
import { s3Error } from '../support/clients/expect-error.ts';
import { serviceUnderTest } from '../support/programs/service-under-test.ts';

const service = serviceUnderTest();

/** https://docs.aws.amazon.com/AmazonS3/latest/API/API_GetBucketLocation.html */
describe('GetBucketLocation', () => {
  const location = async (Bucket: string): Promise<string | undefined> =>
    (await service.client.send(new GetBucketLocationCommand({ Bucket }))).LocationConstraint;

  it.each(['eu-central-1', 'EU', 'on-premises-2'])(
    'answers the constraint the bucket was asked for with: %s',
    async (one) => {
      const Bucket = service.freeName();
      const CreateBucketConfiguration = { LocationConstraint: one as 'EU' };
      await service.client.send(new CreateBucketCommand({ Bucket, CreateBucketConfiguration }));
      expect(await location(Bucket)).toBe(one);
      const head = await service.send({ method: 'HEAD', path: `/${Bucket}` });
      expect(head.header('x-amz-bucket-region')).toBe('us-east-1');
    },
  );

  it('gives the first region no name, asked for or not', async () => {
    expect((await location(await service.bucket())) ?? '').toBe('');
    const Bucket = service.freeName();
    const body =
      '<CreateBucketConfiguration><LocationConstraint>us-east-1</LocationConstraint></CreateBucketConfiguration>';
    expect((await service.send({ method: 'PUT', path: `/${Bucket}`, body })).status).toBe(200);
    expect((await location(Bucket)) ?? '').toBe('');
  });

  it('answers 404 for no bucket and 403 to strangers', async () => {
    await expect(service.client.send(new GetBucketLocationCommand({ Bucket: service.freeName() }))).rejects.toEqual(
      s3Error('NoSuchBucket', 404),
    );
    const bucket = await service.bucket();
    await expect(service.stranger.send(new GetBucketLocationCommand({ Bucket: bucket }))).rejects.toEqual(
      s3Error('AccessDenied', 403),
    );
  });
});
