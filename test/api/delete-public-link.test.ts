import { PutBucketAclCommand } from '@aws-sdk/client-s3';
import { describe, expect, it } from 'vitest';
import { expectError } from '../support/clients/expect-error.ts';
import { put, setVersioning } from '../support/storage/objects.ts';
import { PublicLinkClient } from '../support/storage/public-links.ts';
import { serviceUnderTest } from '../support/programs/service-under-test.ts';
import { pathOf } from '../support/clients/signer.ts';

const service = serviceUnderTest();
const links = new PublicLinkClient(service);

describe('DeletePublicLink', () => {
  it('ends a link at once, and no other', async () => {
    const bucket = await service.bucket();
    await put(service.client, bucket, 'key', 'content');
    const ended = await links.made(bucket, 'key');
    const kept = await links.made(bucket, 'key');
    const answer = await links.revoke(bucket, 'key', ended.id);
    expect([answer.status, answer.text]).toEqual([204, '']);
    expectError(await links.follow(ended.url), 404, 'NoSuchPublicLink');
    expect((await links.follow(kept.url)).text).toBe('content');
    expect(await links.ids(bucket, 'key')).toEqual([kept.id]);
  });

  it('knows no link that is not there, or is of another key', async () => {
    const bucket = await service.bucket();
    await put(service.client, bucket, 'key', 'content');
    await put(service.client, bucket, 'other', 'content');
    const { id, url } = await links.made(bucket, 'key');
    expectError(await links.revoke(bucket, 'other', id), 404, 'NoSuchPublicLink');
    expectError(await links.revoke(bucket, 'key', 'nonsense'), 404, 'NoSuchPublicLink');
    expectError(await links.revoke(bucket, 'key', 'A'.repeat(28)), 404, 'NoSuchPublicLink');
    expect((await links.follow(url)).status).toBe(200);
    await links.revoke(bucket, 'key', id);
    expectError(await links.revoke(bucket, 'key', id), 404, 'NoSuchPublicLink');
  });

  it('must be told which', async () => {
    const bucket = await service.bucket();
    await put(service.client, bucket, 'key', 'content');
    const { url } = await links.made(bucket, 'key');
    const request = { method: 'DELETE', path: pathOf(bucket, 'key'), query: 'public-link' };
    expectError(await service.send(request), 400, 'InvalidArgument');
    expect((await links.follow(url)).text).toBe('content');
  });

  it('is for owners: who owns the current version need not own the one that a link leads to', async () => {
    const bucket = await service.bucket();
    await setVersioning(service.client, bucket, 'Enabled');
    await service.client.send(new PutBucketAclCommand({ Bucket: bucket, ACL: 'public-read-write' }));
    await put(service.client, bucket, 'key', 'of alice');
    const alices = await links.made(bucket, 'key');
    const asBob = { key: service.bob };
    expectError(await links.revoke(bucket, 'key', alices.id, asBob), 403, 'AccessDenied');
    await put(service.stranger, bucket, 'key', 'of bob');
    expectError(await links.revoke(bucket, 'key', alices.id, asBob), 403, 'AccessDenied');
    expect((await links.follow(alices.url)).text).toBe('of alice');
    const bobs = await links.made(bucket, 'key', {}, asBob);
    expect((await links.revoke(bucket, 'key', bobs.id, asBob)).status).toBe(204);
    expect((await links.revoke(bucket, 'key', alices.id)).status).toBe(204);
  });
});
