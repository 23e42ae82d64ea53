import { HeadObjectCommand, ListObjectsV2Command, PutBucketEncryptionCommand } from '@aws-sdk/client-s3';
import type { Page } from 'playwright-core';
import { describe, expect, it } from 'vitest';
import { put, setVersioning, versionsOf } from '../support/storage/objects.ts';
import { file, makeBucket, row } from './support/buckets.ts';
import { consoleUnderTest, expectAccessible } from './support/console.ts';

const under = consoleUnderTest();

async function keysOf(bucket: string): Promise<string[]> {
  const { Contents = [] } = await under.sdk().send(new ListObjectsV2Command({ Bucket: bucket }));
  return Contents.map(({ Key }) => Key!);
}

/** Answers requests that match in place of the service, so many times; returns how many were answered. */
async function refuse(
  page: Page,
  matching: RegExp,
  status: number,
  code: string,
  times = Infinity,
): Promise<() => number> {
  let count = 0;
  await page.route(matching, (route) => {
    if (route.request().method() === 'OPTIONS' || count >= times) return route.continue();
    count++;
    const headers = { 'access-control-allow-origin': under.origin, 'access-control-expose-headers': '*' };
    return route.fulfill({ status, headers, body: `<Error><Code>${code}</Code><Message>refused</Message></Error>` });
  });
  return () => count;
}

/** Lets the service execute the first request that matches, and loses the answer. */
async function loseAnswer(page: Page, matching: RegExp): Promise<void> {
  let lost = 0;
  await page.route(matching, async (route) => {
    if (route.request().method() === 'OPTIONS' || lost > 0) return route.continue();
    lost++;
    await route.fetch();
    await route.abort('connectionreset');
  });
}

async function moveTo(page: Page, name: string, bucket: string): Promise<void> {
  await row(page, name).click({ button: 'right' });
  await page.getByRole('menuitem', { name: 'Move to' }).click();
  await page.getByLabel('Bucket', { exact: true }).fill(bucket);
  await page.getByRole('button', { name: 'Move', exact: true }).click();
}

describe('an upload that fails', () => {
  it('is said on the page where one is, and counted until it is tried again', async (test) => {
    const bucket = await makeBucket(under, []);
    const page = await under.signedIn(test, `/b/${bucket}/`);
    await refuse(page, /\/full\.txt/, 403, 'QuotaExceeded');
    await page.setInputFiles('#upload-files', [file('full.txt', 'x')]);
    await page.locator('.notice').getByText('quota is used up').waitFor();
    await page.locator('.notice').getByText('Upload full.txt').waitFor();
    await expectAccessible(page);
    await page.getByTitle('Transfers, 1 with errors').waitFor();
    await page.locator('.notice').getByRole('button', { name: 'Transfers' }).click();
    await page.unroute(/\/full\.txt/);
    await page.getByRole('button', { name: 'Try the failed one again' }).click();
    await expect.poll(() => keysOf(bucket)).toEqual(['full.txt']);
    await page.getByTitle('Transfers, 1 with errors').waitFor({ state: 'detached' });
  });

  it('for a moment is repeated, also of a small file', async (test) => {
    const bucket = await makeBucket(under, []);
    const page = await under.signedIn(test, `/b/${bucket}/`);
    const refused = await refuse(page, /\/busy\.txt/, 503, 'SlowDown', 2);
    await page.setInputFiles('#upload-files', [file('busy.txt', 'x')]);
    await row(page, 'busy.txt').waitFor();
    expect(refused()).toBe(2);
  });
});

describe('a deletion', () => {
  it('whose answer was lost adds no second marker, and can still be undone', async (test) => {
    const bucket = await makeBucket(under, ['a', 'b']);
    await setVersioning(under.sdk(), bucket, 'Enabled');
    const page = await under.signedIn(test, `/b/${bucket}/`);
    await loseAnswer(page, /\?delete=/);
    await row(page, 'a').click({ button: 'right' });
    await page.getByRole('menuitem', { name: 'Delete' }).click();
    await page.getByText('a deleted.').waitFor();
    expect((await versionsOf(under.sdk(), bucket)).filter(({ isMarker }) => isMarker)).toHaveLength(1);
    await page.getByRole('button', { name: 'Undo' }).click();
    await expect.poll(() => keysOf(bucket)).toEqual(['a', 'b']);
    expect((await versionsOf(under.sdk(), bucket)).filter(({ isMarker }) => isMarker)).toEqual([]);
  });

  it('of several shows each that failed, and tries these alone again', async (test) => {
    const bucket = await makeBucket(under, ['a', 'b', 'c']);
    const page = await under.signedIn(test, `/b/${bucket}/`);
    const bodies: string[] = [];
    await page.route(/\?delete=/, async (route) => {
      if (route.request().method() === 'OPTIONS') return route.continue();
      bodies.push(route.request().postData()!);
      if (bodies.length > 1) return route.continue();
      const errors = ['b', 'c'].map(
        (key) => `<Error><Key>${key}</Key><Code>AccessDenied</Code><Message>no</Message></Error>`,
      );
      const headers = { 'access-control-allow-origin': under.origin, 'access-control-expose-headers': '*' };
      const body = `<DeleteResult><Deleted><Key>a</Key></Deleted>${errors.join('')}</DeleteResult>`;
      await route.fulfill({ status: 200, headers, contentType: 'application/xml', body });
    });
    await page.getByLabel('Select all').check();
    await page.getByRole('button', { name: 'Delete', exact: true }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Delete' }).click();
    await page.locator('.notice').getByText('You do not have permission to do this').waitFor();
    await page.getByTitle('Transfers, 1 with errors').click();
    await page.getByText('1 of 3').waitFor();
    await page.getByText('2 failed').waitFor();
    expect(await page.locator('.failures strong').allTextContents()).toEqual(['b', 'c']);
    await page.getByRole('button', { name: 'Try the failed ones again' }).click();
    await page.getByText('3 of 3').waitFor();
    await expect.poll(() => bodies.length).toBe(2);
    expect([...bodies[1]!.matchAll(/<Key>(\w)<\/Key>/g)].map(([, key]) => key)).toEqual(['b', 'c']);
  });

  it('shows as many failures as a request has, and says how many more there are', async (test) => {
    const bucket = await makeBucket(under, ['a']);
    const page = await under.signedIn(test, `/b/${bucket}/`);
    await page.route(/\?delete=/, (route) => {
      if (route.request().method() === 'OPTIONS') return route.continue();
      const errors = Array.from(
        { length: 1_050 },
        (_, index) => `<Error><Key>${index}</Key><Code>AccessDenied</Code><Message>no</Message></Error>`,
      );
      const headers = { 'access-control-allow-origin': under.origin, 'access-control-expose-headers': '*' };
      const body = `<DeleteResult>${errors.join('')}</DeleteResult>`;
      return route.fulfill({ status: 200, headers, contentType: 'application/xml', body });
    });
    await row(page, 'a').click({ button: 'right' });
    await page.getByRole('menuitem', { name: 'Delete' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Delete' }).click();
    await page.getByTitle('Transfers, 1 with errors').click();
    await page.getByText('and 50 more').waitFor();
    expect(await page.locator('.failures strong').count()).toBe(1_000);
    await page.locator('.notice').getByRole('button', { name: 'Close' }).click();
    await expectAccessible(page);
  });
});

describe('a move to another bucket', () => {
  it('keeps the encryption and storage class that the object has', async (test) => {
    const from = await makeBucket(under, []);
    const to = await makeBucket(under, []);
    const rule = { ApplyServerSideEncryptionByDefault: { SSEAlgorithm: 'AES256' } } as const;
    const ServerSideEncryptionConfiguration = { Rules: [rule] };
    await under.sdk().send(new PutBucketEncryptionCommand({ Bucket: from, ServerSideEncryptionConfiguration }));
    await put(under.sdk(), from, 'a', 'secret', { StorageClass: 'STANDARD_IA' });
    const page = await under.signedIn(test, `/b/${from}/`);
    await moveTo(page, 'a', to);
    await expect.poll(() => keysOf(to)).toEqual(['a']);
    const head = await under.sdk().send(new HeadObjectCommand({ Bucket: to, Key: 'a' }));
    expect(head).toMatchObject({ ServerSideEncryption: 'AES256', StorageClass: 'STANDARD_IA' });
    await expect.poll(() => keysOf(from)).toEqual([]);
  });

  it('is done once the answer to its deletion was lost, and lays no second marker', async (test) => {
    const from = await makeBucket(under, ['a']);
    const to = await makeBucket(under, []);
    await setVersioning(under.sdk(), from, 'Enabled');
    const page = await under.signedIn(test, `/b/${from}/`);
    await loseAnswer(page, /\?delete=/);
    await moveTo(page, 'a', to);
    await page.getByRole('link', { name: /Transfers/ }).click();
    await page.locator('.job').getByText('1 of 1 · done').waitFor();
    expect(await keysOf(to)).toEqual(['a']);
    expect((await versionsOf(under.sdk(), from)).map(({ isMarker }) => isMarker)).toEqual([false, true]);
  });

  it('leaves what was replaced after it was copied', async (test) => {
    const from = await makeBucket(under, ['a']);
    const to = await makeBucket(under, []);
    const page = await under.signedIn(test, `/b/${from}/`);
    await page.route(/\?delete=/, async (route) => {
      if (route.request().method() === 'POST') await put(under.sdk(), from, 'a', 'newer');
      await route.continue();
    });
    await moveTo(page, 'a', to);
    await page.locator('.notice').getByText('was changed in the meantime').waitFor();
    expect([await keysOf(from), await keysOf(to)]).toEqual([['a'], ['a']]);
  });
});

describe('a new name', () => {
  it('whose answer was lost is given once', async (test) => {
    const bucket = await makeBucket(under, ['a']);
    const page = await under.signedIn(test, `/b/${bucket}/`);
    await loseAnswer(page, /renameObject/);
    await row(page, 'a').click({ button: 'right' });
    await page.getByRole('menuitem', { name: 'Rename' }).click();
    await page.getByLabel('New name').fill('b');
    await page.getByRole('button', { name: 'Save' }).click();
    await page.getByRole('link', { name: /Transfers/ }).click();
    await page.locator('.job').getByText('1 of 1 · done').waitFor();
    expect(await keysOf(bucket)).toEqual(['b']);
  });
});
