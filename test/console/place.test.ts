import type { Page } from 'playwright-core';
import { describe, expect, it } from 'vitest';
import { makeBucket, row } from './support/buckets.ts';
import { consoleUnderTest, expectAccessible, signIn } from './support/console.ts';
import { inventedFolder } from './support/invented-folder.ts';

const under = consoleUnderTest();

/** Goes to an address without loading the page again. */
const follow = (page: Page, path: string): Promise<void> =>
  page.evaluate((address) => {
    history.pushState(null, '', address);
    dispatchEvent(new PopStateEvent('popstate'));
  }, path);

const selected = (page: Page) => page.getByRole('row', { selected: true }).locator('.name').textContent();

describe('the place in a folder', () => {
  it('is found again by going back: scroll position, order and cursor', async (test) => {
    const keys = Array.from({ length: 60 }, (_, at) => `f-${String(at).padStart(2, '0')}/x`);
    const bucket = await makeBucket(under, [...keys, 'aa', 'bbb']);
    const page = await under.signedIn(test, `/b/${bucket}/`);
    await row(page, 'f-00').waitFor();
    await page.getByRole('button', { name: 'Name' }).click();
    await expect.poll(() => page.locator('.item .name').first().textContent()).toBe('f-59');
    await page.getByRole('grid').press('End');
    await expect.poll(() => selected(page)).toBe('aa');
    for (let step = 0; step < 4; step++) await page.getByRole('grid').press('ArrowUp');
    await expect.poll(() => selected(page)).toBe('f-02');
    const before = await page.locator('.virtual').evaluate((list) => list.scrollTop);
    expect(before).toBeGreaterThan(500);
    await page.getByRole('grid').press('Enter');
    await row(page, 'x').waitFor();
    await page.goBack();
    await row(page, 'f-02').waitFor();
    await expect.poll(() => selected(page)).toBe('f-02');
    await expect.poll(() => page.locator('.virtual').evaluate((list) => list.scrollTop)).toBe(before);
    await page.getByRole('columnheader', { name: 'Name' }).and(page.locator('[aria-sort=descending]')).waitFor();
  });

  it('is its end after one press', async (test) => {
    const page = await under.signedIn(test);
    const folder = await inventedFolder(page, under, 20_000);
    await follow(page, `/b/${folder.bucket}/`);
    await row(page, 'key-0000000').waitFor();
    await page.getByRole('grid').press('End');
    await row(page, 'key-0019999').waitFor();
    expect(await selected(page)).toBe('key-0019999');
  });
});

describe('who uses the keyboard', () => {
  it('skips what is on every page, and sees where the focus is before the first arrow', async (test) => {
    const bucket = await makeBucket(under, ['a.txt']);
    const page = await under.signedIn(test, `/b/${bucket}/`);
    await row(page, 'a.txt').waitFor();
    const first = page.locator('a[href], button:visible, input').first();
    await first.focus();
    expect(await first.textContent()).toBe('Skip to content');
    expect(await first.evaluate((link) => link.getBoundingClientRect().top >= 0)).toBe(true);
    await expectAccessible(page);
    await page.keyboard.press('Enter');
    expect(await page.evaluate(() => document.activeElement?.id)).toBe('main');
    const grid = page.getByRole('grid');
    await grid.focus();
    expect(await grid.evaluate((element) => getComputedStyle(element).outlineStyle)).toBe('solid');
    await page.keyboard.press('ArrowDown');
    expect(await grid.evaluate((element) => getComputedStyle(element).outlineStyle)).toBe('none');
  });

  it('reads all of the shortcuts where only a part of them fits', async (test) => {
    const page = await under.signedIn(test, '/', { viewport: { width: 640, height: 400 } });
    await page.keyboard.press('?');
    const last = page.getByText('This list');
    await last.waitFor();
    expect(await last.evaluate((it) => it.getBoundingClientRect().bottom <= innerHeight - 60)).toBe(false);
    await page.keyboard.press('Tab');
    await page.keyboard.press('End');
    await expect.poll(() => last.evaluate((it) => it.getBoundingClientRect().bottom <= innerHeight - 60)).toBe(true);
    await expectAccessible(page);
  });
});

describe('the title of the page', () => {
  it('is what the page shows', async (test) => {
    const bucket = await makeBucket(under, ['dir/one.txt']);
    const page = await under.page(test, `/b/${bucket}/dir/`);
    await expect.poll(() => page.title()).toBe('Sign in · Stillage');
    await signIn(page);
    await expect.poll(() => page.title()).toBe(`dir · ${bucket} · Stillage`);
    await row(page, 'one.txt').click();
    await expect.poll(() => page.title()).toBe(`one.txt · ${bucket} · Stillage`);
    await page.getByRole('link', { name: 'Transfers' }).click();
    await expect.poll(() => page.title()).toBe('Transfers · Stillage');
    await page.getByRole('link', { name: 'Stillage' }).click();
    await expect.poll(() => page.title()).toBe('Buckets · Stillage');
  });
});
