import { HeadObjectCommand, ListMultipartUploadsCommand, ListObjectsV2Command } from '@aws-sdk/client-s3';
import { mkdir, mkdtemp, rm, utimes, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { BrowserContext, Page } from 'playwright-core';
import { describe, expect, it, type TestContext } from 'vitest';
import { read } from '../support/storage/objects.ts';
import { file, largeFile, makeBucket } from './support/buckets.ts';
import { consoleUnderTest, expectAccessible, signIn } from './support/console.ts';

const under = consoleUnderTest();

async function keysOf(bucket: string): Promise<string[]> {
  const { Contents = [] } = await under.sdk().send(new ListObjectsV2Command({ Bucket: bucket }));
  return Contents.map(({ Key }) => Key!);
}

/** A folder with files of these names. */
async function folderWith(test: TestContext, names: readonly string[]): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'stillage-unfinished-'));
  test.onTestFinished(() => rm(folder, { recursive: true }));
  await mkdir(join(folder, 'tree/leaf'), { recursive: true });
  for (const name of names) await writeFile(join(folder, 'tree', name), `content of ${name}`);
  return join(folder, 'tree');
}

/** Lets the first files of a page's uploads through; for those after them, the service is not there. */
async function sendOnly(page: Page, count: number): Promise<void> {
  let sent = 0;
  await page.route(`${under.service.url}/**`, (route) =>
    route.request().method() === 'PUT' && ++sent > count ? route.abort('connectionrefused') : route.continue(),
  );
}

/** Closes a page as a user does, who is asked whether to. */
async function close(page: Page): Promise<void> {
  const asked = page.waitForEvent('dialog');
  const closed = page.waitForEvent('close');
  await page.close({ runBeforeUnload: true });
  const dialog = await asked;
  expect(dialog.type()).toBe('beforeunload');
  await dialog.accept();
  await closed;
}

const transfers = async (test: TestContext, context: BrowserContext): Promise<Page> => {
  const page = await under.page(test, '/transfers', { in: context });
  await page.getByRole('heading', { name: 'Transfers' }).waitFor();
  return page;
};

async function choose(page: Page, button: string, path: string): Promise<void> {
  const chooser = page.waitForEvent('filechooser');
  await page.getByRole('button', { name: button }).click();
  await (await chooser).setFiles(path);
}

describe('an upload whose tab is closed', () => {
  it('is asked about, and goes on in another tab with the files that were not sent', async (test) => {
    const bucket = await makeBucket(under, []);
    const context = await under.context(test);
    const page = await under.signedIn(test, `/b/${bucket}/in/`, { in: context, keep: true });
    const names = ['1.txt', '2.txt', '3.txt', '4.txt', '5.txt', 'leaf/6.txt'];
    const folder = await folderWith(test, names);
    await sendOnly(page, 2);
    await page.setInputFiles('#upload-folder', folder);
    await expect.poll(async () => (await keysOf(bucket)).length).toBe(2);
    const sent = await keysOf(bucket);
    const other = await transfers(test, context);
    // While a tab is sending, no other one offers to continue.
    await other.getByText('Nothing is under way').waitFor();
    expect(await other.getByText('Started earlier and not finished').count()).toBe(0);
    await close(page);

    // It does once the tab is gone.
    await other.getByText('4 files not sent').waitFor();
    await expectAccessible(other);
    const unsent = names.filter((name) => !sent.includes(`in/tree/${name}`));
    const changed = unsent.find((name) => name !== 'leaf/6.txt')!;
    await utimes(join(folder, changed), 1_000_000, 1_000_000);
    const puts: string[] = [];
    other.on('request', (request) => {
      if (request.method() === 'PUT') puts.push(new URL(request.url()).pathname.split('/tree/')[1]!);
    });
    await choose(other, 'Choose folder', folder);
    await other.getByText('1 file of this upload is not among those you chose').waitFor();
    await expect.poll(async () => (await keysOf(bucket)).length).toBe(5);
    expect(puts.toSorted()).toEqual(unsent.filter((name) => name !== changed).toSorted());
    expect(await read(under.sdk(), bucket, 'in/tree/leaf/6.txt')).toBe('content of leaf/6.txt');
    // A file that has changed since is another file, so it is still missing.
    await other.reload();
    await other.getByText('1 file not sent').waitFor();
    await other.getByRole('button', { name: 'Discard', exact: true }).click();
    await other.getByText('Started earlier and not finished').waitFor({ state: 'detached' });
    await other.reload();
    await other.getByText('Nothing is under way').waitFor();
    expect(await other.getByText('Started earlier and not finished').count()).toBe(0);
    expect(under.faultsOf(other)).toEqual([]);
  });

  it('is given up with the parts that the service has', async (test) => {
    const bucket = await makeBucket(under, []);
    const context = await under.context(test);
    const page = await under.signedIn(test, `/b/${bucket}/`, { in: context, keep: true });
    await page.route(/partNumber=/, (route) => route.abort('connectionrefused'));
    const sending = page.waitForRequest(/partNumber=/);
    await page.setInputFiles('#upload-files', await largeFile(test));
    await sending;
    await close(page);
    const other = await transfers(test, context);
    await other.getByText('1 file not sent (17 MB)').waitFor();
    const uploads = async (): Promise<number> => {
      const { Uploads = [] } = await under.sdk().send(new ListMultipartUploadsCommand({ Bucket: bucket }));
      return Uploads.length;
    };
    expect(await uploads()).toBe(1);
    await other.getByRole('button', { name: 'Discard', exact: true }).click();
    await other.getByText('Started earlier and not finished').waitFor({ state: 'detached' });
    expect(await other.locator('.notices').innerText()).toBe('');
    await expect.poll(uploads).toBe(0);
  });

  it('is kept when the key is taken away, and forgotten when it is stopped', async (test) => {
    const bucket = await makeBucket(under, []);
    const page = await under.signedIn(test, `/b/${bucket}/`);
    const begin = async (): Promise<void> => {
      const sending = page.waitForRequest((request) => request.method() === 'PUT');
      await page.setInputFiles('#upload-files', [file('a.txt', 'a')]);
      await sending;
      await page.getByRole('link', { name: /Transfers/ }).click();
    };
    await sendOnly(page, 0);
    await begin();
    await page.getByRole('link', { name: 'Profile' }).click();
    await page.getByRole('button', { name: 'Sign out' }).click();
    await page.getByRole('button', { name: 'Stop and sign out' }).click();
    await signIn(page);
    await page.getByRole('link', { name: /Transfers/ }).click();
    await page.getByText('1 file not sent').waitFor();
    await page.getByRole('button', { name: 'Discard', exact: true }).click();
    await page.goBack();
    await page.goto(`${under.origin}/b/${bucket}/`);
    await signIn(page);
    await begin();
    await page.getByRole('button', { name: 'Stop' }).click();
    await page.getByText('stopped').waitFor();
    await page.getByRole('button', { name: 'Clear finished' }).click();
    await page.getByText('Nothing is under way').waitFor();
    expect(await page.getByText('Started earlier and not finished').count()).toBe(0);
  });
});

describe('an upload of a large file', () => {
  it('holds a few parts of it in memory, whatever its size', async (test) => {
    const bucket = await makeBucket(under, []);
    const context = await under.context(test);
    await context.addInitScript(() => {
      // Counts the bytes of files that are being read at any moment.
      const arrayBuffer = Object.getOwnPropertyDescriptor(Blob.prototype, 'arrayBuffer')!.value as (
        this: Blob,
      ) => Promise<ArrayBuffer>;
      let now = 0;
      const seen = Object.assign(globalThis, { mostRead: 0 });
      Blob.prototype.arrayBuffer = async function (this: Blob) {
        now += this.size;
        seen.mostRead = Math.max(seen.mostRead, now);
        try {
          return await arrayBuffer.call(this);
        } finally {
          now -= this.size;
        }
      };
    });
    const page = await under.signedIn(test, `/b/${bucket}/`, { in: context });
    const size = 64 * 1024 ** 2;
    await page.setInputFiles('#upload-files', await largeFile(test, size));
    await page.getByRole('link', { name: /Transfers/ }).click();
    await page.getByText('done').waitFor({ timeout: 90_000 });
    const { ContentLength } = await under.sdk().send(new HeadObjectCommand({ Bucket: bucket, Key: 'large.bin' }));
    expect(ContentLength).toBe(size);
    const most = await page.evaluate(() => (globalThis as unknown as { mostRead: number }).mostRead);
    expect(most).toBeGreaterThan(0);
    expect(most).toBeLessThanOrEqual(4 * 8 * 1024 ** 2);
  });
});
