import {
  GetBucketCorsCommand,
  GetBucketPolicyCommand,
  GetBucketWebsiteCommand,
  PutBucketWebsiteCommand,
} from '@aws-sdk/client-s3';
import { describe, expect, it } from 'vitest';
import { isCloud } from '../support/cloud/deployed.ts';
import { put } from '../support/storage/objects.ts';
import { makeBucket } from './support/buckets.ts';
import { consoleUnderTest, expectAccessible } from './support/console.ts';

const under = consoleUnderTest();

/** Returns the response of a bucket's website to a visitor, without DNS. */
async function visit(bucket: string, path: string): Promise<Response> {
  const { get } = await import('node:http');
  return new Promise((resolve, reject) => {
    const { port } = new URL(under.service.url);
    const options = { headers: { host: `${bucket}.${under.service.websiteDomain}:${port}` } };
    get(`${under.service.url}${path}`, options, (response) => {
      const chunks: Buffer[] = [];
      response.on('data', (chunk: Buffer) => chunks.push(chunk));
      response.on('end', () => {
        const headers = { location: response.headers.location ?? '' };
        resolve(new Response(Buffer.concat(chunks), { status: response.statusCode!, headers }));
      });
    }).on('error', reject);
  });
}

const websiteOf = async (bucket: string) => {
  const { $metadata: _, ...website } = await under.sdk().send(new GetBucketWebsiteCommand({ Bucket: bucket }));
  return website;
};

describe('the website of a bucket', () => {
  it('is turned on with an index page, opened to visitors by the policy, and turned off', async (test) => {
    const bucket = await makeBucket(under, ['error.html']);
    await put(under.sdk(), bucket, 'index.html', 'content of index.html', { ContentType: 'text/html' });
    const page = await under.signedIn(test, `/settings/${bucket}/website`);
    await page.getByText('The bucket is not a website.').waitFor();
    await page.getByLabel('Index page').fill('');
    expect(await page.getByRole('button', { name: 'Turn on' }).isDisabled()).toBe(true);
    await page.getByLabel('Index page').fill('pages/index.html');
    await page.getByText('without a slash').first().waitFor();
    expect(await page.getByRole('button', { name: 'Turn on' }).isDisabled()).toBe(true);
    await page.getByLabel('Index page').fill('index.html');
    await page.getByLabel('Error page').fill('error.html');
    await page.getByText(`s3 website s3://${bucket} --index-document index.html`).waitFor();
    await expectAccessible(page);
    await page.getByRole('button', { name: 'Turn on' }).click();
    await page.getByText('they see only what everybody may read').waitFor();
    expect(await websiteOf(bucket)).toEqual({
      IndexDocument: { Suffix: 'index.html' },
      ErrorDocument: { Key: 'error.html' },
    });
    expect((await visit(bucket, '/')).status).toBe(403);
    await expectAccessible(page);

    await page.getByRole('button', { name: 'Let everybody read this bucket' }).click();
    await page.getByText('Everybody may read the objects').waitFor();
    expect(await (await visit(bucket, '/')).text()).toBe('content of index.html');
    const link = page.getByRole('link', { name: `${bucket}.${under.service.websiteDomain}` });
    const { protocol, hostname } = new URL((await link.getAttribute('href'))!);
    expect([protocol, hostname]).toEqual([isCloud ? 'https:' : 'http:', `${bucket}.${under.service.websiteDomain}`]);
    // Names below `localhost` need no DNS.
    if (!isCloud) {
      const [visitor] = await Promise.all([page.waitForEvent('popup'), link.click()]);
      await visitor.getByText('content of index.html').waitFor();
      await visitor.close();
    }
    const missing = await visit(bucket, '/nowhere');
    expect([missing.status, await missing.text()]).toEqual([404, 'content of error.html']);
    const { Policy } = await under.sdk().send(new GetBucketPolicyCommand({ Bucket: bucket }));
    expect(Policy).toContain('s3:ListBucket');

    await page.getByRole('button', { name: 'Turn off' }).click();
    await page.getByText('The bucket is not a website.').waitFor();
    await expect(websiteOf(bucket)).rejects.toMatchObject({ name: 'NoSuchWebsiteConfiguration' });
    expect(under.faultsOf(page)).toEqual([]);
  });

  it('redirects by rules, which keep what the API wrote into them', async (test) => {
    const bucket = await makeBucket(under, []);
    const written = {
      Condition: { KeyPrefixEquals: 'old/', HttpErrorCodeReturnedEquals: '404' },
      Redirect: { Protocol: 'https' as const, HostName: 'old.example.com', HttpRedirectCode: '302' },
    };
    await under.sdk().send(
      new PutBucketWebsiteCommand({
        Bucket: bucket,
        WebsiteConfiguration: { IndexDocument: { Suffix: 'i' }, RoutingRules: [written] },
      }),
    );
    const page = await under.signedIn(test, `/settings/${bucket}/website`);
    await page.getByText('→ 302 https://old.example.com/…').waitFor();
    await page.getByRole('button', { name: 'Add redirect rule' }).click();
    const dialog = page.getByRole('dialog');
    const save = dialog.getByRole('button', { name: 'Save' });
    expect(await save.isDisabled()).toBe(true);
    await dialog.getByLabel('On host').fill('javascript://example.com/%0aalert(1)');
    await dialog.getByText('Give a host name only').waitFor();
    expect(await save.isDisabled()).toBe(true);
    await dialog.getByLabel('On host').fill('');
    await dialog.getByLabel('If the path begins with').fill('docs/');
    await dialog.getByLabel('Then redirect to').selectOption('The path with another prefix');
    await dialog.getByLabel('New prefix').fill('documents/');
    // The command saves all rules, with the one that is edited.
    await dialog
      .getByText(/put-bucket-website .*"KeyPrefixEquals":"old\/".*"ReplaceKeyPrefixWith":"documents\/"/)
      .waitFor();
    await expectAccessible(page);
    await save.click();
    await page.getByRole('button', { name: 'Save' }).click();
    await page.getByText('Saved.').waitFor();
    const moved = { Condition: { KeyPrefixEquals: 'docs/' }, Redirect: { ReplaceKeyPrefixWith: 'documents/' } };
    expect((await websiteOf(bucket)).RoutingRules).toEqual([written, moved]);
    expect((await visit(bucket, '/docs/a')).headers.get('location')).toContain('/documents/a');
    await page.getByRole('button', { name: 'Remove rule 1', exact: true }).click();
    await page.getByRole('button', { name: 'Save' }).click();
    await expect.poll(async () => (await websiteOf(bucket)).RoutingRules).toEqual([moved]);

    // The form shows the saved values again.
    await expect.poll(() => page.getByRole('button', { name: 'Save' }).isDisabled()).toBe(true);
    await page.getByLabel('Requests').selectOption('Redirect everything to another host');
    await page.getByLabel('Host', { exact: true }).fill('www.example.com/path');
    await page.getByText('Give a host name only').waitFor();
    await page.getByLabel('Host', { exact: true }).fill('www.example.com:8443');
    await page.getByLabel('Protocol').selectOption('https');
    await page.getByRole('button', { name: 'Save' }).click();
    await expect
      .poll(() => websiteOf(bucket))
      .toEqual({
        RedirectAllRequestsTo: { HostName: 'www.example.com:8443', Protocol: 'https' },
      });
    expect((await visit(bucket, '/a')).headers.get('location')).toBe('https://www.example.com:8443/a');
  });
});

describe('the CORS rules of a bucket', () => {
  it('are added, changed and removed; an origin begins with a protocol', async (test) => {
    const bucket = await makeBucket(under, []);
    const rules = async () => (await under.sdk().send(new GetBucketCorsCommand({ Bucket: bucket }))).CORSRules;
    const page = await under.signedIn(test, `/settings/${bucket}/cors`);
    await page.getByText('No rules: pages of other origins').waitFor();
    await page.getByRole('button', { name: 'Add rule' }).click();
    const dialog = page.getByRole('dialog');
    const save = dialog.getByRole('button', { name: 'Save' });
    expect(await save.isDisabled()).toBe(true);
    for (const bad of ['app.example.com', 'https://a.example/path', 'https://*.*.example', 'https://a@b.example']) {
      await dialog.getByLabel('Origins').fill(bad);
      await dialog.getByText(`${bad} is not an origin`).waitFor();
      expect(await save.isDisabled()).toBe(true);
    }
    await dialog.getByLabel('Origins').fill('https://app.example.com:8443\nhttps://*.example.com\n');
    await dialog.getByLabel('PUT').check();
    await dialog.getByLabel('Allowed headers').fill('*');
    await dialog.getByLabel('Exposed headers').fill('ETag\nx-amz-version-id');
    await dialog.getByLabel('Maximum age in seconds').fill('3000');
    await dialog.getByText(/put-bucket-cors .*"AllowedMethods":\["GET","PUT"\].*"MaxAgeSeconds":3000/).waitFor();
    await expectAccessible(page);
    await save.click();
    await page.getByText('GET, PUT · allows * · exposes ETag, x-amz-version-id · kept for 3,000 s').waitFor();
    await expectAccessible(page);
    const first = {
      AllowedOrigins: ['https://app.example.com:8443', 'https://*.example.com'],
      AllowedMethods: ['GET', 'PUT'],
      AllowedHeaders: ['*'],
      ExposeHeaders: ['ETag', 'x-amz-version-id'],
      MaxAgeSeconds: 3000,
    };
    expect(await rules()).toEqual([first]);
    const preflight = await fetch(`${under.service.url}/${bucket}/key`, {
      method: 'OPTIONS',
      headers: { origin: 'https://shop.example.com', 'access-control-request-method': 'PUT' },
    });
    expect(preflight.headers.get('access-control-allow-origin')).toBe('https://shop.example.com');

    await page.getByRole('button', { name: 'Edit rule 1' }).click();
    await dialog.getByLabel('Origins').fill('*');
    await dialog.getByLabel('Maximum age in seconds').fill('');
    await save.click();
    const { MaxAgeSeconds: _, ...rest } = first;
    await expect.poll(rules).toEqual([{ ...rest, AllowedOrigins: ['*'] }]);
    await page.getByRole('button', { name: 'Remove rule 1', exact: true }).click();
    await page.getByText('No rules: pages of other origins').waitFor();
    await expect(rules()).rejects.toMatchObject({ name: 'NoSuchCORSConfiguration' });
    expect(under.faultsOf(page)).toEqual([]);
  });
});
