import type { Page } from 'playwright-core';
import { describe, expect, it } from 'vitest';
import { writeXml } from '../../console/s3/xml.ts';
import { bucketList } from '../../shared/documents/buckets.ts';
import { largeFile, makeBucket, row } from './support/buckets.ts';
import { consoleUnderTest, expectAccessible, signIn } from './support/console.ts';

const under = consoleUnderTest();

/** Shows a page these buckets, which are empty and have no settings, in place of those of the service. */
async function inventBuckets(page: Page, names: readonly string[]): Promise<void> {
  const headers = {
    'access-control-allow-origin': under.origin,
    'access-control-allow-headers': '*',
    'access-control-allow-methods': '*',
    'access-control-expose-headers': '*',
    'access-control-max-age': '7200',
  };
  const body = writeXml(bucketList, {
    owner: { id: 'main', displayName: 'main' },
    buckets: names.map((name) => ({ name, creationDate: Date.UTC(2026) })),
  });
  await page.route(`${under.service.url}/`, (route) =>
    route.request().method() === 'GET' ? route.fulfill({ status: 200, headers, body }) : route.fallback(),
  );
  await page.route(`${under.service.url}/bucket-**`, (route) =>
    route.fulfill({ status: route.request().method() === 'GET' ? 404 : 200, headers, body: '' }),
  );
}

describe('what deletes', () => {
  it('says how many objects it concerns: a folder’s deletion, and a lifecycle rule', async (test) => {
    const bucket = await makeBucket(under, ['f/a', 'f/in/b', 'f/in/c', 'other']);
    const page = await under.signedIn(test, `/b/${bucket}/`);
    await row(page, 'f').click({ button: 'right' });
    await page.getByRole('menuitem', { name: 'Delete' }).click();
    await page.getByRole('dialog').getByText('3 objects, 48 B', { exact: true }).waitFor();
    await expectAccessible(page);
    await page.keyboard.press('Escape');
    await page.goto(`${under.origin}/settings/${bucket}/lifecycle`);
    await signIn(page);
    await page.getByRole('button', { name: 'Add rule' }).click();
    await page.getByRole('dialog').getByText('4 objects, 64 B', { exact: true }).waitFor();
    await page.getByLabel('For names that begin with').fill('f/in/');
    await page.getByRole('dialog').getByText('2 objects, 34 B', { exact: true }).waitFor();
    await expectAccessible(page);
  });
});

describe('the list of many buckets', () => {
  it('asks only for what is in view, and the profile for sizes alone', async (test) => {
    const names = Array.from({ length: 300 }, (_, at) => `bucket-${String(at).padStart(3, '0')}`);
    const page = await under.page(test);
    await inventBuckets(page, names);
    let count = 0;
    page.on('request', (request) => {
      if (request.method() !== 'OPTIONS' && request.url().includes('/bucket-')) count++;
    });
    await signIn(page);
    await page.getByRole('row', { name: names[0]! }).getByText('Private').waitFor();
    await page.waitForLoadState('networkidle');
    expect(count).toBeLessThan(50 * 4);
    const last = page.getByRole('row', { name: names.at(-1)! });
    await last.scrollIntoViewIfNeeded();
    await last.getByText('Private').waitFor();
    await page.waitForLoadState('networkidle');
    expect(count).toBeLessThan(100 * 4);
    const before = count;
    await page.getByRole('link', { name: 'Profile' }).click();
    await page.getByText('Stored').waitFor();
    await expect.poll(() => count - before).toBeGreaterThan(100);
    await page.waitForLoadState('networkidle');
    expect(count - before).toBeLessThanOrEqual(300);
  });
});

describe('a transfer that is under way', () => {
  it('shows what was sent while it pauses, and is not stopped by signing out before that was confirmed', async (test) => {
    const bucket = await makeBucket(under, []);
    const page = await under.signedIn(test, `/b/${bucket}/`);
    const held: (() => void)[] = [];
    await page.route(/partNumber=3/, async (route) => {
      if (route.request().method() === 'PUT') await new Promise<void>((resolve) => held.push(resolve));
      await route.continue().catch(() => undefined);
    });
    await page.setInputFiles('#upload-files', await largeFile(test));
    await page.getByRole('link', { name: /Transfers/ }).click();
    await page.getByText('16 MB of 17 MB').waitFor();
    await page.getByRole('button', { name: 'Pause' }).click();
    await page.getByText('16 MB of 17 MB · paused').waitFor();
    await page.getByRole('link', { name: 'Profile' }).click();
    await page.getByRole('button', { name: 'Sign out' }).click();
    await page.getByText('1 transfer is stopped').waitFor();
    await expectAccessible(page);
    await page.getByRole('button', { name: 'Cancel' }).click();
    await page.getByRole('link', { name: /Transfers/ }).click();
    await page.getByText('paused').waitFor();
    await page.getByRole('link', { name: 'Profile' }).click();
    await page.getByRole('button', { name: 'Sign out' }).click();
    await page.getByRole('button', { name: 'Stop and sign out' }).click();
    await page.getByRole('heading', { name: 'Sign in' }).waitFor();
    for (const release of held) release();
    expect(under.faultsOf(page)).toEqual([]);
  });
});
