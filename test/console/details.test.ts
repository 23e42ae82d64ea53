import {
  GetBucketPolicyCommand,
  GetObjectTaggingCommand,
  HeadObjectCommand,
  PutPublicAccessBlockCommand,
} from '@aws-sdk/client-s3';
import { readFile } from 'node:fs/promises';
import type { Page } from 'playwright-core';
import { describe, expect, it, type TestContext } from 'vitest';
import { put, read } from '../support/storage/objects.ts';
import { makeBucket, row } from './support/buckets.ts';
import { pdfOf } from './support/pdf.ts';
import { consoleUnderTest, expectAccessible, signIn } from './support/console.ts';

const under = consoleUnderTest();

/** A picture of one pixel. */
const png = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==',
  'base64',
);

/** The details of an object, opened. */
async function details(test: TestContext, bucket: string, key: string, tab?: string): Promise<Page> {
  const page = await under.signedIn(test, `/b/${bucket}/?o=${encodeURIComponent(key)}`);
  if (tab !== undefined) await page.getByRole('tab', { name: tab }).click();
  return page;
}

describe('the properties of an object', () => {
  it('are its headers and metadata, whose prefix is added by itself, and its tags', async (test) => {
    const bucket = await makeBucket(under, ['a.txt']);
    const page = await details(test, bucket, 'a.txt', 'Properties');
    await page.getByText('16 B').first().waitFor();
    await page.getByText('Checksum').first().waitFor();
    await page.getByRole('button', { name: 'Edit: Metadata' }).click();
    await page.getByLabel('Name 1').fill('Colour');
    await page.getByLabel('Value 1').fill('green');
    await expectAccessible(page);
    await page.getByRole('button', { name: 'Save' }).click();
    await page.getByText('colour', { exact: true }).waitFor();
    await page.getByRole('button', { name: 'Edit: Headers' }).click();
    await page.getByLabel('Value 2').fill('no-cache');
    await page.getByRole('button', { name: 'Save' }).click();
    await page.getByText('no-cache', { exact: true }).waitFor();
    const head = await under.sdk().send(new HeadObjectCommand({ Bucket: bucket, Key: 'a.txt' }));
    expect(head.Metadata).toEqual({ colour: 'green' });
    expect(head.CacheControl).toBe('no-cache');

    await page.getByRole('button', { name: 'Edit: Tags' }).click();
    await page.getByLabel('Key 1').fill('team');
    await page.getByLabel('Value 1').fill('blue');
    await page.getByRole('button', { name: 'Add tag' }).click();
    await page.getByLabel('Key 2').fill('bad{tag}');
    await page.getByRole('button', { name: 'Save' }).click();
    await page.getByRole('alert').getByText('Tags have a key').waitFor();
    await page.getByRole('button', { name: 'Remove 2' }).click();
    await page.getByRole('button', { name: 'Save' }).click();
    await page.getByText('team: blue').waitFor();
    const tags = await under.sdk().send(new GetObjectTaggingCommand({ Bucket: bucket, Key: 'a.txt' }));
    expect(tags.TagSet).toEqual([{ Key: 'team', Value: 'blue' }]);
    expect(under.faultsOf(page)).toEqual([]);
  });

  it('have metadata in any language, which other clients read as of S3, and of which the session does not end', async (test) => {
    const bucket = await makeBucket(under, ['a.txt']);
    const page = await details(test, bucket, 'a.txt', 'Properties');
    for (const [value, stored] of [
      ['grün', '=?UTF-8?B?Z3LDvG4=?='],
      ['✓ نشر', '=?UTF-8?B?4pyTINmG2LTYsQ==?='],
      ['a\tb', 'a\tb'],
    ] as const) {
      await page.getByRole('button', { name: 'Edit: Metadata' }).click();
      await page.getByLabel('Name 1').fill('colour');
      await page.getByLabel('Value 1').fill(value);
      await page.getByRole('button', { name: 'Save' }).click();
      await page.locator('.details-list dd').getByText(value, { exact: true }).waitFor();
      const head = await under.sdk().send(new HeadObjectCommand({ Bucket: bucket, Key: 'a.txt' }));
      expect(head.Metadata).toEqual({ colour: stored });
    }
    await page.getByRole('button', { name: 'Edit: Headers' }).click();
    await page.getByLabel('Value 3').fill('attachment; filename="ü✓.txt"');
    await page.getByRole('button', { name: 'Save' }).click();
    await page.getByText('attachment; filename="ü✓.txt"', { exact: true }).waitFor();
    // The last byte of `à` is a no-break space in Latin-1.
    await page.getByRole('button', { name: 'Edit: Headers' }).click();
    await page.getByLabel('Value 3').fill('attachment; filename=voilà');
    await page.getByRole('button', { name: 'Save' }).click();
    await page.getByText('attachment; filename=voilà', { exact: true }).waitFor();
    await page.getByRole('button', { name: 'Edit: Metadata' }).click();
    await page.getByLabel('Name 1').fill('größe');
    await page.getByRole('button', { name: 'Save' }).click();
    await page.getByRole('alert').getByText('Metadata names are header names').waitFor();
  });
});

describe('the details that are open', () => {
  it('follow a new name, show new content, and say when the object is gone', async (test) => {
    const bucket = await makeBucket(under, ['a.txt', 'b.txt']);
    const page = await details(test, bucket, 'a.txt');
    const frame = page.frameLocator('.preview-frame');
    await frame.getByText('content of a.txt').waitFor();
    await row(page, 'a.txt').click({ button: 'right' });
    await page.getByRole('menuitem', { name: 'Rename' }).click();
    await page.getByLabel('New name').fill('c.txt');
    await page.getByRole('button', { name: 'Save' }).click();
    await page.getByRole('heading', { name: 'c.txt', level: 2 }).waitFor();
    await frame.getByText('content of a.txt').waitFor();
    expect(new URL(page.url()).search).toBe('?o=c.txt');

    await page.setInputFiles('#upload-files', { name: 'c.txt', mimeType: '', buffer: Buffer.from('newer') });
    await page.getByRole('button', { name: 'Replace' }).click();
    await frame.getByText('newer').waitFor();

    await row(page, 'c.txt').click({ button: 'right' });
    await page.getByRole('menuitem', { name: 'Delete' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Delete' }).click();
    await page.getByText('It no longer exists').waitFor();
    expect(await page.locator('.preview-frame').count()).toBe(0);
  });
});

describe('previews', () => {
  it('show what bytes are, in a frame without rights, and never by name or type', async (test) => {
    const bucket = await makeBucket(under, []);
    const client = under.sdk();
    const script = '<script>parent.document.title = "broken"</script><svg onload="alert(1)">';
    await put(client, bucket, 'picture.html', png, { ContentType: 'text/html' });
    await put(client, bucket, 'page.pdf', script, { ContentType: 'application/pdf' });
    await put(client, bucket, 'data.bin', '{"a":{"b":[1,2]}}');
    await put(client, bucket, 'table', 'name,size\n"a ""quoted"", one",1\nb,2\n');
    await put(client, bucket, 'binary.txt', Buffer.from([0, 1, 2, 3]));
    const page = await under.signedIn(test, `/b/${bucket}/`);
    const frame = page.frameLocator('.preview-frame');
    await row(page, 'picture.html').click();
    await frame.locator('img').waitFor();
    await row(page, 'page.pdf').click();
    await frame.getByText(script).waitFor();
    await row(page, 'data.bin').click();
    await frame.getByText('"b": [').waitFor();
    await row(page, 'table').click();
    await frame.getByRole('cell', { name: 'a "quoted", one' }).waitFor();
    await row(page, 'binary.txt').click();
    await frame.getByText('There is no preview for this type').waitFor();
    expect(await page.title()).toBe(`binary.txt · ${bucket} · Stillage`);
    const inside = page.frames().find((each) => each.url().includes('/preview/'))!;
    // An origin of its own, from which nothing of the page and nothing on the network can be reached.
    expect(await inside.evaluate(() => globalThis.origin)).toBe('null');
    expect(
      await inside.evaluate(() =>
        fetch('/config.json').then(
          () => 'read',
          () => 'refused',
        ),
      ),
    ).toBe('refused');
    const above = await inside.evaluate(() => {
      try {
        return String(parent.document.title);
      } catch {
        return 'refused';
      }
    });
    expect(above).toBe('refused');
    await expectAccessible(page);
  });
});

describe('previews of large objects', () => {
  it('are no longer loaded once another object is shown', async (test) => {
    const bucket = await makeBucket(under, ['small.txt']);
    await put(under.sdk(), bucket, 'large.bin', Buffer.alloc(1024));
    const page = await under.signedIn(test, `/b/${bucket}/`);
    await page.route(/large\.bin/, (route) => (route.request().method() === 'GET' ? undefined : route.continue()));
    const asked = page.waitForRequest((request) => request.method() === 'GET' && request.url().includes('large.bin'));
    await row(page, 'large.bin').click();
    const request = await asked;
    const ended = page.waitForEvent('requestfailed', (failed) => failed === request);
    await row(page, 'small.txt').click();
    await page.frameLocator('.preview-frame').getByText('content of small.txt').waitFor();
    expect((await ended).failure()?.errorText).toBe('net::ERR_ABORTED');
  });

  it('have no more than the beginning of a text, and a part of wide rows, whatever the type says', async (test) => {
    const bucket = await makeBucket(under, []);
    const type = { ContentType: 'application/octet-stream' };
    await put(under.sdk(), bucket, 'long', 'line\n'.repeat(600_000), type);
    await put(under.sdk(), bucket, 'wide', `${','.repeat(20_000)}\n`.repeat(3), type);
    const page = await under.signedIn(test, `/b/${bucket}/`);
    const frame = page.frameLocator('.preview-frame');
    await row(page, 'long').click();
    await frame.locator('pre').waitFor();
    await frame.getByText('Only the first 1 MB are shown').waitFor();
    expect(await frame.locator('pre').evaluate((it) => it.textContent.length)).toBe(1024 ** 2);
    await row(page, 'wide').click();
    await frame.locator('table').waitFor();
    expect(await frame.locator('th').count()).toBeLessThanOrEqual(100);
  });
});

describe('previews of what is not shown as a whole', () => {
  it('read the first bytes, say one thing, and play a film of any size by ranges', async (test) => {
    const bucket = await makeBucket(under, []);
    const page = await under.signedIn(test, `/b/${bucket}/`);
    const recorded = await film(page);
    await put(
      under.sdk(),
      bucket,
      'archive.zip',
      Buffer.concat([Buffer.from('PK\x03\x04'), Buffer.alloc(3 * 1024 ** 2)]),
    );
    await put(under.sdk(), bucket, 'film.webm', Buffer.concat([recorded, Buffer.alloc(66 * 1024 ** 2)]));
    await put(under.sdk(), bucket, 'picture.png', Buffer.concat([png, Buffer.alloc(66 * 1024 ** 2)]));
    await page.getByRole('button', { name: 'Refresh' }).click();
    const reads: string[] = [];
    page.on('request', (request) => {
      if (request.method() === 'GET' && /\.(?:zip|png|webm)/.test(request.url())) {
        reads.push(request.headers()['range'] ?? 'all');
      }
    });
    const frame = page.frameLocator('.preview-frame');
    await row(page, 'archive.zip').click();
    await frame.getByText('There is no preview for this type').waitFor();
    await row(page, 'picture.png').click();
    await frame.getByText('Larger than 64 MB').waitFor();
    expect(reads).toEqual(['bytes=0-65535', 'bytes=0-65535']);
    await row(page, 'film.webm').click();
    await expect.poll(() => frame.locator('video').evaluate((video: HTMLVideoElement) => video.videoWidth)).toBe(16);
    expect(await page.getByRole('complementary', { name: 'Details' }).getByText('MB').count()).toBe(0);
    // A document without scripts, and not of the page's origin.
    expect(await page.locator('.preview-frame').getAttribute('sandbox')).toBe('allow-same-origin');
    expect(await page.locator('.preview-frame').getAttribute('src')).toContain(
      `${under.service.url}/${bucket}/film.webm?`,
    );
    expect(under.faultsOf(page)).toEqual([]);
  });

  it('say how many rows of a table there are, and read text of other encodings', async (test) => {
    const bucket = await makeBucket(under, []);
    await put(under.sdk(), bucket, 'table.csv', 'name,size\n' + 'a,1\n'.repeat(5_000));
    await put(under.sdk(), bucket, 'latin.txt', Buffer.from('Grüße aus Köln, für alle', 'latin1'));
    await put(under.sdk(), bucket, 'wide.txt', Buffer.from('\ufeffGrüße 東京', 'utf16le'));
    const page = await under.signedIn(test, `/b/${bucket}/`);
    const frame = page.frameLocator('.preview-frame');
    await row(page, 'table.csv').click();
    await frame.getByText('Only the first 1,000 of 5,001 rows are shown').waitFor();
    await row(page, 'latin.txt').click();
    await frame.getByText('Grüße aus Köln, für alle').waitFor();
    await row(page, 'wide.txt').click();
    await frame.getByText('Grüße 東京').waitFor();
  });
});

describe('previews of sound and film', () => {
  it('are played in the frame, whatever their names and types say', async (test) => {
    const bucket = await makeBucket(under, []);
    const page = await under.signedIn(test, `/b/${bucket}/`);
    const options = { ContentType: 'text/html' };
    await put(under.sdk(), bucket, 'sound.txt', silence(), options);
    await put(under.sdk(), bucket, 'film.txt', await film(page), options);
    await page.getByRole('button', { name: 'Refresh' }).click();
    const frame = page.frameLocator('.preview-frame');
    await row(page, 'sound.txt').click();
    await frame.locator('[controls]').waitFor();
    await row(page, 'film.txt').click();
    await frame.locator('video[controls]').waitFor();
    const ready = () => frame.locator('video').evaluate((video: HTMLVideoElement) => video.videoWidth);
    await expect.poll(ready).toBe(16);
    expect(under.faultsOf(page)).toEqual([]);
  });
});

describe('previews of PDF', () => {
  it('are drawn in the frame, with their text for screen readers, and run nothing of the document', async (test) => {
    const bucket = await makeBucket(under, []);
    const script = 'app.alert(1); globalThis.broken = 1; parent.document.title = "broken"';
    await put(under.sdk(), bucket, 'scripted.txt', pdfOf('Loan agreement', script), { ContentType: 'text/html' });
    await put(under.sdk(), bucket, 'cut.pdf', '%PDF-1.4\nnot a document', { ContentType: 'application/pdf' });
    const page = await under.signedIn(test, `/b/${bucket}/`);
    const requests: string[] = [];
    page.on('request', (request) => requests.push(request.url()));
    page.on('dialog', () => requests.push('a dialog'));
    await row(page, 'scripted.txt').click();
    const frame = page.frameLocator('.preview-frame');
    await frame.locator('canvas').waitFor();
    await frame.getByText('Loan agreement').waitFor({ state: 'attached' });
    const inside = page.frames().find((each) => each.url().includes('/preview/'))!;
    const drawn = await inside.evaluate(() => {
      const canvas = document.querySelector('canvas')!;
      const { data } = canvas.getContext('2d')!.getImageData(0, 0, canvas.width, canvas.height);
      let dark = 0;
      for (let at = 0; at < data.length; at += 4) if (data[at]! < 100) dark++;
      return { dark, links: document.querySelectorAll('a').length, broken: 'broken' in globalThis };
    });
    expect(drawn).toMatchObject({ links: 0, broken: false });
    expect(drawn.dark).toBeGreaterThan(100);
    // Only the console's own files, and the object itself.
    const strange = requests.filter((url) => !/^(?:blob:|http:\/\/127\.0\.0\.1:)/.test(url));
    expect(strange).toEqual([]);
    expect(await page.title()).toBe(`scripted.txt · ${bucket} · Stillage`);
    await row(page, 'cut.pdf').click();
    await frame.getByText('There is no preview for this type').waitFor();
    expect(under.faultsOf(page)).toEqual([]);
  });

  it('load PDF.js only for a PDF', async (test) => {
    const bucket = await makeBucket(under, ['a.txt']);
    await put(under.sdk(), bucket, 'b.pdf', pdfOf('second'));
    const page = await under.signedIn(test, `/b/${bucket}/`);
    const loaded: string[] = [];
    page.on('request', (request) => {
      if (request.url().includes('/preview/pdf')) loaded.push(new URL(request.url()).pathname);
    });
    await row(page, 'a.txt').click();
    await page.frameLocator('.preview-frame').getByText('content of a.txt').waitFor();
    expect(loaded).toEqual([]);
    await row(page, 'b.pdf').click();
    await page.frameLocator('.preview-frame').locator('canvas').waitFor();
    expect(loaded).toContain('/preview/pdf.js');
  });
});

describe('access', () => {
  it('is opened to everybody, and closed, of an object and of all in a folder', async (test) => {
    const bucket = await makeBucket(under, ['a.txt', 'folder/b', 'folder/in/c']);
    const anonymous = async (key: string): Promise<number> =>
      (await fetch(`${under.service.url}/${bucket}/${key}`)).status;
    const page = await details(test, bucket, 'a.txt', 'Access');
    await page.getByText('All users of the bucket’s project.').waitFor();
    await expectAccessible(page);
    await page.getByRole('switch', { name: 'Everybody can read' }).click();
    await page.getByText('Everybody, by the object’s ACL.').waitFor();
    expect(await anonymous('a.txt')).toBe(200);
    await page.getByRole('switch', { name: 'Everybody can read' }).click();
    await expect.poll(() => anonymous('a.txt')).toBe(403);
    for (const [item, button, status] of [
      ['Open public access', 'Open public access', 200],
      ['Close public access', 'Close public access', 403],
    ] as const) {
      await row(page, 'folder').click({ button: 'right' });
      await page.getByRole('menuitem', { name: item }).click();
      await page.getByRole('dialog').getByRole('button', { name: button }).click();
      await expect.poll(() => anonymous('folder/b')).toBe(status);
      await expect.poll(() => anonymous('folder/in/c')).toBe(status);
    }
  });

  it('that the bucket’s block refuses is said to be refused by that', async (test) => {
    const bucket = await makeBucket(under, ['a.txt']);
    const PublicAccessBlockConfiguration = { BlockPublicAcls: true, BlockPublicPolicy: true };
    await under.sdk().send(new PutPublicAccessBlockCommand({ Bucket: bucket, PublicAccessBlockConfiguration }));
    const page = await details(test, bucket, 'a.txt', 'Access');
    await page.getByRole('switch', { name: 'Everybody can read' }).click();
    await page.getByText('The bucket blocks public access').waitFor();
    expect(await page.getByText('You do not have permission').count()).toBe(0);
    await page.goto(`${under.origin}/settings/${bucket}/access`);
    await signIn(page);
    await page.getByLabel('Add a statement').selectOption('Everybody may read objects');
    await page.getByRole('button', { name: 'Save policy' }).click();
    await page.getByText('The bucket blocks public access').waitFor();
  });

  it('is granted to projects and to all who signed in, and who can read is said in words', async (test) => {
    const bucket = await makeBucket(under, ['a.txt']);
    const page = await details(test, bucket, 'a.txt', 'Access');
    await page.getByLabel('Who').selectOption('Project');
    await page.getByLabel('project@customer').fill('nobody@nowhere.test');
    await page.getByRole('button', { name: 'Add grant' }).click();
    await page.getByRole('button', { name: 'Save' }).click();
    await page.getByRole('alert').getByText('There is no such project').waitFor();
    await page.getByRole('button', { name: 'Remove: nobody@nowhere.test, Read' }).click();
    await page.getByLabel('project@customer').fill('other@example.test');
    await page.getByRole('button', { name: 'Add grant' }).click();
    await page.getByLabel('Who').selectOption('Everybody signed in');
    // Of an object, to write means to change one that is there; to make new ones is the bucket's to grant.
    expect(await page.getByLabel('May').locator('option').allTextContents()).toEqual([
      ...['Read', 'Change the object', 'Read the ACL', 'Change the ACL', 'Everything'],
    ]);
    await page.getByLabel('May').selectOption('Read the ACL');
    await page.getByRole('button', { name: 'Add grant' }).click();
    await page.getByRole('button', { name: 'Save' }).click();
    await page.getByText('other, by the object’s ACL.').waitFor();
  });

  it('is given by policies, checked as they are written', async (test) => {
    const bucket = await makeBucket(under, ['a.txt']);
    const page = await under.signedIn(test, `/settings/${bucket}/access`);
    await page.getByLabel('Policy', { exact: true }).fill('{"Statement": [{"Effect": "Perhaps"}]}');
    await page.getByText('Statement 1: Effect is Allow or Deny').waitFor();
    expect(await page.getByRole('button', { name: 'Save policy' }).isDisabled()).toBe(true);
    await page.getByLabel('Policy', { exact: true }).fill('');
    await page.getByLabel('Add a statement').selectOption('Everybody may read objects');
    await page.getByText('it lets everybody in').waitFor();
    await expectAccessible(page);
    await page.getByRole('button', { name: 'Save policy' }).click();
    await page.getByRole('button', { name: 'Delete policy' }).waitFor();
    const stored = await under.sdk().send(new GetBucketPolicyCommand({ Bucket: bucket }));
    expect(stored.Policy).toContain('s3:GetObject');
    await page.getByRole('link', { name: 'objects' }).click();
    await row(page, 'a.txt').click();
    await page.getByRole('tab', { name: 'Access' }).click();
    await page.getByText('Everybody, by the bucket’s policy').waitFor();
  });

  it('is given by links, which are listed and revoked, and by presigned URLs', async (test) => {
    const bucket = await makeBucket(under, ['a.txt']);
    const page = await details(test, bucket, 'a.txt', 'Links');
    await page.getByRole('button', { name: 'Make a link' }).click();
    const link = (await page
      .getByText(/_public\//)
      .first()
      .textContent())!;
    expect(await (await fetch(link)).text()).toBe('content of a.txt');
    await expectAccessible(page);
    await page.getByRole('button', { name: 'Revoke', exact: true }).click();
    await page.getByText('No links.').waitFor();
    expect((await fetch(link)).status).toBe(404);
    await page.getByRole('button', { name: 'Make a URL' }).click();
    const url = (await page
      .getByText(/X-Amz-Signature=/)
      .first()
      .textContent())!;
    expect(await (await fetch(url)).text()).toBe('content of a.txt');
    await page.getByLabel('For', { exact: true }).selectOption('PUT');
    await page.getByRole('button', { name: 'Make a URL' }).click();
    await expect
      .poll(async () => {
        const writing = (await page
          .getByText(/X-Amz-Signature=/)
          .first()
          .textContent())!;
        return (await fetch(writing, { method: 'PUT', body: 'written' })).status;
      })
      .toBe(200);
    expect(await read(under.sdk(), bucket, 'a.txt')).toBe('written');
  });

  it('is given by links of a whole folder, saved as a file, and revoked together', async (test) => {
    const bucket = await makeBucket(under, ['album/a', 'album/in/b', 'album/', 'outside']);
    const page = await under.signedIn(test, `/b/${bucket}/`);
    const menu = async (): Promise<void> => {
      await row(page, 'album').click({ button: 'right' });
      await page.getByRole('menuitem', { name: 'Public links' }).click();
    };
    await menu();
    await page.getByLabel('Valid for').selectOption('4 hours');
    await expectAccessible(page);
    await page.getByRole('button', { name: 'Make links' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByText('2 of 2 · done').waitFor();
    await expectAccessible(page);
    const [download] = await Promise.all([
      page.waitForEvent('download'),
      dialog.getByRole('button', { name: 'Save as a file' }).click(),
    ]);
    const lines = (await readFile(await download.path(), 'utf8')).trim().split('\n');
    const links = lines.map((line) => line.split('\t') as [name: string, url: string]);
    expect(links.map(([name]) => name)).toEqual(['album/a', 'album/in/b']);
    for (const [name, url] of links) expect(await (await fetch(url)).text()).toBe(`content of ${name}`);
    await dialog.locator('footer').getByRole('button', { name: 'Close' }).click();
    await page.getByRole('button', { name: 'Show links' }).click();
    await dialog.getByText(links[1]![1]).waitFor();
    await dialog.locator('footer').getByRole('button', { name: 'Close' }).click();

    await menu();
    await page.getByRole('button', { name: 'Revoke all links' }).click();
    await expect
      .poll(async () => Promise.all(links.map(async ([, url]) => (await fetch(url)).status)))
      .toEqual([404, 404]);
    // A reload forgets them: nothing kept them.
    const kept = await page.evaluate(() => JSON.stringify({ ...localStorage, ...sessionStorage, at: location.href }));
    expect(kept).not.toContain('_public');
    expect(under.faultsOf(page)).toEqual([]);
  });

  it('is copied from a dialog also where there is no clipboard for scripts, as over plain HTTP', async (test) => {
    const bucket = await makeBucket(under, ['folder/b']);
    const context = await under.context(test);
    await context.addInitScript(() => Reflect.deleteProperty(Navigator.prototype, 'clipboard'));
    const page = await under.signedIn(test, `/b/${bucket}/`, { in: context });
    await row(page, 'folder').click({ button: 'right' });
    await page.getByRole('menuitem', { name: 'Public links' }).click();
    await page.getByRole('button', { name: 'Make links' }).click();
    await page.getByText('1 of 1').waitFor();
    await page.getByRole('button', { name: 'Copy all' }).click();
    await page.getByText('Copied').waitFor();
    await page.keyboard.press('Escape');
    await page.getByLabel('Search in bucket').press('Control+v');
    await expect.poll(() => page.getByLabel('Search in bucket').inputValue()).toContain(`${under.service.url}/`);
  });

  it('is reached by the menu of an object, whose links have an address', async (test) => {
    const bucket = await makeBucket(under, ['a.txt']);
    const page = await under.signedIn(test, `/b/${bucket}/`);
    await row(page, 'a.txt').click({ button: 'right' });
    await page.getByRole('menuitem', { name: 'Public link' }).click();
    await page.getByRole('button', { name: 'Make a link' }).waitFor();
    expect(new URL(page.url()).search).toBe('?o=a.txt&t=links');
  });
});

/** A tenth of a second of silence, as WAV. */
function silence(): Buffer {
  const header = Buffer.from(
    'RIFF\0\0\0\0WAVEfmt \x10\0\0\0\x01\0\x01\0\x40\x1f\0\0\x40\x1f\0\0\x01\0\x08\0data\0\0\0\0',
    'latin1',
  );
  const samples = Buffer.alloc(800, 128);
  header.writeUInt32LE(header.length - 8 + samples.length, 4);
  header.writeUInt32LE(samples.length, header.length - 4);
  return Buffer.concat([header, samples]);
}

/** A film of a few frames, 16 pixels wide, recorded by the browser. */
async function film(page: Page): Promise<Buffer> {
  const bytes = await page.evaluate(async () => {
    const canvas = document.createElement('canvas');
    canvas.width = canvas.height = 16;
    const drawing = canvas.getContext('2d')!;
    const recorder = new MediaRecorder(canvas.captureStream(30), { mimeType: 'video/webm' });
    const chunks: Blob[] = [];
    recorder.ondataavailable = ({ data }) => chunks.push(data);
    const stopped = new Promise((resolve) => (recorder.onstop = resolve));
    recorder.start();
    for (const colour of ['red', 'green', 'blue', 'red', 'green', 'blue']) {
      drawing.fillStyle = colour;
      drawing.fillRect(0, 0, 16, 16);
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
    recorder.stop();
    await stopped;
    return [...new Uint8Array(await new Blob(chunks).arrayBuffer())];
  });
  return Buffer.from(bytes);
}
