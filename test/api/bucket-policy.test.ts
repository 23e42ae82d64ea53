import {
  CompleteMultipartUploadCommand,
  CopyObjectCommand,
  type CopyObjectCommandInput,
  CreateMultipartUploadCommand,
  DeleteBucketPolicyCommand,
  GetBucketPolicyCommand,
  GetBucketPolicyStatusCommand,
  PutBucketPolicyCommand,
  PutObjectCommand,
  type PutObjectCommandInput,
  UploadPartCommand,
} from '@aws-sdk/client-s3';
import { describe, expect, it } from 'vitest';
import { expectError, s3Error } from '../support/clients/expect-error.ts';
import { accounts } from '../support/programs/server.ts';
import { serviceUnderTest } from '../support/programs/service-under-test.ts';

const service = serviceUnderTest();
const [own, other] = accounts;
const denied = s3Error('AccessDenied', 403);

function policyFor(bucket: string, principal: unknown = '*', rest: object = {}): string {
  return JSON.stringify({
    Version: '2012-10-17',
    Statement: [
      { Effect: 'Allow', Principal: principal, Action: 's3:GetObject', Resource: `arn:aws:s3:::${bucket}/*`, ...rest },
    ],
  });
}

async function put(bucket: string, policy: string): Promise<number | undefined> {
  const answer = await service.client.send(new PutBucketPolicyCommand({ Bucket: bucket, Policy: policy }));
  return answer.$metadata.httpStatusCode;
}

async function policyOf(bucket: string): Promise<string | undefined> {
  return (await service.client.send(new GetBucketPolicyCommand({ Bucket: bucket }))).Policy;
}

/** Policies with conditions on uploads: https://repost.aws/knowledge-center/s3-bucket-store-kms-encrypted-objects */
describe('a policy about uploads', () => {
  const statement = (bucket: string, condition: object): object => ({
    ...{ Effect: 'Deny', Principal: '*', Action: 's3:PutObject', Resource: `arn:aws:s3:::${bucket}/*` },
    Condition: condition,
  });

  it.each([
    ['its encryption', { StringNotEquals: { 's3:x-amz-server-side-encryption': 'AES256' } }],
    ['its ACL', { StringNotEquals: { 's3:x-amz-acl': 'bucket-owner-full-control' } }],
    ['its tags', { StringNotEquals: { 's3:RequestObjectTag/team': 'blue' } }],
  ])('asks an upload in parts once for %s', async (_, condition) => {
    const bucket = await service.bucket();
    await put(bucket, JSON.stringify({ Version: '2012-10-17', Statement: [statement(bucket, condition)] }));
    const target = { Bucket: bucket, Key: 'key' };
    await expect(service.client.send(new CreateMultipartUploadCommand(target))).rejects.toEqual(denied);
    const { UploadId } = await service.client.send(
      new CreateMultipartUploadCommand({
        ...target,
        ServerSideEncryption: 'AES256',
        ACL: 'bucket-owner-full-control',
        Tagging: 'team=blue',
      }),
    );
    const part = { ...target, UploadId, PartNumber: 1 };
    const { ETag, ChecksumCRC32 } = await service.client.send(new UploadPartCommand({ ...part, Body: 'content' }));
    const parts = { Parts: [{ PartNumber: 1, ETag, ChecksumCRC32 }] };
    await service.client.send(new CompleteMultipartUploadCommand({ ...target, UploadId, MultipartUpload: parts }));
  });

  it('is not met by what a part says of itself', async () => {
    const bucket = await service.bucket();
    const { UploadId } = await service.client.send(new CreateMultipartUploadCommand({ Bucket: bucket, Key: 'key' }));
    const condition = { StringNotEquals: { 's3:x-amz-acl': 'bucket-owner-full-control' } };
    await put(bucket, JSON.stringify({ Version: '2012-10-17', Statement: [statement(bucket, condition)] }));
    const query = `partNumber=1&uploadId=${UploadId!}`;
    const headers = { 'x-amz-acl': 'bucket-owner-full-control' };
    const answer = await service.send({ method: 'PUT', path: `/${bucket}/key`, query, headers, body: 'x' });
    expectError(answer, 403, 'AccessDenied');
  });
});

/** https://docs.aws.amazon.com/AmazonS3/latest/API/API_PutBucketPolicy.html */
describe('the policy of a bucket', () => {
  it('is kept as it was sent, replaced, and taken away', async () => {
    const bucket = await service.bucket();
    await expect(policyOf(bucket)).rejects.toEqual(s3Error('NoSuchBucketPolicy', 404));
    const text = `  ${policyFor(bucket).replaceAll(',', ' ,\n\t')}\n`;
    expect(await put(bucket, text)).toBe(204);
    expect(await policyOf(bucket)).toBe(text);
    expect(await put(bucket, policyFor(bucket))).toBe(204);
    expect(await policyOf(bucket)).toBe(policyFor(bucket));
    for (let time = 0; time < 2; time += 1) {
      const gone = await service.client.send(new DeleteBucketPolicyCommand({ Bucket: bucket }));
      expect(gone.$metadata.httpStatusCode).toBe(204);
    }
    await expect(policyOf(bucket)).rejects.toEqual(s3Error('NoSuchBucketPolicy', 404));
  });

  it('needs a bucket', async () => {
    const bucket = service.freeName();
    await expect(put(bucket, policyFor(bucket))).rejects.toEqual(s3Error('NoSuchBucket', 404));
    await expect(policyOf(bucket)).rejects.toEqual(s3Error('NoSuchBucket', 404));
  });

  it('is nothing to strangers', async () => {
    const bucket = await service.bucket();
    await put(bucket, policyFor(bucket));
    for (const command of [
      new GetBucketPolicyCommand({ Bucket: bucket }),
      new PutBucketPolicyCommand({ Bucket: bucket, Policy: policyFor(bucket) }),
      new DeleteBucketPolicyCommand({ Bucket: bucket }),
      new GetBucketPolicyStatusCommand({ Bucket: bucket }),
    ]) {
      await expect(service.stranger.send(command as GetBucketPolicyCommand)).rejects.toEqual(
        s3Error('AccessDenied', 403),
      );
    }
    expect(await policyOf(bucket)).toBe(policyFor(bucket));
  });

  it('that allows uploads allows them with tags and an ACL, unless it denies these', async () => {
    const bucket = await service.bucket();
    const allowed = { Effect: 'Allow', Principal: '*', Action: 's3:PutObject', Resource: `arn:aws:s3:::${bucket}/*` };
    const denying = { ...allowed, Effect: 'Deny', Action: ['s3:PutObjectTagging', 's3:PutObjectAcl'] };
    const upload = (more: Partial<PutObjectCommandInput>) =>
      service.stranger.send(new PutObjectCommand({ Bucket: bucket, Key: 'key', Body: 'content', ...more }));
    const copy = (more: Partial<CopyObjectCommandInput>) =>
      service.stranger.send(
        new CopyObjectCommand({ Bucket: bucket, Key: 'copy', CopySource: `${bucket}/key`, ...more }),
      );

    await put(bucket, JSON.stringify({ Version: '2012-10-17', Statement: [allowed] }));
    await upload({ Tagging: 'a=b' });
    await upload({ ACL: 'public-read' });
    // The copy is of the stranger's own object, but its tags and ACL are actions of their own.
    await copy({});
    await put(bucket, JSON.stringify({ Version: '2012-10-17', Statement: [allowed, denying] }));
    await upload({});
    await expect(upload({ Tagging: 'a=b' })).rejects.toEqual(s3Error('AccessDenied', 403));
    await expect(upload({ ACL: 'public-read' })).rejects.toEqual(s3Error('AccessDenied', 403));
    await expect(copy({ ACL: 'public-read' })).rejects.toEqual(s3Error('AccessDenied', 403));
  });

  it('that is refused leaves the former one', async () => {
    const bucket = await service.bucket();
    await put(bucket, policyFor(bucket));
    await expect(put(bucket, policyFor('another-bucket'))).rejects.toMatchObject({
      name: 'MalformedPolicy',
      message: 'Policy has invalid resource: arn:aws:s3:::another-bucket/*',
    });
    expect(await policyOf(bucket)).toBe(policyFor(bucket));
  });

  it('has 20 KiB at most', async () => {
    const bucket = await service.bucket();
    const fits = policyFor(bucket).padEnd(20 * 1024);
    expect(await put(bucket, fits)).toBe(204);
    await expect(put(bucket, `${fits} `)).rejects.toEqual(s3Error('PolicyTooLarge', 400));
    expect(await policyOf(bucket)).toBe(fits);
  });
});

describe('whom a policy names', () => {
  it.each([
    [{ AWS: other.id }],
    [{ AWS: other.project }],
    [{ CanonicalUser: other.id }],
    [{ AWS: `arn:aws:iam::${other.id}:root` }],
    [{ AWS: [`arn:aws:iam::${other.project}:user/bob`, `arn:aws:iam::${own.id}:user/alice`] }],
    [{ AWS: `arn:aws:iam:::user/${other.id}` }],
  ])('must exist: %j', async (principal) => {
    const bucket = await service.bucket();
    expect(await put(bucket, policyFor(bucket, principal))).toBe(204);
  });

  it.each([
    [{ AWS: 'nobody' }],
    [{ AWS: [other.id, `${other.id}x`] }],
    [{ AWS: 'nobody@example.test' }],
    [{ CanonicalUser: '*' }],
    [{ AWS: 'arn:aws:iam::nobody:root' }],
    [{ AWS: `arn:aws:iam::${other.id}:user/alice` }],
    [{ AWS: `arn:aws:iam::${other.id}:user/*` }],
  ])('or the policy is refused: %j', async (principal) => {
    const bucket = await service.bucket();
    const attempt = put(bucket, policyFor(bucket, principal, { Effect: 'Deny' }));
    await expect(attempt).rejects.toMatchObject({ name: 'MalformedPolicy', message: 'Invalid principal in policy' });
    await expect(policyOf(bucket)).rejects.toEqual(s3Error('NoSuchBucketPolicy', 404));
  });
});

/** https://docs.aws.amazon.com/AmazonS3/latest/API/API_GetBucketPolicyStatus.html */
describe('GetBucketPolicyStatus', () => {
  async function isPublic(bucket: string): Promise<boolean | undefined> {
    const { PolicyStatus } = await service.client.send(new GetBucketPolicyStatusCommand({ Bucket: bucket }));
    return PolicyStatus?.IsPublic;
  }

  it('says whether the policy is for everybody', async () => {
    const bucket = await service.bucket();
    await expect(isPublic(bucket)).rejects.toEqual(s3Error('NoSuchBucketPolicy', 404));
    await put(bucket, policyFor(bucket));
    expect(await isPublic(bucket)).toBe(true);
    await put(bucket, policyFor(bucket, '*', { Condition: { IpAddress: { 'aws:SourceIp': '192.0.2.0/24' } } }));
    expect(await isPublic(bucket)).toBe(false);
  });
});
