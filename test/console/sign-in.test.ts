import { CreateBucketCommand, ListBucketsCommand } from '@aws-sdk/client-s3';
import { readFile } from 'node:fs/promises';
import type { BrowserContext, Page } from 'playwright-core';
import { describe, expect, it } from 'vitest';
import { makeKey } from '../support/storage/administration.ts';
import { bucketName } from '../support/clients/clients.ts';
import { put } from '../support/storage/objects.ts';
import { alice } from '../support/programs/server.ts';
import { consoleUnderTest, expectAccessible, signIn } from './support/console.ts';
import { heapContains } from './support/heap.ts';

const under = consoleUnderTest();

/** Everything that outlives a page, as text. */
async function storage(context: BrowserContext, page: Page): Promise<string> {
  const inPage = await page.evaluate(async () => {
    const databases = await indexedDB.databases();
    const all: unknown[] = [{ ...localStorage }, { ...sessionStorage }, document.cookie, location.href, history.state];
    for (const { name } of databases) {
      const database = await new Promise<IDBDatabase>((resolve) => {
        const request = indexedDB.open(name!);
        request.onsuccess = () => resolve(request.result);
      });
      for (const store of database.objectStoreNames) {
        const values = await new Promise<unknown[]>((resolve) => {
          const request = database.transaction(store).objectStore(store).getAll();
          request.onsuccess = () => resolve(request.result as unknown[]);
        });
        for (const value of values as Record<string, unknown>[]) {
          const key = value['key'];
          const isKey = key instanceof CryptoKey;
          all.push({ ...value, key: isKey ? { extractable: key.extractable, usages: key.usages } : key });
        }
      }
      database.close();
    }
    return JSON.stringify(all);
  });
  return inPage + JSON.stringify(await context.cookies());
}

describe('signing in', () => {
  it('shows the form without findings, and says what is refused in words', async (test) => {
    const page = await under.page(test);
    await page.getByLabel('Access key').waitFor();
    await expectAccessible(page);
    await page.getByLabel('Access key').fill(alice.accessKeyId);
    await page.getByLabel('Secret key').fill('not the secret');
    await page.getByRole('button', { name: 'Sign in' }).click();
    await page.getByRole('alert').getByText('do not match').waitFor();
    await expectAccessible(page);
    expect(under.faultsOf(page)).toEqual([]);
  });

  it('leaves the secret in no storage, address, request, log or reachable object', async (test) => {
    const context = await under.context(test);
    const sent: string[] = [];
    context.on('request', (request) =>
      sent.push(`${request.url()}\n${JSON.stringify(request.headers())}\n${request.postData() ?? ''}`),
    );
    const page = await under.signedIn(test, '/', { in: context, keep: true });
    await page.getByRole('link', { name: 'Profile' }).click();
    await page.getByRole('heading', { name: 'Profile' }).waitFor();
    const { secretAccessKey } = alice;
    const kept = await storage(context, page);
    expect(kept).toContain('"extractable":false');
    expect(kept).toContain(alice.accessKeyId);
    expect(sent.length).toBeGreaterThan(5);
    for (const text of [kept, sent.join('\n'), await under.service.log()]) {
      expect(text).not.toContain(secretAccessKey);
      expect(text).not.toContain(encodeURIComponent(secretAccessKey));
      expect(text).not.toContain(Buffer.from(secretAccessKey).toString('base64'));
    }
    // The page holds the id of the key, which shows that the snapshot would show the secret.
    expect(await heapContains(page, alice.accessKeyId)).toBe(true);
    expect(await heapContains(page, secretAccessKey)).toBe(false);
  });

  it('stays signed in over a reload only where that was asked for', async (test) => {
    const context = await under.context(test);
    const page = await under.signedIn(test, '/profile', { in: context });
    await page.reload();
    await page.getByLabel('Secret key').waitFor();
    await signIn(page, alice, true);
    await page.reload();
    await page.getByRole('heading', { name: 'Profile' }).waitFor();
    await page.getByRole('button', { name: 'Sign out' }).click();
    await page.getByLabel('Secret key').waitFor();
    await page.reload();
    await page.getByLabel('Secret key').waitFor();
  });

  it('signs out in all tabs at once', async (test) => {
    const context = await under.context(test);
    const first = await under.signedIn(test, '/profile', { in: context, keep: true });
    const second = await under.page(test, '/profile', { in: context });
    await second.getByRole('button', { name: 'Sign out' }).click();
    await first.getByText('You signed out in another tab').waitFor();
  });

  it('signs out who does nothing for half an hour', async (test) => {
    const context = await under.context(test);
    const page = await context.newPage();
    await page.clock.install();
    await page.goto(under.origin);
    await signIn(page);
    await page.clock.fastForward('29:00');
    await page.getByRole('link', { name: 'Profile' }).waitFor();
    await page.clock.fastForward('03:00');
    await page.getByText('nothing happened for a while').waitFor();
  });

  it('stays signed in for as long as one of the tabs is used', async (test) => {
    const context = await under.context(test);
    await context.clock.install();
    const used = await under.signedIn(test, '/profile', { in: context, keep: true });
    const other = await under.page(test, '/profile', { in: context });
    const isSignedIn = async (page: Page): Promise<void> => {
      for (const name of ['Activity', 'Profile']) {
        await page.getByRole('link', { name }).evaluate((link: HTMLElement) => link.click());
        await page.getByRole('heading', { name, level: 1 }).waitFor();
      }
    };
    await isSignedIn(other);
    const lastUse = () =>
      used.evaluate(async () => {
        const opened = indexedDB.open('stillage');
        await new Promise((resolve) => (opened.onsuccess = resolve));
        const asked = opened.result.transaction('session').objectStore('session').get('kept');
        await new Promise((resolve) => (asked.onsuccess = resolve));
        return (asked.result as { used: number } | undefined)?.used ?? 0;
      });
    for (let round = 0; round < 3; round++) {
      await context.clock.fastForward('05:00:00');
      const at = await used.evaluate(() => Date.now());
      await used.keyboard.press('Shift');
      await context.clock.runFor('01:00');
      await expect.poll(lastUse).toBeGreaterThanOrEqual(at);
    }
    await isSignedIn(other);
    await isSignedIn(used);
    await context.clock.fastForward('13:00:00');
    await used.getByLabel('Secret key').waitFor();
    await other.getByLabel('Secret key').waitFor();
  });

  it('downloads, whatever the clock of this machine shows', async (test) => {
    const bucket = bucketName();
    await under.sdk().send(new CreateBucketCommand({ Bucket: bucket }));
    await put(under.sdk(), bucket, 'a.txt', 'content');
    // The service allows ten minutes; the URL of a download is valid for five.
    for (const wrong of [-10, 10, -600]) {
      const context = await under.context(test);
      await context.clock.install({ time: Date.now() + wrong * 60_000 });
      const page = await under.signedIn(test, `/b/${bucket}/?o=a.txt`, { in: context });
      const download = page.waitForEvent('download');
      await page.getByRole('complementary').getByRole('button', { name: 'Download' }).click();
      expect(await readFile(await (await download).path(), 'utf8')).toBe('content');
      await context.close();
    }
  });

  it('offers the rc file with the project before the secret is let go, and without it later', async (test) => {
    const page = await under.page(test);
    await page.getByLabel('Download an rc file').check();
    const download = page.waitForEvent('download');
    await signIn(page);
    const withSecret = await readFile(await (await download).path(), 'utf8');
    expect(withSecret).toContain(`export C2_PROJECT=`);
    expect(withSecret).toContain(`export AWS_SECRET_ACCESS_KEY=${alice.secretAccessKey}`);
    expect(withSecret).toContain(`export S3_URL=${under.service.url}`);
    await page.getByRole('link', { name: 'Profile' }).click();
    await expectAccessible(page);
    const [again] = await Promise.all([
      page.waitForEvent('download'),
      page.getByRole('button', { name: 'Download' }).click(),
    ]);
    const without = await readFile(await again.path(), 'utf8');
    expect(without).not.toContain(alice.secretAccessKey);
    expect(without).toContain(`export AWS_ACCESS_KEY_ID=${alice.accessKeyId}`);
  });

  it('works by a pure HMAC, for the session alone, in a page that is no secure context', async (test) => {
    const context = await under.context(test);
    await context.addInitScript(() => Object.defineProperty(globalThis, 'isSecureContext', { value: false }));
    const page = await under.page(test, '/', { in: context });
    await page.getByText('was not loaded over HTTPS').waitFor();
    expect(await page.getByLabel('Keep me signed in').count()).toBe(0);
    await signIn(page);
    expect(await storage(context, page)).not.toContain(alice.secretAccessKey);
    expect(await storage(context, page)).not.toContain(alice.accessKeyId);
  });
});

describe('the profile', () => {
  it('says user, project, endpoint, key and use, as the service has them', async (test) => {
    // A project of its own, in which no other test creates buckets.
    const customer = `${bucketName()}.test`;
    const key = await makeKey(under.service.place, `archive:carol@${customer}`);
    const client = under.sdk(key);
    for (const Bucket of [bucketName(), bucketName()]) {
      await client.send(new CreateBucketCommand({ Bucket }));
      await put(client, Bucket, 'a', '12345');
    }
    const page = await under.signedIn(test, '/profile', { key });
    const value = (name: string) => page.locator('dt', { hasText: new RegExp(`^${name}$`) }).locator('+ dd');
    await expect.poll(() => value('User').innerText()).toBe('carol');
    expect(await value('Project').innerText()).toBe(`archive archive@${customer}`);
    const { Owner } = await client.send(new ListBucketsCommand({}));
    expect(await value('Project id').innerText()).toBe(Owner!.ID);
    expect(await value('Access key').innerText()).toBe(key.accessKeyId);
    expect(await value('Endpoint').innerText()).toBe(under.service.url);
    expect(await value('Region').innerText()).toBe('us-east-1');
    expect(await value('Buckets').innerText()).toBe('2 of 50 buckets');
    await expect.poll(() => value('Stored versions').innerText()).toBe('10 B, 2 objects');
    await page.getByText('Limits can be raised by the operator').waitFor();
    await expectAccessible(page);
  });
});
