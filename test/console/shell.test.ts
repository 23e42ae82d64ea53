import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { brotliDecompressSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { makeBucket, row } from './support/buckets.ts';
import { consoleUnderTest, expectAccessible, signIn } from './support/console.ts';
import { run } from '../support/programs/programs.ts';
import { alice } from '../support/programs/server.ts';
import { inventedFolder } from './support/invented-folder.ts';

const under = consoleUnderTest();

const budget = 90 * 1024;

describe('the first load', () => {
  it('is within 90 KB compressed, all that the list of buckets needs', async (test) => {
    const context = await under.context(test);
    const page = await context.newPage();
    const debug = await context.newCDPSession(page);
    await debug.send('Network.enable');
    let bytes = 0;
    debug.on('Network.loadingFinished', ({ encodedDataLength }) => (bytes += encodedDataLength));
    await page.goto(under.origin);
    await signIn(page);
    await page.getByRole('heading', { name: 'Buckets', level: 1 }).waitFor();
    expect(bytes).toBeGreaterThan(20_000);
    expect(bytes).toBeLessThan(budget);
  });

  it('has no script or style in the document', async () => {
    const html = await readFile(join(import.meta.dirname, '../../dist/console/index.html'), 'utf8');
    expect(html).not.toMatch(/<style|\sstyle=|\son\w+=|<script(?![^>]* src=)/);
    const compressed = await readFile(join(import.meta.dirname, '../../dist/console/index.html.br'));
    expect(brotliDecompressSync(compressed).toString()).toBe(html);
  });
});

describe('activity', () => {
  it('shows every request, and its commands do the same in a shell', async (test) => {
    const bucket = await makeBucket(under, ['a b$(touch pwned)\'"']);
    const context = await under.context(test, { permissions: ['clipboard-read', 'clipboard-write'] });
    const page = await under.signedIn(test, `/b/${bucket}/`, { in: context });
    await page.locator('.item').first().click();
    await page.getByRole('tab', { name: 'Properties' }).click();
    await page.getByText('ETag').waitFor();
    await page.getByRole('link', { name: 'Activity' }).click();
    await expectAccessible(page);
    const line = page.getByRole('row').filter({ hasText: 'HEAD' }).first();
    const copied = async (name: string): Promise<string> => {
      await line.getByRole('button', { name }).click();
      return page.evaluate(() => navigator.clipboard.readText());
    };
    const curl = await copied('curl');
    expect(curl).not.toContain(alice.secretAccessKey);
    const env = { AWS_ACCESS_KEY_ID: alice.accessKeyId, AWS_SECRET_ACCESS_KEY: alice.secretAccessKey };
    const answer = await run('bash', ['-c', `${curl} -s`], { env });
    expect(answer.stdout).toContain('200 OK');
    expect(await copied('AWS CLI')).toMatch(/^aws --endpoint-url \S+ s3api head-object --bucket /);
  });
});

describe('a folder of a million keys', () => {
  it('scrolls, keeps a few pages, and selects at once', async (test) => {
    const page = await under.signedIn(test);
    const folder = await inventedFolder(page, under, 1_000_000);
    await page.evaluate((path) => {
      history.pushState(null, '', path);
      dispatchEvent(new PopStateEvent('popstate'));
    }, `/b/${folder.bucket}/`);
    await row(page, 'key-0000000').waitFor();
    // Scrolls to the end of the loaded rows repeatedly: each time the next page is loaded.
    const list = page.locator('.virtual');
    for (let round = 0; round < 12; round++) {
      await list.evaluate((element) => (element.scrollTop = element.scrollHeight));
      await expect.poll(() => page.locator('.item .name').last().textContent()).not.toBe('');
    }
    await expect
      .poll(async () => Number((await page.locator('.status-bar').innerText()).replace(/\D/g, '')))
      .toBeGreaterThan(10_000);
    expect(await page.locator('.item').count()).toBeLessThan(80);
    await list.evaluate((element) => (element.scrollTop = 0));
    await row(page, 'key-0000003').click();
    expect(await page.getByRole('row', { selected: true }).count()).toBe(1);
  });

  it('sorts 100,000 by size, and answers a click within a frame or three', async (test) => {
    const page = await under.signedIn(test);
    const folder = await inventedFolder(page, under, 100_000);
    await page.evaluate((path) => {
      history.pushState(null, '', path);
      dispatchEvent(new PopStateEvent('popstate'));
    }, `/b/${folder.bucket}/`);
    await page.getByRole('button', { name: 'Size' }).click();
    await page.getByText('100,000 items', { exact: true }).waitFor();
    await row(page, `key-0099999`).waitFor();
    expect(await page.locator('.item').count()).toBeLessThan(80);
    await page.getByRole('grid').focus();
    await page.keyboard.press('End');
    await row(page, 'key-0000000').waitFor();
  });
});

describe('the connection', () => {
  it('is waited for by transfers, and an error says what happened', async (test) => {
    const bucket = await makeBucket(under, []);
    const page = await under.signedIn(test, `/b/${bucket}/`);
    await page.route(`${under.service.url}/**`, (route) => route.abort('connectionrefused'));
    await page.setInputFiles('#upload-files', {
      name: 'late.txt',
      mimeType: 'text/plain',
      buffer: Buffer.from('late'),
    });
    await page.getByRole('link', { name: 'Transfers' }).click();
    await page.getByText('waiting for the connection').waitFor();
    await page.getByRole('link', { name: 'Stillage' }).click();
    await page.getByRole('alert').getByText('The service did not answer').waitFor();
    await page.unroute(`${under.service.url}/**`);
    await page.getByRole('link', { name: 'Transfers' }).click();
    await page.getByText('done').waitFor();
  });

  it('brings errors in words, with the code and the id of the request, which activity has as well', async (test) => {
    const page = await under.signedIn(test);
    const answered = page.waitForResponse((response) => response.status() === 404);
    await page.goto(`${under.origin}/b/no-such-bucket-at-all/`);
    await signIn(page);
    const id = (await answered).headers()['x-amz-request-id']!;
    const alert = page.getByRole('alert');
    await alert.getByText('There is no such bucket.').waitFor();
    const text = await alert.innerText();
    expect(text).toContain('404 NoSuchBucket');
    expect(text).toMatch(/request \w+/);
    expect(id).not.toBe('');
    await page.getByRole('link', { name: 'Activity' }).click();
    await page.getByRole('row').filter({ hasText: '404 NoSuchBucket' }).first().waitFor();
    await page
      .getByTitle(/request (\w+)/.exec(text)![1]!)
      .first()
      .waitFor();
  });

  it('that the browser has lost is said on every page', async (test) => {
    const page = await under.signedIn(test);
    await page.context().setOffline(true);
    await page.getByText('No connection to the service').waitFor();
    await expectAccessible(page);
    await page.context().setOffline(false);
    await page.getByText('No connection to the service').waitFor({ state: 'detached' });
  });

  it('that is slow leaves pages accessible while they load', async (test) => {
    const bucket = await makeBucket(under, ['waiting.txt']);
    const page = await under.page(test);
    let goOn!: () => void;
    const held = new Promise<void>((resolve) => (goOn = resolve));
    let signedIn = false;
    await page.route(`${under.service.url}/**`, async (route) => {
      if (signedIn) await held;
      if (route.request().method() === 'GET') signedIn = true;
      await route.continue();
    });
    await signIn(page);
    await page.getByRole('status', { name: 'Loading' }).waitFor();
    await expectAccessible(page);
    goOn();
    await page.getByRole('link', { name: bucket }).waitFor();
  });

  it('with a key that was taken away ends in the sign-in form, with the reason', async (test) => {
    const page = await under.signedIn(test);
    await page.route(`${under.service.url}/**`, (route) =>
      route.fulfill({
        status: 403,
        headers: {
          'access-control-allow-origin': under.origin,
          'access-control-allow-headers': '*',
          'access-control-expose-headers': '*',
        },
        body: '<Error><Code>InvalidAccessKeyId</Code><Message>no</Message></Error>',
      }),
    );
    const told = page.getByText('no longer accepts this access key');
    // A request that was under way may have been refused already, and the link be gone.
    await Promise.race([page.getByRole('link', { name: 'Profile' }).click(), told.waitFor()]);
    await told.waitFor();
  });
});

describe('a refusal of the key', () => {
  it('that a second request does not confirm is said, and ends no session', async (test) => {
    const bucket = await makeBucket(under, ['a.txt']);
    const page = await under.signedIn(test, `/b/${bucket}/`);
    await row(page, 'a.txt').waitFor();
    await page.route(new RegExp(`/${bucket}\\?.*list-type`), (route) =>
      route.fulfill({
        status: 403,
        headers: { 'access-control-allow-origin': under.origin, 'access-control-expose-headers': '*' },
        body: '<Error><Code>SignatureDoesNotMatch</Code><Message>no</Message></Error>',
      }),
    );
    const confirmed = page.waitForResponse((response) => response.url().endsWith('?account='));
    await page.getByRole('button', { name: 'Refresh' }).click();
    expect((await confirmed).status()).toBe(200);
    await page.getByRole('alert').getByText('SignatureDoesNotMatch').waitFor();
    await page.unroute(/list-type/);
    await page.getByRole('link', { name: 'Profile' }).click();
    await page.getByRole('heading', { name: 'Profile' }).waitFor();
  });
});

describe('languages and screens', () => {
  it('are German where that is wanted, on every page', async (test) => {
    const page = await under.page(test, '/', { locale: 'de-DE' });
    await page.getByRole('heading', { name: 'Anmelden' }).waitFor();
    await page.getByLabel('Zugriffsschlüssel').fill(alice.accessKeyId);
    await page.getByLabel('Geheimer Schlüssel').fill(alice.secretAccessKey);
    await page.getByRole('button', { name: 'Anmelden' }).click();
    await page.getByRole('button', { name: 'Bucket anlegen' }).waitFor();
    expect(await page.locator('html').getAttribute('lang')).toBe('de');
    await page.getByRole('link', { name: 'Profil' }).click();
    const other = await page.context().newPage();
    await other.goto(under.origin);
    await other.getByRole('heading', { name: 'Anmelden' }).waitFor();
    await page.getByLabel('Sprache').selectOption('English');
    await page.getByRole('heading', { name: 'Profile' }).waitFor();
    await other.getByRole('heading', { name: 'Sign in' }).waitFor();
  });

  it('are dark, and as narrow as a phone, without findings and without a scroll bar below', async (test) => {
    const bucket = await makeBucket(under, ['folder/a', 'b.txt']);
    for (const options of [
      { colorScheme: 'dark', viewport: { width: 1280, height: 800 } },
      { colorScheme: 'light', viewport: { width: 390, height: 844 } },
    ] as const) {
      const page = await under.signedIn(test, `/b/${bucket}/`, options);
      await row(page, 'b.txt').click();
      await page.getByRole('complementary', { name: 'Details' }).waitFor();
      await expectAccessible(page);
      await page.getByRole('button', { name: 'Close details' }).click();
      for (const name of ['Stillage', 'Transfers', 'Activity', 'Profile']) {
        await page.getByRole('link', { name }).click();
        await page.getByRole('heading', { level: 1 }).waitFor();
        await expectAccessible(page);
        expect(await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth)).toBe(true);
      }
      await page.close();
    }
  });

  it('do not move where that is not wanted', async (test) => {
    const bucket = await makeBucket(under, ['a']);
    for (const [reducedMotion, moving] of [
      ['reduce', false],
      ['no-preference', true],
    ] as const) {
      const page = await under.signedIn(test, `/settings/${bucket}/overview`, { reducedMotion });
      await page.getByRole('heading', { name: 'Versioning' }).waitFor();
      const durations = await page.evaluate(() =>
        [...document.querySelectorAll('*')].flatMap((element) => {
          const { transitionDuration, animationName } = getComputedStyle(element);
          return [
            ...(transitionDuration === '0s' ? [] : ['transition']),
            ...(animationName === 'none' ? [] : ['animation']),
          ];
        }),
      );
      expect(durations.length > 0).toBe(moving);
      await page.close();
    }
  });

  it('keep all of every setting in view of a phone', async (test) => {
    const bucket = await makeBucket(under, ['a']);
    const page = await under.signedIn(test, `/settings/${bucket}/overview`, { viewport: { width: 360, height: 740 } });
    for (const name of ['Overview', 'Monitoring', 'Alarms', 'Access', 'Lifecycle', 'Website', 'CORS']) {
      await page.getByRole('tab', { name }).click();
      await expect.poll(() => page.getByRole('tabpanel').locator('.skeleton').count()).toBe(0);
      // Elements beyond the edge of the page cannot be scrolled to.
      const lost = await page.evaluate(() =>
        [...document.querySelectorAll('#main *')]
          .filter((element) => !element.closest('.tabs, code, .visually-hidden'))
          .filter((element) => element.getBoundingClientRect().right > innerWidth + 1)
          .map((element) => element.outerHTML.slice(0, 80)),
      );
      expect([name, lost]).toEqual([name, []]);
      await expectAccessible(page);
    }
  });

  it('reach every setting by the keyboard alone', async (test) => {
    const bucket = await makeBucket(under, []);
    const page = await under.signedIn(test, `/settings/${bucket}/overview`);
    await page.getByRole('tab', { name: 'Overview' }).focus();
    for (const name of ['Monitoring', 'Alarms', 'Access', 'Lifecycle', 'Object lock', 'Website', 'CORS']) {
      await page.keyboard.press('ArrowRight');
      await expect.poll(() => page.evaluate(() => document.activeElement?.textContent)).toBe(name);
    }
    await page.getByText('No rules: pages of other origins').waitFor();
    await page.keyboard.press('Tab');
    await page.keyboard.press('Tab');
    await page.keyboard.press('Enter');
    await expect.poll(() => page.evaluate(() => document.activeElement?.tagName)).toBe('TEXTAREA');
    await page.keyboard.type('https://app.example.com');
    await page.keyboard.press('Tab');
    await page.keyboard.press('Tab');
    await page.keyboard.press('Space');
    // The first button of a form's footer cancels; Enter in a line of text saves.
    await page.getByLabel('Maximum age').focus();
    await page.keyboard.press('Enter');
    await page.getByText('GET, PUT').waitFor();
    // Focus returns where it came from.
    await expect.poll(() => page.evaluate(() => document.activeElement?.textContent)).toBe('Add rule');
  });
});
