import {
  CompleteMultipartUploadCommand,
  CopyObjectCommand,
  CreateMultipartUploadCommand,
  DeleteObjectCommand,
  GetObjectAclCommand,
  GetObjectTaggingCommand,
  HeadObjectCommand,
  PutBucketAclCommand,
  PutObjectAclCommand,
  PutObjectTaggingCommand,
  RenameObjectCommand,
  UploadPartCommand,
  type Grant,
  type PutObjectAclCommandInput,
} from '@aws-sdk/client-s3';
import { describe, expect, it } from 'vitest';
import { expectError, s3Error, textOf } from '../support/clients/expect-error.ts';
import { everyGrant, inShort, ownerFirst } from '../support/storage/grants.ts';
import { put, read, setVersioning } from '../support/storage/objects.ts';
import { accounts } from '../support/programs/server.ts';
import { serviceUnderTest } from '../support/programs/service-under-test.ts';

const service = serviceUnderTest();

const [{ id: alicesId }, { id: bobsId, project: bobsEmail }] = accounts;
const allUsers = 'http://acs.amazonaws.com/groups/global/AllUsers';
const isPrivate = [`${alicesId} FULL_CONTROL`];
const isPublic = [...isPrivate, `${allUsers} READ`];

async function aclOf(bucket: string, Key = 'key', VersionId?: string): Promise<string[]> {
  const answer = await service.client.send(new GetObjectAclCommand({ Bucket: bucket, Key, VersionId }));
  return ownerFirst(answer);
}

function setAcl(bucket: string, more: Partial<PutObjectAclCommandInput>, client = service.client) {
  return client.send(new PutObjectAclCommand({ Bucket: bucket, Key: 'key', ...more }));
}

async function open(bucket: string): Promise<void> {
  await service.client.send(new PutBucketAclCommand({ Bucket: bucket, GrantWrite: `id="${bobsId}"` }));
}

/** https://docs.aws.amazon.com/AmazonS3/latest/API/API_GetObjectAcl.html */
describe('GetObjectAcl', () => {
  it('answers of a new object that it is private', async () => {
    const bucket = await service.bucket();
    await put(service.client, bucket, 'key');
    const answer = await service.client.send(new GetObjectAclCommand({ Bucket: bucket, Key: 'key' }));
    expect(answer.Owner).toEqual({ ID: alicesId, DisplayName: 'main' });
    expect(await aclOf(bucket)).toEqual(isPrivate);
    const response = await service.send({ path: `/${bucket}/key`, query: 'acl' });
    expect(response.header('x-amz-version-id')).toBe('null');
  });

  it('lists in one order what a document has in another', async () => {
    const bucket = await service.bucket();
    await put(service.client, bucket, 'key');
    const listed = everyGrant([alicesId, bobsId]);
    await setAcl(bucket, { AccessControlPolicy: { Owner: { ID: alicesId }, Grants: listed.toReversed() } });
    const { Grants } = await service.client.send(new GetObjectAclCommand({ Bucket: bucket, Key: 'key' }));
    expect(inShort(Grants)).toEqual(inShort(listed));
  });

  it('knows no object that is not there, or is deleted', async () => {
    const bucket = await service.bucket();
    await expect(aclOf(bucket)).rejects.toEqual(s3Error('NoSuchKey', 404));
    await setVersioning(service.client, bucket, 'Enabled');
    await put(service.client, bucket, 'key');
    const { VersionId } = await service.client.send(new DeleteObjectCommand({ Bucket: bucket, Key: 'key' }));
    await expect(aclOf(bucket)).rejects.toEqual(s3Error('NoSuchKey', 404));
    await expect(aclOf(bucket, 'key', VersionId)).rejects.toEqual(s3Error('MethodNotAllowed', 405));
  });
});

/** https://docs.aws.amazon.com/AmazonS3/latest/API/API_PutObjectAcl.html */
describe('PutObjectAcl', () => {
  it('opens an object to everybody, and shuts it again', async () => {
    const bucket = await service.bucket();
    await put(service.client, bucket, 'dir/key', 'content', { ContentType: 'text/plain' });
    expectError(await service.sendUnsigned({ path: `/${bucket}/dir/key` }), 403, 'AccessDenied');
    await setAcl(bucket, { Key: 'dir/key', ACL: 'public-read' });
    expect(await aclOf(bucket, 'dir/key')).toEqual(isPublic);
    const response = await service.sendUnsigned({ path: `/${bucket}/dir/key`, headers: { range: 'bytes=1-3' } });
    expect([response.status, response.text]).toEqual([206, 'ont']);
    expect((await service.sendUnsigned({ method: 'HEAD', path: `/${bucket}/dir/key` })).status).toBe(200);
    for (const query of ['acl', 'versions']) {
      expectError(await service.sendUnsigned({ path: `/${bucket}`, query }), 403, 'AccessDenied');
    }
    expectError(await service.sendUnsigned({ path: `/${bucket}/dir/key`, query: 'acl' }), 403, 'AccessDenied');
    await setAcl(bucket, { Key: 'dir/key', ACL: 'private' });
    expectError(await service.sendUnsigned({ path: `/${bucket}/dir/key` }), 403, 'AccessDenied');
  });

  it('changes neither content nor date, nor tags and metadata', async () => {
    const bucket = await service.bucket();
    const Metadata = { long: 'x'.repeat(1000) };
    await put(service.client, bucket, 'key', 'content', { Metadata, Tagging: 'a=b', CacheControl: 'no-cache' });
    const head = () => service.client.send(new HeadObjectCommand({ Bucket: bucket, Key: 'key' }));
    const before = await head();
    await setAcl(bucket, { ACL: 'public-read' });
    const after = await head();
    expect({ ...after, $metadata: undefined }).toEqual({ ...before, $metadata: undefined });
    expect(after.Metadata).toEqual(Metadata);
    const TagSet = [{ Key: 'c', Value: 'd' }];
    await service.client.send(new PutObjectTaggingCommand({ Bucket: bucket, Key: 'key', Tagging: { TagSet } }));
    expect(await aclOf(bucket)).toEqual(isPublic);
    const tags = await service.client.send(new GetObjectTaggingCommand({ Bucket: bucket, Key: 'key' }));
    expect(tags.TagSet).toEqual(TagSet);
  });

  it('takes a hundred grants, in the document of a client', async () => {
    const bucket = await service.bucket();
    await put(service.client, bucket, 'key');
    const permissions = ['READ', 'WRITE', 'READ_ACP', 'WRITE_ACP', 'FULL_CONTROL'] as const;
    const Grants = Array.from({ length: 100 }, (_, at): Grant => {
      const Grantee = { Type: 'AmazonCustomerByEmail', EmailAddress: bobsEmail } as const;
      return { Grantee, Permission: permissions[at % permissions.length]! };
    });
    await setAcl(bucket, { AccessControlPolicy: { Owner: { ID: alicesId }, Grants } });
    expect(await aclOf(bucket)).toEqual(permissions.map((permission) => `${bobsId} ${permission}`));
  });

  it('is of one version, and of the current one unless said', async () => {
    const bucket = await service.bucket();
    await setVersioning(service.client, bucket, 'Enabled');
    const { VersionId: first } = await put(service.client, bucket, 'key', 'first');
    const { VersionId: second } = await put(service.client, bucket, 'key', 'second');
    const { $metadata } = await setAcl(bucket, { ACL: 'public-read', VersionId: first });
    expect($metadata.httpStatusCode).toBe(200);
    expect(await aclOf(bucket, 'key', first)).toEqual(isPublic);
    expect(await aclOf(bucket, 'key', second)).toEqual(isPrivate);
    expect(await aclOf(bucket)).toEqual(isPrivate);
    const path = `/${bucket}/key`;
    expect((await service.sendUnsigned({ path, query: `versionId=${first}` })).text).toBe('first');
    expectError(await service.sendUnsigned({ path }), 403, 'AccessDenied');
    expectError(await service.sendUnsigned({ path, query: `versionId=${second}` }), 403, 'AccessDenied');
    // It becomes current again, and is as open as it was.
    await service.client.send(new DeleteObjectCommand({ Bucket: bucket, Key: 'key', VersionId: second }));
    expect((await service.sendUnsigned({ path })).text).toBe('first');
    const answer = await service.send({ method: 'PUT', path, query: 'acl', headers: { 'x-amz-acl': 'private' } });
    expect(answer.header('x-amz-version-id')).toBe(first);
    expect(await aclOf(bucket, 'key', first)).toEqual(isPrivate);
  });

  it.each([
    ['neither a document nor header fields', {}, 400, 'MissingSecurityHeader'],
    ['an unknown canned ACL', { headers: { 'x-amz-acl': 'public' } }, 400, 'InvalidArgument'],
    ['an unknown id', { headers: { 'x-amz-grant-read': 'id="nobody"' } }, 400, 'InvalidArgument'],
    [
      'an unknown e-mail form',
      { headers: { 'x-amz-grant-read': 'emailAddress=no@body' } },
      400,
      'UnresolvableGrantByEmailAddress',
    ],
    [
      'another owner',
      {
        body: `<AccessControlPolicy><Owner><ID>${bobsId}</ID></Owner><AccessControlList/></AccessControlPolicy>`,
      },
      403,
      'AccessDenied',
    ],
    ['a document of another kind', { body: '<Tagging><TagSet/></Tagging>' }, 400, 'MalformedACLError'],
  ] as const)('refuses %s, and changes nothing', async (_, request, status, code) => {
    const bucket = await service.bucket();
    await put(service.client, bucket, 'key', '', { ACL: 'public-read' });
    const response = await service.send({ method: 'PUT', path: `/${bucket}/key`, query: 'acl', ...request });
    expectError(response, status, code);
    expect(await aclOf(bucket)).toEqual(isPublic);
  });

  it('knows no object that is not there', async () => {
    await expect(setAcl(await service.bucket(), { ACL: 'private' })).rejects.toEqual(s3Error('NoSuchKey', 404));
  });
});

describe('a grant on an object', () => {
  it('of READ is one to its content, its attributes and its tags', async () => {
    const bucket = await service.bucket();
    await put(service.client, bucket, 'key', 'content', { GrantRead: `id="${bobsId}"` });
    expect(await read(service.stranger, bucket, 'key')).toBe('content');
    await service.stranger.send(new GetObjectTaggingCommand({ Bucket: bucket, Key: 'key' }));
    await expect(setAcl(bucket, { ACL: 'private' }, service.stranger)).rejects.toEqual(s3Error('AccessDenied', 403));
    await expect(put(service.stranger, bucket, 'key')).rejects.toEqual(s3Error('AccessDenied', 403));
    expectError(
      await service.send({ path: `/${bucket}/key`, query: 'acl' }, { key: service.bob }),
      403,
      'AccessDenied',
    );
    expectError(await service.sendUnsigned({ path: `/${bucket}/key` }), 403, 'AccessDenied');
  });

  it('of READ_ACP and WRITE_ACP is one to its ACL, by which one may get the others', async () => {
    const bucket = await service.bucket();
    await put(service.client, bucket, 'key', 'content', {
      GrantReadACP: `id=${bobsId}`,
      GrantWriteACP: `id=${bobsId}`,
    });
    await expect(read(service.stranger, bucket, 'key')).rejects.toEqual(s3Error('AccessDenied', 403));
    await service.stranger.send(new GetObjectAclCommand({ Bucket: bucket, Key: 'key' }));
    await setAcl(bucket, { GrantRead: `id=${bobsId}` }, service.stranger);
    expect(await read(service.stranger, bucket, 'key')).toBe('content');
    expect(await aclOf(bucket)).toEqual([`${bobsId} READ`]);
    expect(await read(service.client, bucket, 'key')).toBe('content');
  });

  it('keeps a URL alive that somebody presigned who may read it, and no longer', async () => {
    const bucket = await service.bucket();
    await put(service.client, bucket, 'key', 'content', { GrantRead: `id="${bobsId}"` });
    const get = () => service.sendPresigned({ path: `/${bucket}/key` }, { key: service.bob });
    expect((await get()).text).toBe('content');
    await setAcl(bucket, { ACL: 'private' });
    expectError(await get(), 403, 'AccessDenied');
  });
});

describe('the ACL of a new object', () => {
  it('is what its upload says', async () => {
    const bucket = await service.bucket();
    await put(service.client, bucket, 'key', '', { ACL: 'public-read' });
    expect(await aclOf(bucket)).toEqual(isPublic);
    await put(service.client, bucket, 'key', '', {
      GrantRead: `uri="${allUsers}"`,
      GrantFullControl: `id="${bobsId}"`,
    });
    expect((await aclOf(bucket)).toSorted()).toEqual([`${allUsers} READ`, `${bobsId} FULL_CONTROL`].toSorted());
  });

  it('is private again once it is written over', async () => {
    const bucket = await service.bucket();
    for (const again of [
      () => put(service.client, bucket, 'key', 'other'),
      () => service.client.send(new CopyObjectCommand({ Bucket: bucket, Key: 'key', CopySource: `${bucket}/source` })),
    ]) {
      await put(service.client, bucket, 'source', 'source', { ACL: 'public-read' });
      await put(service.client, bucket, 'key', 'first', { ACL: 'public-read' });
      await again();
      expect(await aclOf(bucket)).toEqual(isPrivate);
    }
  });

  it('is what the copy says, not what the source has', async () => {
    const bucket = await service.bucket();
    await put(service.client, bucket, 'source', 'source');
    const request = { Bucket: bucket, Key: 'key', CopySource: `${bucket}/source`, ACL: 'public-read' } as const;
    await service.client.send(new CopyObjectCommand(request));
    expect(await aclOf(bucket)).toEqual(isPublic);
    expect(await aclOf(bucket, 'source')).toEqual(isPrivate);
  });

  it('is what the beginning of a multipart upload says', async () => {
    const bucket = await service.bucket();
    const place = { Bucket: bucket, Key: 'key' };
    const { UploadId } = await service.client.send(new CreateMultipartUploadCommand({ ...place, ACL: 'public-read' }));
    const part = { ...place, UploadId, PartNumber: 1, Body: Buffer.from('part') };
    const { ETag, ChecksumCRC32 } = await service.client.send(new UploadPartCommand(part));
    const MultipartUpload = { Parts: [{ ETag, ChecksumCRC32, PartNumber: 1 }] };
    await service.client.send(new CompleteMultipartUploadCommand({ ...place, UploadId, MultipartUpload }));
    expect(await aclOf(bucket)).toEqual(isPublic);
    expect((await service.sendUnsigned({ path: `/${bucket}/key` })).text).toBe('part');
  });

  it.each(['Suspended', 'Enabled'] as const)('goes with a rename, versioning %s', async (versioning) => {
    const bucket = await service.bucket();
    await setVersioning(service.client, bucket, versioning);
    await put(service.client, bucket, 'source', 'source', { ACL: 'public-read' });
    await service.client.send(
      new RenameObjectCommand({ Bucket: bucket, Key: 'key', RenameSource: `/${bucket}/source` }),
    );
    expect(await aclOf(bucket)).toEqual(isPublic);
  });

  it('can let the owner of the bucket read it', async () => {
    const bucket = await service.bucket();
    await open(bucket);
    for (const [ACL, permission] of [
      ['bucket-owner-read', 'READ'],
      ['bucket-owner-full-control', 'FULL_CONTROL'],
    ] as const) {
      await put(service.stranger, bucket, 'key', 'of bob', { ACL });
      expect(await aclOf(bucket)).toEqual([`${bobsId} FULL_CONTROL`, `${alicesId} ${permission}`]);
    }
    // The owner of the object is the one whose project uploaded it.
    const response = await service.send({ path: `/${bucket}/key`, query: 'acl' });
    expect(textOf(response.text, 'ID')).toBe(bobsId);
    await service.send({ method: 'DELETE', path: `/${bucket}/key`, query: 'versionId=null' });
  });

  it('is refused with the whole upload if nobody can be found for it', async () => {
    const bucket = await service.bucket();
    await put(service.client, bucket, 'source');
    for (const act of [
      () => put(service.client, bucket, 'key', 'x', { GrantRead: 'emailAddress="no@body"' }),
      () =>
        service.client.send(
          new CopyObjectCommand({
            ...{ Bucket: bucket, Key: 'key', CopySource: `${bucket}/source` },
            GrantRead: 'emailAddress="no@body"',
          }),
        ),
      () =>
        service.client.send(
          new CreateMultipartUploadCommand({ Bucket: bucket, Key: 'key', GrantRead: 'emailAddress="no@body"' }),
        ),
    ]) {
      await expect(act()).rejects.toEqual(s3Error('UnresolvableGrantByEmailAddress', 400));
    }
    await expect(read(service.client, bucket, 'key')).rejects.toEqual(s3Error('NoSuchKey', 404));
  });
});

describe('an upload in parts', () => {
  it('is nobody’s but of the project that began it', async () => {
    const bucket = await service.bucket();
    await open(bucket);
    const begun = await service.send({ method: 'POST', path: `/${bucket}/key`, query: 'uploads' });
    const id = textOf(begun.text, 'UploadId')!;
    const part = { method: 'PUT', path: `/${bucket}/key`, query: `partNumber=1&uploadId=${id}`, body: 'x' };
    const asBob = { key: service.bob };
    expectError(await service.send(part, asBob), 404, 'NoSuchUpload');
    const source = { ...part, headers: { 'x-amz-copy-source': `/${bucket}/theirs` }, body: '' };
    await put(service.stranger, bucket, 'theirs');
    expectError(await service.send(source, asBob), 404, 'NoSuchUpload');
    const complete = {
      ...{ method: 'POST', path: `/${bucket}/key`, query: `uploadId=${id}` },
      body: '<CompleteMultipartUpload><Part><PartNumber>1</PartNumber><ETag>x</ETag></Part></CompleteMultipartUpload>',
    };
    expectError(await service.send(complete, asBob), 404, 'NoSuchUpload');
    expectError(await service.send({ path: `/${bucket}/key`, query: `uploadId=${id}` }, asBob), 403, 'AccessDenied');
    const abort = { method: 'DELETE', path: `/${bucket}/key`, query: `uploadId=${id}` };
    expectError(await service.send(abort, asBob), 403, 'AccessDenied');
    expect((await service.send(abort)).status).toBe(204);
    await service.send({ method: 'DELETE', path: `/${bucket}/theirs`, query: 'versionId=null' });
  });

  it('can be looked at and ended by the owner of the bucket', async () => {
    const bucket = await service.bucket();
    await open(bucket);
    const begun = await service.send(
      { method: 'POST', path: `/${bucket}/key`, query: 'uploads' },
      { key: service.bob },
    );
    const query = `uploadId=${textOf(begun.text, 'UploadId')!}`;
    const parts = await service.send({ path: `/${bucket}/key`, query });
    expect(parts.status).toBe(200);
    expect(textOf(parts.text, 'ID')).toBe(bobsId);
    expectError(
      await service.send({ method: 'PUT', path: `/${bucket}/key`, query: `${query}&partNumber=1`, body: 'x' }),
      404,
      'NoSuchUpload',
    );
    expect((await service.send({ method: 'DELETE', path: `/${bucket}/key`, query })).status).toBe(204);
  });
});
