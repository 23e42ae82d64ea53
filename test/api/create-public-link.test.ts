import { DeleteObjectCommand, PutBucketAclCommand } from '@aws-sdk/client-s3';
import { createHash, randomBytes } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { expectError } from '../support/clients/expect-error.ts';
import { put, setVersioning } from '../support/storage/objects.ts';
import { PublicLinkClient } from '../support/storage/public-links.ts';
import { isInspectable, serviceUnderTest } from '../support/programs/service-under-test.ts';
import { pathOf } from '../support/clients/signer.ts';

const service = serviceUnderTest({ alone: true });
const links = new PublicLinkClient(service);
const day = 24 * 60 * 60 * 1000;

describe('CreatePublicLink', () => {
  it('answers id, URL and times of a link that lasts a day', async () => {
    const bucket = await service.bucket();
    await put(service.client, bucket, 'key', 'content');
    const answer = await links.create(bucket, 'key');
    expect(answer.status).toBe(201);
    expect(answer.text).toMatch(
      new RegExp(
        '^<\\?xml version="1.0" encoding="UTF-8"\\?>\\n<PublicLink xmlns="http://s3.amazonaws.com/doc/2006-03-01/">' +
          `<Id>[-\\w]{28}</Id><Url>${service.ownUrl}/_public/[-\\w]{43}</Url>` +
          '<Created>[-\\dT:.]+Z</Created><Expires>[-\\dT:.]+Z</Expires></PublicLink>$',
      ),
    );
    const { created, expires } = await links.made(bucket, 'key');
    expect(expires - created).toBe(day);
  });

  it('makes another link each time', async () => {
    const bucket = await service.bucket();
    await put(service.client, bucket, 'key', 'content');
    const made = [await links.made(bucket, 'key'), await links.made(bucket, 'key')];
    expect(new Set(made.map(({ url }) => url)).size).toBe(2);
    expect(await links.ids(bucket, 'key')).toEqual(made.map(({ id }) => id));
  });

  it.each(['1', '60', '86400'])('lasts the seconds that are asked for: %s', async (seconds) => {
    const bucket = await service.bucket();
    await put(service.client, bucket, 'key', 'content');
    const { created, expires } = await links.made(bucket, 'key', { expires: seconds });
    expect(expires - created).toBe(Number(seconds) * 1000);
  });

  it.each(['0', '-1', '86401', '1.5', 'day', '1e3'])('refuses a lifetime of %s', async (seconds) => {
    const bucket = await service.bucket();
    await put(service.client, bucket, 'key', 'content');
    expectError(await links.create(bucket, 'key', { expires: seconds }), 400, 'InvalidArgument');
    expect(await links.ids(bucket, 'key')).toEqual([]);
  });

  it('leads to the version that is named', async () => {
    const bucket = await service.bucket();
    await setVersioning(service.client, bucket, 'Enabled');
    const { VersionId } = await put(service.client, bucket, 'key', 'first');
    await put(service.client, bucket, 'key', 'second');
    const { url } = await links.made(bucket, 'key', { versionId: VersionId! });
    expect((await links.follow(url)).text).toBe('first');
  });

  it('knows what is not there', async () => {
    const bucket = await service.bucket();
    await setVersioning(service.client, bucket, 'Enabled');
    await put(service.client, bucket, 'key', 'content');
    const { VersionId } = await service.client.send(new DeleteObjectCommand({ Bucket: bucket, Key: 'key' }));
    expectError(await links.create(bucket, 'other'), 404, 'NoSuchKey');
    expectError(await links.create(bucket, 'key'), 404, 'NoSuchKey');
    expectError(await links.create(bucket, 'key', { versionId: VersionId! }), 405, 'MethodNotAllowed');
    expectError(await links.create(bucket, 'key', { versionId: 'nonsense' }), 400, 'InvalidArgument');
    expectError(await links.create(service.freeName(), 'key'), 404, 'NoSuchBucket');
  });

  it('needs the right to read that version; an explicit Deny counts', async () => {
    const bucket = await service.bucket();
    await setVersioning(service.client, bucket, 'Enabled');
    const { VersionId } = await put(service.client, bucket, 'key', 'first');
    await put(service.client, bucket, 'key', 'second');
    const deny = async (...actions: readonly string[]): Promise<void> => {
      const Resource = `arn:aws:s3:::${bucket}/*`;
      const body = JSON.stringify({ Statement: [{ Effect: 'Deny', Principal: '*', Action: actions, Resource }] });
      expect((await service.send({ method: 'PUT', path: `/${bucket}`, query: 'policy', body })).status).toBe(204);
    };
    await deny('s3:GetObject');
    expectError(await links.create(bucket, 'key'), 403, 'AccessDenied');
    expect((await links.create(bucket, 'key', { versionId: VersionId! })).status).toBe(201);
    await deny('s3:GetObjectVersion');
    expectError(await links.create(bucket, 'key', { versionId: VersionId! }), 403, 'AccessDenied');
    const { url } = await links.made(bucket, 'key');
    await deny('s3:*');
    expect((await links.follow(url)).text).toBe('second');
    await service.send({ method: 'DELETE', path: `/${bucket}`, query: 'policy' });
  });

  it('is refused for what is encrypted with a key of the customer', async () => {
    const bucket = await service.bucket();
    const key = randomBytes(32);
    const headers = {
      'x-amz-server-side-encryption-customer-algorithm': 'AES256',
      'x-amz-server-side-encryption-customer-key': key.toString('base64'),
      'x-amz-server-side-encryption-customer-key-md5': createHash('md5').update(key).digest('base64'),
    };
    const written = await service.send({ method: 'PUT', path: pathOf(bucket, 'key'), body: 'secret', headers });
    expect(written.status).toBe(200);
    expectError(await links.create(bucket, 'key'), 400, 'InvalidRequest');
  });

  it('is for the owner of the bucket and of the object, whatever policy and ACL say', async () => {
    const bucket = await service.bucket();
    await service.client.send(new PutBucketAclCommand({ Bucket: bucket, ACL: 'public-read-write' }));
    const policy = JSON.stringify({
      Version: '2012-10-17',
      Statement: [
        {
          ...{ Effect: 'Allow', Principal: '*', Action: 's3:*' },
          Resource: [`arn:aws:s3:::${bucket}`, `arn:aws:s3:::${bucket}/*`],
        },
      ],
    });
    const set = await service.send({ method: 'PUT', path: `/${bucket}`, query: 'policy', body: policy });
    expect(set.status).toBe(204);
    await put(service.client, bucket, 'mine', 'content', { ACL: 'public-read-write' });
    await put(service.stranger, bucket, 'theirs', 'content', { ACL: 'private' });

    const asBob = { key: service.bob };
    expectError(await links.create(bucket, 'mine', {}, asBob), 403, 'AccessDenied');
    const unsigned = { method: 'POST', path: pathOf(bucket, 'mine'), query: 'public-link' };
    expectError(await service.sendUnsigned(unsigned), 403, 'AccessDenied');
    expect((await links.create(bucket, 'theirs', {}, asBob)).status).toBe(201);
    expect((await links.create(bucket, 'theirs')).status).toBe(201);
    expect(await links.ids(bucket, 'mine')).toEqual([]);
  });

  it('is not asked together with another sub-resource', async () => {
    const bucket = await service.bucket();
    await put(service.client, bucket, 'key', 'content');
    expectError(await links.create(bucket, 'key', { uploads: '' }), 400, 'InvalidArgument');
  });

  it.runIf(isInspectable)('keeps no token', async () => {
    const bucket = await service.bucket();
    await put(service.client, bucket, 'key', 'content');
    const { url, id } = await links.made(bucket, 'key');
    const kept = await service.kept();
    const token = new URL(url).pathname.split('/').at(-1)!;
    expect(kept.some((bytes) => bytes.includes(id))).toBe(true);
    expect(kept.some((bytes) => bytes.includes(token))).toBe(false);
    await links.follow(url);
    expect(await service.log()).not.toContain(token);
  });
});
