import { describe, expect, it } from 'vitest';
import { PutBucketAclCommand } from '@aws-sdk/client-s3';
import { expectError, textOf, textsOf } from '../support/clients/expect-error.ts';
import { put, setVersioning } from '../support/storage/objects.ts';
import { PublicLinkClient } from '../support/storage/public-links.ts';
import { serviceUnderTest } from '../support/programs/service-under-test.ts';
import { pathOf } from '../support/clients/signer.ts';

const service = serviceUnderTest();
const links = new PublicLinkClient(service);

describe('ListPublicLinks', () => {
  it('shows the links of a key, oldest first, and no token', async () => {
    const bucket = await service.bucket();
    await put(service.client, bucket, 'key', 'content');
    await put(service.client, bucket, 'key/other', 'content');
    const made = [await links.made(bucket, 'key'), await links.made(bucket, 'key', { expires: '600' })];
    await links.made(bucket, 'key/other');
    const { status, text } = await links.list(bucket, 'key');
    expect(status).toBe(200);
    expect(text).toContain('<ListPublicLinksResult xmlns="http://s3.amazonaws.com/doc/2006-03-01/">');
    expect(textsOf(text, 'Id')).toEqual(made.map(({ id }) => id));
    expect(textsOf(text, 'VersionId')).toEqual(['null', 'null']);
    expect(textsOf(text, 'Expires').map(Date.parse)).toEqual(made.map(({ expires }) => expires));
    expect(textsOf(text, 'Created').map(Date.parse)).toEqual(made.map(({ created }) => created));
    for (const { url } of made) expect(text).not.toContain(url.split('/').at(-1));
  });

  it('is empty for a key without links', async () => {
    const bucket = await service.bucket();
    expect(await links.ids(bucket, 'key')).toEqual([]);
    expectError(await links.list(service.freeName(), 'key'), 404, 'NoSuchBucket');
  });

  it('comes in pages', async () => {
    const bucket = await service.bucket();
    await put(service.client, bucket, 'key', 'content');
    const made: string[] = [];
    for (let count = 0; count < 5; count += 1) made.push((await links.made(bucket, 'key')).id);
    const found: string[] = [];
    let marker: string | undefined;
    do {
      const page = { 'max-links': '2', ...(marker !== undefined && { marker }) };
      const { text } = await links.list(bucket, 'key', page);
      found.push(...textsOf(text, 'Id'));
      marker = textOf(text, 'NextMarker');
      expect(textOf(text, 'IsTruncated')).toBe(String(marker !== undefined));
    } while (marker !== undefined);
    expect(found).toEqual(made);
    expectError(await links.list(bucket, 'key', { marker: 'nonsense' }), 400, 'InvalidArgument');
    expectError(await links.list(bucket, 'key', { 'max-links': '-1' }), 400, 'InvalidArgument');
  });

  it('leaves out what leads nowhere: ended links, and those of versions that are gone', async () => {
    const bucket = await service.bucket();
    await put(service.client, bucket, 'key', 'content');
    const gone = await links.made(bucket, 'key');
    expect((await links.revoke(bucket, 'key', gone.id)).status).toBe(204);
    await links.made(bucket, 'key');
    await put(service.client, bucket, 'key', 'other content');
    expect(await links.ids(bucket, 'key')).toEqual([]);
  });

  it('shows those of a version, if one is named', async () => {
    const bucket = await service.bucket();
    await setVersioning(service.client, bucket, 'Enabled');
    const { VersionId } = await put(service.client, bucket, 'key', 'first');
    const first = await links.made(bucket, 'key');
    await put(service.client, bucket, 'key', 'second');
    const second = await links.made(bucket, 'key');
    expect(await links.ids(bucket, 'key')).toEqual([first.id, second.id]);
    expect(await links.ids(bucket, 'key', { versionId: VersionId! })).toEqual([first.id]);
  });

  it('is for owners, and shows each the links to what is theirs', async () => {
    const bucket = await service.bucket();
    await setVersioning(service.client, bucket, 'Enabled');
    await service.client.send(new PutBucketAclCommand({ Bucket: bucket, ACL: 'public-read-write' }));
    await put(service.client, bucket, 'key', 'of alice', { ACL: 'public-read' });
    const alices = await links.made(bucket, 'key');
    const asBob = { key: service.bob };
    expectError(await links.list(bucket, 'key', {}, asBob), 403, 'AccessDenied');
    expectError(await service.sendUnsigned({ path: pathOf(bucket, 'key'), query: 'public-link' }), 403, 'AccessDenied');
    await put(service.stranger, bucket, 'key', 'of bob');
    const bobs = await links.made(bucket, 'key', {}, asBob);
    expect(await links.ids(bucket, 'key', {}, asBob)).toEqual([bobs.id]);
    expect(await links.ids(bucket, 'key')).toEqual([alices.id, bobs.id]);
  });
});
