import {
  CopyObjectCommand,
  CreateMultipartUploadCommand,
  DeletePublicAccessBlockCommand,
  GetBucketAclCommand,
  GetObjectAclCommand,
  GetObjectCommand,
  GetPublicAccessBlockCommand,
  PutBucketAclCommand,
  PutBucketPolicyCommand,
  PutObjectAclCommand,
  PutObjectCommand,
  PutPublicAccessBlockCommand,
  type PublicAccessBlockConfiguration,
} from '@aws-sdk/client-s3';
import { describe, expect, it } from 'vitest';
import { expectError, s3Error } from '../support/clients/expect-error.ts';
import { formBody, formType, signedV4 } from '../support/clients/form.ts';
import { put, read } from '../support/storage/objects.ts';
import { accounts } from '../support/programs/server.ts';
import { serviceUnderTest } from '../support/programs/service-under-test.ts';

const service = serviceUnderTest();

const [own, other] = accounts;
const denied = s3Error('AccessDenied', 403);
const notFound = s3Error('NoSuchPublicAccessBlockConfiguration', 404);
const allUsers = 'http://acs.amazonaws.com/groups/global/AllUsers';
const authenticatedUsers = 'http://acs.amazonaws.com/groups/global/AuthenticatedUsers';
const none = {
  BlockPublicAcls: false,
  IgnorePublicAcls: false,
  BlockPublicPolicy: false,
  RestrictPublicBuckets: false,
};

async function block(bucket: string, flags: PublicAccessBlockConfiguration): Promise<void> {
  const command = new PutPublicAccessBlockCommand({ Bucket: bucket, PublicAccessBlockConfiguration: flags });
  await service.client.send(command);
}

async function blockOf(bucket: string, client = service.client): Promise<PublicAccessBlockConfiguration> {
  return (await client.send(new GetPublicAccessBlockCommand({ Bucket: bucket }))).PublicAccessBlockConfiguration!;
}

async function openPolicy(bucket: string, principal: unknown = '*', condition?: object): Promise<void> {
  const Policy = JSON.stringify({
    Version: '2012-10-17',
    Statement: [
      {
        ...{ Effect: 'Allow', Principal: principal, Action: ['s3:GetObject', 's3:ListBucket'] },
        Resource: [`arn:aws:s3:::${bucket}`, `arn:aws:s3:::${bucket}/*`],
        ...(condition && { Condition: condition }),
      },
    ],
  });
  await service.client.send(new PutBucketPolicyCommand({ Bucket: bucket, Policy }));
}

/** Returns the statuses of an anonymous GET of an object, and of one by another project. */
async function access(bucket: string, key = 'k'): Promise<readonly [anonymous: number, stranger: number | undefined]> {
  const anonymous = (await service.sendUnsigned({ path: `/${bucket}/${key}` })).status;
  const stranger = await service.stranger.send(new GetObjectCommand({ Bucket: bucket, Key: key })).then(
    ({ $metadata }) => $metadata.httpStatusCode,
    (error: { $metadata: { httpStatusCode: number } }) => error.$metadata.httpStatusCode,
  );
  return [anonymous, stranger];
}

/** https://docs.aws.amazon.com/AmazonS3/latest/API/API_PutPublicAccessBlock.html */
describe('the public access block of a bucket', () => {
  it('is four flags, which are false where they are left out, and is taken away', async () => {
    const bucket = await service.bucket();
    await expect(blockOf(bucket)).rejects.toEqual(notFound);
    await block(bucket, { BlockPublicAcls: true, RestrictPublicBuckets: true });
    expect(await blockOf(bucket)).toEqual({ ...none, BlockPublicAcls: true, RestrictPublicBuckets: true });
    await block(bucket, { IgnorePublicAcls: true, BlockPublicPolicy: true });
    expect(await blockOf(bucket)).toEqual({ ...none, IgnorePublicAcls: true, BlockPublicPolicy: true });
    await block(bucket, {});
    expect(await blockOf(bucket)).toEqual(none);
    const answer = await service.client.send(new DeletePublicAccessBlockCommand({ Bucket: bucket }));
    expect(answer.$metadata.httpStatusCode).toBe(204);
    await expect(blockOf(bucket)).rejects.toEqual(notFound);
  });

  it.each([
    ['a flag that is no truth value', '<BlockPublicAcls>maybe</BlockPublicAcls>'],
    ['a flag there is not', '<BlockEverything>true</BlockEverything>'],
    ['a flag twice', '<BlockPublicAcls>true</BlockPublicAcls><BlockPublicAcls>false</BlockPublicAcls>'],
  ])('cannot have %s', async (_, flags) => {
    const bucket = await service.bucket();
    const body = `<PublicAccessBlockConfiguration>${flags}</PublicAccessBlockConfiguration>`;
    const answer = await service.send({ method: 'PUT', path: `/${bucket}`, query: 'publicAccessBlock', body });
    expectError(answer, 400, 'MalformedXML');
    await expect(blockOf(bucket)).rejects.toEqual(notFound);
  });

  it('takes TRUE as AWS writes it', async () => {
    const bucket = await service.bucket();
    const body =
      '<PublicAccessBlockConfiguration xmlns="http://s3.amazonaws.com/doc/2006-03-01/">' +
      '<BlockPublicAcls>TRUE</BlockPublicAcls></PublicAccessBlockConfiguration>';
    const answer = await service.send({ method: 'PUT', path: `/${bucket}`, query: 'publicAccessBlock', body });
    expect([answer.status, answer.text]).toEqual([200, '']);
    expect(await blockOf(bucket)).toEqual({ ...none, BlockPublicAcls: true });
  });

  it('is for the project of the owner, and for whom the policy allows it', async () => {
    const bucket = await service.bucket();
    await block(bucket, none);
    // No grant is one to the settings of a bucket.
    await service.client.send(new PutBucketAclCommand({ Bucket: bucket, GrantFullControl: `id=${other.id}` }));
    const place = { Bucket: bucket, PublicAccessBlockConfiguration: none };
    await expect(blockOf(bucket, service.stranger)).rejects.toEqual(denied);
    await expect(service.stranger.send(new PutPublicAccessBlockCommand(place))).rejects.toEqual(denied);
    await expect(service.stranger.send(new DeletePublicAccessBlockCommand(place))).rejects.toEqual(denied);
    const statement = { Effect: 'Allow', Principal: '*', Resource: `arn:aws:s3:::${bucket}` };
    const Action = ['s3:GetBucketPublicAccessBlock', 's3:PutBucketPublicAccessBlock'];
    const Policy = JSON.stringify({ Statement: [{ ...statement, Action }] });
    await service.client.send(new PutBucketPolicyCommand({ Bucket: bucket, Policy }));
    expect(await blockOf(bucket, service.stranger)).toEqual(none);
    await service.stranger.send(new PutPublicAccessBlockCommand(place));
    await service.stranger.send(new DeletePublicAccessBlockCommand(place));
    await expect(blockOf(bucket)).rejects.toEqual(notFound);
  });
});

/** Posts a form for the key `new` that asks for an ACL. */
function postWith(bucket: string, acl: { ACL: string } | { GrantRead: string } | { GrantReadACP: string }) {
  const asked: readonly (readonly [string, string])[] =
    'ACL' in acl
      ? [['acl', acl.ACL]]
      : 'GrantRead' in acl
        ? [['x-amz-grant-read', acl.GrantRead]]
        : [['x-amz-grant-read-acp', acl.GrantReadACP]];
  const fields = [['key', 'new'] as const, ...asked];
  const policy = signedV4(service.alice, [{ bucket }, ...fields.map(([name, value]) => ({ [name]: value }))]);
  const body = formBody([...fields, ...policy], { content: 'content' });
  return service.sendUnsigned({ method: 'POST', path: `/${bucket}`, headers: { 'content-type': formType }, body });
}

/** https://docs.aws.amazon.com/AmazonS3/latest/userguide/access-control-block-public-access.html#access-control-block-public-access-options */
describe('BlockPublicAcls', () => {
  const publicAcls = [
    { ACL: 'public-read' },
    { ACL: 'authenticated-read' },
    { GrantRead: `uri=${allUsers}` },
    { GrantReadACP: `uri=${authenticatedUsers}` },
  ] as const;

  it.each(publicAcls)('refuses %j of buckets and objects, whatever the request, and nothing else', async (acl) => {
    const { client } = service;
    const bucket = await service.bucket();
    await put(client, bucket, 'k', 'content');
    await block(bucket, { BlockPublicAcls: true });
    const object = { Bucket: bucket, Key: 'new', ...acl };
    for (const request of [
      () => client.send(new PutBucketAclCommand({ Bucket: bucket, ...acl })),
      () => client.send(new PutObjectAclCommand({ Bucket: bucket, Key: 'k', ...acl })),
      () => client.send(new PutObjectCommand({ ...object, Body: 'content' })),
      () => client.send(new CopyObjectCommand({ ...object, CopySource: `${bucket}/k` })),
      () => client.send(new CreateMultipartUploadCommand(object)),
    ]) {
      await expect(request()).rejects.toEqual(denied);
    }
    expectError(await postWith(bucket, acl), 403, 'AccessDenied');
    await expect(read(client, bucket, 'new')).rejects.toEqual(s3Error('NoSuchKey', 404));
    await client.send(new PutBucketAclCommand({ Bucket: bucket, GrantRead: `id=${other.id}` }));
    await put(client, bucket, 'new', 'content', { GrantRead: `id=${other.id}` });
    await client.send(new PutObjectAclCommand({ Bucket: bucket, Key: 'k', ACL: 'bucket-owner-full-control' }));
  });

  it('refuses a document that grants to everybody, and leaves what was granted before', async () => {
    const { client } = service;
    const bucket = await service.bucket();
    await put(client, bucket, 'k', 'content', { ACL: 'public-read' });
    const before = await client.send(new GetObjectAclCommand({ Bucket: bucket, Key: 'k' }));
    await block(bucket, { BlockPublicAcls: true });
    const AccessControlPolicy = { Owner: before.Owner, Grants: before.Grants };
    const again = new PutObjectAclCommand({ Bucket: bucket, Key: 'k', AccessControlPolicy });
    await expect(client.send(again)).rejects.toEqual(denied);
    expect(await access(bucket)).toEqual([200, 200]);
  });
});

describe('IgnorePublicAcls', () => {
  it('has grants to groups count for nothing, though they are listed', async () => {
    const { client } = service;
    const bucket = await service.bucket();
    await client.send(new PutBucketAclCommand({ Bucket: bucket, ACL: 'public-read-write' }));
    await put(client, bucket, 'open', 'content', { ACL: 'public-read' });
    await put(client, bucket, 'known', 'content', { ACL: 'authenticated-read' });
    await put(client, bucket, 'named', 'content', { GrantRead: `id=${other.id}` });
    expect([await access(bucket, 'open'), await access(bucket, 'known')]).toEqual([
      [200, 200],
      [403, 200],
    ]);
    await block(bucket, { IgnorePublicAcls: true });
    expect(await access(bucket, 'open')).toEqual([403, 403]);
    expect(await access(bucket, 'known')).toEqual([403, 403]);
    expect(await access(bucket, 'named')).toEqual([403, 200]);
    expectError(await service.sendUnsigned({ path: `/${bucket}` }), 403, 'AccessDenied');
    expectError(await service.sendUnsigned({ method: 'PUT', path: `/${bucket}/new`, body: 'x' }), 403, 'AccessDenied');
    const { Grants } = await client.send(new GetBucketAclCommand({ Bucket: bucket }));
    expect(Grants!.filter(({ Grantee }) => Grantee!.URI === allUsers)).toHaveLength(2);
    await block(bucket, {});
    expect(await access(bucket, 'open')).toEqual([200, 200]);
  });
});

describe('BlockPublicPolicy', () => {
  it('refuses public policies and no others', async () => {
    const bucket = await service.bucket();
    await block(bucket, { BlockPublicPolicy: true });
    await expect(openPolicy(bucket)).rejects.toEqual(denied);
    await expect(openPolicy(bucket, { AWS: '*' })).rejects.toEqual(denied);
    await openPolicy(bucket, { AWS: other.id });
    await openPolicy(bucket, '*', { IpAddress: { 'aws:SourceIp': '192.0.2.0/24' } });
    const body = '{"Statement": []';
    const answer = await service.send({ method: 'PUT', path: `/${bucket}`, query: 'policy', body });
    expectError(answer, 400, 'MalformedPolicy');
  });

  it('leaves the one there is', async () => {
    const bucket = await service.bucket();
    await put(service.client, bucket, 'k', 'content');
    await openPolicy(bucket);
    await block(bucket, { BlockPublicPolicy: true });
    expect(await access(bucket)).toEqual([200, 200]);
  });
});

describe('RestrictPublicBuckets', () => {
  it('lets only the project of the owner in by a public policy', async () => {
    const bucket = await service.bucket();
    await put(service.client, bucket, 'k', 'content');
    await openPolicy(bucket);
    expect(await access(bucket)).toEqual([200, 200]);
    await block(bucket, { RestrictPublicBuckets: true });
    expect(await access(bucket)).toEqual([403, 403]);
    expectError(await service.sendUnsigned({ path: `/${bucket}` }), 403, 'AccessDenied');
    expect(await read(service.client, bucket, 'k')).toBe('content');
    await block(bucket, {});
    expect(await access(bucket)).toEqual([200, 200]);
  });

  it('keeps out also a project that the public policy names besides', async () => {
    const bucket = await service.bucket();
    await put(service.client, bucket, 'k', 'content');
    const statement = (principal: unknown, key: string): object => {
      const Resource = `arn:aws:s3:::${bucket}/${key}`;
      return { Effect: 'Allow', Principal: principal, Action: 's3:GetObject', Resource };
    };
    const set = (...Statement: object[]) =>
      service.client.send(new PutBucketPolicyCommand({ Bucket: bucket, Policy: JSON.stringify({ Statement }) }));
    const named = statement({ AWS: other.id }, 'k');
    await set(named, statement('*', 'elsewhere'));
    expect(await access(bucket)).toEqual([403, 200]);
    await block(bucket, { RestrictPublicBuckets: true });
    expect(await access(bucket)).toEqual([403, 403]);
    await set(named);
    expect(await access(bucket)).toEqual([403, 200]);
  });

  it('does not concern a policy that is not public, nor what a public one denies', async () => {
    const bucket = await service.bucket();
    await put(service.client, bucket, 'k', 'content');
    await block(bucket, { RestrictPublicBuckets: true });
    await openPolicy(bucket, { AWS: other.id });
    expect(await access(bucket)).toEqual([403, 200]);
    const statement = (Effect: string, Action: string): object => {
      return { Effect, Action, Principal: '*', Resource: `arn:aws:s3:::${bucket}/*` };
    };
    const Policy = JSON.stringify({
      Statement: [statement('Allow', 's3:PutObject'), statement('Deny', 's3:GetObject')],
    });
    await service.client.send(new PutBucketPolicyCommand({ Bucket: bucket, Policy }));
    await expect(read(service.client, bucket, 'k')).rejects.toEqual(denied);
  });
});

it('counts for a stranger who expects it of the right bucket owner', async () => {
  const bucket = await service.bucket();
  const expected = { Bucket: bucket, ExpectedBucketOwner: other.id, PublicAccessBlockConfiguration: none };
  await expect(service.client.send(new PutPublicAccessBlockCommand(expected))).rejects.toEqual(denied);
  await service.client.send(new PutPublicAccessBlockCommand({ ...expected, ExpectedBucketOwner: own.id }));
  expect(await blockOf(bucket)).toEqual(none);
});
