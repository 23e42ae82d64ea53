/*
 * Takes screenshots of the running console.
 *
 *   npm run screenshots                    makes those of README and docs/console.md again
 *   npm run screenshots -- --all FOLDER [PATTERN [LANGUAGE]]
 *                                          every view whose name matches, light and dark, for a desk and a phone, to be looked at
 */
import { mkdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { chromium, type Browser, type BrowserContext, type BrowserContextOptions, type Page } from 'playwright-core';
import { fillPeople, fillSample, watch } from './sample-data.ts';
import { inventHistory, views, type View } from './views.ts';
import { build } from '../../../bin/build.mjs';
import { buildConsole } from '../../../console/build.mjs';
import { chromiumPath } from '../../support/clients/chromium.ts';
import { sdk } from '../../support/clients/clients.ts';
import { iamClient } from '../../support/clients/iam.ts';
import { alice, startService } from '../../support/programs/server.ts';

const images = join(import.meta.dirname, '../../../docs/images');

type Variant = BrowserContextOptions & { readonly suffix: string };

const desk = { viewport: { width: 1440, height: 900 } } as const;
const phone = { viewport: { width: 360, height: 740 }, hasTouch: true, isMobile: true } as const;
const variants: readonly Variant[] = [
  { suffix: 'light', colorScheme: 'light', ...desk },
  { suffix: 'dark', colorScheme: 'dark', ...desk },
  { suffix: 'phone', colorScheme: 'light', ...phone },
  { suffix: 'phone-dark', colorScheme: 'dark', ...phone },
];

/** The images of the documentation: the most informative views, small enough for a page. */
const documented: readonly { readonly file: string; readonly view: string; readonly variant: Variant }[] = [
  { file: 'console', view: 'preview-image', variant: { suffix: '', viewport: { width: 1200, height: 720 } } },
  { file: 'console-buckets', view: 'buckets', variant: { suffix: '', viewport: { width: 1080, height: 420 } } },
  { file: 'console-versions', view: 'versions', variant: { suffix: '', viewport: { width: 1080, height: 520 } } },
  {
    file: 'console-monitoring',
    view: 'settings-monitoring',
    variant: { suffix: '', colorScheme: 'dark', viewport: { width: 1080, height: 760 } },
  },
  { file: 'console-phone', view: 'objects', variant: { suffix: '', ...phone } },
  // Last, as it uploads something.
  { file: 'console-transfers', view: 'transfers', variant: { suffix: '', viewport: { width: 1080, height: 420 } } },
];

/** Opens a view as a new visitor, and calls back when it is loaded. */
async function show(
  browser: Browser,
  origin: string,
  { path, act, isPublic }: View,
  { suffix: _, ...options }: Variant,
  take: (page: Page) => Promise<void>,
): Promise<void> {
  const context = await browser.newContext({ locale: 'en-GB', ...options });
  context.setDefaultTimeout(30_000);
  try {
    const page = await context.newPage();
    await inventHistory(page, origin);
    await page.goto(origin + path);
    if (!isPublic) {
      await page.getByLabel('Access key').fill(alice.accessKeyId);
      await page.getByLabel('Secret key').fill(alice.secretAccessKey);
      await page.getByRole('button', { name: 'Sign in' }).click();
      await page.getByRole('link', { name: 'Profile' }).waitFor();
      await page.waitForLoadState('networkidle');
    }
    await act?.(page);
    if (language !== '') await chooseElsewhere(context, origin);
    await page.waitForTimeout(600);
    await take(page);
  } finally {
    await context.close();
  }
}

/** Chooses the language in another tab, since the first actions of a view use English labels. */
async function chooseElsewhere(context: BrowserContext, origin: string): Promise<void> {
  const other = await context.newPage();
  await other.goto(origin);
  await other.evaluate(`localStorage.setItem('language', '${language}')`);
  await other.close();
}

async function takeAll(browser: Browser, origin: string, folder: string, only: RegExp) {
  await mkdir(folder, { recursive: true });
  for (const view of views.filter(({ name }) => only.test(name))) {
    for (const variant of variants) {
      const file = join(folder, `${view.name}.${variant.suffix}.png`);
      await show(browser, origin, view, variant, async (page) => void (await page.screenshot({ path: file }))).catch(
        (error: unknown) => console.error(`${view.name} ${variant.suffix}: ${String(error).slice(0, 300)}`),
      );
    }
  }
}

async function takeDocumented(browser: Browser, origin: string): Promise<void> {
  await mkdir(images, { recursive: true });
  for (const { file, view: name, variant } of documented) {
    const view = views.find((each) => each.name === name)!;
    await show(browser, origin, view, variant, async (page) => {
      // Playwright takes PNG and JPEG alone; WebP is a third of either.
      const debug = await page.context().newCDPSession(page);
      const { data } = await debug.send('Page.captureScreenshot', { format: 'webp', quality: 82 });
      await writeFile(join(images, `${file}.webp`), Buffer.from(data, 'base64'));
    });
    console.log(`docs/images/${file}.webp`);
  }
}

const [option, folder = '', pattern = '', language = ''] = process.argv.slice(2);
const executablePath = chromiumPath();
if (executablePath === undefined) throw new Error('There is no Chromium on the PATH.');
await build('stillage');
await buildConsole();
// The addresses that a first start prints.
const ports = option === '--all' ? ['9470', '9471'] : ['9000', '9001'];
const service = await startService({ args: ['--port', ports[0]!, '--console-port', ports[1]!] });
const browser = await chromium.launch({ executablePath, args: ['--headless', '--no-sandbox', '--disable-gpu'] });
try {
  const origin = `http://127.0.0.1:${ports[1]}`;
  await fillSample(sdk(service), browser);
  await fillPeople(iamClient(service.url, alice), (key) => sdk(service, key));
  await watch(service.data);
  if (option === '--all') await takeAll(browser, origin, folder, new RegExp(pattern));
  else await takeDocumented(browser, origin);
} finally {
  await browser.close();
  await service.stop();
  await rm(service.data, { recursive: true, force: true });
}
