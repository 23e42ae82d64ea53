import { ListObjectsV2Command } from '@aws-sdk/client-s3';
import { describe, expect, it } from 'vitest';
import { PooledClient } from '../support/clients/pooled-client.ts';
import { makeBucket, row } from './support/buckets.ts';
import { consoleUnderTest } from './support/console.ts';

const under = consoleUnderTest();

const count = 10_000;

async function fill(bucket: string): Promise<void> {
  const client = new PooledClient(under.service);
  let next = 0;
  const worker = async (): Promise<void> => {
    while (next < count) {
      const path = `/${bucket}/big/${String(next++).padStart(5, '0')}`;
      expect((await client.send({ method: 'PUT', path })).status).toBe(200);
    }
  };
  await Promise.all(Array.from({ length: 16 }, worker));
  client.close();
}

async function countBelow(bucket: string, prefix: string): Promise<number> {
  let total = 0;
  let token: string | undefined;
  do {
    const page = await under
      .sdk()
      .send(new ListObjectsV2Command({ Bucket: bucket, Prefix: prefix, ContinuationToken: token }));
    total += page.KeyCount ?? 0;
    token = page.NextContinuationToken;
  } while (token !== undefined);
  return total;
}

describe('a folder of 10,000 objects', () => {
  it('shows progress while it is renamed and deleted, and stops when told, losing nothing', async (test) => {
    const bucket = await makeBucket(under, []);
    await fill(bucket);
    const page = await under.signedIn(test, `/b/${bucket}/`);
    const menu = async (name: string, item: string): Promise<void> => {
      await row(page, name).click({ button: 'right' });
      await page.getByRole('menuitem', { name: item }).click();
    };
    await menu('big', 'Rename');
    await page.getByLabel('New name').fill('renamed');
    await page.getByRole('button', { name: 'Save' }).click();
    await page.getByRole('link', { name: /Transfers/ }).click();
    const rename = page.locator('.job').filter({ hasText: 'Rename' });
    const done = async (): Promise<number> =>
      Number((await rename.innerText()).split(' of 10,000')[0]!.split(' · ').at(-1)!.replace(',', '')) || 0;
    await expect.poll(done).toBeGreaterThan(50);
    await rename.getByRole('button', { name: 'Stop' }).click();
    await rename.getByText('stopped').waitFor();
    await page.waitForLoadState('networkidle');
    const [before, after] = await Promise.all([countBelow(bucket, 'big/'), countBelow(bucket, 'renamed/')]);
    expect(before + after).toBe(count);
    expect(after).toBeGreaterThanOrEqual(await done());
    expect(before).toBeGreaterThan(0);

    // A request deletes up to 1,000: those after the second wait until they may.
    let held: (() => void)[] = [];
    let sent = 0;
    await page.route(/\?delete=/, async (route) => {
      if (++sent > 2) await new Promise<void>((resolve) => held.push(resolve));
      await route.continue().catch(() => undefined);
    });
    await page.goBack();
    await row(page, 'big').waitFor();
    const waiting = await countBelow(bucket, 'big/');
    await menu('big', 'Delete');
    await page.getByRole('button', { name: 'Delete', exact: true }).click();
    await expect.poll(() => held.length).toBeGreaterThan(0);
    await page.getByRole('link', { name: /Transfers/ }).click();
    const deletion = page.locator('.job').filter({ hasText: 'Delete' });
    await deletion.getByText(`2,000 of ${waiting.toLocaleString('en')}`).waitFor();
    await deletion.getByRole('button', { name: 'Stop' }).click();
    await deletion.getByText('stopped').waitFor();
    for (const release of held.splice(0)) release();
    held = [];
    await page.waitForLoadState('networkidle');
    // Requests in flight at the stop may have been executed.
    expect(waiting - (await countBelow(bucket, 'big/'))).toBeGreaterThanOrEqual(2_000);
    expect(sent).toBeLessThanOrEqual(4);
    await page.unroute(/\?delete=/);

    await page.goBack();
    await menu('renamed', 'Delete');
    await page.getByRole('button', { name: 'Delete', exact: true }).click();
    await expect.poll(() => countBelow(bucket, 'renamed/')).toBe(0);
    expect(under.faultsOf(page)).toEqual([]);
  });
});
