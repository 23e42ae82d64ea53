import {
  CreateBucketCommand,
  DeleteBucketCommand,
  GetBucketAclCommand,
  HeadBucketCommand,
  ListObjectsV2Command,
  PutBucketAclCommand,
  type Grant,
  type PutBucketAclCommandInput,
} from '@aws-sdk/client-s3';
import { describe, expect, it } from 'vitest';
import { bodilessError, expectError, s3Error, textOf, textsOf } from '../support/clients/expect-error.ts';
import { everyGrant, inShort, ownerFirst } from '../support/storage/grants.ts';
import { put, read } from '../support/storage/objects.ts';
import { accounts } from '../support/programs/server.ts';
import { serviceUnderTest } from '../support/programs/service-under-test.ts';

const service = serviceUnderTest();

const [{ id: alicesId, project: alicesEmail }, { id: bobsId, project: bobsEmail, displayName: bobsName }] = accounts;
const allUsers = 'http://acs.amazonaws.com/groups/global/AllUsers';
const authenticatedUsers = 'http://acs.amazonaws.com/groups/global/AuthenticatedUsers';

function setAcl(bucket: string, more: Partial<PutBucketAclCommandInput>, client = service.client) {
  return client.send(new PutBucketAclCommand({ Bucket: bucket, ...more }));
}

async function aclOf(bucket: string): Promise<string[]> {
  return ownerFirst(await service.client.send(new GetBucketAclCommand({ Bucket: bucket })));
}

/** https://docs.aws.amazon.com/AmazonS3/latest/API/API_GetBucketAcl.html */
describe('GetBucketAcl', () => {
  it('lists groups by their URIs, then projects by their ids, each with its permissions in one order', async () => {
    const bucket = await service.bucket();
    await setAcl(bucket, {
      GrantFullControl: `id=${alicesId}`,
      GrantWriteACP: `id=${bobsId}, uri=${authenticatedUsers}`,
      GrantRead: `id=${bobsId}, uri=${authenticatedUsers}, uri=${allUsers}`,
      GrantWrite: `uri=${allUsers}`,
    });
    const { Grants } = await service.client.send(new GetBucketAclCommand({ Bucket: bucket }));
    expect(Grants!.map(({ Grantee, Permission }) => [Grantee!.URI ?? Grantee!.ID, Permission])).toEqual([
      [allUsers, 'READ'],
      [allUsers, 'WRITE'],
      [authenticatedUsers, 'READ'],
      [authenticatedUsers, 'WRITE_ACP'],
      [alicesId, 'FULL_CONTROL'],
      [bobsId, 'READ'],
      [bobsId, 'WRITE_ACP'],
    ]);
  });

  it.each([
    ['the least id', alicesId],
    ['the greatest id', bobsId],
  ])('lists in one order what a document has in another, of an owner of %s', async (_, ID) => {
    const client = ID === alicesId ? service.client : service.stranger;
    const Bucket = service.freeName();
    await client.send(new CreateBucketCommand({ Bucket }));
    const listed = everyGrant([alicesId, bobsId]);
    await setAcl(Bucket, { AccessControlPolicy: { Owner: { ID }, Grants: listed.toReversed() } }, client);
    const { Grants } = await client.send(new GetBucketAclCommand({ Bucket }));
    expect(inShort(Grants)).toEqual(inShort(listed));
    await client.send(new DeleteBucketCommand({ Bucket }));
  });

  it('answers of a new bucket that it is private', async () => {
    const bucket = await service.bucket();
    const answer = await service.client.send(new GetBucketAclCommand({ Bucket: bucket }));
    expect(answer.Owner).toEqual({ ID: alicesId, DisplayName: 'main' });
    expect(answer.Grants).toEqual([
      { Grantee: { Type: 'CanonicalUser', ID: alicesId, DisplayName: 'main' }, Permission: 'FULL_CONTROL' },
    ]);
  });

  it('says so in XML of the namespace', async () => {
    const response = await service.send({ path: `/${await service.bucket()}`, query: 'acl' });
    expect(response.status).toBe(200);
    expect(response.header('content-type')).toBe('application/xml');
    expect(response.text).toMatch(/<AccessControlPolicy xmlns="http:\/\/s3.amazonaws.com\/doc\/2006-03-01\/"><Owner>/);
    expect(response.text).toContain('xsi:type="CanonicalUser"');
  });
});

/** https://docs.aws.amazon.com/AmazonS3/latest/API/API_PutBucketAcl.html */
describe('PutBucketAcl', () => {
  it.each([
    ['private', []],
    ['public-read', [`${allUsers} READ`]],
    ['public-read-write', [`${allUsers} READ`, `${allUsers} WRITE`]],
    ['authenticated-read', [`${authenticatedUsers} READ`]],
  ] as const)('sets the canned ACL %s', async (ACL, expected) => {
    const bucket = await service.bucket();
    await setAcl(bucket, { ACL });
    expect(await aclOf(bucket)).toEqual([`${alicesId} FULL_CONTROL`, ...expected]);
  });

  it('sets grants by header fields, to ids, e-mail forms and groups, and no others', async () => {
    const bucket = await service.bucket();
    await setAcl(bucket, {
      GrantRead: `id="${bobsId}", uri="${allUsers}"`,
      GrantWrite: `emailAddress="${bobsEmail}"`,
      GrantReadACP: `id=${bobsId}`,
      GrantWriteACP: `uri=${authenticatedUsers}`,
      GrantFullControl: `emailAddress=${alicesEmail}`,
    });
    expect((await aclOf(bucket)).toSorted()).toEqual(
      [
        `${bobsId} READ`,
        `${allUsers} READ`,
        `${bobsId} WRITE`,
        `${bobsId} READ_ACP`,
        `${authenticatedUsers} WRITE_ACP`,
        `${alicesId} FULL_CONTROL`,
      ].toSorted(),
    );
  });

  it('sets grants by a document, and shows e-mail forms as the projects they stand for', async () => {
    const bucket = await service.bucket();
    const Grants: Grant[] = [
      { Grantee: { Type: 'AmazonCustomerByEmail', EmailAddress: bobsEmail }, Permission: 'READ' },
      { Grantee: { Type: 'Group', URI: allUsers }, Permission: 'WRITE' },
    ];
    await setAcl(bucket, { AccessControlPolicy: { Owner: { ID: alicesId }, Grants } });
    const answer = await service.client.send(new GetBucketAclCommand({ Bucket: bucket }));
    expect(answer.Grants).toEqual([
      { Grantee: { Type: 'Group', URI: allUsers }, Permission: 'WRITE' },
      { Grantee: { Type: 'CanonicalUser', ID: bobsId, DisplayName: bobsName }, Permission: 'READ' },
    ]);
  });

  it('takes back what was sent by GET', async () => {
    const bucket = await service.bucket();
    await setAcl(bucket, { ACL: 'public-read' });
    const { Owner, Grants } = await service.client.send(new GetBucketAclCommand({ Bucket: bucket }));
    await setAcl(bucket, { AccessControlPolicy: { Owner, Grants } });
    expect(await aclOf(bucket)).toEqual([`${alicesId} FULL_CONTROL`, `${allUsers} READ`]);
  });

  it('leaves the owner all rights, whatever it revokes', async () => {
    const bucket = await service.bucket();
    await put(service.client, bucket, 'key', 'content');
    await setAcl(bucket, { AccessControlPolicy: { Owner: { ID: alicesId }, Grants: [] } });
    expect(await aclOf(bucket)).toEqual([]);
    expect(await read(service.client, bucket, 'key')).toBe('content');
    await setAcl(bucket, { ACL: 'private' });
    expect(await aclOf(bucket)).toEqual([`${alicesId} FULL_CONTROL`]);
  });

  it('is gone with its bucket', async () => {
    const bucket = await service.bucket();
    await setAcl(bucket, { ACL: 'public-read' });
    await service.client.send(new DeleteBucketCommand({ Bucket: bucket }));
    await service.client.send(new CreateBucketCommand({ Bucket: bucket }));
    expect(await aclOf(bucket)).toEqual([`${alicesId} FULL_CONTROL`]);
  });

  const document = (owner: string, grants: string): string =>
    `<AccessControlPolicy><Owner><ID>${owner}</ID></Owner><AccessControlList>${grants}</AccessControlList></AccessControlPolicy>`;
  const granted = (type: string, grantee: string, permission = 'READ'): string =>
    '<Grant><Grantee xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance" ' +
    `xsi:type="${type}">${grantee}</Grantee><Permission>${permission}</Permission></Grant>`;
  const bobs = granted('CanonicalUser', `<ID>${bobsId}</ID>`);

  it.each([
    ['neither a document nor header fields', { headers: {} }, 400, 'MissingSecurityHeader'],
    ['an unknown canned ACL', { headers: { 'x-amz-acl': 'public' } }, 400, 'InvalidArgument'],
    ['a malformed list of grantees', { headers: { 'x-amz-grant-read': 'bob' } }, 400, 'InvalidArgument'],
    ['an unknown id', { headers: { 'x-amz-grant-read': 'id="nobody"' } }, 400, 'InvalidArgument'],
    ['an unknown group', { headers: { 'x-amz-grant-read': 'uri="urn:nobody"' } }, 400, 'InvalidArgument'],
    [
      'an unknown e-mail form',
      { headers: { 'x-amz-grant-read': 'emailAddress="no@body"' } },
      400,
      'UnresolvableGrantByEmailAddress',
    ],
    [
      'a canned ACL and grants',
      { headers: { 'x-amz-acl': 'private', 'x-amz-grant-read': `id="${bobsId}"` } },
      400,
      'InvalidRequest',
    ],
    [
      'a canned ACL and a document',
      { headers: { 'x-amz-acl': 'private' }, body: document(alicesId, bobs) },
      400,
      'InvalidRequest',
    ],
    ['what is not XML', { body: 'public-read' }, 400, 'MalformedXML'],
    [
      'an unknown permission',
      { body: document(alicesId, granted('Group', `<URI>${allUsers}</URI>`, 'LOOK')) },
      400,
      'MalformedACLError',
    ],
    [
      'an unknown type of grantee',
      { body: document(alicesId, granted('Somebody', '<ID>x</ID>')) },
      400,
      'MalformedACLError',
    ],
    [
      'an unknown id in it',
      { body: document(alicesId, granted('CanonicalUser', '<ID>x</ID>')) },
      400,
      'InvalidArgument',
    ],
    [
      'an unknown group in it',
      { body: document(alicesId, granted('Group', '<URI>urn:x</URI>')) },
      400,
      'InvalidArgument',
    ],
    [
      'an unknown e-mail form in it',
      { body: document(alicesId, granted('AmazonCustomerByEmail', '<EmailAddress>no@body</EmailAddress>')) },
      400,
      'UnresolvableGrantByEmailAddress',
    ],
    ['another owner', { body: document(bobsId, bobs) }, 403, 'AccessDenied'],
    ['more than a hundred grants', { body: document(alicesId, bobs.repeat(101)) }, 400, 'InvalidRequest'],
  ] as const)('refuses %s, and changes nothing', async (_, request, status, code) => {
    const bucket = await service.bucket();
    const before = await aclOf(bucket);
    expectError(await service.send({ method: 'PUT', path: `/${bucket}`, query: 'acl', ...request }), status, code);
    expect(await aclOf(bucket)).toEqual(before);
  });

  it('takes a hundred grants', async () => {
    const bucket = await service.bucket();
    const body = document(alicesId, bobs.repeat(99) + granted('Group', `<URI>${allUsers}</URI>`));
    expect((await service.send({ method: 'PUT', path: `/${bucket}`, query: 'acl', body })).status).toBe(200);
    expect(await aclOf(bucket)).toEqual([`${allUsers} READ`, `${bobsId} READ`]);
  });
});

describe('a grant on a bucket', () => {
  it('of READ lets others list it, and read nothing', async () => {
    const bucket = await service.bucket();
    await put(service.client, bucket, 'key', 'content');
    await setAcl(bucket, { GrantRead: `id="${bobsId}"` });
    const listing = await service.stranger.send(new ListObjectsV2Command({ Bucket: bucket, FetchOwner: true }));
    expect(listing.Contents!.map(({ Key, Owner }) => [Key, Owner!.ID])).toEqual([['key', alicesId]]);
    await service.stranger.send(new HeadBucketCommand({ Bucket: bucket }));
    expect((await service.send({ path: `/${bucket}`, query: 'versions' }, { key: service.bob })).status).toBe(200);
    await expect(read(service.stranger, bucket, 'key')).rejects.toEqual(s3Error('AccessDenied', 403));
    await expect(put(service.stranger, bucket, 'key')).rejects.toEqual(s3Error('AccessDenied', 403));
    // With READ, a missing key is reported as missing.
    await expect(read(service.stranger, bucket, 'missing')).rejects.toEqual(s3Error('NoSuchKey', 404));
    expectError(await service.sendUnsigned({ path: `/${bucket}` }), 403, 'AccessDenied');
  });

  it('of WRITE lets others write and delete, and see nothing', async () => {
    const bucket = await service.bucket();
    await put(service.client, bucket, 'mine', 'content');
    await setAcl(bucket, { GrantWrite: `id="${bobsId}"` });
    await put(service.stranger, bucket, 'theirs', 'of bob');
    expect(await read(service.stranger, bucket, 'theirs')).toBe('of bob');
    // The owner of the bucket has full control of objects uploaded to it.
    expect(await read(service.client, bucket, 'theirs')).toBe('of bob');
    await expect(service.stranger.send(new ListObjectsV2Command({ Bucket: bucket }))).rejects.toEqual(
      s3Error('AccessDenied', 403),
    );
    await expect(read(service.stranger, bucket, 'missing')).rejects.toEqual(s3Error('AccessDenied', 403));
    expect((await service.send({ method: 'DELETE', path: `/${bucket}/mine` }, { key: service.bob })).status).toBe(204);
    await expect(read(service.client, bucket, 'mine')).rejects.toEqual(s3Error('NoSuchKey', 404));
  });

  it('lets its owner not delete an object of others, but by its version', async () => {
    const bucket = await service.bucket();
    await setAcl(bucket, { GrantWrite: `id="${bobsId}"` });
    await put(service.stranger, bucket, 'theirs', 'of bob');
    expectError(await service.send({ method: 'DELETE', path: `/${bucket}/theirs` }), 403, 'AccessDenied');
    const body = '<Delete><Object><Key>theirs</Key></Object><Object><Key>none</Key></Object></Delete>';
    const several = await service.send({ method: 'POST', path: `/${bucket}`, query: 'delete', body });
    expect(several.status).toBe(200);
    expect(textsOf(several.text, 'Code')).toEqual(['AccessDenied']);
    expect(textsOf(several.text, 'Key').toSorted()).toEqual(['none', 'theirs']);
    expect(await read(service.client, bucket, 'theirs')).toBe('of bob');
    const byVersion = { method: 'DELETE', path: `/${bucket}/theirs`, query: 'versionId=null' };
    expect((await service.send(byVersion)).status).toBe(204);
    await expect(read(service.client, bucket, 'theirs')).rejects.toEqual(s3Error('NoSuchKey', 404));
  });

  it('of READ_ACP and WRITE_ACP lets others read and write it', async () => {
    const bucket = await service.bucket();
    const get = () => service.send({ path: `/${bucket}`, query: 'acl' }, { key: service.bob });
    expectError(await get(), 403, 'AccessDenied');
    await setAcl(bucket, { GrantReadACP: `id="${bobsId}"` });
    expect(textOf((await get()).text, 'ID')).toBe(alicesId);
    await expect(setAcl(bucket, { ACL: 'public-read' }, service.stranger)).rejects.toEqual(
      s3Error('AccessDenied', 403),
    );
    await setAcl(bucket, { GrantWriteACP: `id="${bobsId}"` });
    expectError(await get(), 403, 'AccessDenied');
    await setAcl(bucket, { ACL: 'public-read' }, service.stranger);
    expect(await aclOf(bucket)).toEqual([`${alicesId} FULL_CONTROL`, `${allUsers} READ`]);
  });

  it('of FULL_CONTROL makes nobody its owner', async () => {
    const bucket = await service.bucket();
    await setAcl(bucket, { GrantFullControl: `id="${bobsId}"` });
    await service.stranger.send(new ListObjectsV2Command({ Bucket: bucket }));
    await put(service.stranger, bucket, 'key');
    const versioning = '<VersioningConfiguration><Status>Enabled</Status></VersioningConfiguration>';
    for (const request of [
      { method: 'DELETE', path: `/${bucket}` },
      { method: 'PUT', path: `/${bucket}`, query: 'versioning', body: versioning },
    ]) {
      expectError(await service.send(request, { key: service.bob }), 403, 'AccessDenied');
    }
  });

  it('to everybody holds for those who did not sign', async () => {
    const bucket = await service.bucket();
    await setAcl(bucket, { ACL: 'public-read-write' });
    expect((await service.sendUnsigned({ method: 'PUT', path: `/${bucket}/key`, body: 'content' })).status).toBe(200);
    expect((await service.sendUnsigned({ path: `/${bucket}` })).status).toBe(200);
    // It belongs to the bucket's owner, and is private.
    expectError(await service.sendUnsigned({ path: `/${bucket}/key` }), 403, 'AccessDenied');
    expect(await read(service.client, bucket, 'key')).toBe('content');
    // An anonymous upload would have no initiator that could continue it.
    const uploads = { method: 'POST', path: `/${bucket}/key`, query: 'uploads' };
    expectError(await service.sendUnsigned(uploads), 403, 'AccessDenied');
    expect((await service.sendUnsigned({ method: 'DELETE', path: `/${bucket}/key` })).status).toBe(204);
  });

  it('to users who signed does not', async () => {
    const bucket = await service.bucket();
    await setAcl(bucket, { ACL: 'authenticated-read' });
    await service.stranger.send(new ListObjectsV2Command({ Bucket: bucket }));
    expectError(await service.sendUnsigned({ path: `/${bucket}` }), 403, 'AccessDenied');
  });
});

/** https://docs.aws.amazon.com/AmazonS3/latest/API/API_CreateBucket.html */
describe('CreateBucket', () => {
  it('gives the bucket the ACL of its header fields', async () => {
    const canned = service.freeName();
    await service.client.send(new CreateBucketCommand({ Bucket: canned, ACL: 'public-read' }));
    expect(await aclOf(canned)).toEqual([`${alicesId} FULL_CONTROL`, `${allUsers} READ`]);
    const granted = service.freeName();
    const grants = { GrantRead: `uri="${allUsers}"`, GrantWrite: `id="${bobsId}",emailAddress="${alicesEmail}"` };
    await service.client.send(new CreateBucketCommand({ Bucket: granted, ...grants }));
    expect(await aclOf(granted)).toEqual([`${alicesId} WRITE`, `${allUsers} READ`, `${bobsId} WRITE`]);
  });

  it('changes no ACL of a bucket that the project has', async () => {
    const bucket = await service.bucket();
    await service.client.send(new CreateBucketCommand({ Bucket: bucket, ACL: 'public-read' }));
    expect(await aclOf(bucket)).toEqual([`${alicesId} FULL_CONTROL`]);
  });

  it('makes no bucket for an ACL that is none', async () => {
    const bucket = service.freeName();
    const create = service.client.send(new CreateBucketCommand({ Bucket: bucket, GrantRead: 'id="nobody"' }));
    await expect(create).rejects.toEqual(s3Error('InvalidArgument', 400));
    await expect(service.client.send(new HeadBucketCommand({ Bucket: bucket }))).rejects.toEqual(bodilessError(404));
  });
});
