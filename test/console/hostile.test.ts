import {
  PutBucketCorsCommand,
  PutBucketLifecycleConfigurationCommand,
  PutBucketPolicyCommand,
  PutBucketTaggingCommand,
  PutBucketWebsiteCommand,
  PutObjectTaggingCommand,
} from '@aws-sdk/client-s3';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Page } from 'playwright-core';
import { describe, expect, it } from 'vitest';
import { put } from '../support/storage/objects.ts';
import { bob } from '../support/programs/server.ts';
import { makeBucket, row } from './support/buckets.ts';
import { consoleUnderTest, signIn } from './support/console.ts';

const under = consoleUnderTest();

/** Each would run, or break out of its place, if text became markup, an address or a style somewhere. */
const hostile = [
  '<img src=x onerror="globalThis.broken=1">',
  '"><script>globalThis.broken=1</script>',
  "javascript:globalThis.broken=1//'",
  '{{constructor.constructor("globalThis.broken=1")()}}',
  '${globalThis.broken=1}',
  '__proto__',
  'a\u202egnp.exe',
  '&lt;b&gt;&#60;i&#62;',
  '<style>body{display:none}</style>',
  'con\u0001trol\ttab\nline',
] as const;

/** Returns traces of foreign content: a script that ran, elements that were created. */
async function marks(page: Page): Promise<string[]> {
  return page.evaluate(() => {
    const found = [
      ...document.querySelectorAll(
        'script:not([src^="/assets/"]), style, img, svg [onload], [onerror], a[href^="javascript:"]',
      ),
    ];
    const flag = globalThis as { broken?: unknown };
    return [...(flag.broken === undefined ? [] : ['a script ran']), ...found.map((element) => element.outerHTML)];
  });
}

describe('what strangers wrote', () => {
  it('is text: names, folders, types, metadata, tags, policies', async (test) => {
    const bucket = await makeBucket(under, []);
    const client = under.sdk();
    for (const [index, text] of hostile.entries()) {
      const ascii = encodeURIComponent(text);
      await put(client, bucket, `${text}/${text}`, text, {
        ContentType: index < 2 ? text : 'text/html',
        ContentDisposition: ascii,
        Metadata: { [`m${index}`]: /^[\x20-\x7e]*$/.test(text) ? text : ascii },
      });
      await put(client, bucket, text, text, { ContentType: 'text/html' });
    }
    const tag = { Key: 'javascript:alert', Value: '=1+2@x' };
    await client.send(new PutObjectTaggingCommand({ Bucket: bucket, Key: hostile[0], Tagging: { TagSet: [tag] } }));
    const Statement = [
      {
        Sid: 'x',
        Effect: 'Allow',
        Principal: '*',
        Action: 's3:GetObject',
        Resource: `arn:aws:s3:::${bucket}/${hostile[0]}`,
      },
    ];
    const Policy = JSON.stringify({ Version: '2012-10-17', Id: hostile[1], Statement });
    await client.send(new PutBucketPolicyCommand({ Bucket: bucket, Policy }));

    const page = await under.signedIn(test, `/b/${bucket}/`);
    await expect.poll(() => page.locator('.item').count()).toBeGreaterThan(hostile.length);
    expect(await marks(page)).toEqual([]);
    await row(page, hostile[0]).last().click();
    const inside = page.frameLocator('.preview-frame');
    await inside.getByText(hostile[0]).waitFor();
    for (const tab of ['Properties', 'Versions', 'Access', 'Links']) {
      await page.getByRole('tab', { name: tab }).click();
      await page.getByRole('tabpanel').locator(':not(.skeleton)').first().waitFor();
      await page.waitForLoadState('networkidle');
      expect(await marks(page)).toEqual([]);
    }
    await page.getByRole('button', { name: 'Close details' }).click();
    await row(page, hostile[4]).first().dblclick();
    await expect.poll(() => page.locator('.crumbs li').count()).toBeGreaterThan(1);
    await page.locator('.item').first().click();
    await page.getByRole('tab', { name: 'Properties' }).click();
    await page.waitForLoadState('networkidle');
    expect(await marks(page)).toEqual([]);
    await page.goto(`${under.origin}/settings/${bucket}/access`);
    await signIn(page);
    await page.getByRole('link', { name: 'Activity' }).click();
    await page.getByRole('heading', { name: 'Activity' }).waitFor();
    expect(await marks(page)).toEqual([]);
    expect(under.faultsOf(page)).toEqual([]);
  });

  it('is text in every setting: rules, origins, tags, alarms, website', async (test) => {
    const bucket = await makeBucket(under, []);
    const client = under.sdk();
    const printable = hostile.filter((text) => !/\p{Cc}/u.test(text));
    await client.send(
      new PutBucketLifecycleConfigurationCommand({
        Bucket: bucket,
        LifecycleConfiguration: {
          Rules: printable.map((text, at) => ({
            ID: `${at} ${text}`,
            Status: 'Enabled',
            Filter: { Prefix: `${text}/` },
            Expiration: { Days: 1 },
          })),
        },
      }),
    );
    await client.send(
      new PutBucketCorsCommand({
        Bucket: bucket,
        CORSConfiguration: {
          CORSRules: [{ AllowedOrigins: [...printable], AllowedMethods: ['GET'], AllowedHeaders: [...printable] }],
        },
      }),
    );
    await client.send(
      new PutBucketWebsiteCommand({
        Bucket: bucket,
        WebsiteConfiguration: {
          IndexDocument: { Suffix: '"><img src=x onerror=globalThis.broken=1>' },
          ErrorDocument: { Key: hostile[1] },
          RoutingRules: printable.map((text) => ({
            Condition: { KeyPrefixEquals: text },
            Redirect: { ReplaceKeyPrefixWith: text },
          })),
        },
      }),
    );
    const TagSet = [{ Key: 'javascript:alert', Value: '=1+2@x' }];
    await client.send(new PutBucketTaggingCommand({ Bucket: bucket, Tagging: { TagSet } }));
    const page = await under.signedIn(test, `/settings/${bucket}/overview`);
    for (const name of ['Overview', 'Lifecycle', 'Website', 'CORS', 'Access', 'Monitoring']) {
      await page.getByRole('tab', { name }).click();
      await page.waitForLoadState('networkidle');
      expect(await marks(page)).toEqual([]);
    }
    await page.getByRole('switch', { name: 'Record this bucket’s history' }).click();
    await page.getByText('Saved.').waitFor();
    await page.getByRole('tab', { name: 'Alarms' }).click();
    for (const text of printable.slice(0, 3)) {
      await page.getByRole('button', { name: 'Add alarm' }).click();
      await page.getByLabel('Name').fill(text);
      await page.getByLabel('Description').fill(text);
      await page.getByLabel('Threshold').fill('1');
      await page.getByRole('button', { name: 'Save' }).click();
      await page.locator('.alarm strong').getByText(text, { exact: true }).waitFor();
    }
    for (const history of await page.getByText('History').all()) await history.click();
    await page.waitForLoadState('networkidle');
    expect(await marks(page)).toEqual([]);
    await page.getByRole('tab', { name: 'CORS' }).click();
    await page.getByText(hostile[0]).first().waitFor();
    await page.getByRole('button', { name: 'Edit rule 1' }).click();
    await page.getByRole('dialog').getByText('is not an origin').waitFor();
    expect(await marks(page)).toEqual([]);
    expect(under.faultsOf(page)).toEqual([]);
  });

  it('is text where the service itself is hostile: its errors and listings', async (test) => {
    const page = await under.signedIn(test);
    const error = hostile.map((text) => text.replace(/[<>&]/g, (char) => `&#${char.charCodeAt(0)};`)).join(' ');
    await page.route(`${under.service.url}/evil**`, (route) =>
      route.fulfill({
        status: 400,
        headers: {
          'access-control-allow-origin': under.origin,
          'access-control-allow-headers': '*',
          'access-control-expose-headers': '*',
        },
        contentType: 'application/xml',
        body: `<Error><Code>&lt;b&gt;</Code><Message>${error}</Message><RequestId>${error}</RequestId></Error>`,
      }),
    );
    await page.getByRole('button', { name: 'Go to bucket' }).click();
    await page.getByRole('textbox', { name: 'Name' }).fill('evil');
    await page.getByRole('button', { name: 'Go', exact: true }).click();
    await page.getByRole('alert').getByText(hostile[0]).waitFor();
    expect(await marks(page)).toEqual([]);
  });

  it('is text in the address, too', async (test) => {
    const page = await under.page(
      test,
      `/b/${encodeURIComponent(hostile[1])}/${encodeURIComponent(hostile[0])}/?o=${encodeURIComponent(hostile[1])}`,
    );
    await signIn(page);
    await page.getByRole('alert').first().waitFor();
    expect(await marks(page)).toEqual([]);
  });
});

describe('other origins', () => {
  async function elsewhere(html: string): Promise<{ server: Server; url: string }> {
    const server = createServer((_, response) => response.setHeader('content-type', 'text/html').end(html));
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    return { server, url: `http://localhost:${(server.address() as AddressInfo).port}/` };
  }

  it('cannot frame the console, hold its window, speak to it, or read its API', async (test) => {
    const { server, url } = await elsewhere('<!doctype html><title>elsewhere</title>');
    test.onTestFinished(() => void server.close());
    const context = await under.context(test);
    const page = await under.signedIn(test, '/', { in: context, keep: true });
    const other = await context.newPage();
    await other.goto(url);
    const seen = await other.evaluate(
      async ({ console, endpoint }) => {
        const frame = document.createElement('iframe');
        frame.src = console;
        const loaded = new Promise((resolve) => (frame.onload = resolve));
        document.body.append(frame);
        await loaded;
        const opened = open(`${console}/profile`)!;
        await new Promise((resolve) => setTimeout(resolve, 1_500));
        const text = (request: Promise<Response>): Promise<string> =>
          request.then(
            (it) => it.text(),
            () => 'refused',
          );
        return {
          opened: opened.closed,
          config: await text(fetch(`${console}/config.json`)),
          api: await text(fetch(endpoint)),
          withCredentials: await text(fetch(endpoint, { credentials: 'include' })),
        };
      },
      { console: under.origin, endpoint: under.service.url },
    );
    // A window of another browsing context group counts as closed to its opener.
    expect(seen).toEqual({ opened: true, config: 'refused', api: 'refused', withCredentials: 'refused' });
    const framed = other.frames().find((frame) => frame.parentFrame() !== null)!;
    expect(framed.url()).not.toContain(under.origin);
    expect(await page.title()).toBe('Buckets · Stillage');
  });

  it('get nothing by a message: the console listens to its preview frame alone', async (test) => {
    const bucket = await makeBucket(under, ['a']);
    const page = await under.signedIn(test, `/b/${bucket}/?o=a`);
    const sent = await page.evaluate(async () => {
      const frame = document.createElement('iframe');
      frame.setAttribute('sandbox', 'allow-scripts');
      document.body.append(frame);
      let posted = 0;
      const post = globalThis.postMessage.bind(globalThis);
      globalThis.postMessage = ((...values: Parameters<typeof post>) => (posted++, post(...values))) as typeof post;
      dispatchEvent(new MessageEvent('message', { data: 'ready', source: frame.contentWindow, origin: 'null' }));
      await new Promise((resolve) => setTimeout(resolve, 200));
      return posted;
    });
    expect(sent).toBe(0);
  });

  it('of another key see nothing of the one before', async (test) => {
    const context = await under.context(test);
    const bucket = await makeBucket(under, ['mine']);
    const page = await under.signedIn(test, `/b/${bucket}/`, { in: context, keep: true });
    await row(page, 'mine').waitFor();
    await page.getByRole('link', { name: 'Stillage' }).click();
    await page.getByRole('button', { name: `Mark ${bucket} as a favourite`, exact: true }).click();
    await page.getByRole('link', { name: 'Profile' }).click();
    await page.getByRole('button', { name: 'Sign out' }).click();
    await signIn(page, bob);
    await page.getByRole('link', { name: 'Stillage' }).click();
    await page.getByRole('heading', { name: 'Buckets', level: 1 }).waitFor();
    await page.waitForLoadState('networkidle');
    expect(await page.locator('body').innerText()).not.toContain(bucket);
    // The list beside the objects has favourites of other projects as well.
    await page.goto(`${under.origin}/settings/none/overview`);
    await signIn(page, bob);
    await page.getByRole('navigation', { name: 'Buckets' }).getByText('none').waitFor();
    expect(await page.locator('body').innerText()).not.toContain(bucket);
    await page.getByRole('link', { name: 'Activity' }).click();
    await page.getByRole('heading', { name: 'Activity' }).waitFor();
    expect(await page.locator('body').innerText()).not.toContain(bucket);
  });
});
