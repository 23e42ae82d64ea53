import {
  GetObjectCommand,
  ListBucketsCommand,
  ListObjectsV2Command,
  PutBucketPolicyCommand,
  PutBucketVersioningCommand,
} from '@aws-sdk/client-s3';
import { execFile } from 'node:child_process';
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import type { Page } from 'playwright-core';
import { describe, expect, it } from 'vitest';
import { bucketName } from '../support/clients/clients.ts';
import { put, read } from '../support/storage/objects.ts';
import { bob } from '../support/programs/server.ts';
import { consoleUnderTest, expectAccessible, signIn } from './support/console.ts';
import { makeBucket, row, file } from './support/buckets.ts';

const under = consoleUnderTest();

async function keysOf(bucket: string): Promise<string[]> {
  const listed = await under.sdk().send(new ListObjectsV2Command({ Bucket: bucket }));
  return (listed.Contents ?? []).map(({ Key }) => Key!);
}

/** A bucket with these keys, shown. */
async function shown(
  test: Parameters<typeof under.signedIn>[0],
  keys: readonly string[],
  path = '',
): Promise<{ page: Page; bucket: string }> {
  const bucket = await makeBucket(under, keys);
  const page = await under.signedIn(test, `/b/${bucket}/${path}`);
  if (keys.length > 0) await page.locator('.item').first().waitFor();
  return { page, bucket };
}

/** Drops a file or folder on the list of a bucket by the browser's own drag and drop: only that gives a page entries that are folders. */
async function drop(page: Page, path: string, bucket: string): Promise<void> {
  const debug = await page.context().newCDPSession(page);
  const box = (await page.locator('.drop-target').boundingBox())!;
  const data = { items: [], files: [path], dragOperationsMask: 1 };
  for (const type of ['dragEnter', 'dragOver', 'drop'] as const) {
    await debug.send('Input.dispatchDragEvent', { type, x: box.x + 50, y: box.y + 50, data });
    if (type === 'dragOver') await page.getByText(`Drop to upload to ${bucket}`).waitFor();
  }
}

const menu = async (page: Page, name: string, item: string): Promise<void> => {
  await row(page, name).click({ button: 'right' });
  await page.getByRole('menuitem', { name: item }).click();
};

describe('buckets', () => {
  it('are created with versioning, listed with size and count, marked, filtered and deleted', async (test) => {
    const page = await under.signedIn(test);
    const bucket = bucketName();
    await page.getByRole('button', { name: 'Create bucket' }).click();
    await page.getByRole('textbox', { name: 'Name' }).fill('Not_A_Bucket');
    await page.getByText('beginning and ending with a letter or digit').waitFor();
    await page.getByRole('textbox', { name: 'Name' }).fill(bucket);
    await page.getByLabel('Keep versions').check();
    await expectAccessible(page);
    await page.getByRole('dialog').getByRole('button', { name: 'Create bucket' }).click();
    await page.getByText('Drop files and folders here').waitFor();
    await expectAccessible(page);
    await put(under.sdk(), bucket, 'a', 'one');
    await put(under.sdk(), bucket, 'a', 'two!');

    await page.getByRole('link', { name: 'Stillage' }).click();
    const line = page.getByRole('row', { name: bucket });
    await line.getByText('On', { exact: true }).waitFor();
    // A deployment counts a little later, and the list reads the numbers when it opens.
    await expect
      .poll(async () => {
        await page.getByRole('link', { name: 'Transfers' }).click();
        await page.getByRole('link', { name: 'Stillage' }).click();
        await line
          .getByText(/^\d+ B$/)
          .locator('visible=true')
          .first()
          .waitFor();
        return line.textContent();
      })
      .toContain('7 B');
    await line.getByText('Private').waitFor();
    await line.getByRole('button', { name: 'favourite' }).click();
    await page.getByLabel('Filter buckets').fill(bucket.slice(-6));
    await line.waitFor();
    await expectAccessible(page);

    await line.getByRole('button', { name: 'Actions' }).click();
    await page.getByRole('menuitem', { name: 'Delete' }).click();
    await page.getByText('2 objects (7 B), counting all versions').waitFor();
    const confirm = page.getByRole('button', { name: 'Empty and delete bucket' });
    expect(await confirm.isDisabled()).toBe(true);
    await page.getByLabel('Type the bucket’s name').fill(bucket);
    await confirm.click();
    await page.getByText(`${bucket} was deleted.`).waitFor();
    expect(under.faultsOf(page)).toEqual([]);
  });

  it('are created in a region and with encryption, and what the service refuses is said', async (test) => {
    const taken = await makeBucket(under, []);
    const page = await under.signedIn(test, '/', { key: bob });
    await page.getByRole('button', { name: 'Create bucket' }).click();
    const dialog = page.getByRole('dialog');
    const create = dialog.getByRole('button', { name: 'Create bucket' });
    expect(await dialog.getByLabel('Region').inputValue()).toBe('us-east-1');
    await dialog.getByRole('textbox', { name: 'Name' }).fill(taken);
    await create.click();
    await dialog.getByText('Somebody else already has a bucket with this name').waitFor();
    const bucket = bucketName();
    await dialog.getByRole('textbox', { name: 'Name' }).fill(bucket);
    await dialog.getByLabel('Region').fill('no region');
    await create.click();
    await dialog.getByText('400 InvalidLocationConstraint').waitFor();
    await dialog.getByLabel('Region').fill('eu-central-1');
    await dialog.getByLabel('Encrypt new objects').check();
    const [request] = await Promise.all([
      page.waitForRequest((each) => each.method() === 'PUT' && each.url().endsWith(`/${bucket}`)),
      create.click(),
    ]);
    expect(request.postData()).toContain('<LocationConstraint>eu-central-1</LocationConstraint>');
    await page.getByText('Drop files and folders here').waitFor();
    await put(under.sdk(bob), bucket, 'a', 'secret');
    const head = await under.sdk(bob).send(new GetObjectCommand({ Bucket: bucket, Key: 'a' }));
    expect(head.ServerSideEncryption).toBe('AES256');
  });

  it('of others are reached by name, and say who could grant what is missing', async (test) => {
    const bucket = await makeBucket(under, ['a']);
    const page = await under.signedIn(test, '/', { key: bob });
    await page.getByRole('button', { name: 'Go to bucket' }).click();
    await page.getByRole('textbox', { name: 'Name' }).fill(bucket);
    await page.getByRole('button', { name: 'Go', exact: true }).click();
    await page.getByText('You do not have permission to list this bucket').waitFor();
    await page.getByText('Its owner can grant it').waitFor();
    await expectAccessible(page);

    const resources = [bucket, `${bucket}/*`].map((name) => `arn:aws:s3:::${name}`);
    const Principal = { AWS: (await under.sdk(bob).send(new ListBucketsCommand({}))).Owner!.ID! };
    const Statement = [{ Effect: 'Allow', Principal, Action: 's3:*', Resource: resources }];
    const Policy = JSON.stringify({ Version: '2012-10-17', Statement });
    await under.sdk().send(new PutBucketPolicyCommand({ Bucket: bucket, Policy }));
    await page.getByRole('button', { name: 'Refresh' }).click();
    await row(page, 'a').waitFor();
  });
});

describe('the list of objects', () => {
  it('shows folders first, is sorted by size, filtered, and searched by any part of a name', async (test) => {
    const { page } = await shown(test, ['b.txt', 'deep/er/needle-1', 'deep/other', 'z/needle-2', 'a.txt']);
    const names = (): Promise<string[]> => page.locator('.item .name').allTextContents();
    expect(await names()).toEqual(['deep', 'z', 'a.txt', 'b.txt']);
    await page.getByRole('button', { name: 'Name' }).click();
    expect(await names()).toEqual(['z', 'deep', 'b.txt', 'a.txt']);
    await page.getByLabel('Filter by prefix').fill('b');
    await expect.poll(names).toEqual(['b.txt']);
    await page.getByLabel('Search in bucket').fill('NEEDLE');
    await page.keyboard.press('Enter');
    await expect.poll(names).toEqual(['deep/er/needle-1', 'z/needle-2']);
    await page.getByText('5 objects searched').waitFor();
    await expectAccessible(page);
    await page.getByLabel('Search in bucket').fill('haystack');
    await page.keyboard.press('Enter');
    await page.getByText('No name in this bucket contains that').waitFor();
    await page.getByRole('button', { name: 'End search' }).click();
    await page.getByText('1 item').waitFor();
  });

  it('shows what a search has found so far, and stops it when told', async (test) => {
    const { page, bucket } = await shown(test, ['needle']);
    // A first page, and a second one that does not come.
    await page.route(new RegExp(`/${bucket}\\?(?!.*delimiter).*list-type=2`), async (route) => {
      if (route.request().url().includes('continuation-token')) return;
      const response = await route.fetch();
      const body = (await response.text()).replace(
        '</Contents>',
        '</Contents><NextContinuationToken>t</NextContinuationToken>',
      );
      await route.fulfill({ response, body });
    });
    await page.getByLabel('Search in bucket').fill('eed');
    await page.keyboard.press('Enter');
    await row(page, 'needle').waitFor();
    await page.getByText('1 object searched').waitFor();
    const stop = page.getByRole('button', { name: 'Stop', exact: true });
    await stop.click();
    await stop.waitFor({ state: 'detached' });
    await row(page, 'needle').waitFor();
  });

  it('has an address for every folder, which back, reload and a pasted link lead to', async (test) => {
    const { page, bucket } = await shown(test, ['one/two/c', 'one//d', 'one/../e']);
    await row(page, 'one').dblclick();
    await row(page, 'two').dblclick();
    await row(page, 'c').waitFor();
    expect(new URL(page.url()).pathname).toBe(`/b/${bucket}/one/two/`);
    await page.goBack();
    await row(page, 'two').waitFor();
    await row(page, '..').dblclick();
    await row(page, 'e').waitFor();
    expect(new URL(page.url()).searchParams.get('p')).toBe('one/../');
    await page.getByRole('link', { name: bucket }).last().click();
    await page.getByRole('button', { name: 'Type a path' }).click();
    await page.getByLabel('Path', { exact: true }).fill(`${bucket}/one/two`);
    await page.keyboard.press('Enter');
    await row(page, 'c').waitFor();
  });

  it('is worked by the keyboard alone', async (test) => {
    const { page, bucket } = await shown(test, ['alpha', 'beta', 'gamma', 'folder/x']);
    await page.getByRole('grid').focus();
    await page.keyboard.press('ArrowDown');
    await page.keyboard.press('ArrowDown');
    await page.keyboard.press('Shift+ArrowDown');
    await page.getByText('2 items selected').waitFor();
    await page.keyboard.press('Escape');
    await page.keyboard.press('b');
    expect(await page.getByRole('row', { selected: true }).locator('.name').textContent()).toBe('beta');
    await page.keyboard.press('Enter');
    await page.getByRole('complementary', { name: 'Details' }).waitFor();
    await page.getByRole('button', { name: 'Close details' }).click();
    await page.getByRole('grid').focus();
    await page.keyboard.press('Control+a');
    await page.getByText('4 items selected').waitFor();
    await page.keyboard.press('Home');
    await page.keyboard.press('Enter');
    await row(page, 'x').waitFor();
    await page.getByRole('grid').focus();
    await page.keyboard.press('Backspace');
    await row(page, 'alpha').waitFor();
    await page.keyboard.press('?');
    await page.getByRole('heading', { name: 'Keyboard shortcuts' }).waitFor();
    await expectAccessible(page);
    await page.keyboard.press('Escape');
    await page.getByRole('grid').focus();
    await page.keyboard.press('g');
    await page.keyboard.press('b');
    await page.getByRole('heading', { name: 'Buckets', level: 1 }).waitFor();
    expect(bucket).not.toBe('');
  });
});

describe('folders and names', () => {
  it('makes a folder as a key that ends in a slash', async (test) => {
    const { page, bucket } = await shown(test, []);
    await page.getByRole('button', { name: 'New folder' }).click();
    await page.getByRole('textbox', { name: 'Name' }).fill('in/side');
    await expectAccessible(page);
    await page.getByRole('button', { name: 'Create', exact: true }).click();
    await row(page, 'in').waitFor();
    expect(await keysOf(bucket)).toEqual(['in/side/']);
    const folder = await under.sdk().send(new GetObjectCommand({ Bucket: bucket, Key: 'in/side/' }));
    expect([folder.ContentLength, folder.CacheControl]).toEqual([0, undefined]);
  });

  it('renames an object with its metadata, and a folder with all that is in it, by RenameObject', async (test) => {
    const { page, bucket } = await shown(test, ['old/a', 'old/b/c', 'single.txt']);
    const copies: string[] = [];
    page.on('request', (request) => {
      if ('x-amz-copy-source' in request.headers()) copies.push(request.url());
    });
    await menu(page, 'single.txt', 'Rename');
    await page.getByLabel('New name').fill('renamed.txt');
    await page.getByText('There is no longer a limit of 10 GiB').waitFor();
    await page.getByRole('button', { name: 'Save' }).click();
    await row(page, 'renamed.txt').waitFor();
    await menu(page, 'old', 'Rename');
    await page.getByLabel('New name').fill('new');
    await page.getByRole('button', { name: 'Save' }).click();
    await row(page, 'new').waitFor();
    // The old name is no longer selected, nor would `Delete` ask about it.
    await expect
      .poll(() => page.getByLabel('Select all').evaluate((box: HTMLInputElement) => box.indeterminate))
      .toBe(false);
    await expect.poll(() => keysOf(bucket)).toEqual(['new/a', 'new/b/c', 'renamed.txt']);
    const log = await under.service.log();
    expect(log).toContain('"operation":"RenameObject"');
    // Not by this page: others may copy there at the same time.
    expect(copies).toEqual([]);
  });

  it('moves by dragging onto a folder, and copies to another bucket, asking once about names that exist', async (test) => {
    const { page, bucket } = await shown(test, ['a', 'b', 'folder/a']);
    const other = await makeBucket(under, ['a', 'b']);
    await put(under.sdk(), bucket, 'a', 'newer a');
    await row(page, 'a').dragTo(row(page, 'folder'));
    await page.getByRole('heading', { name: 'folder/a already exists' }).waitFor();
    await expectAccessible(page);
    await page.getByRole('button', { name: 'Keep both' }).click();
    await expect.poll(() => keysOf(bucket)).toEqual(['b', 'folder/a', 'folder/a (2)']);
    expect(await read(under.sdk(), bucket, 'folder/a (2)')).toBe('newer a');

    await page.getByLabel('Select all').check();
    await page.getByRole('button', { name: 'Copy to' }).click();
    await page.getByLabel('Bucket', { exact: true }).fill(other);
    await page.getByRole('button', { name: 'Copy', exact: true }).click();
    await page.getByRole('heading', { name: 'exists' }).waitFor();
    await page.getByRole('button', { name: 'Replace' }).click();
    await expect.poll(() => keysOf(other)).toEqual(['a', 'b', 'folder/a', 'folder/a (2)']);
    expect(await keysOf(bucket)).toContain('b');
  });

  it('deletes without a word where it can be undone, and asks where it cannot', async (test) => {
    const { page, bucket } = await shown(test, ['a', 'b']);
    await menu(page, 'a', 'Delete');
    await page.getByText('deleted objects cannot be restored').waitFor();
    await page.getByRole('button', { name: 'Delete', exact: true }).click();
    await expect.poll(() => keysOf(bucket)).toEqual(['b']);
    await under
      .sdk()
      .send(new PutBucketVersioningCommand({ Bucket: bucket, VersioningConfiguration: { Status: 'Enabled' } }));
    await menu(page, 'b', 'Delete');
    await page.getByRole('button', { name: 'Undo' }).click();
    await row(page, 'b').waitFor();
    expect(await keysOf(bucket)).toEqual(['b']);
  });

  it('downloads an object under its name, and a folder as an archive that unpacks', async (test) => {
    const { page, bucket } = await shown(test, ['docs/ümläut.txt', 'docs/in/b.txt', 'c.txt']);
    await put(under.sdk(), bucket, 'docs/../../escape.txt', 'no');
    const [single] = await Promise.all([page.waitForEvent('download'), menu(page, 'c.txt', 'Download')]);
    expect(single.suggestedFilename()).toBe('c.txt');
    expect(await readFile(await single.path(), 'utf8')).toBe('content of c.txt');
    const [archive] = await Promise.all([page.waitForEvent('download'), menu(page, 'docs', 'Download as zip')]);
    expect(archive.suggestedFilename()).toBe('docs.zip');
    const list = await promisify(execFile)('python3', ['-m', 'zipfile', '-l', await archive.path()]);
    expect(list.stdout).toContain('docs/in/b.txt');
    // No browser can request such a name; the archive has the rest, and the transfer reports the missing one.
    expect(list.stdout).not.toContain('escape');
    await page.getByRole('link', { name: 'Transfers' }).click();
    await page.getByText('1 failed').waitFor();
    await page.getByText('docs/../../escape.txt').waitFor();
    expect(under.faultsOf(page)).toEqual([]);
  });
});

describe('uploading', () => {
  it('sends files of all sizes, and asks once about names that exist', async (test) => {
    const { page, bucket } = await shown(test, ['taken-1', 'taken-2']);
    await page.setInputFiles('#upload-files', [file('taken-1', 'x'), file('taken-2', 'y'), file('new.json', '{}')]);
    await page.getByRole('heading', { name: 'exists' }).waitFor();
    await page.getByRole('button', { name: 'Skip' }).click();
    await row(page, 'new.json').waitFor();
    expect(await read(under.sdk(), bucket, 'taken-1')).toBe('content of taken-1');
    const stored = await under.sdk().send(new GetObjectCommand({ Bucket: bucket, Key: 'new.json' }));
    expect(stored.ContentType).toBe('application/json');
    // Browsers would send a Cache-Control of their own, after a reload above all.
    expect(stored.CacheControl).toBeUndefined();
    await page.reload();
    await signIn(page);
    await page.setInputFiles('#upload-files', [file('reloaded', 'x')]);
    await row(page, 'reloaded').waitFor();
    const again = await under.sdk().send(new GetObjectCommand({ Bucket: bucket, Key: 'reloaded' }));
    expect(again.CacheControl).toBeUndefined();
    await page.getByRole('link', { name: 'Transfers' }).click();
    await page.getByText('done').waitFor();
    await expectAccessible(page);
  });

  it('reaches the service also where the browser keeps a response of the same address', async (test) => {
    const { page, bucket } = await shown(test, []);
    const address = `${under.service.url}/${bucket}/read.txt`;
    await put(under.sdk(), bucket, 'read.txt', 'old', { ACL: 'public-read', CacheControl: 'max-age=3600' });
    expect(await page.evaluate(async (url) => (await fetch(url)).text(), address)).toBe('old');
    await page.setInputFiles('#upload-files', [file('read.txt', 'new')]);
    await page.getByRole('button', { name: 'Replace' }).click();
    await expect.poll(() => read(under.sdk(), bucket, 'read.txt')).toBe('new');
  });

  it('says which files failed and why, and tries these again', async (test) => {
    const { page, bucket } = await shown(test, []);
    let refusals = 0;
    await page.route(/\/refused\.txt/, (route) => {
      refusals++;
      const headers = { 'access-control-allow-origin': under.origin, 'access-control-expose-headers': '*' };
      return route.fulfill({
        status: 403,
        headers,
        body: '<Error><Code>QuotaExceeded</Code><Message>full</Message></Error>',
      });
    });
    await page.setInputFiles('#upload-files', [file('taken.txt', 'x'), file('refused.txt', 'y')]);
    await page.getByRole('link', { name: /Transfers/ }).click();
    await page.getByText('1 failed').waitFor();
    await page.getByText('quota is used up').first().waitFor();
    await expectAccessible(page);
    expect(await keysOf(bucket)).toEqual(['taken.txt']);
    await page.unroute(/\/refused\.txt/);
    await page.getByRole('button', { name: 'Try the failed one again' }).click();
    await expect.poll(() => keysOf(bucket)).toEqual(['refused.txt', 'taken.txt']);
    expect(refusals).toBeGreaterThan(0);
  });

  it('sends a folder with its paths', async (test) => {
    const { page, bucket } = await shown(test, []);
    const folder = await mkdtemp(join(tmpdir(), 'stillage-folder-'));
    test.onTestFinished(() => rm(folder, { recursive: true }));
    await mkdir(join(folder, 'tree/leaf'), { recursive: true });
    await writeFile(join(folder, 'tree/a.txt'), 'a');
    await writeFile(join(folder, 'tree/leaf/b.txt'), 'b');
    await page.setInputFiles('#upload-folder', join(folder, 'tree'));
    await row(page, 'tree').waitFor();
    await expect.poll(() => keysOf(bucket)).toEqual(['tree/a.txt', 'tree/leaf/b.txt']);
  });

  it('takes what is dropped and what is pasted', async (test) => {
    const { page, bucket } = await shown(test, []);
    for (const kind of ['drop', 'paste'] as const) {
      await page.evaluate((type) => {
        const data = new DataTransfer();
        data.items.add(new File([type], `by-${type}.txt`));
        const target = document.querySelector('.browser')!;
        const options = { bubbles: true, cancelable: true };
        if (type === 'drop') target.dispatchEvent(new DragEvent('drop', { ...options, dataTransfer: data }));
        else target.dispatchEvent(new ClipboardEvent('paste', { ...options, clipboardData: data }));
      }, kind);
      await row(page, `by-${kind}.txt`).waitFor();
    }
    expect(await keysOf(bucket)).toEqual(['by-drop.txt', 'by-paste.txt']);
  });

  it('takes a folder that is dropped, with all that is in it', async (test) => {
    const { page, bucket } = await shown(test, []);
    const folder = await mkdtemp(join(tmpdir(), 'stillage-dropped-'));
    test.onTestFinished(() => rm(folder, { recursive: true }));
    await mkdir(join(folder, 'tree/leaf'), { recursive: true });
    await writeFile(join(folder, 'tree/a.txt'), 'a');
    await writeFile(join(folder, 'tree/leaf/b.txt'), 'b');
    await drop(page, join(folder, 'tree'), bucket);
    await row(page, 'tree').waitFor();
    await expect.poll(() => keysOf(bucket)).toEqual(['tree/a.txt', 'tree/leaf/b.txt']);
  });

  it('sends the rest of a folder in which something cannot be read, and says what', async (test) => {
    const { page, bucket } = await shown(test, []);
    const folder = await mkdtemp(join(tmpdir(), 'stillage-dropped-'));
    test.onTestFinished(() => rm(folder, { recursive: true }));
    await mkdir(join(folder, 'tree'));
    for (const name of ['a.txt', 'b.txt', 'c.txt']) await writeFile(join(folder, 'tree', name), name);
    await page.evaluate(() => {
      const entryOf = Reflect.get(DataTransferItem.prototype, 'webkitGetAsEntry') as () => FileSystemEntry;
      const unreadable = (name: string) => ({
        ...{ isFile: true, name },
        file: (_: unknown, failed: (error: unknown) => void) =>
          failed(new DOMException('no right', 'NotReadableError')),
      });
      DataTransferItem.prototype.webkitGetAsEntry = function () {
        const folder = entryOf.call(this) as FileSystemDirectoryEntry;
        const reader = folder.createReader();
        const readEntries = (found: (entries: unknown[]) => void, failed: (error: unknown) => void): void =>
          reader.readEntries(
            (entries) => found(entries.map((each) => (each.name === 'b.txt' ? unreadable(each.name) : each))),
            failed,
          );
        return { isFile: false, name: folder.name, createReader: () => ({ readEntries }) } as never;
      };
    });
    await drop(page, join(folder, 'tree'), bucket);
    await page.getByText('could not read tree/b.txt').waitFor();
    await expect.poll(() => keysOf(bucket)).toEqual(['tree/a.txt', 'tree/c.txt']);
  });

  it('goes on with a large file after a pause, and after a reload without sending again what is there', async (test) => {
    const { page, bucket } = await shown(test, []);
    const folder = await mkdtemp(join(tmpdir(), 'stillage-large-'));
    test.onTestFinished(() => rm(folder, { recursive: true }));
    const content = Buffer.alloc(40 * 1024 ** 2, 'large ');
    const path = join(folder, 'large.bin');
    await writeFile(path, content);
    // Parts after the second wait until they may.
    let held: (() => void)[] = [];
    let sent = 0;
    await page.route(/partNumber=/, async (route) => {
      if (route.request().method() === 'PUT' && ++sent > 2) await new Promise<void>((resolve) => held.push(resolve));
      await route.continue().catch(() => undefined);
    });
    let stored = 0;
    page.on('response', (response) => {
      if (response.request().method() === 'PUT' && response.url().includes('partNumber=')) stored += 1;
    });
    await page.setInputFiles('#upload-files', path);
    await expect.poll(() => held.length).toBeGreaterThan(0);
    // The bytes of a part are shown as they are sent.
    await expect.poll(() => stored).toBe(2);
    await page.getByRole('link', { name: /Transfers/ }).click();
    await page.getByText('16 MB of 40 MB').waitFor();
    await page.getByRole('button', { name: 'Pause' }).click();
    await page.getByText('paused').waitFor();
    await expectAccessible(page);
    page.once('dialog', (dialog) => void dialog.accept());
    await page.reload();
    for (const release of held.splice(0)) release();
    held = [];
    await page.unroute(/partNumber=/);
    await signIn(page);
    const parts: string[] = [];
    page.on('request', (request) => {
      if (request.method() === 'PUT' && request.url().includes('partNumber=')) parts.push(request.url());
    });
    await page.getByText('Started earlier and not finished').waitFor();
    const [chooser] = await Promise.all([
      page.waitForEvent('filechooser'),
      page.getByRole('button', { name: 'Choose file' }).click(),
    ]);
    await chooser.setFiles(path);
    await page.getByText('done').waitFor();
    expect(parts).toHaveLength(3);
    const object = await under.sdk().send(new GetObjectCommand({ Bucket: bucket, Key: 'large.bin' }));
    expect(Buffer.from(await object.Body!.transformToByteArray()).equals(content)).toBe(true);
    await page.reload();
    await signIn(page);
    expect(await page.getByText('Started earlier').count()).toBe(0);
  });
});
