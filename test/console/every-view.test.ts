import { beforeAll, describe, expect, it } from 'vitest';
import { iamClient } from '../support/clients/iam.ts';
import { alice } from '../support/programs/server.ts';
import { consoleUnderTest, expectAccessible, signIn } from './support/console.ts';
import { fillPeople, fillSample, watch } from './screenshots/sample-data.ts';
import { inventHistory, views } from './screenshots/views.ts';

const under = consoleUnderTest();

beforeAll(async () => {
  if (under.browser === undefined) return;
  await fillSample(under.sdk(), under.browser);
  await fillPeople(iamClient(under.service.url, alice), (key) => under.sdk(key));
  await watch(under.service.place);
});

describe('every page, dialog and state of the screenshots', () => {
  it.for(views)('$name is accessible, light and dark, and as wide as a phone', async (view, test) => {
    const page = await under.page(test, view.path, {
      viewport: { width: 390, height: 844 },
      // Colours that are on their way to others have no contrast that could be looked at.
      reducedMotion: 'reduce',
    });
    await inventHistory(page, under.origin);
    if (!view.isPublic) await signIn(page);
    await view.act?.(page);
    await page.locator('h1:visible').first().waitFor();
    for (const colorScheme of ['light', 'dark'] as const) {
      await page.emulateMedia({ colorScheme });
      await expectAccessible(page);
    }
    expect(await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth)).toBe(true);
    expect(under.faultsOf(page)).toEqual([]);
  });
});
