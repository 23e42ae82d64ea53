import type { Page } from 'playwright-core';
import { describe, expect, it } from 'vitest';
import { makeBucket, row } from './support/buckets.ts';
import { consoleUnderTest, expectAccessible } from './support/console.ts';

const under = consoleUnderTest();

const heading = (page: Page, name: string) => page.getByRole('heading', { name });

/** A test of every key in the list of shortcuts, in a folder in which `a.txt` is selected. */
const keys: Readonly<Record<string, (page: Page) => Promise<unknown>>> = {
  '/': async (page) => {
    await page.keyboard.press('/');
    await expect
      .poll(() => page.getByLabel('Search in bucket').evaluate((it) => it === document.activeElement))
      .toBe(true);
  },
  f: async (page) => {
    await page.keyboard.press('f');
    await expect
      .poll(() => page.getByLabel('Filter by prefix').evaluate((it) => it === document.activeElement))
      .toBe(true);
  },
  'g b': async (page) => {
    await page.keyboard.press('g');
    await page.keyboard.press('b');
    await page.getByRole('heading', { name: 'Buckets', level: 1 }).waitFor();
    await page.goBack();
  },
  '↑ ↓': async (page) => {
    await page.keyboard.press('ArrowDown');
    await page.getByRole('row', { name: 'b.txt', selected: true }).waitFor();
    await page.keyboard.press('Shift+ArrowUp');
    await page.getByText('2 items selected').waitFor();
    // The active descendant is the row that a screen reader announces.
    const active = await page.getByRole('grid').getAttribute('aria-activedescendant');
    expect(await page.locator(`#${active!} .name`).innerText()).toBe('a.txt');
  },
  Enter: async (page) => {
    await page.keyboard.press('Enter');
    await page.frameLocator('.preview-frame').getByText('content of folder/a.txt').waitFor();
  },
  Space: async (page) => {
    await page.keyboard.press('Space');
    await page.frameLocator('.preview-frame').getByText('content of folder/a.txt').waitFor();
  },
  u: async (page) => {
    // The field that opens the browser's choice of files.
    const field = page.locator('#upload-files');
    const clicked = field.evaluate(
      (it) =>
        new Promise((resolve) =>
          it.addEventListener('click', (event) => resolve(event.preventDefault()), { once: true }),
        ),
    );
    await field.evaluate(() => undefined);
    await page.keyboard.press('u');
    await clicked;
  },
  n: async (page) => {
    await page.keyboard.press('n');
    await heading(page, 'New folder').waitFor();
    await page.keyboard.press('Escape');
  },
  r: async (page) => {
    await page.keyboard.press('r');
    await heading(page, 'Rename a.txt').waitFor();
    await page.keyboard.press('Escape');
  },
  Delete: async (page) => {
    await page.keyboard.press('Delete');
    await heading(page, 'Delete a.txt?').waitFor();
    await page.keyboard.press('Escape');
  },
  'Ctrl A': async (page) => {
    await page.keyboard.press('Control+a');
    await page.getByText('2 items selected').waitFor();
  },
  Backspace: async (page) => {
    await page.keyboard.press('Backspace');
    await row(page, 'folder').waitFor();
    await page.goBack();
  },
  '?': async (page) => {
    await page.keyboard.press('?');
    await heading(page, 'Keyboard shortcuts').waitFor();
    await page.keyboard.press('Escape');
  },
};

describe('the keyboard', () => {
  it('does in a folder what the list of shortcuts says', async (test) => {
    const bucket = await makeBucket(under, ['folder/a.txt', 'folder/b.txt']);
    const page = await under.signedIn(test, `/b/${bucket}/folder/`);
    const begin = async (): Promise<void> => {
      await row(page, 'a.txt').waitFor();
      await page.getByRole('grid').focus();
      await page.keyboard.press('Escape');
      await page.keyboard.press('Home');
      await page.getByRole('row', { name: 'a.txt', selected: true }).waitFor();
    };
    await begin();
    await page.keyboard.press('?');
    await heading(page, 'Keyboard shortcuts').waitFor();
    expect(await page.locator('kbd').allInnerTexts()).toEqual(Object.keys(keys));
    await page.keyboard.press('Escape');
    for (const act of Object.values(keys)) {
      await begin();
      await act(page);
    }
    expect(under.faultsOf(page)).toEqual([]);
  });

  it('opens the menu of an object, goes through it, and comes back to the list', async (test) => {
    const bucket = await makeBucket(under, ['a.txt']);
    const page = await under.signedIn(test, `/b/${bucket}/`);
    await row(page, 'a.txt').waitFor();
    await page.getByRole('grid').focus();
    await page.keyboard.press('Home');
    await page.keyboard.press('Shift+F10');
    await page.getByRole('menu', { name: 'Actions for a.txt' }).waitFor();
    await expectAccessible(page);
    const focused = () => page.evaluate(() => document.activeElement?.textContent);
    await expect.poll(focused).toContain('Details');
    await page.keyboard.press('ArrowUp');
    await expect.poll(focused).toContain('Delete');
    await page.keyboard.press('ArrowDown');
    await page.keyboard.press('ArrowDown');
    await expect.poll(focused).toContain('Download');
    await page.keyboard.press('Escape');
    await page.getByRole('menu').waitFor({ state: 'detached' });
    await expect.poll(() => page.evaluate(() => document.activeElement?.getAttribute('role'))).toBe('grid');
  });
});
