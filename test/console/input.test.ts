import type { Page } from 'playwright-core';
import { describe, expect, it, type TestContext } from 'vitest';
import { row } from './support/buckets.ts';
import { callsDuring } from './support/calls.ts';
import { consoleUnderTest } from './support/console.ts';
import { inventedFolder } from './support/invented-folder.ts';

const under = consoleUnderTest();

/** A page with a folder of as many keys, sorted by size, all of them read. */
async function folderOf(test: TestContext, count: number): Promise<Page> {
  const page = await under.signedIn(test);
  const folder = await inventedFolder(page, under, count);
  await page.evaluate((path) => {
    history.pushState(null, '', path);
    dispatchEvent(new PopStateEvent('popstate'));
  }, `/b/${folder.bucket}/`);
  await page.getByRole('button', { name: 'Size' }).click();
  await page.getByText(`${count.toLocaleString('en')} items`, { exact: true }).waitFor();
  await page.getByRole('grid').focus();
  await page.keyboard.press('Home');
  await row(page, nameAt(count, 0)).waitFor();
  return page;
}

/** The name in a row: the largest first. */
const nameAt = (count: number, at: number): string => `key-${String(count - 1 - at).padStart(7, '0')}`;

interface Input {
  readonly name: string;
  readonly act: (page: Page, count: number) => Promise<unknown>;
  /** The maximum number of function calls, whatever the number of keys. Rendering a row takes 300, and 40 rows are in view. */
  readonly most: number;
}

const inputs: readonly Input[] = [
  { name: 'an arrow key', act: (page) => page.keyboard.press('ArrowDown'), most: 2_500 },
  { name: 'extending the selection by a row', act: (page) => page.keyboard.press('Shift+ArrowDown'), most: 4_000 },
  { name: 'a letter of a name', act: (page) => page.keyboard.press('k'), most: 1_500 },
  { name: 'selecting to the end', act: (page) => page.keyboard.press('Shift+End'), most: 24_000 },
  { name: 'selecting all', act: (page) => page.keyboard.press('Control+a'), most: 14_000 },
  { name: 'a letter of a filter', act: (page) => page.getByLabel('Filter by prefix').press('k'), most: 400 },
];

describe('an input in a folder of many keys', () => {
  it('renders what it changes, and not more where there are more keys', async (test) => {
    const counts: Record<string, readonly number[]> = {};
    for (const count of [1_000, 50_000]) {
      const page = await folderOf(test, count);
      for (const { name, act } of inputs) {
        await page.getByRole('grid').focus();
        await page.keyboard.press('Escape');
        await page.keyboard.press('Home');
        await row(page, nameAt(count, 0)).and(page.locator('.item')).waitFor();
        const calls = await callsDuring(page, () => act(page, count));
        counts[name] = [...(counts[name] ?? []), calls];
      }
      await page.close();
    }
    for (const { name, most } of inputs) {
      for (const calls of counts[name]!) expect([name, calls, calls < most]).toEqual([name, calls, true]);
    }
  });
});
