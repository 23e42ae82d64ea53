import { GetObjectCommand, PutBucketCorsCommand, PutBucketWebsiteCommand, PutObjectCommand } from '@aws-sdk/client-s3';
import { createPresignedPost } from '@aws-sdk/s3-presigned-post';
import { getSignedUrl } from '@aws-sdk/s3-request-presigner';
import { chromium } from 'playwright-core';
import { describe, expect, it } from 'vitest';
import { chromiumPath } from '../support/clients/chromium.ts';
import { md5Tag, put, read } from '../support/storage/objects.ts';
import { skip } from '../support/programs/programs.ts';
import { serviceUnderTest, takesSettings } from '../support/programs/service-under-test.ts';

const minutes = 60_000;

/** The instructions to the page, in a file beside it. */
interface Orders {
  readonly post: { readonly url: string; readonly fields: Readonly<Record<string, string>> };
  readonly put: string;
  readonly get: string;
  /** The URL of a bucket without CORS rules. */
  readonly closed: string;
}

/** A page that uploads by a form and by a PUT with headers of its own, both to another origin, and reads back. */
const page = `<!DOCTYPE html>
<meta charset="utf-8">
<title>upload</title>
<script type="module">
  const tell = async (request) => {
    try {
      const answer = await request;
      const headers = ['etag', 'x-amz-meta-colour', 'x-amz-request-id'].map((name) => [name, answer.headers.get(name)]);
      return { status: answer.status, text: await answer.text(), headers: Object.fromEntries(headers) };
    } catch (error) {
      return { error: error.name };
    }
  };
  const orders = await (await fetch('orders.json')).json();
  const form = new FormData();
  for (const [name, value] of Object.entries(orders.post.fields)) form.append(name, value);
  form.append('file', new Blob(['by a form']));
  const result = {
    post: await tell(fetch(orders.post.url, { method: 'POST', body: form })),
    put: await tell(fetch(orders.put, { method: 'PUT', body: 'by a PUT', headers: { 'x-amz-meta-colour': 'green' } })),
    get: await tell(fetch(orders.get)),
    missing: await tell(fetch(orders.get.replace('by-put', 'missing'))),
    closed: await tell(fetch(orders.closed)),
  };
  document.body.id = 'done';
  document.body.textContent = JSON.stringify(result);
</script>
<body></body>
`;

describe.runIf(takesSettings)('Chromium', () => {
  // A browser finds the names below localhost by itself.
  const websiteDomain = 'website.localhost';
  const service = serviceUnderTest({ args: ['--website-domain', websiteDomain] });

  it(
    'uploads from a page in website mode to another bucket, and reads back what the rules expose',
    async (context) => {
      const executablePath = chromiumPath();
      if (executablePath === undefined) {
        skip(context, 'no chromium on the PATH');
        return;
      }
      const [site, target, closed] = [await service.bucket('site'), await service.bucket(), await service.bucket()];
      const origin = `http://${site}.${websiteDomain}:${new URL(service.url).port}`;
      const client = service.sdk(service.alice, { requestChecksumCalculation: 'WHEN_REQUIRED' });

      await client.send(
        new PutBucketCorsCommand({
          Bucket: target,
          CORSConfiguration: {
            CORSRules: [
              {
                AllowedOrigins: [`http://*.${websiteDomain}:${new URL(service.url).port}`],
                AllowedMethods: ['POST', 'PUT', 'GET'],
                AllowedHeaders: ['x-amz-meta-*', 'content-type'],
                ExposeHeaders: ['ETag', 'x-amz-meta-colour'],
              },
            ],
          },
        }),
      );
      const IndexDocument = { Suffix: 'index.html' };
      await client.send(new PutBucketWebsiteCommand({ Bucket: site, WebsiteConfiguration: { IndexDocument } }));

      const url = (command: GetObjectCommand | PutObjectCommand): Promise<string> =>
        getSignedUrl(client, command, {
          expiresIn: 600,
          unhoistableHeaders: new Set(['x-amz-meta-colour']),
        });
      const orders: Orders = {
        post: await createPresignedPost(client, { Bucket: target, Key: 'by-post' }),
        put: await url(new PutObjectCommand({ Bucket: target, Key: 'by-put', Metadata: { colour: 'green' } })),
        get: await url(new GetObjectCommand({ Bucket: target, Key: 'by-put' })),
        closed: await url(new GetObjectCommand({ Bucket: closed, Key: 'key' })),
      };
      const open = { ACL: 'public-read' } as const;
      await put(client, site, 'index.html', page, { ...open, ContentType: 'text/html' });
      await put(client, site, 'orders.json', JSON.stringify(orders), { ...open, ContentType: 'application/json' });
      await put(client, closed, 'key', 'content');

      const browser = await chromium.launch({ executablePath, timeout: 2 * minutes });
      try {
        const tab = await browser.newPage();
        await tab.goto(`${origin}/`, { timeout: minutes });
        const text = await tab.locator('#done').textContent({ timeout: minutes });
        const hidden = { 'x-amz-request-id': null };
        expect(JSON.parse(text ?? '')).toEqual({
          post: {
            status: 204,
            text: '',
            headers: { etag: md5Tag('by a form'), 'x-amz-meta-colour': null, ...hidden },
          },
          put: { status: 200, text: '', headers: { etag: md5Tag('by a PUT'), 'x-amz-meta-colour': null, ...hidden } },
          get: {
            status: 200,
            text: 'by a PUT',
            headers: { etag: md5Tag('by a PUT'), 'x-amz-meta-colour': 'green', ...hidden },
          },
          missing: {
            status: 403,
            text: expect.stringContaining('<Code>SignatureDoesNotMatch</Code>') as string,
            headers: { etag: null, 'x-amz-meta-colour': null, ...hidden },
          },
          closed: { error: 'TypeError' },
        });
      } finally {
        await browser.close();
      }
      expect(await read(client, target, 'by-post')).toBe('by a form');
      expect(await read(client, target, 'by-put')).toBe('by a PUT');
      client.destroy();
    },
    5 * minutes,
  );
});
