import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { bucketName } from '../support/clients/clients.ts';
import { isCloud } from '../support/cloud/deployed.ts';
import { alice } from '../support/programs/server.ts';
import { removeBucket } from '../support/programs/service-under-test.ts';
import { row } from './support/buckets.ts';
import { consoleUnderTest } from './support/console.ts';

const under = consoleUnderTest();

describe('the tour of docs/console.md', () => {
  it('works as it is printed, clicking only on what is visible', async (test) => {
    const folder = await mkdtemp(join(tmpdir(), 'stillage-tour-'));
    test.onTestFinished(() => rm(folder, { recursive: true }));
    await mkdir(join(folder, 'holiday'));
    await writeFile(join(folder, 'holiday/notes.txt'), 'first\n');
    await writeFile(join(folder, 'holiday/list.csv'), 'what,how many\ntent,1\n');
    const bucket = bucketName();
    if (isCloud) test.onTestFinished(() => removeBucket(under.sdk(), bucket));

    // 1
    const page = await under.page(test);
    await page.getByLabel('Access key').fill(alice.accessKeyId);
    await page.getByLabel('Secret key').fill(alice.secretAccessKey);
    await page.getByLabel('Keep me signed in').check();
    await page.getByLabel('Download an rc file').check();
    const rc = page.waitForEvent('download');
    await page.getByRole('button', { name: 'Sign in' }).click();
    expect(await readFile(await (await rc).path(), 'utf8')).toContain('C2_PROJECT');

    // 2
    await page.getByRole('button', { name: 'Create bucket' }).first().click();
    await page.getByLabel('Name', { exact: true }).fill(bucket);
    await page.getByLabel('Keep versions').check();
    await page.getByRole('dialog').getByRole('button', { name: 'Create bucket' }).click();
    await page.getByRole('dialog').waitFor({ state: 'detached' });
    const named = page.getByRole('link', { name: bucket, exact: true }).first();
    await named.click();
    await page.getByText('Drop files and folders here').waitFor();

    // 3
    const upload = async (item: string, path: string): Promise<void> => {
      await page.getByRole('button', { name: 'Upload' }).click();
      const chooser = page.waitForEvent('filechooser');
      await page.getByRole('menuitem', { name: item }).click();
      await (await chooser).setFiles(path);
    };
    await upload('Upload a folder …', join(folder, 'holiday'));
    await row(page, 'holiday').waitFor();
    await page.getByRole('link', { name: 'Transfers' }).click();
    await page.getByText('done').waitFor();
    await page.goBack();

    // 4
    await row(page, 'holiday').click();
    await page.keyboard.press('?');
    await page.getByRole('heading', { name: 'Keyboard shortcuts' }).waitFor();
    await page.getByRole('dialog').getByRole('button', { name: 'Close' }).last().click();
    await row(page, 'holiday').click({ button: 'right' });
    await page.getByRole('menuitem', { name: 'Rename …' }).click();
    await page.getByLabel('New name').fill('journey');
    await page.getByRole('button', { name: 'Save' }).click();
    await row(page, 'journey').dblclick();

    // 5
    await row(page, 'list.csv').click();
    await page.frameLocator('.preview-frame').getByRole('cell', { name: 'tent' }).waitFor();
    await page.getByRole('tab', { name: 'Links' }).click();
    await page.getByRole('button', { name: 'Make a link' }).click();
    const link = page.locator('code').filter({ hasText: '/_public/' });
    const url = await link.innerText();
    expect(await (await fetch(url)).text()).toBe('what,how many\ntent,1\n');
    await page.getByRole('button', { name: 'Revoke', exact: true }).click();
    await expect.poll(async () => (await fetch(url)).status).toBe(404);
    await page.getByRole('button', { name: 'Close details' }).click();

    // 6
    await writeFile(join(folder, 'holiday/notes.txt'), 'second\n');
    await upload('Upload files …', join(folder, 'holiday/notes.txt'));
    await page.getByRole('button', { name: 'Replace' }).click();
    await page.getByRole('dialog').waitFor({ state: 'detached' });
    await row(page, 'notes.txt').click();
    const preview = page.frameLocator('.preview-frame');
    await page.getByRole('tab', { name: 'Versions' }).click();
    await expect.poll(() => page.locator('.version').count()).toBe(2);
    await page.getByRole('button', { name: 'Restore', exact: true }).click();
    await page.getByText('Restored: it is the current version again').waitFor();
    await page.getByRole('tab', { name: 'Preview' }).click();
    await preview.getByText('first').waitFor();
    await page.getByRole('button', { name: 'Close details' }).click();
    await row(page, 'notes.txt').click({ button: 'right' });
    await page.getByRole('menuitem', { name: 'Delete' }).click();
    await row(page, 'notes.txt').waitFor({ state: 'detached' });
    await page.getByRole('button', { name: 'Undo' }).click();
    await row(page, 'notes.txt').waitFor();

    // 7
    await page.getByRole('link', { name: 'Activity' }).click();
    await page.getByRole('row').filter({ hasText: 'DELETE' }).first().waitFor();
    await page.getByRole('button', { name: 'AWS CLI' }).first().waitFor();
    expect(under.faultsOf(page)).toEqual([]);
  });
});
