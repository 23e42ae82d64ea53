import { ListObjectsV2Command, PutObjectCommand } from '@aws-sdk/client-s3';
import { readFile } from 'node:fs/promises';
import type { Page } from 'playwright-core';
import { describe, expect, it } from 'vitest';
import { read } from '../support/storage/objects.ts';
import { run } from '../support/programs/programs.ts';
import { alice } from '../support/programs/server.ts';
import { makeBucket } from './support/buckets.ts';
import { consoleUnderTest, expectAccessible } from './support/console.ts';

const under = consoleUnderTest();

/** Names that any key may have, with the names under which they are shown and saved. */
const names: readonly { readonly name: string; readonly shown?: string; readonly saved?: string | RegExp }[] = [
  { name: '<img src=x onerror=alert(1)>.txt', saved: '_img src=x onerror=alert(1)_.txt' },
  { name: 'invoice\u202Efdp.exe', shown: 'invoice\ufffdfdp.exe', saved: 'invoice_fdp.exe' },
  { name: ' two  spaces at both ends ', saved: /^_?.?two {1,2}spaces at both ends_?$/ },
  { name: 'line\nbreak\ttab.txt', shown: 'line\u240abreak\u2409tab.txt', saved: /^line.break.tab\.txt$/ },
  { name: 'con\u0001trol.txt', shown: 'con\u2401trol.txt', saved: /^con.trol\.txt$/ },
  { name: '100%2F%00+&amp;?a=b#c.txt', saved: '100%2F%00+&amp;_a=b#c.txt' },
  { name: `quotes"'\`$(x)\\back.txt`, saved: /^quotes_'`\$\(x\)_back\.txt$/ },
  { name: '…🐻 cafe\u0301', saved: /^…🐻 caf(?:e\u0301|é)$/ },
  { name: `${'ж'.repeat(508)}.txt`, saved: /^ж{50,125}\.txt$/ },
  { name: '__proto__' },
];

async function keysOf(bucket: string): Promise<string[]> {
  const command = new ListObjectsV2Command({ Bucket: bucket, EncodingType: 'url' });
  const listed = await under.sdk().send(command);
  return (listed.Contents ?? []).map(({ Key }) => decodeURIComponent(Key!));
}

/** Goes to a folder of a bucket as its link does. */
async function goTo(page: Page, bucket: string, prefix: string): Promise<void> {
  await page.evaluate(
    (path) => {
      history.pushState(null, '', path);
      dispatchEvent(new PopStateEvent('popstate'));
    },
    `/b/${bucket}/?p=${encodeURIComponent(prefix)}`,
  );
}

const menu = async (page: Page, item: string): Promise<void> => {
  await page.locator('.item').click({ button: 'right' });
  await page.getByRole('menuitem', { name: item }).click();
};

describe('an object of any name', () => {
  it('is shown by it, saved under one that is safe, renamed and deleted', async (test) => {
    const keys = names.map(({ name }, at) => `${at}/${name}`);
    const bucket = await makeBucket(under, keys);
    const page = await under.signedIn(test);
    for (const [at, { name, shown = name, saved = name }] of names.entries()) {
      await goTo(page, bucket, `${at}/`);
      const row = page.locator('.item');
      await expect.poll(() => row.locator('.name').textContent()).toBe(shown);
      const [download] = await Promise.all([page.waitForEvent('download'), menu(page, 'Download')]);
      if (typeof saved === 'string') expect(download.suggestedFilename()).toBe(saved);
      else expect(download.suggestedFilename()).toMatch(saved);
      expect(await readFile(await download.path(), 'utf8')).toBe(`content of ${keys[at]!}`);
      await menu(page, 'Rename');
      await page.getByLabel('New name').fill('plain');
      await page.getByRole('button', { name: 'Save' }).click();
      await expect.poll(() => row.locator('.name').textContent()).toBe('plain');
      await menu(page, 'Rename');
      await page.getByLabel('New name').fill(name.replaceAll(/[\n\t]/g, ''));
      await page.getByRole('button', { name: 'Save' }).click();
      await expect.poll(() => row.locator('.name').textContent()).not.toBe('plain');
      await menu(page, 'Delete');
      await page.getByRole('button', { name: 'Delete', exact: true }).click();
      await page.getByText('Drop files and folders here').waitFor();
    }
    expect(await keysOf(bucket)).toEqual([]);
    expect(under.faultsOf(page)).toEqual([]);
  });

  it('lies in folders of any name: without one, or with only dots, which no browser can ask for', async (test) => {
    const bucket = await makeBucket(under, ['a//b.txt', '/c.txt', 'd/../e.txt', './f.txt']);
    const page = await under.signedIn(test, `/b/${bucket}/`);
    const item = (text: string) => page.locator('.item').filter({ has: page.getByText(text, { exact: true }) });
    await item('(no name)').dblclick();
    await item('c.txt').click();
    await page.frameLocator('.preview-frame').getByText('content of /c.txt').waitFor();
    await expectAccessible(page);
    await goTo(page, bucket, 'a/');
    await item('(no name)').dblclick();
    await item('b.txt').waitFor();
    expect(new URL(page.url()).pathname).toBe(`/b/${bucket}/a//`);

    await goTo(page, bucket, 'd/../');
    await item('e.txt').click();
    await page.getByText('Browsers cannot open names').waitFor();
    await expectAccessible(page);
    // The page cannot send this request, but its command can.
    const env = { AWS_ACCESS_KEY_ID: alice.accessKeyId, AWS_SECRET_ACCESS_KEY: alice.secretAccessKey };
    const command = await page.locator('code').filter({ hasText: '--output object' }).innerText();
    const { stdout } = await run('bash', ['-c', `${command.replace(/object$/, '-')} -s`], { env });
    expect(stdout).toBe('content of d/../e.txt');
    await menu(page, 'Rename');
    await page.getByLabel('New name').fill('g.txt');
    await page.getByRole('button', { name: 'Save' }).click();
    // The new name is as unreachable as the old one.
    await page.getByRole('status').getByText('Browsers cannot open').waitFor();
    await menu(page, 'Move to');
    await page.getByLabel('Folder', { exact: true }).fill('reachable/');
    await page.getByRole('button', { name: 'Move', exact: true }).click();
    await expect.poll(() => keysOf(bucket)).toEqual(['./f.txt', '/c.txt', 'a//b.txt', 'reachable/e.txt']);
    expect(await read(under.sdk(), bucket, 'reachable/e.txt')).toBe('content of d/../e.txt');

    await goTo(page, bucket, './');
    await item('f.txt').click();
    await page.getByRole('button', { name: 'Rename …' }).click();
    const name = page.getByLabel('New name, with its folders');
    expect(await name.inputValue()).toBe('_/f.txt');
    await name.fill('h/../f.txt');
    expect(await page.getByRole('button', { name: 'Save' }).isDisabled()).toBe(true);
    await expectAccessible(page);
    await name.fill('h/f.txt');
    await page.getByRole('button', { name: 'Save' }).click();
    await expect.poll(() => keysOf(bucket)).toEqual(['/c.txt', 'a//b.txt', 'h/f.txt', 'reachable/e.txt']);
    expect(await read(under.sdk(), bucket, 'h/f.txt')).toBe('content of ./f.txt');

    await under.sdk().send(new PutObjectCommand({ Bucket: bucket, Key: './g.txt', Body: '' }));
    await page.getByRole('button', { name: 'Refresh' }).click();
    await item('g.txt').waitFor();
    await menu(page, 'Delete');
    await page.getByRole('button', { name: 'Delete', exact: true }).click();
    await expect.poll(() => keysOf(bucket)).toEqual(['/c.txt', 'a//b.txt', 'h/f.txt', 'reachable/e.txt']);
    expect(under.faultsOf(page)).toEqual([]);
  });

  it('has dots and control characters, and is moved and deleted', async (test) => {
    const bucket = await makeBucket(under, ['d/../one\u0001.txt', 'd/../two\u0001\n.txt', 'd/./three\u001f.txt']);
    const page = await under.signedIn(test, `/b/${bucket}/`);
    await goTo(page, bucket, 'd/../');
    const item = (text: string) => page.locator('.item').filter({ has: page.getByText(text, { exact: true }) });
    const act = async (name: string, entry: string): Promise<void> => {
      await item(name).click({ button: 'right' });
      await page.getByRole('menuitem', { name: entry }).click();
    };
    await act('one\u2401.txt', 'Delete');
    await page.getByRole('button', { name: 'Delete', exact: true }).click();
    await expect.poll(() => keysOf(bucket)).toEqual(['d/../two\u0001\n.txt', 'd/./three\u001f.txt']);
    await act('two\u2401\u240a.txt', 'Move to');
    await page.getByLabel('Folder', { exact: true }).fill('reachable/');
    await page.getByRole('button', { name: 'Move', exact: true }).click();
    await expect.poll(() => keysOf(bucket)).toEqual(['d/./three\u001f.txt', 'reachable/two\u0001\n.txt']);
    await goTo(page, bucket, 'd/./');
    await act('three\u241f.txt', 'Copy to');
    await page.getByLabel('Folder', { exact: true }).fill('reachable/');
    await page.getByRole('button', { name: 'Copy', exact: true }).click();
    await expect
      .poll(() => keysOf(bucket))
      .toEqual(['d/./three\u001f.txt', 'reachable/three\u001f.txt', 'reachable/two\u0001\n.txt']);
  });
});
