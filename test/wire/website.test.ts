import { CreateBucketCommand, PutBucketAclCommand } from '@aws-sdk/client-s3';
import { createHash, randomBytes } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { expectError } from '../support/clients/expect-error.ts';
import { md5Tag, put } from '../support/storage/objects.ts';
import { exchange, type RawResponse } from '../support/clients/raw-client.ts';
import { serviceUnderTest, takesSettings } from '../support/programs/service-under-test.ts';
import { anonymous, signed } from '../support/clients/signer.ts';

/** Websites of buckets, byte for byte: GetWebsitePage, PutBucketWebsite. */
describe.runIf(takesSettings)('a website', () => {
  const service = serviceUnderTest({ args: ['--website-domain', 'web.example.com'] });
  const domain = 'web.example.com';
  const open = { ACL: 'public-read' } as const;

  const configure = (bucket: string, inner: string): Promise<RawResponse> =>
    service.send({
      method: 'PUT',
      path: `/${bucket}`,
      query: 'website',
      body: `<WebsiteConfiguration>${inner}</WebsiteConfiguration>`,
    });

  const index = '<IndexDocument><Suffix>index.html</Suffix></IndexDocument>';
  const errorDocument = '<ErrorDocument><Key>error.html</Key></ErrorDocument>';
  const rules = (...all: string[]): string => `<RoutingRules>${all.join('')}</RoutingRules>`;
  const rule = (condition: string, redirect: string): string =>
    `<RoutingRule><Condition>${condition}</Condition><Redirect>${redirect}</Redirect></RoutingRule>`;

  /** Creates a bucket with a website. Only objects put with an ACL of their own are public. */
  async function website(inner = index, bucketIsOpen = true): Promise<string> {
    const bucket = await service.bucket();
    expect((await configure(bucket, inner)).status).toBe(200);
    if (bucketIsOpen) await service.client.send(new PutBucketAclCommand({ Bucket: bucket, ...open }));
    return bucket;
  }

  const visit = (
    bucket: string,
    path: string,
    headers: Record<string, string> = {},
    method = 'GET',
  ): Promise<RawResponse> => exchange(service.url, anonymous(`${bucket}.${domain}`, { method, path, headers }));

  const answer = async (bucket: string, path: string): Promise<unknown[]> => {
    const { status, text, header } = await visit(bucket, path);
    return status >= 300 && status < 400 ? [status, header('location')] : [status, text];
  };

  function expectErrorPage(response: RawResponse, status: number, code: string): void {
    expect(response.status, response.text).toBe(status);
    expect(response.header('content-type')).toBe('text/html; charset=utf-8');
    expect(response.text).toContain(`<li>Code: ${code}</li>`);
    expect(response.text).toContain(`<li>RequestId: ${response.header('x-amz-request-id')!}</li>`);
  }

  it('shows pages, and the index of a folder', async () => {
    const bucket = await website();
    await put(service.client, bucket, 'index.html', 'start', { ...open, ContentType: 'text/html' });
    await put(service.client, bucket, 'a b/ä.html', 'page', open);
    await put(service.client, bucket, 'folder/index.html', 'of the folder', open);
    const start = await visit(bucket, '/');
    expect([start.status, start.text, start.header('content-type')]).toEqual([200, 'start', 'text/html']);
    expect(await answer(bucket, '/index.html')).toEqual([200, 'start']);
    expect(await answer(bucket, '/a%20b/%C3%A4.html')).toEqual([200, 'page']);
    expect(await answer(bucket, '/folder/')).toEqual([200, 'of the folder']);
    expect(await answer(bucket, '/index.html?list-type=2&acl&versionId=x&%zz')).toEqual([200, 'start']);
  });

  it('leads to a folder whose slash was left out', async () => {
    const bucket = await website();
    await put(service.client, bucket, 'a folder/index.html', 'page', open);
    await put(service.client, bucket, 'secret/index.html', 'page');
    await put(service.client, bucket, 'both', 'an object', open);
    await put(service.client, bucket, 'both/index.html', 'page', open);
    await put(service.client, bucket, '/evil.example/index.html', 'page', open);
    expect(await answer(bucket, '/a%20folder')).toEqual([302, '/a%20folder/']);
    expect(await answer(bucket, '/both')).toEqual([200, 'an object']);
    expect(await answer(bucket, '//evil.example')).toEqual([302, '/%2Fevil.example/']);
    expectErrorPage(await visit(bucket, '/secret'), 404, 'NoSuchKey');
    expectErrorPage(await visit(bucket, '/none'), 404, 'NoSuchKey');
    expectErrorPage(await visit(bucket, `/${'k'.repeat(1020)}`), 404, 'NoSuchKey');
  });

  it('says nothing of what a visitor must not know', async () => {
    const bucket = await website(index, false);
    await put(service.client, bucket, 'secret', 'content');
    await put(service.client, bucket, 'open', 'content', open);
    expect(await answer(bucket, '/open')).toEqual([200, 'content']);
    for (const path of ['/secret', '/missing', '/', '/folder/']) {
      expectErrorPage(await visit(bucket, path), 403, 'AccessDenied');
    }
    const headers = { 'if-none-match': '*', 'if-modified-since': 'Sat, 01 Jan 2000 00:00:00 GMT', range: 'bytes=0-0' };
    expectErrorPage(await visit(bucket, '/secret', headers), 403, 'AccessDenied');
  });

  it('knows nobody, whatever credentials come along', async () => {
    const bucket = await website();
    await put(service.client, bucket, 'secret', 'content');
    await put(service.client, bucket, 'open', 'content', open);
    const at = (path: string): Promise<RawResponse> =>
      exchange(service.url, signed(`${bucket}.${domain}`, { path }, { key: service.alice }));
    expectErrorPage(await at('/secret'), 403, 'AccessDenied');
    expect((await at('/open')).text).toBe('content');
    expect((await visit(bucket, '/open', { authorization: 'nonsense' })).text).toBe('content');
    expect(await answer(bucket, '/open?X-Amz-Signature=x&AWSAccessKeyId=y')).toEqual([200, 'content']);
  });

  it('shows its error document, with the status of the error', async () => {
    const bucket = await website(index + errorDocument);
    await put(service.client, bucket, 'secret', 'content');
    expectErrorPage(await visit(bucket, '/missing'), 404, 'NoSuchKey');
    await put(service.client, bucket, 'error.html', 'sorry');
    expectErrorPage(await visit(bucket, '/missing'), 404, 'NoSuchKey');
    await put(service.client, bucket, 'error.html', 'sorry', { ...open, ContentType: 'text/html' });
    const headers = { 'if-none-match': '*', range: 'bytes=0-0' };
    for (const [path, status] of [
      ['/missing', 404],
      ['/secret', 403],
      ['/', 404],
    ] as const) {
      const response = await visit(bucket, path, headers);
      expect([response.status, response.text, response.header('content-type')]).toEqual([status, 'sorry', 'text/html']);
      const head = await visit(bucket, path, headers, 'HEAD');
      expect([head.status, head.text, head.header('content-length')]).toEqual([status, '', '5']);
    }
  });

  it('answers preflights by the rules of its bucket, and pages of other origins', async () => {
    const bucket = await website();
    await put(service.client, bucket, 'page', 'content', open);
    const headers = { origin: 'https://a.example', 'access-control-request-method': 'GET' };
    expectErrorPage(await visit(bucket, '/page', headers, 'OPTIONS'), 403, 'AccessForbidden');
    const body =
      '<CORSConfiguration><CORSRule><AllowedOrigin>https://a.example</AllowedOrigin><AllowedMethod>GET</AllowedMethod>' +
      '</CORSRule></CORSConfiguration>';
    expect((await service.send({ method: 'PUT', path: `/${bucket}`, query: 'cors', body })).status).toBe(200);
    for (const path of ['/page', '/', '/missing']) {
      const response = await visit(bucket, path, headers, 'OPTIONS');
      expect([response.status, response.text]).toEqual([200, '']);
      expect(response.header('access-control-allow-origin')).toBe('https://a.example');
    }
    expectErrorPage(
      await visit(bucket, '/page', { ...headers, origin: 'https://b.example' }, 'OPTIONS'),
      403,
      'AccessForbidden',
    );
    for (const only of [{ origin: headers.origin }, { 'access-control-request-method': 'GET' }])
      expectErrorPage(await visit(bucket, '/page', only, 'OPTIONS'), 405, 'MethodNotAllowed');
  });

  it('leads everybody elsewhere', async () => {
    const target = '<HostName>www.b.example:8443</HostName>';
    const bucket = await website(`<RedirectAllRequestsTo>${target}<Protocol>https</Protocol></RedirectAllRequestsTo>`);
    expect(await answer(bucket, '/')).toEqual([301, 'https://www.b.example:8443/']);
    expect(await answer(bucket, '/a%20b/c')).toEqual([301, 'https://www.b.example:8443/a%20b/c']);
    await configure(bucket, `<RedirectAllRequestsTo>${target}</RedirectAllRequestsTo>`);
    expect(await answer(bucket, '/a')).toEqual([301, 'http://www.b.example:8443/a']);
    const head = await visit(bucket, '/a', {}, 'HEAD');
    expect([head.status, head.header('location')]).toEqual([301, 'http://www.b.example:8443/a']);
  });

  it('follows its rules: those about names before it reads, those about errors on that error', async () => {
    const on = (status: number, prefix?: string): string =>
      `${prefix === undefined ? '' : `<KeyPrefixEquals>${prefix}</KeyPrefixEquals>`}<HttpErrorCodeReturnedEquals>${status}</HttpErrorCodeReturnedEquals>`;
    const bucket = await website(
      index +
        errorDocument +
        rules(
          rule('<KeyPrefixEquals>docs/</KeyPrefixEquals>', '<ReplaceKeyPrefixWith>documents/</ReplaceKeyPrefixWith>'),
          rule('<KeyPrefixEquals>docs/</KeyPrefixEquals>', '<ReplaceKeyWith>never</ReplaceKeyWith>'),
          rule(on(404, 'old/'), '<HostName>old.example</HostName><HttpRedirectCode>302</HttpRedirectCode>'),
          rule(on(404, 'app/'), '<ReplaceKeyPrefixWith>app/#!/</ReplaceKeyPrefixWith>'),
          rule(on(403), '<Protocol>https</Protocol><ReplaceKeyWith>login.html</ReplaceKeyWith>'),
        ),
    );
    for (const key of ['docs/a', 'old/there', 'error.html']) await put(service.client, bucket, key, key, open);
    await put(service.client, bucket, 'secret', 'content');
    expect(await answer(bucket, '/docs/a')).toEqual([301, '/documents/a']);
    expect(await answer(bucket, '/docs/')).toEqual([301, '/documents/']);
    expect(await answer(bucket, '/old/there')).toEqual([200, 'old/there']);
    expect(await answer(bucket, '/old/missing')).toEqual([302, 'http://old.example/old/missing']);
    expect(await answer(bucket, '/app/page')).toEqual([301, '/app/#!/page']);
    expect(await answer(bucket, '/secret')).toEqual([301, `https://${bucket}.${domain}/login.html`]);
    expect(await answer(bucket, '/missing')).toEqual([404, 'error.html']);
  });

  it('leads where an object says', async () => {
    const bucket = await website();
    await put(service.client, bucket, 'away', 'x', { ...open, WebsiteRedirectLocation: 'https://b.example/?a=b' });
    await put(service.client, bucket, 'here', 'x', { ...open, WebsiteRedirectLocation: '/other' });
    await put(service.client, bucket, 'secret', 'x', { WebsiteRedirectLocation: '/other' });
    expect(await answer(bucket, '/away')).toEqual([301, 'https://b.example/?a=b']);
    expect(await answer(bucket, '/here')).toEqual([301, '/other']);
    expectErrorPage(await visit(bucket, '/secret'), 403, 'AccessDenied');
    for (const value of ['javascript:alert(1)', 'elsewhere', `/${'x'.repeat(2048)}`]) {
      const headers = { 'x-amz-website-redirect-location': value };
      const response = await service.send({ method: 'PUT', path: `/${bucket}/new`, headers, body: 'x' });
      expectError(response, 400, 'InvalidRedirectLocation');
    }
  });

  it('leads nowhere by what the Host header says', async () => {
    const bucket = await website(
      index + rules(rule('<KeyPrefixEquals>docs/</KeyPrefixEquals>', '<Protocol>https</Protocol>')),
    );
    await put(service.client, bucket, 'folder/index.html', 'page', open);
    const host = `${bucket.toUpperCase()}.Web.Example.com.:1234`;
    const at = async (path: string): Promise<string | undefined> =>
      (await exchange(service.url, anonymous(host, { path, headers: { 'x-forwarded-host': 'evil.example' } }))).header(
        'location',
      );
    expect(await at('/folder')).toBe('/folder/');
    expect(await at('/docs/a')).toBe(`https://${bucket}.${domain}/docs/a`);
    expectErrorPage(
      await exchange(service.url, anonymous(`evil.example.${domain}`, { path: '/docs/a' })),
      404,
      'NoSuchBucket',
    );
  });

  it('answers ranges and conditions as objects do', async () => {
    const bucket = await website();
    await put(service.client, bucket, 'page', 'content', { ...open, CacheControl: 'max-age=60' });
    const range = await visit(bucket, '/page', { range: 'bytes=1-2' });
    expect([range.status, range.text, range.header('content-range')]).toEqual([206, 'on', 'bytes 1-2/7']);
    expectErrorPage(await visit(bucket, '/page', { range: 'bytes=7-' }), 416, 'InvalidRange');
    const same = await visit(bucket, '/page', { 'if-none-match': md5Tag('content') });
    expect([same.status, same.text, same.header('cache-control')]).toEqual([304, '', 'max-age=60']);
    expectErrorPage(await visit(bucket, '/page', { 'if-match': '"other"' }), 412, 'PreconditionFailed');
    const head = await visit(bucket, '/page', {}, 'HEAD');
    expect([head.status, head.text, head.header('content-length')]).toEqual([200, '', '7']);
    const missing = await visit(bucket, '/missing', {}, 'HEAD');
    expect([missing.status, missing.text]).toEqual([404, '']);
    expect(Number(missing.header('content-length'))).toBeGreaterThan(100);
  });

  it('says to pages of other origins what its CORS rules say, on errors too', async () => {
    const bucket = await website();
    await put(service.client, bucket, 'page', 'content', open);
    const body =
      '<CORSConfiguration><CORSRule><AllowedOrigin>*</AllowedOrigin><AllowedMethod>GET</AllowedMethod></CORSRule></CORSConfiguration>';
    await service.send({ method: 'PUT', path: `/${bucket}`, query: 'cors', body });
    for (const path of ['/page', '/missing']) {
      const response = await visit(bucket, path, { origin: 'https://a.example' });
      expect(response.header('access-control-allow-origin')).toBe('*');
    }
  });

  it.each(['PUT', 'POST', 'DELETE', 'OPTIONS', 'PATCH'])('is only to be looked at: %s', async (method) => {
    const bucket = await website();
    await put(service.client, bucket, 'page', 'content', open);
    const response = await visit(bucket, '/page', { origin: 'https://a.example' }, method);
    expectErrorPage(response, 405, 'MethodNotAllowed');
    expect(response.header('allow')).toBe('GET, HEAD, OPTIONS');
    expect(await answer(bucket, '/page')).toEqual([200, 'content']);
  });

  it('shows nothing that is encrypted with a key of its owner', async () => {
    const bucket = await website(index + errorDocument);
    const key = randomBytes(32);
    const headers = {
      'x-amz-server-side-encryption-customer-algorithm': 'AES256',
      'x-amz-server-side-encryption-customer-key': key.toString('base64'),
      'x-amz-server-side-encryption-customer-key-md5': createHash('md5').update(key).digest('base64'),
    };
    for (const name of ['secret', 'error.html']) {
      const request = {
        method: 'PUT',
        path: `/${bucket}/${name}`,
        headers: { ...headers, 'x-amz-acl': 'public-read' },
      };
      expect((await service.send({ ...request, body: 'content' })).status).toBe(200);
    }
    expectErrorPage(await visit(bucket, '/secret'), 400, 'InvalidRequest');
    expectErrorPage(await visit(bucket, '/secret', headers), 400, 'InvalidRequest');
    expectErrorPage(await visit(bucket, '/missing'), 404, 'NoSuchKey');
  });

  it('escapes what it repeats', async () => {
    const bucket = await website();
    const response = await visit(bucket, '/%3Cimg%20src=x%20onerror=alert(1)%3E');
    expectErrorPage(response, 404, 'NoSuchKey');
    expect(response.text).toContain('&lt;img src=x onerror=alert(1)&gt;');
    expect(response.text).not.toContain('<img');
  });

  it('is none where there is no bucket, no configuration, or no key', async () => {
    expectErrorPage(await visit(service.freeName(), '/'), 404, 'NoSuchBucket');
    const bucket = await service.bucket();
    expectErrorPage(await visit(bucket, '/'), 404, 'NoSuchWebsiteConfiguration');
    await configure(bucket, index);
    expectErrorPage(await visit(bucket, '/%zz'), 400, 'InvalidURI');
    expectErrorPage(await visit(bucket, '/%ff'), 400, 'InvalidObjectName');
    await service.send({ method: 'DELETE', path: `/${bucket}`, query: 'website' });
    expectErrorPage(await visit(bucket, '/'), 404, 'NoSuchWebsiteConfiguration');
  });

  it('has the name of its bucket, dots included', async () => {
    const bucket = `with.dots.${service.freeName()}`;
    await service.client.send(new CreateBucketCommand({ Bucket: bucket }));
    await configure(bucket, index);
    await put(service.client, bucket, 'index.html', 'start', open);
    expect(await answer(bucket, '/')).toEqual([200, 'start']);
    for (const path of [`/${bucket}/index.html`, `/${bucket}`]) {
      expect((await service.send({ method: 'DELETE', path })).status).toBe(204);
    }
  });

  it.each([
    ['<ReplaceKeyWith>a&#13;&#10;Set-Cookie: a=b</ReplaceKeyWith>'],
    ['<ReplaceKeyPrefixWith>a&#10;Set-Cookie: a=b</ReplaceKeyPrefixWith>'],
    ['<HostName>b.example&#13;&#10;Set-Cookie: a=b</HostName>'],
    ['<HostName>b.example/@c.example</HostName>'],
    ['<Protocol>javascript</Protocol>'],
  ])('takes no rule that injects a header or leads where it does not say: %s', async (redirect) => {
    const bucket = await service.bucket();
    const response = await configure(bucket, index + rules(rule('<KeyPrefixEquals>a</KeyPrefixEquals>', redirect)));
    expectError(response, 400, 'InvalidRequest');
    expectError(await service.send({ path: `/${bucket}`, query: 'website' }), 404, 'NoSuchWebsiteConfiguration');
  });

  it('has a configuration of a limited size', async () => {
    const bucket = await service.bucket();
    const body = `<WebsiteConfiguration>${index}</WebsiteConfiguration>${' '.repeat(128 * 1024)}`;
    const response = await service.send({ method: 'PUT', path: `/${bucket}`, query: 'website', body });
    expectError(response, 400, 'MaxMessageLengthExceeded');
  });
});
