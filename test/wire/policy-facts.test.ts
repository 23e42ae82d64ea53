import { expect, it } from 'vitest';
import { expectError } from '../support/clients/expect-error.ts';
import { formBody, formType } from '../support/clients/form.ts';
import { put } from '../support/storage/objects.ts';
import type { RawResponse } from '../support/clients/raw-client.ts';
import { serviceUnderTest } from '../support/programs/service-under-test.ts';
import type { Unsigned } from '../support/clients/signer.ts';

/** Conditions of policies judge what an operation will do. Whatever it ignores, they ignore. */

const service = serviceUnderTest();
const stranger = { key: service.bob };

/** A bucket with an object `source`, and a policy that allows everybody these actions on these conditions. */
async function allowing(actions: string | readonly string[], Condition: object): Promise<string> {
  const bucket = await service.bucket();
  await put(service.client, bucket, 'source', 'content');
  const resources = [`arn:aws:s3:::${bucket}`, `arn:aws:s3:::${bucket}/*`];
  const everybody = { Effect: 'Allow', Principal: '*', Resource: resources };
  const Statement = [
    { ...everybody, Action: ['s3:GetObject', 's3:GetObjectTagging', 's3:DeleteObject'] },
    { ...everybody, Action: actions, Condition },
  ];
  const body = JSON.stringify({ Version: '2012-10-17', Statement });
  const answer = await service.send({ method: 'PUT', path: `/${bucket}`, query: 'policy', body });
  expect(answer.status, answer.text).toBe(204);
  return bucket;
}

function sent(request: Unsigned): Promise<RawResponse> {
  return service.send(request, stranger);
}

it('a form that names the source of a copy is no copy', async () => {
  const bucket = await allowing('s3:PutObject', { StringLike: { 's3:x-amz-copy-source': '*/source' } });
  const fields = [
    ['key', 'target'],
    ['x-amz-copy-source', `${bucket}/source`],
  ] as const;
  const form = { body: formBody(fields, { content: 'arbitrary' }), headers: { 'content-type': formType } };
  expectError(await service.sendUnsigned({ method: 'POST', path: `/${bucket}`, ...form }), 403, 'AccessDenied');
  const headers = { 'x-amz-copy-source': `/${bucket}/source` };
  expect((await sent({ method: 'PUT', path: `/${bucket}/target`, headers })).status).toBe(200);
});

it('a form that is told how to copy metadata copies none', async () => {
  const bucket = await allowing('s3:PutObject', { StringEquals: { 's3:x-amz-metadata-directive': 'REPLACE' } });
  const fields = [
    ['key', 'target'],
    ['x-amz-metadata-directive', 'REPLACE'],
  ] as const;
  const form = { body: formBody(fields, { content: 'x' }), headers: { 'content-type': formType } };
  expectError(await service.sendUnsigned({ method: 'POST', path: `/${bucket}`, ...form }), 403, 'AccessDenied');
  const headers = { 'x-amz-metadata-directive': 'REPLACE' };
  const upload = { method: 'PUT', path: `/${bucket}/target`, body: 'x', headers };
  expectError(await sent(upload), 403, 'AccessDenied');
});

it('a copy that keeps the tags of its source sets none of its own', async () => {
  const condition = { StringEquals: { 's3:RequestObjectTag/checked': 'yes' } };
  const bucket = await allowing(['s3:PutObject', 's3:PutObjectTagging'], condition);
  const copy = (headers: Readonly<Record<string, string>>): Promise<RawResponse> => {
    const all = { 'x-amz-copy-source': `/${bucket}/source`, 'x-amz-tagging': 'checked=yes', ...headers };
    return sent({ method: 'PUT', path: `/${bucket}/target`, headers: all });
  };
  expectError(await copy({}), 403, 'AccessDenied');
  expectError(await copy({ 'x-amz-tagging-directive': 'COPY' }), 403, 'AccessDenied');
  expect((await copy({ 'x-amz-tagging-directive': 'REPLACE' })).status).toBe(200);
});

it.each([
  ['encryption', { 'x-amz-server-side-encryption': 'AES256' }, 's3:x-amz-server-side-encryption', 'AES256'],
  ['an ACL', { 'x-amz-acl': 'bucket-owner-full-control' }, 's3:x-amz-acl', 'bucket-owner-full-control'],
  ['the source of a copy', { 'x-amz-copy-source': '/a/b' }, 's3:x-amz-copy-source', 'a/b'],
])('a rename that asks for %s gets none', async (_, headers, key, value) => {
  const bucket = await allowing('s3:PutObject', { StringEquals: { [key]: value } });
  const more = { 'x-amz-rename-source': 'source', ...headers };
  const request = { method: 'PUT', path: `/${bucket}/target`, query: 'renameObject', headers: more };
  expectError(await sent(request), 403, 'AccessDenied');
});

it('what describes a new object is nothing to other changes and to reads', async () => {
  const key = 's3:x-amz-acl';
  const bucket = await allowing(['s3:*Tagging', 's3:GetObjectAcl', 's3:ListBucket', 's3:DeleteObjectVersion'], {
    StringEquals: { [key]: 'private' },
  });
  const headers = { 'x-amz-acl': 'private' };
  const path = `/${bucket}/source`;
  const body = '<Tagging><TagSet/></Tagging>';
  expectError(await sent({ method: 'PUT', path, query: 'tagging', body, headers }), 403, 'AccessDenied');
  expectError(await sent({ method: 'DELETE', path, query: 'tagging', headers }), 403, 'AccessDenied');
  expectError(await sent({ method: 'DELETE', path, query: 'versionId=null', headers }), 403, 'AccessDenied');
  expectError(await sent({ path, query: 'acl', headers }), 403, 'AccessDenied');
  expectError(await sent({ path: `/${bucket}`, headers }), 403, 'AccessDenied');
});

it('a listing of uploads has no max-keys, and other requests no parameters of listings', async () => {
  const actions = ['s3:ListBucketMultipartUploads', 's3:ListBucket'];
  const bucket = await allowing(actions, { NumericLessThanEquals: { 's3:max-keys': '10' } });
  const path = `/${bucket}`;
  expectError(await sent({ path, query: 'uploads&max-keys=10' }), 403, 'AccessDenied');
  expect((await sent({ method: 'HEAD', path, query: 'max-keys=10' })).status).toBe(403);
  expectError(await sent({ path, query: 'max-keys=11' }), 403, 'AccessDenied');
  expect((await sent({ path, query: 'max-keys=10' })).status).toBe(200);
});

it('the right to write to a bucket does not let a caller add the tag by which a policy lets an object be read', async () => {
  const bucket = await service.bucket();
  await put(service.client, bucket, 'key', 'content');
  const path = `/${bucket}/key`;
  // A grant on the bucket, then one on the object, too.
  for (const where of [`/${bucket}`, path]) {
    const acl = { method: 'PUT', path: where, query: 'acl', headers: { 'x-amz-acl': 'public-read-write' } };
    expect((await service.send(acl)).status).toBe(200);
    const body = '<Tagging><TagSet><Tag><Key>access</Key><Value>public</Value></Tag></TagSet></Tagging>';
    for (const query of ['tagging', 'tagging&versionId=null']) {
      expectError(await sent({ method: 'PUT', path, query, body }), 403, 'AccessDenied');
      expectError(await sent({ method: 'DELETE', path, query }), 403, 'AccessDenied');
      expectError(await service.sendUnsigned({ method: 'PUT', path, query, body }), 403, 'AccessDenied');
    }
  }
});
