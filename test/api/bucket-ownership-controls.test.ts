import {
  CompleteMultipartUploadCommand,
  CopyObjectCommand,
  CreateBucketCommand,
  CreateMultipartUploadCommand,
  DeleteBucketOwnershipControlsCommand,
  DeleteObjectCommand,
  GetBucketAclCommand,
  GetBucketOwnershipControlsCommand,
  GetObjectAclCommand,
  ListObjectsV2Command,
  ListObjectVersionsCommand,
  ListPartsCommand,
  PutBucketAclCommand,
  PutBucketOwnershipControlsCommand,
  PutBucketPolicyCommand,
  PutObjectAclCommand,
  PutObjectCommand,
  UploadPartCommand,
  type ObjectCannedACL,
  type ObjectOwnership,
} from '@aws-sdk/client-s3';
import { describe, expect, it } from 'vitest';
import { expectError, s3Error } from '../support/clients/expect-error.ts';
import { formBody, formType, signedV4 } from '../support/clients/form.ts';
import { put, read } from '../support/storage/objects.ts';
import type { RawResponse } from '../support/clients/raw-client.ts';
import { accounts } from '../support/programs/server.ts';
import { serviceUnderTest } from '../support/programs/service-under-test.ts';
import type { Key } from '../support/clients/signer.ts';

const service = serviceUnderTest();

const [{ id: own }, { id: other }] = accounts;
const denied = s3Error('AccessDenied', 403);
const notFound = s3Error('OwnershipControlsNotFoundError', 404);
const unsupported = s3Error('AccessControlListNotSupported', 400);
const conflicting = s3Error('InvalidBucketAclWithObjectOwnership', 400);

async function control(bucket: string, ObjectOwnership: ObjectOwnership): Promise<void> {
  const OwnershipControls = { Rules: [{ ObjectOwnership }] };
  await service.client.send(new PutBucketOwnershipControlsCommand({ Bucket: bucket, OwnershipControls }));
}

async function controlOf(bucket: string, client = service.client): Promise<ObjectOwnership | undefined> {
  const answer = await client.send(new GetBucketOwnershipControlsCommand({ Bucket: bucket }));
  return answer.OwnershipControls!.Rules![0]!.ObjectOwnership;
}

/** A bucket that everybody may do anything with, by its policy. */
async function openBucket(ownership?: ObjectOwnership): Promise<string> {
  const bucket = await service.bucket();
  const Resource = [`arn:aws:s3:::${bucket}`, `arn:aws:s3:::${bucket}/*`];
  const Policy = JSON.stringify({ Statement: [{ Effect: 'Allow', Principal: '*', Action: '*', Resource }] });
  await service.client.send(new PutBucketPolicyCommand({ Bucket: bucket, Policy }));
  if (ownership !== undefined) await control(bucket, ownership);
  return bucket;
}

async function ownerOf(bucket: string, key: string, client = service.stranger): Promise<string | undefined> {
  return (await client.send(new GetObjectAclCommand({ Bucket: bucket, Key: key }))).Owner!.ID;
}

/** Posts a form. */
function post(bucket: string, key: string, acl: string | undefined, by: Key): Promise<RawResponse> {
  const fields = [['key', key] as const, ...(acl === undefined ? [] : [['acl', acl] as const])];
  const policy = signedV4(by, [{ bucket }, ...fields.map(([name, value]) => ({ [name]: value }))]);
  const body = formBody([...fields, ...policy], { content: 'content' });
  return service.sendUnsigned({ method: 'POST', path: `/${bucket}`, headers: { 'content-type': formType }, body });
}

/** A stranger's upload, in every way there is. */
async function uploads(bucket: string, ACL?: ObjectCannedACL): Promise<readonly string[]> {
  const client = service.stranger;
  const acl = ACL === undefined ? {} : { ACL };
  const name = ACL ?? 'none';
  const object = (kind: string) => ({ Bucket: bucket, Key: `${kind}-${name}`, ...acl });
  await client.send(new PutObjectCommand({ ...object('put'), Body: 'content' }));
  await client.send(new CopyObjectCommand({ ...object('copy'), CopySource: `${bucket}/put-${name}` }));
  const { UploadId } = await client.send(new CreateMultipartUploadCommand(object('parts')));
  const place = { Bucket: bucket, Key: `parts-${name}`, UploadId };
  const { ETag, ChecksumCRC32 } = await client.send(
    new UploadPartCommand({ ...place, PartNumber: 1, Body: 'content' }),
  );
  const MultipartUpload = { Parts: [{ PartNumber: 1, ETag, ChecksumCRC32 }] };
  await client.send(new CompleteMultipartUploadCommand({ ...place, MultipartUpload }));
  expect((await post(bucket, `form-${name}`, ACL, service.bob)).status).toBe(204);
  return ['put', 'copy', 'parts', 'form'].map((kind) => `${kind}-${name}`);
}

async function ownersOf(bucket: string, keys: readonly string[]): Promise<readonly (string | undefined)[]> {
  return Promise.all(keys.map((key) => ownerOf(bucket, key)));
}

/** https://docs.aws.amazon.com/AmazonS3/latest/API/API_PutBucketOwnershipControls.html */
describe('the ownership controls of a bucket', () => {
  it('are set, replaced and taken away', async () => {
    const bucket = await service.bucket();
    await expect(controlOf(bucket)).rejects.toEqual(notFound);
    for (const one of ['BucketOwnerPreferred', 'ObjectWriter', 'BucketOwnerEnforced'] as const) {
      await control(bucket, one);
      expect(await controlOf(bucket)).toBe(one);
    }
    const answer = await service.client.send(new DeleteBucketOwnershipControlsCommand({ Bucket: bucket }));
    expect(answer.$metadata.httpStatusCode).toBe(204);
    await expect(controlOf(bucket)).rejects.toEqual(notFound);
  });

  const rule = (value: string): string => `<Rule><ObjectOwnership>${value}</ObjectOwnership></Rule>`;
  it.each([
    ['no rule', ''],
    ['two rules', rule('ObjectWriter') + rule('ObjectWriter')],
    ['another value', rule('Nobody')],
    ['a value in another case', rule('objectwriter')],
    ['an empty rule', '<Rule/>'],
  ])('cannot be %s', async (_, rules) => {
    const bucket = await service.bucket();
    const body = `<OwnershipControls>${rules}</OwnershipControls>`;
    const answer = await service.send({ method: 'PUT', path: `/${bucket}`, query: 'ownershipControls', body });
    expectError(answer, 400, 'MalformedXML');
    await expect(controlOf(bucket)).rejects.toEqual(notFound);
  });

  it('are for the project of the owner, and for whom the policy allows it', async () => {
    const bucket = await service.bucket();
    await control(bucket, 'ObjectWriter');
    // No grant is one to the settings of a bucket.
    await service.client.send(new PutBucketAclCommand({ Bucket: bucket, GrantFullControl: `id=${other}` }));
    const OwnershipControls = { Rules: [{ ObjectOwnership: 'ObjectWriter' as const }] };
    const place = { Bucket: bucket, OwnershipControls };
    await expect(controlOf(bucket, service.stranger)).rejects.toEqual(denied);
    await expect(service.stranger.send(new PutBucketOwnershipControlsCommand(place))).rejects.toEqual(denied);
    await expect(service.stranger.send(new DeleteBucketOwnershipControlsCommand(place))).rejects.toEqual(denied);
    const statement = { Effect: 'Allow', Principal: '*', Resource: `arn:aws:s3:::${bucket}` };
    const Action = ['s3:GetBucketOwnershipControls', 's3:PutBucketOwnershipControls'];
    const Policy = JSON.stringify({ Statement: [{ ...statement, Action }] });
    await service.client.send(new PutBucketPolicyCommand({ Bucket: bucket, Policy }));
    expect(await controlOf(bucket, service.stranger)).toBe('ObjectWriter');
    await service.stranger.send(new PutBucketOwnershipControlsCommand(place));
    await service.stranger.send(new DeleteBucketOwnershipControlsCommand(place));
    await expect(controlOf(bucket)).rejects.toEqual(notFound);
  });
});

/** https://docs.aws.amazon.com/AmazonS3/latest/API/API_CreateBucket.html */
describe('CreateBucket with x-amz-object-ownership', () => {
  it.each(['BucketOwnerEnforced', 'BucketOwnerPreferred', 'ObjectWriter'] as const)('sets %s', async (one) => {
    const bucket = service.freeName();
    await service.client.send(new CreateBucketCommand({ Bucket: bucket, ObjectOwnership: one }));
    expect(await controlOf(bucket)).toBe(one);
  });

  it('refuses another value, and ACLs that are off at once, and creates nothing', async () => {
    const bucket = service.freeName();
    const headers = { 'x-amz-object-ownership': 'Nobody' };
    expectError(await service.send({ method: 'PUT', path: `/${bucket}`, headers }), 400, 'InvalidArgument');
    const enforced = { Bucket: bucket, ObjectOwnership: 'BucketOwnerEnforced' as const };
    const open = new CreateBucketCommand({ ...enforced, ACL: 'public-read' });
    await expect(service.client.send(open)).rejects.toEqual(conflicting);
    const granting = new CreateBucketCommand({ ...enforced, GrantRead: `id=${other}` });
    await expect(service.client.send(granting)).rejects.toEqual(conflicting);
    await expect(controlOf(bucket)).rejects.toEqual(s3Error('NoSuchBucket', 404));
    await service.client.send(new CreateBucketCommand({ ...enforced, ACL: 'private' }));
  });
});

/** https://docs.aws.amazon.com/AmazonS3/latest/userguide/about-object-ownership.html */
describe('objects that a stranger writes', () => {
  it('belong to the writer, as long as nothing else is set, and with ObjectWriter', async () => {
    for (const bucket of [await openBucket(), await openBucket('ObjectWriter')]) {
      const keys = [...(await uploads(bucket)), ...(await uploads(bucket, 'bucket-owner-full-control'))];
      expect(await ownersOf(bucket, keys)).toEqual(Array(8).fill(other));
    }
  });

  it("belong to the bucket's owner with BucketOwnerPreferred if they get full control, else to the writer", async () => {
    const bucket = await openBucket('BucketOwnerPreferred');
    expect(await ownersOf(bucket, await uploads(bucket, 'bucket-owner-full-control'))).toEqual(Array(4).fill(own));
    expect(await ownersOf(bucket, await uploads(bucket))).toEqual(Array(4).fill(other));
    expect(await ownersOf(bucket, await uploads(bucket, 'private'))).toEqual(Array(4).fill(other));
    const { Grants } = await service.stranger.send(
      new GetObjectAclCommand({ Bucket: bucket, Key: 'put-bucket-owner-full-control' }),
    );
    expect(Grants!.map(({ Grantee, Permission }) => [Grantee!.ID, Permission])).toEqual([[own, 'FULL_CONTROL']]);
  });

  it("belong to the bucket's owner with BucketOwnerEnforced", async () => {
    const bucket = await openBucket('BucketOwnerEnforced');
    const keys = [...(await uploads(bucket)), ...(await uploads(bucket, 'bucket-owner-full-control'))];
    expect(await ownersOf(bucket, keys)).toEqual(Array(8).fill(own));
    const { UploadId } = await service.stranger.send(new CreateMultipartUploadCommand({ Bucket: bucket, Key: 'k' }));
    const listed = await service.stranger.send(new ListPartsCommand({ Bucket: bucket, Key: 'k', UploadId }));
    expect([listed.Owner!.ID, listed.Initiator!.ID]).toEqual([own, other]);
  });
});

describe('BucketOwnerEnforced', () => {
  it('refuses every ACL but the full control of the owner', async () => {
    const bucket = await openBucket('BucketOwnerEnforced');
    const { client } = service;
    await put(client, bucket, 'k', 'content');
    const target = { Bucket: bucket, Key: 'new' };
    for (const acl of [{ ACL: 'private' }, { ACL: 'public-read' }, { GrantRead: `id=${other}` }] as const) {
      for (const request of [
        () => client.send(new PutObjectCommand({ ...target, Body: 'x', ...acl })),
        () => client.send(new CopyObjectCommand({ ...target, CopySource: `${bucket}/k`, ...acl })),
        () => client.send(new CreateMultipartUploadCommand({ ...target, ...acl })),
        () => client.send(new PutObjectAclCommand({ Bucket: bucket, Key: 'k', ...acl })),
      ]) {
        await expect(request()).rejects.toEqual(unsupported);
      }
    }
    for (const acl of ['private', 'public-read'])
      expectError(await post(bucket, 'new', acl, service.alice), 400, 'AccessControlListNotSupported');
    for (const acl of [{ ACL: 'public-read' }, { GrantRead: `id=${other}` }] as const) {
      await expect(client.send(new PutBucketAclCommand({ Bucket: bucket, ...acl }))).rejects.toEqual(unsupported);
    }
    await expect(read(client, bucket, 'new')).rejects.toEqual(s3Error('NoSuchKey', 404));
    const headers = { 'x-amz-acl': 'private' };
    const { text } = await service.send({ method: 'PUT', path: `/${bucket}/new`, headers, body: 'x' });
    expect(text).toContain('<Message>The bucket does not allow ACLs</Message>');
  });

  it('takes the full control of the owner, however it is said', async () => {
    const bucket = await openBucket('BucketOwnerEnforced');
    const { client } = service;
    await put(client, bucket, 'k', 'content', { GrantFullControl: `id=${own}` });
    await client.send(new PutBucketAclCommand({ Bucket: bucket, ACL: 'private' }));
    const { Owner, Grants } = await client.send(new GetObjectAclCommand({ Bucket: bucket, Key: 'k' }));
    const AccessControlPolicy = { Owner, Grants };
    await client.send(new PutObjectAclCommand({ Bucket: bucket, Key: 'k', AccessControlPolicy }));
    await client.send(new PutBucketAclCommand({ Bucket: bucket, AccessControlPolicy }));
  });

  it('has the grants there are count for nothing, and shows none; they count again without it', async () => {
    const bucket = await service.bucket();
    await put(service.client, bucket, 'k', 'content', { ACL: 'public-read' });
    expect((await service.sendUnsigned({ path: `/${bucket}/k` })).status).toBe(200);
    await control(bucket, 'BucketOwnerEnforced');
    expectError(await service.sendUnsigned({ path: `/${bucket}/k` }), 403, 'AccessDenied');
    const shown = await service.client.send(new GetObjectAclCommand({ Bucket: bucket, Key: 'k' }));
    expect(shown.Grants!.map(({ Grantee, Permission }) => [Grantee!.ID, Permission])).toEqual([[own, 'FULL_CONTROL']]);
    const acl = await service.client.send(new GetBucketAclCommand({ Bucket: bucket }));
    expect(acl.Grants!.map(({ Grantee, Permission }) => [Grantee!.ID, Permission])).toEqual([[own, 'FULL_CONTROL']]);
    await service.client.send(new DeleteBucketOwnershipControlsCommand({ Bucket: bucket }));
    expect((await service.sendUnsigned({ path: `/${bucket}/k` })).status).toBe(200);
  });

  it('gives the owner what strangers wrote before: their names in listings, and the power to delete', async () => {
    const bucket = await openBucket();
    await service.stranger.send(new PutObjectCommand({ Bucket: bucket, Key: 'k', Body: 'content' }));
    const remove = new DeleteObjectCommand({ Bucket: bucket, Key: 'k' });
    await expect(service.client.send(remove)).rejects.toEqual(denied);
    await control(bucket, 'BucketOwnerEnforced');
    const list = { Bucket: bucket, FetchOwner: true };
    expect((await service.client.send(new ListObjectsV2Command(list))).Contents![0]!.Owner!.ID).toBe(own);
    expect((await service.client.send(new ListObjectVersionsCommand(list))).Versions![0]!.Owner!.ID).toBe(own);
    await service.client.send(remove);
    await expect(read(service.client, bucket, 'k')).rejects.toEqual(s3Error('NoSuchKey', 404));
  });

  it('takes from strangers what they had as owners', async () => {
    const bucket = await service.bucket();
    await service.client.send(new PutBucketAclCommand({ Bucket: bucket, ACL: 'public-read-write' }));
    await service.stranger.send(new PutObjectCommand({ Bucket: bucket, Key: 'k', Body: 'content' }));
    expect(await read(service.stranger, bucket, 'k')).toBe('content');
    await service.client.send(new PutBucketAclCommand({ Bucket: bucket, ACL: 'private' }));
    await control(bucket, 'BucketOwnerEnforced');
    await expect(read(service.stranger, bucket, 'k')).rejects.toEqual(denied);
  });

  it('is refused while the ACL of the bucket grants anything to others', async () => {
    const bucket = await service.bucket();
    for (const acl of [{ ACL: 'public-read' }, { GrantRead: `id=${other}` }] as const) {
      await service.client.send(new PutBucketAclCommand({ Bucket: bucket, ...acl }));
      await expect(control(bucket, 'BucketOwnerEnforced')).rejects.toEqual(conflicting);
      await control(bucket, 'BucketOwnerPreferred');
    }
    await service.client.send(new PutBucketAclCommand({ Bucket: bucket, ACL: 'private' }));
    await control(bucket, 'BucketOwnerEnforced');
  });
});
