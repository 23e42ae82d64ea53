import { DeleteObjectCommand, RenameObjectCommand, PutBucketCorsCommand } from '@aws-sdk/client-s3';
import { describe, expect, it } from 'vitest';
import { expectError } from '../support/clients/expect-error.ts';
import { untilFound } from '../support/runs/eventually.ts';
import { md5Tag, put, setVersioning } from '../support/storage/objects.ts';
import { PublicLinkClient } from '../support/storage/public-links.ts';
import { serviceUnderTest } from '../support/programs/service-under-test.ts';

const service = serviceUnderTest();
const links = new PublicLinkClient(service);

async function rename(bucket: string, from: string, to: string): Promise<void> {
  await service.client.send(new RenameObjectCommand({ Bucket: bucket, Key: to, RenameSource: `/${bucket}/${from}` }));
}

describe('GetPublicLink', () => {
  it('gives anybody a private object, safely', async () => {
    const bucket = await service.bucket();
    await put(service.client, bucket, 'key.txt', 'content', {
      ...{ ContentType: 'text/plain', CacheControl: 'max-age=86400', Metadata: { colour: 'blue' } },
    });
    const { url } = await links.made(bucket, 'key.txt');
    const got = await links.follow(url);
    expect([got.status, got.text]).toEqual([200, 'content']);
    const fields = {
      'content-type': 'text/plain',
      'content-length': '7',
      etag: md5Tag('content'),
      'accept-ranges': 'bytes',
      'x-amz-meta-colour': 'blue',
      'content-security-policy': 'sandbox',
      'x-content-type-options': 'nosniff',
      'cache-control': 'private, no-cache',
      'content-disposition': undefined,
    };
    for (const [name, value] of Object.entries(fields)) expect([name, got.header(name)]).toEqual([name, value]);

    const head = await links.follow(url, {}, 'HEAD');
    expect([head.status, head.text, head.header('content-length')]).toEqual([200, '', '7']);
    expect(head.header('content-security-policy')).toBe('sandbox');
  });

  it.each([
    ['text/html', 'page.html', {}, 'attachment; filename="page.html"'],
    ['Text/HTML; charset=utf-8', 'a/b/page', {}, 'attachment; filename="page"'],
    ['application/xhtml+xml', 'page', {}, 'attachment; filename="page"'],
    ['image/svg+xml', 'image', {}, 'attachment; filename="image"'],
    ['text/xml', 'feed', {}, 'attachment; filename="feed"'],
    ['application/pdf', 'paper', {}, 'attachment; filename="paper"'],
    ['text/javascript', 'script', {}, 'attachment; filename="script"'],
    ['text/plain, text/html', 'two', {}, 'attachment; filename="two"'],
    ['what/ever', 'unknown', {}, 'attachment; filename="unknown"'],
    [undefined, 'none', {}, 'attachment; filename="none"'],
    [
      'text/html',
      'x/Grüße "1".html',
      {},
      `attachment; filename="Gr__e _1_.html"; filename*=UTF-8''Gr%C3%BC%C3%9Fe%20%221%22.html`,
    ],
    ['text/html', 'folder/', {}, 'attachment; filename="download"'],
    ['text/html', 'key', { ContentDisposition: 'inline; filename="seen.html"' }, 'attachment; filename="seen.html"'],
    [
      'text/html',
      'key',
      { ContentDisposition: `inline; filename="x"; filename*=UTF-8''%E2%82%AC.html` },
      `attachment; filename="_.html"; filename*=UTF-8''%E2%82%AC.html`,
    ],
    ['text/plain', 'key', { ContentDisposition: 'inline; filename="a.txt"' }, 'inline; filename="a.txt"'],
    ['image/png', 'key', {}, undefined],
    ['video/mp4', 'key', {}, undefined],
  ])('saves what could hold script: %s, %s', async (ContentType, key, more, disposition) => {
    const bucket = await service.bucket();
    await put(service.client, bucket, key, 'content', { ...more, ...(ContentType !== undefined && { ContentType }) });
    const { url } = await links.made(bucket, key);
    for (const method of ['GET', 'HEAD']) {
      const got = await links.follow(url, {}, method);
      expect([got.status, got.header('content-disposition')]).toEqual([200, disposition]);
      expect(got.header('x-content-type-options')).toBe('nosniff');
    }
  });

  it('answers ranges and conditions', async () => {
    const bucket = await service.bucket();
    await put(service.client, bucket, 'key', '0123456789');
    const { url } = await links.made(bucket, 'key');
    const etag = md5Tag('0123456789');
    const part = await links.follow(url, { range: 'bytes=2-4' });
    expect([part.status, part.text, part.header('content-range')]).toEqual([206, '234', 'bytes 2-4/10']);
    expect((await links.follow(url, { range: 'bytes=2-4', 'if-range': '"other"' })).status).toBe(200);
    expectError(await links.follow(url, { range: 'bytes=10-' }), 416, 'InvalidRange');
    const same = await links.follow(url, { 'if-none-match': etag });
    expect([same.status, same.text, same.header('etag')]).toEqual([304, '', etag]);
    expect(same.header('content-security-policy')).toBe('sandbox');
    expectError(await links.follow(url, { 'if-match': '"other"' }), 412, 'PreconditionFailed');
    expect((await links.follow(url, { 'if-match': etag }, 'HEAD')).status).toBe(200);
  });

  it('takes no notice of credentials, nor of the query', async () => {
    const bucket = await service.bucket();
    await put(service.client, bucket, 'key', 'content', { ContentType: 'text/plain' });
    const { url } = await links.made(bucket, 'key');
    const signed = await links.follow(url, { authorization: 'AWS4-HMAC-SHA256 nonsense' });
    expect([signed.status, signed.text]).toEqual([200, 'content']);
    const query = 'response-content-type=text/html&partNumber=9&versionId=nonsense&acl';
    const asked = await links.follow(`${url}?${query}`);
    expect([asked.status, asked.text, asked.header('content-type')]).toEqual([200, 'content', 'text/plain']);
  });

  it('stays with its version: another that becomes current is not served', async () => {
    const bucket = await service.bucket();
    await setVersioning(service.client, bucket, 'Enabled');
    const { VersionId } = await put(service.client, bucket, 'key', 'first');
    const { url } = await links.made(bucket, 'key');
    await put(service.client, bucket, 'key', 'second');
    await service.client.send(new DeleteObjectCommand({ Bucket: bucket, Key: 'key' }));
    const got = await links.follow(url);
    expect([got.text, got.header('x-amz-version-id')]).toEqual(['first', VersionId]);
    await service.client.send(new DeleteObjectCommand({ Bucket: bucket, Key: 'key', VersionId }));
    expectError(await links.follow(url), 404, 'NoSuchPublicLink');
    expect((await links.follow(url, {}, 'HEAD')).status).toBe(404);
  });

  it.each(['never', 'Suspended'] as const)('follows its version through RenameObject: versioning %s', async (state) => {
    const bucket = await service.bucket();
    if (state === 'Suspended') {
      await setVersioning(service.client, bucket, 'Enabled');
      await setVersioning(service.client, bucket, 'Suspended');
    }
    await put(service.client, bucket, 'former', 'content');
    const made = await links.made(bucket, 'former');
    const other = await links.made(bucket, 'former');
    await rename(bucket, 'former', 'present');
    expect((await links.follow(made.url)).text).toBe('content');
    expect(await links.ids(bucket, 'former')).toEqual([]);
    expect(await links.ids(bucket, 'present')).toEqual([made.id, other.id]);
    await put(service.client, bucket, 'former', 'another');
    expect((await links.follow(made.url)).text).toBe('content');
    expect((await links.revoke(bucket, 'present', made.id)).status).toBe(204);
    expectError(await links.follow(made.url), 404, 'NoSuchPublicLink');
    await rename(bucket, 'present', 'third');
    expect((await links.follow(other.url)).text).toBe('content');
    await put(service.client, bucket, 'third', 'replaced');
    expectError(await links.follow(other.url), 404, 'NoSuchPublicLink');
  });

  it('stays with the former name where versioning keeps the version', async () => {
    const bucket = await service.bucket();
    await setVersioning(service.client, bucket, 'Enabled');
    const { VersionId } = await put(service.client, bucket, 'former', 'content');
    const { url, id } = await links.made(bucket, 'former');
    await rename(bucket, 'former', 'present');
    const got = await links.follow(url);
    expect([got.text, got.header('x-amz-version-id')]).toEqual(['content', VersionId]);
    expect(await links.ids(bucket, 'former', { versionId: VersionId! })).toEqual([id]);
    expect(await links.ids(bucket, 'present')).toEqual([]);
  });

  it('keeps an object with more links than a commit can move from being renamed', async () => {
    const bucket = await service.bucket();
    await put(service.client, bucket, 'former', 'content');
    const made = await Promise.all(Array.from({ length: 21 }, () => links.made(bucket, 'former')));
    await expect(rename(bucket, 'former', 'present')).rejects.toMatchObject({ name: 'InvalidRequest' });
    expect((await links.follow(made[0]!.url)).text).toBe('content');
    await links.revoke(bucket, 'former', made[0]!.id);
    await rename(bucket, 'former', 'present');
    for (const { url } of made.slice(1)) expect((await links.follow(url)).text).toBe('content');
  });

  it('does not take a new null version for the one that it led to', async () => {
    const bucket = await service.bucket();
    await put(service.client, bucket, 'key', 'first');
    const { url } = await links.made(bucket, 'key');
    await put(service.client, bucket, 'key', 'second');
    expectError(await links.follow(url), 404, 'NoSuchPublicLink');
    await put(service.client, bucket, 'key', 'first');
    expectError(await links.follow(url), 404, 'NoSuchPublicLink');
  });

  it('ends with its bucket, also when the name is taken again', async () => {
    const temporary = await service.temporaryBucket();
    const { name } = temporary;
    await put(service.client, name, 'key', 'content');
    const { url } = await links.made(name, 'key');
    await temporary.remove();
    expectError(await links.follow(url), 404, 'NoSuchPublicLink');
    expect((await service.send({ method: 'PUT', path: `/${name}` })).status).toBe(200);
    await put(service.client, name, 'key', 'content');
    expectError(await links.follow(url), 404, 'NoSuchPublicLink');
    expect(await links.ids(name, 'key')).toEqual([]);
    await temporary.remove();
  });

  it('ends when its time is over', async () => {
    const bucket = await service.bucket();
    await put(service.client, bucket, 'key', 'content');
    const { url, id, expires } = await links.made(bucket, 'key', { expires: '1' });
    const gone = await untilFound(async () => {
      const answer = await links.follow(url);
      return answer.status === 200 ? undefined : answer;
    });
    expectError(gone, 404, 'NoSuchPublicLink');
    expect(Date.now()).toBeGreaterThanOrEqual(expires);
    expect(await links.ids(bucket, 'key')).toEqual([]);
    expectError(await links.revoke(bucket, 'key', id), 404, 'NoSuchPublicLink');
  });

  it.each(['A'.repeat(43), 'short', '', `${'A'.repeat(43)}/more`, 'A'.repeat(44), '%00'])(
    'knows no other token: %s',
    async (token) => {
      expectError(await links.follow(`${service.url}/_public/${token}`), 404, 'NoSuchPublicLink');
    },
  );

  it('is for reading', async () => {
    const bucket = await service.bucket();
    await put(service.client, bucket, 'key', 'content');
    const { url } = await links.made(bucket, 'key');
    for (const method of ['PUT', 'POST', 'DELETE']) {
      const answer = await links.follow(url, {}, method);
      expectError(answer, 405, 'MethodNotAllowed');
      expect(answer.header('allow')).toBe('GET, HEAD');
    }
  });

  it('answers other origins by the rules of its bucket', async () => {
    const bucket = await service.bucket();
    const rule = { AllowedOrigins: ['https://page.test'], AllowedMethods: ['GET'], ExposeHeaders: ['ETag'] };
    await service.client.send(new PutBucketCorsCommand({ Bucket: bucket, CORSConfiguration: { CORSRules: [rule] } }));
    await put(service.client, bucket, 'key', 'content');
    const { url } = await links.made(bucket, 'key');
    const answers = [
      await links.follow(url, { origin: 'https://page.test' }),
      await links.follow(url, { origin: 'https://page.test', range: 'bytes=100-' }),
    ];
    expect(answers.map(({ status }) => status)).toEqual([200, 416]);
    for (const answer of answers) expect(answer.header('access-control-allow-origin')).toBe('https://page.test');
    const other = await links.follow(url, { origin: 'https://other.test' });
    expect([other.status, other.header('access-control-allow-origin')]).toEqual([200, undefined]);
  });
});
